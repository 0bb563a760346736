// Starts the page: sections, sorting, printing. `start(section, data)` is of the page's kind.

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

const sections = JSON.parse(document.getElementById("data").textContent);
document.documentElement.classList.add("scripted");
document.querySelectorAll("table.sortable").forEach(sortable);
document
  .querySelectorAll("section.experiment")
  .forEach((section) => start(section, sections[Number(section.dataset.experiment)]));
theme(document.getElementById("theme"));
printing();
redrawing();
