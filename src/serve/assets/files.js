// The plan of the scenario as a file, and into the store where that is allowed.

const FORMATS = ["jsonl", "tsv", "urls"];

function planFiles(app) {
  const trouble = html("div", { class: "trouble", "aria-live": "polite" });
  const said = html("span", { role: "status", class: "note", id: "written" });
  const tried = (what) => async () => {
    try {
      showTrouble(trouble, null);
      await what();
    } catch (error) {
      showTrouble(trouble, error);
    }
  };
  async function download(format) {
    const response = await ask(`api/plan?format=${format}`, { scenario: app.answered });
    const address = URL.createObjectURL(await response.blob());
    const name = format === "urls" ? "plan.txt" : `plan.${format}`;
    html("a", { href: address, download: name }).click();
    said.textContent = `${name} is written`;
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  }
  async function commit() {
    const { picks } = app.answer.plan;
    const scenario = app.answered;
    if (!(await confirmed(picks, scenario))) return;
    const done = await (await ask("api/commit", { scenario })).json();
    said.replaceChildren(`${thousands(done.urls)} URLs are in the store: plan `, bdi(done.plan_id));
  }
  const buttons = FORMATS.map((format) =>
    html(
      "button",
      { type: "button", "data-format": format, click: tried(() => download(format)) },
      format,
    ),
  );
  const node = html(
    "span",
    { class: "files", role: "group", "aria-label": "The plan as a file" },
    html("span", { class: "note" }, "Download plan:"),
    buttons,
    app.today.allow_write
      ? html(
          "button",
          { type: "button", id: "commit", click: tried(commit) },
          "Write this plan to the store",
        )
      : null,
    said,
  );
  return { node, trouble };
}

/** Asks before a plan is written. */
function confirmed(picks, scenario) {
  const dialog = document.getElementById("confirm");
  return new Promise((decide) => {
    const answer = (yes) => () => {
      decide(yes);
      dialog.close();
    };
    dialog.replaceChildren(
      html("h2", { id: "confirm-title" }, "Write this plan to the store?"),
      html(
        "p",
        null,
        `${thousands(picks)} URLs take the place of the open plan. Scenario: `,
        bdi(described(scenario)),
        ".",
      ),
      html(
        "div",
        { class: "acts" },
        html("button", { type: "button", id: "write", click: answer(true) }, "Write it"),
        html("button", { type: "button", autofocus: true, click: answer(false) }, "Cancel"),
      ),
    );
    dialog.addEventListener("close", () => decide(false), { once: true });
    dialog.showModal();
  });
}
