// Starts the page: experiments, theme, sorting, printing.

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

/** Headings of a table become buttons that sort it, first from high to low. */
function sortable(table) {
  const body = table.tBodies[0];
  const headings = [...table.tHead.rows[0].cells];
  const original = [...body.rows];
  const value = (row, at) => {
    const text = row.cells[at].dataset.sort;
    return text === undefined ? -Infinity : at === 0 ? text : Number(text);
  };
  headings.forEach((heading, at) => {
    const button = html("button", { type: "button", title: "Sort" }, ...heading.childNodes);
    heading.replaceChildren(button);
    button.addEventListener("click", () => {
      const now = heading.getAttribute("aria-sort");
      const next =
        at === 0
          ? { null: "ascending", ascending: "descending", descending: null }[now]
          : { null: "descending", descending: "ascending", ascending: null }[now];
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      if (next) heading.setAttribute("aria-sort", next);
      const sign = next === "descending" ? -1 : 1;
      const rows = original.slice();
      if (next)
        rows.sort((a, b) =>
          value(a, at) < value(b, at) ? -sign : value(a, at) > value(b, at) ? sign : 0,
        );
      body.append(...rows);
    });
  });
}

function theme(button) {
  const themes = [
    [null, "Theme: as the system"],
    ["light", "Theme: light"],
    ["dark", "Theme: dark"],
  ];
  let at = 0;
  button.hidden = false;
  button.addEventListener("click", () => {
    at = (at + 1) % themes.length;
    const [name, text] = themes[at];
    if (name) document.documentElement.dataset.theme = name;
    else delete document.documentElement.dataset.theme;
    button.textContent = text;
  });
}

/** On paper nothing can be opened. */
function printing() {
  const closed = [];
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details:not([open])")) {
      details.open = true;
      closed.push(details);
    }
  });
  addEventListener("afterprint", () =>
    closed.splice(0).forEach((details) => {
      details.open = false;
    }),
  );
}

const experiments = JSON.parse(document.getElementById("data").textContent);
document.documentElement.classList.add("scripted");
document.querySelectorAll("table.sortable").forEach(sortable);
document
  .querySelectorAll("section.experiment")
  .forEach((section) => start(section, experiments[Number(section.dataset.experiment)]));
theme(document.getElementById("theme"));
printing();
let waiting = 0;
addEventListener("resize", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => figures.forEach((one) => one.resized()), 120);
});
