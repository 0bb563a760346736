// Elements and numbers. Text of others enters the page here, always as text and never as markup.

const SVG = "http://www.w3.org/2000/svg";

/** Sets attributes and adds children; strings become text, null is left out. */
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false) {
      node.setAttribute(name, value === true ? "" : String(value));
    }
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined) node.append(child);
  }
  return node;
}

const html = (name, attributes, ...children) =>
  fill(document.createElement(name), attributes, children);
const svg = (name, attributes, ...children) =>
  fill(document.createElementNS(SVG, name), attributes, children);
/** A name of others, kept from turning the text around it. */
const bdi = (text) => html("bdi", null, text);

/** Cuts a name for a place that is narrow; the whole of it stands in a title. */
const cut = (text, most) => {
  const letters = Array.from(text);
  return letters.length > most ? letters.slice(0, most - 1).join("") + "…" : text;
};

const thousands = (number) => String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, ",");

/** The largest of values that may be too many for the arguments of a function. */
const largest = (values) => values.reduce((most, value) => Math.max(most, value), -Infinity);

/** Decimals at which a largest value shows three or four digits. */
function decimalsFor(value) {
  const size = Math.abs(value);
  if (size >= 1000) return 0;
  if (size >= 100) return 1;
  if (size >= 10) return 2;
  if (size >= 0.1 || size === 0) return 3;
  return size >= 0.01 ? 4 : 6;
}

function fixed(value, decimals) {
  if (value === null || value === undefined) return "–";
  if (decimals === 0) return value < 0 ? "−" + thousands(-value) : thousands(value);
  const text = value.toFixed(decimals);
  return /^-0\.0*$/.test(text) ? text.slice(1) : text.replace("-", "−");
}

/** p as papers write it. */
const probability = (p) => (p < 0.001 ? "p < 0.001" : "p = " + p.toFixed(3));

/** A labelled choice. `options` are texts; calls `changed` with the place of the chosen one. */
function choice(label, options, changed, chosen = 0) {
  const select = html(
    "select",
    { change: () => changed(select.selectedIndex) },
    options.map((text, at) => html("option", { selected: at === chosen }, cut(text, 48))),
  );
  return html("label", { class: "choice" }, html("span", null, label), select);
}
