// A figure: a chart that can be walked with mouse or arrow keys, its numbers as a table, a caption.
//
// `draw(width)` gives `{ svg, stops }`. A stop is a place that shows something: `{ x, y?, box?,
// content() }`; without y the pointer's column decides.

const KEYS = ". Arrow keys read the values; the button Table shows them all.";

/** All figures, so that all can be drawn again. */
const figures = new Set();

function figure({ title, caption, draw, table, tall }) {
  const chart = html("div", {
    class: "chart",
    tabindex: "0",
    role: "img",
    "aria-label": title + KEYS,
  });
  const tip = html("div", { class: "tip", role: "status", hidden: true });
  const stage = html("div", { class: "stage" }, chart, tip);
  const numbers = html("div", { class: "scroll numbers", tabindex: "0", hidden: true });
  const button = html(
    "button",
    { type: "button", class: "as-table", "aria-pressed": "false" },
    "Table",
  );
  const heading = html("span", { class: "title" }, title);
  const note = html("p", { class: "caption" }, caption || "");
  const node = html(
    "figure",
    { class: tall ? "wide" : null },
    html("div", { class: "bar" }, heading, button),
    stage,
    numbers,
    html("figcaption", null, note),
  );
  const self = { node, drawn: null, at: -1 };

  self.redraw = () => {
    const asTable = button.getAttribute("aria-pressed") === "true";
    stage.hidden = asTable;
    numbers.hidden = !asTable;
    hide();
    if (asTable) return numbers.replaceChildren(dataTable(heading.textContent, table()));
    const width = Math.max(240, Math.floor(stage.clientWidth || 560));
    self.drawn = draw(width);
    self.width = width;
    self.drawn.svg.setAttribute("aria-hidden", "true");
    chart.replaceChildren(self.drawn.svg);
  };
  self.retitle = (text, more) => {
    heading.textContent = text;
    chart.setAttribute("aria-label", text + KEYS);
    if (more !== undefined) note.replaceChildren(...[more].flat());
  };
  self.resized = () => {
    if (!stage.hidden && Math.abs(stage.clientWidth - self.width) > 2) self.redraw();
  };
  button.addEventListener("click", () => {
    const pressed = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(pressed));
    button.textContent = pressed ? "Chart" : "Table";
    self.redraw();
  });

  function hide() {
    tip.hidden = true;
    self.at = -1;
    chart.querySelector(".guide")?.remove();
  }
  function show(at) {
    const stop = self.drawn?.stops[at];
    if (!stop) return;
    self.at = at;
    chart.querySelector(".guide")?.remove();
    const { box } = self.drawn;
    self.drawn.svg.append(
      stop.y === undefined
        ? svg("line", { class: "guide", x1: stop.x, x2: stop.x, y1: box.top, y2: box.bottom })
        : svg("circle", { class: "guide", cx: stop.x, cy: stop.y, r: stop.r || 7 }),
    );
    tip.replaceChildren(...[stop.content()].flat());
    tip.hidden = false;
    const ratio = chart.clientWidth / self.width || 1;
    const room = chart.clientWidth;
    const right = stop.x * ratio + 14;
    const left = stop.x * ratio - 14 - tip.offsetWidth;
    const clear = right + tip.offsetWidth <= room ? right : Math.max(0, left);
    tip.style.left = `${clear}px`;
    tip.style.top = `${Math.max(0, (stop.y === undefined ? box.top : stop.y - 20) * ratio)}px`;
  }
  function point(event) {
    const bounds = chart.getBoundingClientRect();
    const ratio = self.width / bounds.width;
    const at = nearest(
      self.drawn?.stops || [],
      (event.clientX - bounds.left) * ratio,
      (event.clientY - bounds.top) * ratio,
    );
    if (at < 0) hide();
    else if (at !== self.at) show(at);
  }
  chart.addEventListener("pointermove", point);
  // A finger points without moving.
  chart.addEventListener("pointerdown", point);
  chart.addEventListener("pointerleave", hide);
  chart.addEventListener("blur", hide);
  chart.addEventListener("keydown", (event) => {
    const last = (self.drawn?.stops.length || 0) - 1;
    const to = {
      ArrowRight: self.at + 1,
      ArrowLeft: self.at < 0 ? last : self.at - 1,
      Home: 0,
      End: last,
    }[event.key];
    if (event.key === "Escape") hide();
    if (to === undefined || last < 0) return;
    event.preventDefault();
    show(Math.min(last, Math.max(0, to)));
  });
  figures.add(self);
  return self;
}

/** The stop nearest to a point, -1 if none is near. */
function nearest(stops, x, y) {
  let best = -1;
  let least = Infinity;
  stops.forEach((stop, at) => {
    const across = stop.x - x;
    const away = stop.y === undefined ? Math.abs(across) : Math.hypot(across, stop.y - y);
    const reach = stop.y === undefined ? 60 : 24;
    if (away < least && away < reach) [best, least] = [at, away];
  });
  return best;
}

/** `{ head, rows }` as a table; the first cell of a row names it. */
function dataTable(title, { head, rows }) {
  return html(
    "table",
    null,
    html("caption", { class: "unseen" }, title),
    html(
      "thead",
      null,
      html(
        "tr",
        null,
        head.map((text) => html("th", { scope: "col" }, bdi(text))),
      ),
    ),
    html(
      "tbody",
      null,
      rows.map((row) =>
        html(
          "tr",
          null,
          row.map((cell, at) =>
            at ? html("td", null, cell) : html("th", { scope: "row" }, bdi(cell)),
          ),
        ),
      ),
    ),
  );
}

/** A view of figures side by side. */
function panelsView(panels) {
  return {
    nodes: [
      html(
        "div",
        { class: "panels" },
        panels.map((panel) => panel.node),
      ),
    ],
    redraw: () => panels.forEach((panel) => panel.redraw()),
  };
}
