// Lines with markers and bands. What tells two policies apart: colour, shape of the marker, and from
// the ninth on the dashes; oracles are dashed, and no other line is dashed like them.

const COLOURS = 8;
const SHAPES = [
  (r) => `M${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0Z`,
  (r) => polygon(4, r * 1.2, Math.PI / 4),
  (r) => polygon(3, r * 1.4, -Math.PI / 2),
  (r) => polygon(4, r * 1.3, 0),
  (r) => polygon(3, r * 1.4, Math.PI / 2),
  (r) => polygon(5, r * 1.2, -Math.PI / 2),
  (r) => star(r * 1.5),
];

function polygon(corners, radius, turn) {
  const points = Array.from({ length: corners }, (_, at) => {
    const angle = turn + (2 * Math.PI * at) / corners;
    return `${(radius * Math.cos(angle)).toFixed(2)},${(radius * Math.sin(angle)).toFixed(2)}`;
  });
  return `M${points.join("L")}Z`;
}

function star(radius) {
  const points = Array.from({ length: 10 }, (_, at) => {
    const angle = -Math.PI / 2 + (Math.PI * at) / 5;
    const reach = at % 2 ? radius * 0.5 : radius;
    return `${(reach * Math.cos(angle)).toFixed(2)},${(reach * Math.sin(angle)).toFixed(2)}`;
  });
  return `M${points.join("L")}Z`;
}

/** How policy number `at` looks. */
function look(at, policy) {
  const round = Math.floor(at / COLOURS);
  const plain = [null, "2 3", "9 3 2 3"][round % 3];
  const oracle = ["7 4", "12 3", "7 2 7 6"][round % 3];
  return {
    class: `k${at % COLOURS}`,
    shape: SHAPES[at % SHAPES.length],
    dash: policy.oracle ? oracle : plain,
  };
}

/** A short piece of a policy's line, for legends. */
function swatch(style, mark = "open") {
  return svg(
    "svg",
    {
      class: `swatch ${style.class}`,
      width: 34,
      height: 14,
      viewBox: "0 0 34 14",
      "aria-hidden": "true",
    },
    svg("line", {
      class: style.thick ? "line thick" : "line",
      x1: 1,
      x2: 33,
      y1: 7,
      y2: 7,
      "stroke-dasharray": style.dash,
    }),
    mark
      ? svg("path", { class: `mark ${mark}`, d: style.shape(4), transform: "translate(17 7)" })
      : null,
  );
}

const path = (points) =>
  points.map(([x, y], at) => `${at ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`).join("");

/**
 * `series`: { name, style, thick, points: [{ x, y, low, high, mark, note }] }; mark is "full", "open",
 * "dot" or null for none.
 */
function lineChart(
  width,
  { height, series, names, kind = "linear", least = 0, most, radius = 3.4, xText },
) {
  const box = { left: 50, right: width - 20, top: names.y ? 24 : 12, bottom: height - 40 };
  const all = series.flatMap((one) => one.points);
  const highs = all.map((point) => point.high ?? point.y);
  const lows = all.map((point) => point.low ?? point.y);
  const top = most ?? Math.max(...highs, 0);
  const bottom = Math.min(least, ...lows);
  const places = all.map((point) => point.x);
  const first = kind === "log" ? Math.min(...places) : 0;
  const x = scale(
    kind,
    all.length ? first : 0,
    Math.max(...places, first || 1),
    box.left,
    box.right,
    Math.floor(width / 95),
  );
  const y = scale("linear", bottom, top * 1.03 || 1, box.bottom, box.top, Math.floor(height / 55));
  const root = frame(width, height, box, x, y, { ...names, xText });
  for (const one of series) {
    const spread = one.points.filter((point) => point.low !== undefined);
    if (spread.length > 1) {
      const there = spread.map((point) => [x(point.x), y(point.high)]);
      const back = spread.map((point) => [x(point.x), y(point.low)]).reverse();
      root.append(
        svg("path", { class: `band ${one.style.class}`, d: path(there.concat(back)) + "Z" }),
      );
    }
  }
  for (const one of series) {
    const group = svg("g", { class: one.style.class, "data-series": one.name });
    const points = one.points.map((point) => [x(point.x), y(point.y)]);
    group.append(
      svg("path", {
        class: one.thick ? "line thick" : "line",
        d: path(points),
        "stroke-dasharray": one.style.dash,
      }),
    );
    one.points.forEach((point, at) => {
      if (!point.mark) return;
      const [left, up] = points[at];
      const size = point.mark === "dot" ? 1.6 : radius;
      const shape = point.mark === "dot" ? SHAPES[0] : one.style.shape;
      group.append(
        svg("path", {
          class: `mark ${point.mark}`,
          d: shape(size),
          transform: `translate(${left.toFixed(1)} ${up.toFixed(1)})`,
        }),
      );
    });
    root.append(group);
  }
  return {
    svg: root,
    box,
    stops: columns(series, x, xText || ((value) => tickText(x, value)), names),
  };
}

/** A stop at every x that some line has, which lists the lines from high to low. */
function columns(series, x, xText, names) {
  const places = [...new Set(series.flatMap((one) => one.points.map((point) => point.x)))].sort(
    (a, b) => a - b,
  );
  const decimals = decimalsFor(
    largest(series.flatMap((one) => one.points.map((point) => point.y))),
  );
  return places.map((place) => ({
    x: x(place),
    content: () => {
      const here = series
        .map((one) => ({ one, point: one.points.find((point) => point.x === place) }))
        .filter(({ point }) => point)
        .sort((a, b) => b.point.y - a.point.y);
      return [
        html("strong", null, `${xText(place)} ${names.x}`),
        html(
          "table",
          null,
          here.map(({ one, point }) =>
            html(
              "tr",
              null,
              html("td", null, swatch(one.style, point.mark === "dot" ? null : point.mark)),
              html("td", { class: "text" }, bdi(cut(one.name, 28))),
              html("td", null, fixed(point.y, decimals)),
              html("td", { class: "text" }, point.note ? point.note(decimals) : ""),
            ),
          ),
        ),
      ];
    },
  }));
}
