// What a workload lacks: the verdict, what it rests on, how it came about, and the queries by what they lack.
// The data is `prospect.sufficiency/1`, with `told` beside it, the words that commands print.

/** Classes with their colours, the best first. */
const CLASSES = [
  ["sufficient", "k2"],
  ["growing", "k0"],
  ["saturated", "k4"],
  ["hopeless", "k1"],
];
const LACKING_SHOWN = 50;
/** What is enough in the rows of plans. */
const USUAL_THETA = 0.7;

const share = (value) => `${fixed(100 * value, 1)} %`;
const part = (value) => fixed(value, 3);
const sentence = (words) => words[0].toUpperCase() + words.slice(1);

/**
 * `list({ class, search, offset, limit })` promises { total, queries }, or null where another question came between;
 * `nameOf(query)` is what stands for a query. `show(found)` shows what was found.
 */
function enoughView({ list, nameOf }) {
  const verdict = html("p", { class: "verdict", "aria-live": "polite" });
  const figuresOf = html("div");
  const chart = cyclesFigure();
  const classes = html("div", {
    class: "classes",
    role: "group",
    "aria-label": "Queries by class",
  });
  const found = html("div", { class: "lacking" });
  const note = html("p", { class: "caption" });
  const shown = { class: "", search: "", offset: 0, limit: LACKING_SHOWN };
  const search = searchBox("queries", (search) => seek({ search, offset: 0 }));

  async function seek(change) {
    Object.assign(shown, change);
    mark();
    const answer = await list({ ...shown });
    if (!answer) return;
    const turning = pager(shown.offset, LACKING_SHOWN, answer.total, (offset) => seek({ offset }));
    turnTo(found, [lackingTable(answer.queries, shown.class, nameOf), turning], search);
  }
  function mark() {
    for (const button of classes.children) {
      button.setAttribute("aria-pressed", String(button.dataset.class === shown.class));
    }
  }
  const choose = (name) => seek({ class: shown.class === name ? "" : name, offset: 0 });
  const node = html(
    "div",
    { class: "enough" },
    verdict,
    figuresOf,
    chart.node,
    html("h3", null, "Queries by class"),
    classes,
    html("h3", null, "Queries, those first that lack most"),
    html("div", { class: "entry" }, search),
    found,
    note,
  );
  return {
    node,
    redraw: () => chart.redraw(),
    show(answer) {
      verdict.replaceChildren(...verdictOf(answer));
      figuresOf.replaceChildren(...wholeOf(answer));
      chart.follow(answer);
      const focused = classes.contains(document.activeElement) && shown.class;
      classes.replaceChildren(
        ...CLASSES.map(([name, colour]) => classButton(answer, name, colour, choose)),
      );
      if (focused) classes.querySelector(`[data-class="${focused}"]`)?.focus();
      note.textContent = `Frontier: results that URLs not fetched yet may still bring. ${answer.note ?? ""}`;
      seek({});
    },
  };
}

function verdictOf({ verdict, told }) {
  return [
    html("strong", { class: verdict.stop ? "stop" : "go" }, verdict.stop ? "Stop" : "Go on"),
    `: ${told.verdict}.`,
  ];
}

/** The workload as a whole, and the batch that would be next. */
function wholeOf(answer) {
  const { workload, kinds, theta, pages, epoch, growth, strategy, told, next_batch: next } = answer;
  const { predicted, low, high } = next.expected_impact?.enters ?? {};
  const expected =
    predicted === undefined
      ? "what it brings is not foreseen before the first page is there"
      : `impact that enters lists ${amount(predicted)} (${amount(low)} to ${amount(high)})`;
  const names = Object.keys(kinds);
  const all = answer.kinds_total ?? names.length;
  return [
    facts([
      ["sufficiency", html("strong", null, part(workload.sufficiency))],
      ["enough is", String(theta)],
      ["askings with enough", share(workload.sufficient_share)],
      ["coverage", `${part(workload.coverage)} (words one by one ${part(workload.words)})`],
      ["consistency", part(workload.consistency)],
      ["redundancy", part(workload.redundancy)],
      ["coverage of the domain", part(workload.domain_coverage)],
      ["what best pages may still gain", growth === null ? "not known" : share(growth)],
      ["queries", thousands(workload.queries)],
      ["asked", `${thousandsOf(workload.askings)} times`],
      ["pages", thousands(pages)],
      ["statistics epoch", String(epoch.number)],
      ["judged by", strategy],
    ]),
    html("p", { class: "caption" }, `${sentence(told.saturation)}.`),
    html(
      "p",
      null,
      `One more batch of ${thousands(next.urls)} ${next.urls === 1 ? "URL" : "URLs"}, ${thousandsOf(next.seconds)} s of a polite crawler: ${expected}.`,
    ),
    names.length < 2 ? null : kindsTable(kinds, names, all),
  ].filter(Boolean);
}

const kindsTable = (kinds, names, all) =>
  tableOf(
    all > names.length
      ? `By kind of query: of ${thousands(all)} kinds the ${thousands(names.length)} most asked`
      : "By kind of query",
    [text("kind"), "queries", "asked", "sufficiency", "with enough", "coverage", "consistency"],
    names.map((name) => [
      bdi(name),
      thousands(kinds[name].queries),
      thousandsOf(kinds[name].askings),
      part(kinds[name].sufficiency),
      share(kinds[name].sufficient_share),
      part(kinds[name].coverage),
      part(kinds[name].consistency),
    ]),
  );

