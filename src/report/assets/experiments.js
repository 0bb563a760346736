// Starts the sections of a page of experiments.

const VIEWS = {
  summary: summaryView,
  curves: curvesView,
  kinds: kindsView,
  queries: queriesView,
  hosts: hostsView,
  analyses: analysesView,
};

function start(section, experiment) {
  const state = { kind: 0, band: experiment.sets > 1 ? "sd" : "none", hidden: new Set() };
  const redraws = [];
  const tables = section.querySelectorAll(".of-kind");
  const changed = (what) => {
    tables.forEach((table) => {
      table.hidden = Number(table.dataset.kind) !== state.kind;
      table.querySelectorAll("tbody tr").forEach((row) => {
        row.hidden = state.hidden.has(Number(row.dataset.policy));
      });
    });
    const follow = what === "kind" ? ["summary", "curves"] : ["summary", "curves", "kinds"];
    for (const [name, redraw] of redraws) {
      if (what === "all" || follow.includes(name)) redraw();
    }
  };
  for (const place of section.querySelectorAll("[data-view]")) {
    const name = place.dataset.view;
    if (name === "controls") {
      place.append(...controlsView(experiment, state, changed));
      const { band } = state;
      const select = place.querySelector(".choice:not(.choose-kind) select");
      if (select) select.selectedIndex = BANDS.findIndex(([key]) => key === band);
      continue;
    }
    const { nodes, redraw } = VIEWS[name](experiment, state);
    place.append(...nodes);
    if (redraw) redraws.push([name, redraw]);
  }
  changed("all");
}
