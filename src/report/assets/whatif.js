// Starts the sections of a page of scenarios: the first is of all plans, the others of one each.

const BEFORE_AFTER = [
  { name: "without the scenario", class: "other" },
  { name: "under it", class: "k0" },
];

const SCENARIO_VIEWS = {
  budget: ({ plans }) => budgetFigure(() => plans.map((plan, at) => ({ ...plan, at }))),
  hosts: ({ hosts }) =>
    barFigure({
      title: "Hosts",
      caption: "Impact expected of the picks of each host; those that change most. ",
      heading: "host",
      names: { x: "expected impact" },
      read: () => ({
        rows: hosts.map(([name, ...values]) => ({ name, values })),
        series: BEFORE_AFTER,
      }),
    }),
  gaining: ({ gaining }) => queriesFigure("Queries that gain most", gaining),
  losing: ({ losing }) => queriesFigure("Queries that lose most", losing),
};

function queriesFigure(title, changes) {
  return barFigure({
    title,
    caption:
      "How often a query is asked times the results that the batch is expected to bring it. ",
    heading: "query",
    names: { x: "askings" },
    read: () => ({
      rows: changes.map(([name, ...values]) => ({ name, values })),
      series: BEFORE_AFTER,
    }),
  });
}

function start(section, found) {
  for (const place of section.querySelectorAll("[data-view]")) {
    const views = place.dataset.view.split(" ").map((name) => SCENARIO_VIEWS[name](found));
    const { nodes, redraw } = panelsView(views);
    place.append(...nodes);
    redraw();
  }
}
