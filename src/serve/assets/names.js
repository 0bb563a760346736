// Names that open something, links to the web, and choices.

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
