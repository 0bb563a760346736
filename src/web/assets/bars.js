// Bars side by side, and a change as a small picture in a table.

/** From one value to another, both at most `most`. */
function change(from, to, most) {
  const x = (value) => 6 + (value / most) * 88;
  return svg(
    "svg",
    {
      class: to >= from ? "change k0" : "change k1",
      width: 100,
      height: 14,
      viewBox: "0 0 100 14",
      "aria-hidden": "true",
    },
    svg("line", { class: "rail", x1: 6, x2: 94, y1: 7, y2: 7 }),
    svg("line", { class: "line", x1: x(from), x2: x(to), y1: 7, y2: 7 }),
    svg("circle", { class: "mark open", cx: x(from), cy: 7, r: 3.4 }),
    svg("circle", { class: "mark full", cx: x(to), cy: 7, r: 3.4 }),
  );
}

/** `rows`: { name, values }, one value a series, null where none is known; `series`: { name, class }. */
function barChart(width, { rows, series, names }) {
  const step = 9 * series.length + 9;
  const height = 46 + rows.length * step;
  const longest = largest(rows.map((row) => Array.from(row.name).length).concat(4));
  const left = Math.min(width * 0.42, 14 + Math.min(longest, 34) * 7);
  const box = { left, right: width - 18, top: 6, bottom: height - 36 };
  const values = rows.flatMap((row) => row.values).filter((value) => value !== null);
  const [low, high] = [-largest(values.map((v) => -v).concat(0)), largest(values.concat(1e-9))];
  const x = scale("linear", low, high, left, box.right, Math.floor((box.right - left) / 70));
  const root = frame(width, height, box, x, null, names);
  const decimals = decimalsFor(high);
  const stops = rows.map((row, at) => {
    const top = box.top + at * step + 4;
    root.append(
      svg(
        "text",
        { class: "row", x: left - 8, y: top + step / 2, "text-anchor": "end" },
        cut(row.name, Math.max(4, Math.floor((left - 12) / 7))),
        svg("title", null, row.name),
      ),
    );
    row.values.forEach((value, of) => {
      if (value === null) return;
      const [from, to] = [x(0), x(value)].sort((a, b) => a - b);
      root.append(
        svg("rect", {
          class: `stick ${series[of].class}`,
          x: from.toFixed(1),
          y: top + of * 9,
          width: Math.max(to - from, 1).toFixed(1),
          height: 8,
        }),
      );
    });
    const content = () => [
      html("strong", null, bdi(cut(row.name, 60))),
      html(
        "table",
        null,
        series.map((one, of) =>
          html(
            "tr",
            null,
            html("td", null, html("i", { class: `patch ${one.class}` })),
            html("td", { class: "text" }, bdi(cut(one.name, 28))),
            html("td", null, fixed(row.values[of], decimals)),
          ),
        ),
      ),
    ];
    return { x: x(Math.max(0, ...row.values)), y: top + step / 2 - 5, r: 6, content };
  });
  return { svg: root, box, stops };
}

/** `read()` gives the rows and the series of a bar chart; `names.x` says what the bars measure. */
function barFigure({ title, caption, heading, names, read }) {
  const panel = figure({
    title,
    draw: (width) => barChart(width, { ...read(), names }),
    table: () => {
      const { rows, series } = read();
      const decimals = decimalsFor(largest(rows.flatMap((row) => row.values).concat(0)));
      return {
        head: [heading, ...series.map((one) => one.name)],
        rows: rows.map((row) => [row.name, ...row.values.map((value) => fixed(value, decimals))]),
      };
    },
  });
  panel.rekey = () => panel.retitle(title, [caption, patches(read().series)]);
  panel.rekey();
  return panel;
}

/** A legend of colours. */
const patches = (series) =>
  html(
    "span",
    { class: "keys" },
    series.map((one) =>
      html("span", null, html("i", { class: `patch ${one.class}` }), bdi(cut(one.name, 48))),
    ),
  );
