// Stacked areas, cells in a plane, and intervals.

/** `layers`: { name, class, values }, from the bottom up; values are shares at `pages`. */
function stackChart(width, { height, pages, layers, names }) {
  const box = { left: 50, right: width - 14, top: 12, bottom: height - 40 };
  const x = scale("linear", 0, Math.max(...pages, 1), box.left, box.right, Math.floor(width / 95));
  const y = scale("linear", 0, 1, box.bottom, box.top, 5);
  const root = frame(width, height, box, x, y, { ...names, xText: thousands });
  const grid = root.firstChild;
  const floors = pages.map(() => 0);
  const texts = svg("g", { class: "inside" });
  for (const layer of layers) {
    const below = floors.slice();
    layer.values.forEach((value, at) => {
      floors[at] += value;
    });
    const upper = pages.map((page, at) => [x(page), y(floors[at])]);
    const lower = pages.map((page, at) => [x(page), y(below[at])]).reverse();
    root.append(svg("path", { class: `layer ${layer.class}`, d: path(upper.concat(lower)) + "Z" }));
    const text = inside(layer, upper, lower.reverse());
    if (text) texts.append(text);
  }
  // The grid lies over the areas, else it could not be seen.
  root.append(grid, texts);
  const stops = pages.map((page, at) => ({
    x: x(page),
    content: () => [
      html("strong", null, `${thousands(page)} pages fetched`),
      html(
        "table",
        null,
        layers
          .slice()
          .reverse()
          .map((layer) =>
            html(
              "tr",
              null,
              html("td", null, html("i", { class: `patch ${layer.class}` })),
              html("td", { class: "text" }, bdi(cut(layer.name, 36))),
              html("td", null, percent(layer.values[at])),
            ),
          ),
      ),
    ],
  }));
  return { svg: root, box, stops };
}

const percent = (share) => (share * 100).toFixed(1) + " %";

/** The name of a layer where it is thick enough for all of its length. */
function inside(layer, upper, lower) {
  const text = cut(layer.name, 30);
  const half = text.length * 3.3 + 4;
  let best = null;
  for (let at = 1; at < upper.length - 1; at += 1) {
    const middle = upper[at][0];
    const covered = upper
      .map((_, other) => other)
      .filter((other) => Math.abs(upper[other][0] - middle) <= half + 12);
    const fits = middle - half > upper[0][0] && middle + half < upper[upper.length - 1][0];
    const top = Math.max(...covered.map((other) => upper[other][1]));
    const bottom = Math.min(...covered.map((other) => lower[other][1]));
    if (fits && bottom - top > 15 && (!best || bottom - top > best.room)) {
      best = { room: bottom - top, x: middle, y: (top + bottom) / 2 + 4 };
    }
  }
  return best && svg("text", { x: best.x, y: best.y, "text-anchor": "middle" }, text);
}

/** Cells of a plane: `cells` are [x, y, pages]; hexagons, or discs whose area grows with pages. */
function cellChart(width, { height, cells, names, kind, line, hexagons, cellWidth }) {
  const box = { left: 56, right: width - 14, top: 24, bottom: height - 40 };
  const [xs, ys] = [0, 1].map((side) => cells.map((cell) => cell[side]));
  const pad = hexagons ? cellWidth : 0;
  const ends = (values, zero) => [
    -largest(values.map((value) => -value).concat(-zero)) - pad,
    largest(values) + pad,
  ];
  const zero = hexagons ? Infinity : 0;
  const x = scale(kind, ...ends(xs, zero), box.left + 6, box.right - 6, Math.floor(width / 90));
  const y = scale(kind, ...ends(ys, zero), box.bottom - 6, box.top + 6, Math.floor(height / 50));
  const root = frame(width, height, box, x, y, names);
  const most = Math.max(largest(cells.map((cell) => cell[2])), 1);
  const strength = (pages) => (most > 1 ? Math.log(pages) / Math.log(most) : Number(hexagons));
  const steps = [...new Set(ys)].sort((a, b) => a - b);
  const gaps = steps
    .slice(1)
    .map((value, at) => value - steps[at])
    .filter((gap) => gap > cellWidth * 0.05);
  const rise = gaps.length ? Math.min(...gaps) : cellWidth * 0.866;
  const drawn = svg("g", { class: "cells k0" });
  for (const [across, up, pages] of cells) {
    const weight = strength(pages);
    const at = `translate(${x(across).toFixed(1)} ${y(up).toFixed(1)})`;
    drawn.append(
      hexagons
        ? svg("path", {
            d: hexagon(Math.abs(x(across + cellWidth) - x(across)), Math.abs(y(up + rise) - y(up))),
            transform: at,
            "fill-opacity": (0.12 + 0.88 * weight).toFixed(2),
          })
        : svg("circle", { class: "disc", r: (1.8 + 4.2 * weight).toFixed(1), transform: at }),
    );
  }
  root.append(drawn);
  if (line) root.append(regression(line, x, y, xs, box));
  const stops = cells.map(([across, up, pages]) => ({
    x: x(across),
    y: y(up),
    r: 8,
    content: () => [
      html("strong", null, `${thousands(pages)} ${pages === 1 ? "page" : "pages"}`),
      html("div", null, `${names.x}: ${brief(across)}`),
      html("div", null, `${names.y}: ${brief(up)}`),
    ],
  }));
  return { svg: root, box, stops };
}

