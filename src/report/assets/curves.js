// The curves: one figure a metric, and the same small by query kind.

/** What filled, hollow and dashed mean. */
function marks(experiment) {
  const style = { class: "plain-mark", shape: SHAPES[0], dash: null };
  const oracle = { ...style, dash: "7 4" };
  const key = (mark, text, of = style) => html("span", null, swatch(of, mark), text);
  const tested = experiment.baseline
    ? [
        key(
          "full",
          bdi(`differs from ${experiment.baseline} (Holm, p < ${experiment.significance})`),
        ),
        key("open", "does not differ significantly"),
        html(
          "span",
          null,
          swatch({ ...style, thick: true }, null),
          bdi(`${experiment.baseline}, the baseline`),
        ),
      ]
    : [];
  const oracles = experiment.policies.some((policy) => policy.oracle)
    ? [key(null, "oracle: reads what no crawler can know", oracle)]
    : [];
  return html(
    "p",
    { class: "marks" },
    tested,
    html(
      "span",
      null,
      swatch({ ...style, shape: () => SHAPES[0](1.6) }, "dot"),
      "small dot: not tested",
    ),
    oracles,
    html(
      "span",
      null,
      "Lines are means over seed sets; in tables, ± is one standard deviation and * a significant difference.",
    ),
  );
}

/** The lines of one metric on the queries of one kind. */
function seriesOf(experiment, state, kind, metric) {
  return experiment.policies
    .map((policy, at) => ({ policy, at }))
    .filter(({ at }) => !state.hidden.has(at))
    .map(({ policy, at }) => {
      const curve = policy.kinds[kind].curves[metric];
      return {
        name: policyName(experiment, policy),
        style: look(at, policy),
        thick: policy.name === experiment.baseline,
        points: curve.pages.map((pages, i) => pointOf(curve, pages, i, state.band)),
      };
    });
}

function pointOf(curve, pages, i, band) {
  const test = curve.tests[i];
  const point = { x: pages, y: curve.mean[i], mark: test ? (test[3] ? "full" : "open") : "dot" };
  if (band === "sd")
    [point.low, point.high] = [curve.mean[i] - curve.sd[i], curve.mean[i] + curve.sd[i]];
  if (band === "range") [point.low, point.high] = [curve.min[i], curve.max[i]];
  point.note = (decimals) =>
    `± ${fixed(curve.sd[i], decimals)}` + (test ? `, ${probability(test[2])}` : "");
  return point;
}

function curveTable(experiment, kind, metric) {
  const curves = experiment.policies.map((policy) => policy.kinds[kind].curves[metric]);
  const decimals = decimalsFor(largest(curves.flatMap((curve) => curve.mean)));
  const places = [...new Set(curves.flatMap((curve) => curve.pages))].sort((a, b) => a - b);
  const cell = (curve, pages) => {
    const i = curve.pages.indexOf(pages);
    if (i < 0) return "–";
    return `${fixed(curve.mean[i], decimals)} ± ${fixed(curve.sd[i], decimals)}${curve.tests[i]?.[3] ? " *" : ""}`;
  };
  const head = [
    "pages fetched",
    ...experiment.policies.map((policy) => policyName(experiment, policy)),
  ];
  return {
    head,
    rows: places.map((pages) => [thousands(pages), ...curves.map((curve) => cell(curve, pages))]),
  };
}

/** A figure a metric. */
function curvesView(experiment, state) {
  const panels = experiment.metrics.map((metric, at) =>
    figure({
      title: metric.name,
      caption: metric.meaning,
      draw: (width) =>
        lineChart(width, {
          height: 310,
          series: seriesOf(experiment, state, state.kind, at),
          names: { x: "pages fetched" },
          xText: thousands,
        }),
      table: () => curveTable(experiment, state.kind, at),
    }),
  );
  const redraw = () =>
    panels.forEach((panel, at) => {
      const { name } = experiment.metrics[at];
      const of = experiment.kinds.length > 1 ? `, ${experiment.kinds[state.kind]} queries` : "";
      panel.retitle(name + of);
      panel.redraw();
    });
  return {
    nodes: [
      marks(experiment),
      html(
        "div",
        { class: "panels" },
        panels.map((panel) => panel.node),
      ),
    ],
    redraw,
  };
}

/** One metric, a small figure a kind, on one scale. */
function kindsView(experiment, state) {
  let metric = 0;
  const most = () =>
    Math.max(
      0,
      ...experiment.policies
        .filter((_, at) => !state.hidden.has(at))
        .flatMap((policy) =>
          policy.kinds.flatMap(({ curves }) =>
            curves[metric].mean.map((mean, i) =>
              state.band === "range"
                ? curves[metric].max[i]
                : mean + (state.band === "sd" ? curves[metric].sd[i] : 0),
            ),
          ),
        ),
    );
  const panels = experiment.kinds.map((kind, at) =>
    figure({
      title: kind,
      draw: (width) =>
        lineChart(width, {
          height: 220,
          radius: 2.5,
          most: most(),
          series: seriesOf(experiment, state, at, metric),
          names: { x: "pages fetched" },
          xText: thousands,
        }),
      table: () => curveTable(experiment, at, metric),
    }),
  );
  const redraw = () =>
    panels.forEach((panel, at) => {
      const { queries } = experiment.policies[0].kinds[at];
      panel.retitle(
        `${experiment.kinds[at]}: ${experiment.metrics[metric].name}`,
        `${thousands(queries)} queries with a relevant page.`,
      );
      panel.redraw();
    });
  const select = choice(
    "Metric",
    experiment.metrics.map(({ name }) => name),
    (at) => {
      metric = at;
      redraw();
    },
  );
  return {
    nodes: [
      html("div", { class: "choices" }, select),
      html(
        "div",
        { class: "panels small" },
        panels.map((panel) => panel.node),
      ),
    ],
    redraw,
  };
}
