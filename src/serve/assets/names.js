// Numbers, names that open something, and links to the web.

/** A figure at a sensible number of decimals, with its sign if `signed`. */
function amount(value, signed = false) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const shown = fixed(value, Math.min(decimalsFor(value), 3));
  return signed && value > 0 ? `+${shown}` : shown;
}

const place = (rank) => (rank === null || rank === undefined ? "–" : thousands(rank));

/** An address without its scheme; too long ones lose their middle. */
function shortAddress(url) {
  const letters = Array.from(url.replace(/^https?:\/\//, ""));
  if (letters.length <= 72) return letters.join("");
  return `${letters.slice(0, 26).join("")}…${letters.slice(-45).join("")}`;
}

/** A name that opens its explanation under a scenario, that of the last answer if none is given. */
const opener = (app, kind, id, shown, of) =>
  html(
    "button",
    {
      type: "button",
      class: "name",
      dir: "auto",
      title: kind === "url" ? id : null,
      click: (event) => app.details.open(kind, id, of || app.answered, event.currentTarget),
    },
    bdi(shown),
  );
const urlButton = (app, url, of) => opener(app, "url", url, shortAddress(url), of);
const queryButton = (app, { qid, query }, of) => opener(app, "query", qid, cut(query, 90), of);

/** A link to an address of the web; text where it is none. */
function webLink(url, shown = url) {
  let scheme = null;
  try {
    scheme = new URL(url).protocol;
  } catch {
    // It stays text.
  }
  if (scheme !== "http:" && scheme !== "https:") return bdi(shown);
  return html("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, bdi(shown));
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

/** Choices of which one holds, as buttons. `options` are [key, text]. */
function switches(label, options, chosen, changed) {
  const buttons = options.map(([key, shown]) =>
    html(
      "button",
      {
        type: "button",
        "aria-pressed": String(key === chosen),
        click: () => {
          buttons.forEach((button, at) =>
            button.setAttribute("aria-pressed", String(options[at][0] === key)),
          );
          changed(key);
        },
      },
      shown,
    ),
  );
  return html("div", { class: "switches", role: "group", "aria-label": label }, buttons);
}

/** Fills a place that holds a pager; the button that turned the page keeps the focus if it still can. */
function turnTo(room, nodes, otherwise) {
  const turned = room.contains(document.activeElement) && document.activeElement.dataset.turn;
  room.replaceChildren(...nodes);
  if (!turned) return;
  const button = room.querySelector(`button[data-turn="${turned}"]`);
  (button.disabled ? otherwise : button).focus();
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
