// Figures in words, facts, and lists that are searched and turned page by page.

/** A figure at a sensible number of decimals, with its sign if `signed`. */
function amount(value, signed = false) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const shown = fixed(value, Math.min(decimalsFor(value), 3));
  return signed && value > 0 ? `+${shown}` : shown;
}

/** The number at four decimals, as it is typed. */
const typed = (value) => String(Number(value.toFixed(4)));

/** A number with separators, with its decimals. */
function thousandsOf(value) {
  const [whole, rest] = typed(value).split(".");
  return thousands(Number(whole)) + (rest ? `.${rest}` : "");
}

/** Names and what they are, as a list. */
const facts = (pairs) =>
  html(
    "dl",
    { class: "facts" },
    pairs
      .filter(Boolean)
      .map(([name, value]) => html("div", null, html("dt", null, name), html("dd", null, value))),
  );

/**
 * Fills a place that holds a pager; who is at a button, one that turned the page or a name of the list, stays at the one of
 * the same name if there still is one.
 */
function turnTo(room, nodes, otherwise) {
  const at = document.activeElement?.closest("button");
  const isHere = at && room.contains(at);
  room.replaceChildren(...nodes);
  if (!isHere) return;
  const isSame = (button) =>
    button.dataset.turn === at.dataset.turn && button.textContent === at.textContent;
  const same = [...room.querySelectorAll("button")].find(isSame);
  (same && !same.disabled ? same : otherwise).focus();
}

/** Buttons through the pages of a list. `turn(offset)` shows another. */
function pager(offset, limit, total, turn) {
  const last = Math.min(offset + limit, total);
  const shown = total
    ? `${thousands(offset + 1)}–${thousands(last)} of ${thousands(total)}`
    : "none";
  const to = (label, offset, disabled) =>
    html(
      "button",
      { type: "button", disabled, "data-turn": label, click: () => turn(offset) },
      label,
    );
  return html(
    "div",
    { class: "pager" },
    to("first", 0, offset === 0),
    to("previous", Math.max(0, offset - limit), offset === 0),
    html("span", { role: "status" }, shown),
    to("next", offset + limit, last >= total),
  );
}

/** A field to search for `what` with; `found` is told of each change. */
function searchBox(what, found) {
  const box = html("input", {
    type: "search",
    "aria-label": `Search ${what}`,
    placeholder: `search ${what}`,
    dir: "auto",
    input: () => found(box.value),
  });
  return box;
}