const CYCLE_LINES = [
  ["sufficiency", 0, (row) => row.sufficiency],
  ["coverage", 5, (row) => row.coverage],
  ["askings with enough", 2, (row) => row.sufficient_share],
];

/** The workload when plans were made for it, and now. */
function cyclesFigure() {
  let rows = [];
  const series = () =>
    CYCLE_LINES.map(([name, at, value]) => ({
      name,
      style: look(at, {}),
      thick: at === 0,
      // Of several plans for the same pages the last counts.
      points: rows
        .filter((row, place) => rows[place + 1]?.pages !== row.pages)
        .map((row) => ({ x: row.pages, y: value(row), mark: rows.length > 30 ? "dot" : "full" })),
    }));
  const title = "Over the cycles";
  const panel = figure({
    title,
    tall: true,
    draw: (width) => {
      const names = { x: "pages" };
      const drawn = lineChart(width, {
        height: 260,
        series: series(),
        names,
        most: 1,
        xText: thousands,
      });
      epochEnds(drawn, rows);
      return drawn;
    },
    table: () => ({
      head: [
        "when planned",
        "pages",
        "epoch",
        "sufficiency",
        "coverage",
        "consistency",
        "redundancy",
        "askings with enough",
      ],
      rows: rows.map((row) => [
        row.plan_id ?? "now",
        thousands(row.pages),
        String(row.epoch),
        part(row.sufficiency),
        part(row.coverage),
        part(row.consistency),
        part(row.redundancy),
        share(row.sufficient_share),
      ]),
    }),
  });
  panel.follow = ({ history, history_total: all, workload, pages, epoch, strategy }) => {
    // Plans store what parts say; what another strategy says now is no point of that line.
    const now = { ...workload, pages, epoch: epoch.number, plan_id: null };
    rows = strategy === "statistical" || history.length === 0 ? [...history, now] : history;
    const keys = series().map(({ name, style, thick }) =>
      html("span", null, swatch({ ...style, thick }, "full"), name),
    );
    const ends = rows.some((row, at) => startsEpoch(rows, at));
    panel.retitle(title, [
      `The workload when each plan was made for it, where ${USUAL_THETA} was enough, and now. `,
      all > history.length
        ? `Of ${thousands(all)} plans the last ${thousands(history.length)}. `
        : "",
      ends
        ? "Dashed, upright: an epoch has ended, words count otherwise from there, and everything may move. "
        : "",
      html("span", { class: "keys" }, keys),
    ]);
    panel.redraw();
  };
  return panel;
}

const startsEpoch = (rows, at) => at > 0 && rows[at].epoch !== rows[at - 1].epoch;

/** Marks on a chart where the statistics of one epoch gave way to those of the next. */
function epochEnds({ svg: root, box, stops }, rows) {
  const places = [...new Set(rows.map(({ pages }) => pages))].sort((a, b) => a - b);
  rows.forEach(({ pages, epoch }, at) => {
    if (!startsEpoch(rows, at)) return;
    const { x } = stops[places.indexOf(pages)];
    const line = svg(
      "line",
      { class: "epoch", x1: x, x2: x, y1: box.top, y2: box.bottom },
      svg("title", null, `epoch ${epoch} begins`),
    );
    root.append(line);
  });
}

/** A class: what share of the askings it has, as a bar that lists its queries. */
function classButton({ classes, told }, name, colour, choose) {
  const { queries, askings } = classes[name];
  return html(
    "button",
    { type: "button", "data-class": name, "aria-pressed": "false", click: () => choose(name) },
    html("span", { class: "name" }, name),
    svg(
      "svg",
      { class: colour, viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { class: "back", width: 100, height: 10 }),
      svg("rect", { class: "stick", width: (100 * askings).toFixed(2), height: 10 }),
    ),
    html(
      "span",
      null,
      `${thousands(queries)} ${queries === 1 ? "query" : "queries"}, ${share(askings)} of the askings`,
    ),
    html("span", { class: "note meaning" }, told.classes[name]),
  );
}

const LACKING_HEAD = [
  wide("query"),
  "sufficiency",
  "asked",
  "coverage",
  "consistency",
  "redundancy",
  "domain",
  "saturation",
  "frontier",
  text("class"),
  { text: "words that no page holds", class: "text why" },
];

function lackingTable(queries, name, nameOf) {
  const caption = name ? `Queries of the class ${name}` : "Queries of all classes";
  if (!queries.length) return html("p", { class: "note" }, `${caption}: none.`);
  return tableOf(
    caption,
    LACKING_HEAD,
    queries.map((query) => [
      nameOf(query),
      part(query.sufficiency),
      thousandsOf(query.frequency),
      part(query.coverage),
      part(query.consistency),
      part(query.redundancy),
      part(query.domain_coverage),
      part(query.saturation),
      amount(query.frontier),
      query.class,
      bdi(query.missing_words.join(" ")),
    ]),
  );
}
