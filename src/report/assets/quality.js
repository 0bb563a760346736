// What a page on the quality of collections shows: histograms, neighbours, distances, relevance.

/** Colour and shape of a collection, or of a group of pages. */
const lookOf = (at) => ({ class: `k${at % 8}`, shape: SHAPES[at % SHAPES.length] });

/** Histograms over the same bins as shares: `series` are { name, at, values, counts }. */
function histogramChart(width, { height, edges, series, names }) {
  const box = { left: 56, right: width - 14, top: 24, bottom: height - 40 };
  const last = edges.length - 1;
  const most = largest(series.flatMap((one) => one.values).concat(1e-9));
  const x = scale("linear", edges[0], edges[last], box.left, box.right, Math.floor(width / 90));
  const y = scale("linear", 0, most, box.bottom, box.top, Math.floor(height / 60));
  const root = frame(width, height, box, x, y, names);
  for (const { at, values } of series) {
    const steps = values.flatMap((value, bin) => [
      [x(edges[bin]), y(value)],
      [x(edges[bin + 1]), y(value)],
    ]);
    const floor = [
      [x(edges[last]), y(0)],
      [x(edges[0]), y(0)],
    ];
    const group = svg("g", { class: lookOf(at).class });
    group.append(svg("path", { class: "band", d: path(steps.concat(floor)) + "Z" }));
    group.append(svg("path", { class: "line", d: path(steps) }));
    root.append(group);
  }
  const stops = edges.slice(0, last).map((edge, bin) => ({
    x: x((edge + edges[bin + 1]) / 2),
    content: () => [
      html("strong", null, `${brief(edge)} to ${brief(edges[bin + 1])}`),
      html(
        "table",
        null,
        series.map(({ name, at, values, counts }) =>
          html(
            "tr",
            null,
            html("td", null, html("i", { class: `patch ${lookOf(at).class}` })),
            html("td", { class: "text" }, bdi(cut(name, 36))),
            html("td", null, percent(values[bin])),
            html("td", null, thousands(counts[bin])),
          ),
        ),
      ),
    ],
  }));
  return { svg: root, box, stops };
}

function histogramFigure(title, caption, edges, groups) {
  const series = groups.map(({ name, counts, at }) => {
    const all = counts.reduce((sum, count) => sum + count, 0) || 1;
    return { name, at, counts, values: counts.map((count) => count / all) };
  });
  const panel = figure({
    title,
    draw: (width) =>
      histogramChart(width, {
        height: 340,
        edges,
        series,
        names: { x: "quality", y: "share of the pages" },
      }),
    table: () => ({
      head: ["from", "to", ...series.map(({ name }) => name)],
      rows: edges
        .slice(0, -1)
        .map((edge, bin) => [
          brief(edge),
          brief(edges[bin + 1]),
          ...series.map(({ counts }) => thousands(counts[bin])),
        ]),
    }),
  });
  const keys = html(
    "span",
    { class: "keys" },
    series.map(({ name, at }) =>
      html("span", null, html("i", { class: `patch ${lookOf(at).class}` }), bdi(name)),
    ),
  );
  panel.retitle(title, [caption, keys]);
  return panel;
}

function areaFigure(name, aucs) {
  const rows = aucs.map(({ by, area }, at) => ({ name: by, style: lookOf(at), interval: area }));
  const title = `Relevant pages told from others: ${name}`;
  const panel = figure({
    title,
    draw: (width) =>
      intervalChart(width, { rows, reference: 0.5, label: "AUC", names: { x: "AUC" } }),
    table: () => ({
      head: ["ordered by", "AUC", "95 % interval"],
      rows: rows.map(({ name: by, interval }) => [
        by,
        fixed(interval.mean, 3),
        range(interval, 3).trim() || "–",
      ]),
    }),
  });
  panel.retitle(
    title,
    "Area under the ROC curve: the chance that a relevant page has more than another, ties half. Bar: 95\u00a0% interval (DeLong); line: chance.",
  );
  return panel;
}

const QUALITY_VIEWS = {
  histograms: ({ edges, collections }) => [
    histogramFigure(
      "Quality of the collections",
      `Shares of the pages with a score in ${edges.length - 1} equal bins over the joint range.`,
      edges,
      collections.map(({ name, histogram }, at) => ({ name, at, counts: histogram })),
    ),
  ],
  neighbours: ({ collections }) =>
    collections
      .filter(({ neighbours }) => neighbours && neighbours.cells.length)
      .map(({ name, neighbours }) =>
        cellFigure(
          `Quality of a page and of the pages it links to: ${name}`,
          neighbours,
          "Pages with at least one link to a page with a score. Pezzuti et al. (2025) found 0.286 on their collection. The stronger the colour, the more pages (log).",
          true,
        ),
      ),
  relevance: ({ edges, collections }) =>
    collections
      .filter(({ relevance }) => relevance)
      .flatMap(({ name, relevance }) => [
        histogramFigure(
          `Quality of relevant pages: ${name}`,
          "Pages that are relevant to some query, and all others, each group as shares of its own.",
          edges,
          [
            { name: "relevant", at: 1, counts: relevance.relevant },
            { name: "others", at: 0, counts: relevance.others },
          ],
        ),
        ...(relevance.aucs.length ? [areaFigure(name, relevance.aucs)] : []),
      ]),
};

function start(section, found) {
  for (const place of section.querySelectorAll("[data-view]")) {
    const { nodes, redraw } = panelsView(QUALITY_VIEWS[place.dataset.view](found));
    place.append(...nodes);
    redraw();
  }
}
