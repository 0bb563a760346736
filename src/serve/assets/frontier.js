// The whole plan, and the frontier below it: searched, a page at a time.

const URLS_SHOWN = 50;

function frontierTab(app) {
  const question = asker();
  const shown = { search: "", offset: 0, picked_only: false };
  let of = 2;
  const trouble = html("div", { class: "trouble", "aria-live": "polite" });
  const found = html("div");
  const whose = html("div");
  const search = searchBox("URLs", (search) => seek({ search, offset: 0 }));
  const picked = html("input", {
    type: "checkbox",
    change: () => seek({ picked_only: picked.checked, offset: 0 }),
  });
  const controls = html(
    "div",
    { class: "entry" },
    search,
    html("label", { class: "choice" }, picked, "picks only"),
    whose,
  );

  function seek(change) {
    Object.assign(shown, change);
    load();
  }
  async function load() {
    const plans = plansOf(app);
    const { scenario } = plans.find(({ at }) => at === of) || plans[plans.length - 1];
    try {
      const answer = await question("api/frontier", { scenario, ...shown, limit: URLS_SHOWN });
      if (!answer) return;
      const turning = pager(shown.offset, URLS_SHOWN, answer.total, (offset) => seek({ offset }));
      turnTo(found, [table(answer, scenario), turning], search);
      showTrouble(trouble, null);
    } catch (error) {
      showTrouble(trouble, error);
    }
  }
  function table({ urls, parts }, scenario) {
    const fate = (url) => {
      if (url.batch_rank === null && !url.held_back_by) return "";
      if (url.batch_rank === null)
        return html("span", null, "held back by ", bdi(url.held_back_by));
      const drawn = url.pool && url.pool !== "greedy" ? `, drawn ${url.pool}` : "";
      return `picked ${thousands(url.batch_rank)}${drawn}`;
    };
    return tableOf(
      "Frontier, best first",
      ["", wide("URL"), text("fate"), "estimate", ...parts, "in-links"],
      urls.map((url) => {
        const row = [
          thousands(url.rank),
          urlButton(app, url.url, scenario),
          fate(url),
          amount(url.estimate),
          ...url.parts.map((impact) => amount(impact)),
          thousands(url.inlinks),
        ];
        row.class = url.batch_rank === null ? null : "picked";
        return row;
      }),
    );
  }

  function show() {
    const plans = plansOf(app);
    if (!plans.some(({ at }) => at === of)) of = 2;
    const names = plans.map(({ at, name }) => [at, name]);
    whose.replaceChildren(
      switches("Plan of", names, of, (at) => {
        of = at;
        seek({ offset: 0 });
      }),
    );
    load();
  }
  return { node: html("div", null, controls, trouble, found), show };
}
