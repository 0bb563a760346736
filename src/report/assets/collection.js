// What an experiment shows of the collection: importance, quality, limited sketches.

/** The most cells that a table lists. */
const CELLS_LISTED = 500;

function cellFigure(title, scatter, caption, hexagons) {
  const [width, height] = [0, 1].map((side) => largest(scatter.cells.map((cell) => cell[side])));
  let kind = !hexagons && (width > 50 || height > 50) ? "log1p" : "linear";
  const cells = scatter.cells.slice().sort((a, b) => b[2] - a[2] || a[0] - b[0] || a[1] - b[1]);
  const panel = figure({
    title,
    draw: (width) =>
      cellChart(width, {
        height: 360,
        cells,
        kind,
        line: scatter.line,
        hexagons,
        cellWidth: scatter.width,
        names: { x: scatter.x, y: scatter.y },
      }),
    table: () => ({
      head: [scatter.x, scatter.y, "pages"],
      rows: cells
        .slice(0, CELLS_LISTED)
        .map(([x, y, pages]) => [brief(x), brief(y), thousands(pages)])
        .concat(
          cells.length > CELLS_LISTED
            ? [[`and ${thousands(cells.length - CELLS_LISTED)} cells more`, "", ""]]
            : [],
        ),
    }),
  });
  const found =
    scatter.correlation === null
      ? "no correlation (a side does not vary)"
      : `Pearson correlation ${fixed(scatter.correlation, 3)}`;
  const line = scatter.line
    ? ` Dashed: least squares, y = ${brief(scatter.line[0])} + ${brief(scatter.line[1])} x.`
    : "";
  panel.retitle(title, `${thousands(scatter.pages)} pages, ${found}. ${caption}${line}`);
  if (!hexagons) {
    const axes = choice(
      "Axes",
      ["linear", "log(1 + v)"],
      (to) => {
        kind = ["linear", "log1p"][to];
        panel.redraw();
      },
      kind === "linear" ? 0 : 1,
    );
    panel.node.querySelector(".as-table").before(axes);
  }
  return panel;
}

/** Importance and impact, quality of neighbours, limited sketches. */
function analysesView(experiment) {
  const { importance, quality, limited } = experiment.analyses;
  const panels = [];
  if (importance && importance.cells.length) {
    panels.push(
      cellFigure(
        "Importance and impact",
        importance,
        "Pandey and Olston (2008) found 0.09 on their collection. The larger a disc, the more pages (log). Correlation and line are those of the values, whatever the axes.",
        false,
      ),
    );
  }
  if (quality && quality.cells.length) {
    panels.push(
      cellFigure(
        "Quality of a page and of the pages it links to",
        quality,
        "Pezzuti et al. (2025) found 0.286 on theirs. The stronger the colour, the more pages (log).",
        true,
      ),
    );
  }
  if (limited.length) panels.push(limitedFigure(experiment, limited));
  return panelsView(panels);
}

function limitedFigure(experiment, limited) {
  const series = limited.map(({ policy, points }) => {
    const at = experiment.policies.findIndex(({ name }) => name === policy);
    const known = experiment.policies[at] || { name: policy, oracle: false };
    const sorted = points.filter(([x]) => x > 0).sort((a, b) => a[0] - b[0]);
    return {
      name: policyName(experiment, known),
      style: look(Math.max(at, 0), known),
      points: sorted.map(([x, sketches, y, full]) => ({
        x,
        y,
        mark: "full",
        note: () => `${percent(full)} of full, ${thousands(sketches)} sketches`,
      })),
    };
  });
  const shares = [...new Set(limited.map(({ fetched }) => percent(fetched)))].join(", ");
  const caption = `True impact of the uncrawled pages that is collected when ${shares} of the pages are fetched and only the neediest share of the sketches is kept.`;
  const panel = figure({
    title: "Impact with limited sketches",
    draw: (width) =>
      lineChart(width, {
        height: 360,
        series,
        kind: "log",
        names: { x: "share of the sketches kept (log)" },
      }),
    table: () => ({
      head: ["policy", "share kept", "sketches", "impact", "of full"],
      rows: series.flatMap(({ name }, at) =>
        limited[at].points.map(([fraction, sketches, impact, full]) => [
          name,
          String(fraction),
          thousands(sketches),
          fixed(impact, 3),
          percent(full),
        ]),
      ),
    }),
  });
  const key = html(
    "span",
    { class: "keys" },
    series.map(({ name, style }) => html("span", null, swatch(style, "full"), bdi(name))),
  );
  panel.retitle("Impact with limited sketches", [caption, key]);
  return panel;
}
