// Plans side by side: impact against budget, hosts, queries. A plan is { name, at, plan }: `at` is
// its colour, `plan` its figures.

/** Impact expected of so many URLs; null beyond the end of the curve. */
function impactAt(points, budget) {
  const next = points.findIndex((point) => point.budget >= budget);
  if (next < 0) return null;
  const [before, after] = [points[Math.max(next - 1, 0)], points[next]];
  const span = after.budget - before.budget;
  const share = span > 0 ? (budget - before.budget) / span : 0;
  return before.impact + share * (after.impact - before.impact);
}

/** Where a plan stands on its own curve. */
function budgetMarks({ budget, curve }) {
  const end = curve.points.length ? curve.points[curve.points.length - 1].budget : 0;
  return { budget: Math.min(budget, end), knee: curve.knee ? curve.knee.budget : null };
}

/** The curves, each with a point at every budget that one of them has. */
function budgetSeries(plans) {
  const places = new Set();
  for (const { plan } of plans) {
    plan.curve.points.forEach((point) => places.add(point.budget));
    places.add(budgetMarks(plan).budget);
  }
  const sorted = [...places].sort((a, b) => a - b);
  return plans.map(({ name, at, plan }) => {
    const marks = budgetMarks(plan);
    const point = (budget) => {
      const here = budget === marks.budget ? "full" : budget === marks.knee ? "open" : null;
      const note = { full: "its budget", open: "its knee" }[here];
      return {
        x: budget,
        y: impactAt(plan.curve.points, budget),
        mark: here,
        note: () => note || "",
      };
    };
    const points = sorted.map(point).filter(({ y }) => y !== null);
    return { name, style: look(at, {}), thick: at === 0, points };
  });
}

/** Impact against budget; `read()` gives the plans. */
function budgetFigure(read, height = 330) {
  const title = "Expected impact against budget";
  const panel = figure({
    title,
    tall: true,
    draw: (width) =>
      lineChart(width, {
        height,
        series: budgetSeries(read()),
        radius: 4.4,
        names: { x: "URLs" },
        xText: thousands,
      }),
    table: () => {
      const series = budgetSeries(read());
      const decimals = decimalsFor(largest(series.flatMap((one) => one.points.map(({ y }) => y))));
      const places = series.flatMap((one) => one.points.map(({ x }) => x));
      const cell = (one, place) => {
        const point = one.points.find(({ x }) => x === place);
        return point ? `${fixed(point.y, decimals)} ${point.note()}`.trim() : "–";
      };
      return {
        head: ["URLs", ...series.map(({ name }) => name)],
        rows: [...new Set(places)]
          .sort((a, b) => a - b)
          .map((place) => [thousands(place), ...series.map((one) => cell(one, place))]),
      };
    },
  });
  panel.rekey = () => {
    const keys = budgetSeries(read()).map(({ name, style, thick }) =>
      html("span", null, swatch({ ...style, thick }, null), bdi(cut(name, 48))),
    );
    const price = ({ name, plan }) => [
      bdi(cut(name, 48)),
      `: one URL more adds ${fixed(plan.curve.shadow_price, decimalsFor(plan.curve.shadow_price))}. `,
    ];
    panel.retitle(title, [
      "Best URLs first, under the caps and without exploration. Filled: the budget. Hollow: the knee, where the curve that is shown bends most. ",
      ...read().flatMap(price),
      html("span", { class: "keys" }, keys),
    ]);
  };
  panel.rekey();
  return panel;
}

/** How often a query is asked times the results that a batch brings it. */
const askings = (change) => [
  change.frequency_before * change.results_before,
  change.frequency_after * change.results_after,
];
