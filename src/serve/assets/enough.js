// Whether the pages of the store are enough for the workload: of the plan of today, whatever the scenario.

function enoughTab(app) {
  const question = asker();
  const turning = asker();
  const trouble = html("div", { class: "trouble", "aria-live": "polite" });
  const busy = html("p", { class: "note", role: "status" });
  const theta = html("input", {
    type: "number",
    min: 0.05,
    max: 1,
    step: 0.05,
    value: "0.7",
    id: "theta",
    change: () => load(),
  });
  const asked = (more) => new URLSearchParams({ theta: theta.value, ...more });
  const tried = async (ask) => {
    try {
      const answer = await ask();
      if (answer) showTrouble(trouble, null);
      return answer;
    } catch (error) {
      showTrouble(trouble, error);
      return null;
    }
  };
  const view = enoughView({
    list: ({ class: name, ...more }) => {
      const named = name ? { class: name, ...more } : more;
      return tried(() => turning(`api/sufficiency/queries?${asked(named)}`));
    },
    nameOf: (query) => queryButton(app, query, {}),
  });
  view.node.hidden = true;
  let isLoaded = false;

  async function load() {
    const slow = setTimeout(() => {
      busy.textContent = "Assessing …";
    }, SLOW_MS);
    const found = await tried(() => question(`api/sufficiency?${asked({})}`));
    clearTimeout(slow);
    busy.textContent = "";
    if (!found) return;
    isLoaded = true;
    view.node.hidden = false;
    view.show(found);
  }
  function show() {
    if (isLoaded) view.redraw();
    else load();
  }
  const node = html(
    "div",
    null,
    html(
      "div",
      { class: "entry" },
      html("label", { class: "choice" }, html("span", null, "Sufficiency that is enough"), theta),
      html("span", { class: "note" }, "of the plan of today, whatever the scenario"),
    ),
    trouble,
    busy,
    view.node,
  );
  return { node, show };
}