const brief = (value) =>
  value >= 1000 ? thousands(value) : String(Number(value.toPrecision(3))).replace("-", "−");

/** A hexagon with a point up, `width` wide, whose rows are `rise` apart. */
function hexagon(width, rise) {
  const [half, long, short] = [width / 2, (rise * 2) / 3, rise / 3];
  return (
    path([
      [0, -long],
      [half, -short],
      [half, short],
      [0, long],
      [-half, short],
      [-half, -short],
    ]) + "Z"
  );
}

/** y = a + b x between the cells, bent where the axes are. */
function regression([a, b], x, y, xs, box) {
  const [low, high] = [-largest(xs.map((value) => -value)), largest(xs)];
  const points = [];
  for (let at = 0; at <= 200; at += 1) {
    // Denser to the left, where an axis of logarithms bends the line.
    const across = low + (high - low) * (at / 200) ** 6;
    const place = [x(across), y(a + b * across)];
    if (place[1] >= box.top && place[1] <= box.bottom) points.push(place);
  }
  return svg("path", { class: "regression", d: path(points) });
}

/** Intervals, one row each: `rows` are { name, style, interval, note }. */
function intervalChart(width, { rows, reference, names, label }) {
  const height = 48 + rows.length * 26;
  const longest = Math.max(...rows.map((row) => row.name.length));
  const left = Math.min(width * 0.42, 14 + Math.min(longest, 30) * 6.8);
  const box = { left, right: width - 18, top: 8, bottom: height - 36 };
  const ends = rows.flatMap(({ interval }) => [
    interval.mean,
    interval.low ?? interval.mean,
    interval.high ?? interval.mean,
    ...interval.values,
  ]);
  const [low, high] = [Math.min(...ends, reference), Math.max(...ends, reference)];
  const pad = (high - low || 1) * 0.05;
  const x = scale(
    "linear",
    low - pad,
    high + pad,
    box.left,
    box.right,
    Math.floor((box.right - box.left) / 60),
  );
  const root = frame(width, height, box, x, null, names);
  root.append(
    svg("line", {
      class: "reference",
      x1: x(reference),
      x2: x(reference),
      y1: box.top,
      y2: box.bottom,
    }),
  );
  const stops = rows.map(({ name, style, interval, tag }, at) => {
    const y = box.top + 12 + at * 26;
    const told = interval.low !== null && (interval.low > reference || interval.high < reference);
    root.append(
      svg(
        "text",
        { class: "row", x: left - 8, y: y + 4, "text-anchor": "end" },
        cut(name, Math.floor((left - 12) / 6.6)),
        svg("title", null, name),
      ),
    );
    const group = svg("g", { class: style.class });
    for (const value of interval.values)
      group.append(svg("circle", { class: "single", cx: x(value), cy: y + 8, r: 1.8 }));
    if (interval.low !== null) {
      const [from, to] = [x(interval.low), x(interval.high)];
      group.append(
        svg("path", {
          class: "line",
          d: `M${from},${y - 4}v8M${from},${y}H${to}M${to},${y - 4}v8`,
        }),
      );
    }
    group.append(
      svg("path", {
        class: `mark ${told ? "full" : "open"}`,
        d: style.shape(3.8),
        transform: `translate(${x(interval.mean).toFixed(1)} ${y})`,
      }),
    );
    root.append(group);
    const content = () => [
      html("strong", null, bdi(name)),
      html("div", null, `${label} ${fixed(interval.mean, 2)}${range(interval, 2)}`),
      html("div", null, told ? `differs from ${reference}` : `not told apart from ${reference}`),
      tag ? html("div", null, tag) : null,
    ];
    return { x: x(interval.mean), y, r: 8, content: () => content().filter(Boolean) };
  });
  return { svg: root, box, stops };
}

const range = (interval, decimals) =>
  interval.low === null
    ? ""
    : ` [${fixed(interval.low, decimals)}, ${fixed(interval.high, decimals)}]`;
