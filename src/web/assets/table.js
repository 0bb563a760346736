// Tables: a caption, headings, rows that their first cells name.

/** `head` are texts, or { text, class }; `rows` are lists of nodes or texts, the first names the row. */
function tableOf(caption, head, rows) {
  const heading = (cell) =>
    typeof cell === "string"
      ? html("th", { scope: "col" }, cell)
      : html("th", { scope: "col", class: cell.class }, cell.text);
  const cell = (content, at) => {
    const kind = typeof head[at] === "string" ? null : head[at].class;
    return at
      ? html("td", { class: kind }, content)
      : html("th", { scope: "row", class: kind }, content);
  };
  return html(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    html(
      "table",
      null,
      html("caption", null, caption),
      html("thead", null, html("tr", null, head.map(heading))),
      html(
        "tbody",
        null,
        rows.map((row) => html("tr", { class: row.class }, row.map(cell))),
      ),
    ),
  );
}

const text = (name) => ({ text: name, class: "text" });
const wide = (name) => ({ text: name, class: "query" });
