// What comes of the scenario in a line, then all plans that are compared, one below the other.

/** The plans that are compared: today, A where one is kept, and the scenario being edited. */
function plansOf(app) {
  const of = (name, at, { plan, difference }, scenario) => ({
    name,
    at,
    plan,
    difference,
    scenario,
  });
  const plans = [of("today", 0, { plan: app.today.base, difference: null }, {})];
  if (app.kept) plans.push(of("A", 1, app.kept.answer, app.kept.scenario));
  if (app.answer) plans.push(of("this scenario", 2, app.answer, app.answered));
  return plans;
}

/** The plans that differ from today's, each with its difference. */
const comparedPlans = (app) => plansOf(app).filter((plan) => plan.difference);

/** A section for each compared plan, side by side. */
function sideBySide(app, draw) {
  const plans = comparedPlans(app);
  return html(
    "div",
    { class: plans.length > 1 ? "sides two" : "sides" },
    plans.map((plan) =>
      html(
        "section",
        null,
        plans.length > 1
          ? html("h3", null, `${plan.at === 1 ? "A" : "This scenario"} against today`)
          : null,
        draw(plan),
      ),
    ),
  );
}

const PLAN_HEAD = [
  { text: "plan", class: "text" },
  "expected impact",
  "of it after a quarter more",
  "today's picks here",
  "URLs",
  "stay",
  "enter",
  "leave",
  "held back",
  "one URL more",
  "knee",
  "no help",
];

/** What a batch is expected to have in lists at the close. */
const enters = (plan) => plan.expected_impact.enters;

function planRow({ at, name, plan, difference }) {
  const of = (value) => (difference ? value(difference) : "–");
  const row = [
    [html("i", { class: `patch k${at}` }), ` ${name}`],
    amount(enters(plan).predicted),
    amount(plan.expected_impact.stays.predicted),
    of(({ unchanged_batch }) => amount(unchanged_batch)),
    thousands(plan.picks),
    of(({ kept }) => thousands(kept)),
    of(({ entering_count }) => thousands(entering_count)),
    of(({ leaving_count }) => thousands(leaving_count)),
    thousands(plan.held_back),
    amount(plan.curve.shadow_price),
    place(plan.curve.knee?.budget),
    thousands(plan.uncovered.queries),
  ];
  row.class = at === 2 ? "current" : null;
  return row;
}

/** Pages that a batch fetches again; what they bring is not in its impact. */
function revisitsOf({ revisits }) {
  if (!revisits) return null;
  const { urls, changed, impact } = revisits;
  return `${thousands(urls)} ${urls === 1 ? "page" : "pages"} fetched again, ${fixed(changed, 1)} of which are expected to have changed (impact ${amount(impact)} in the lists, beside that)`;
}

function headline(app) {
  const { plan, difference, slow, matched_queries: matched } = app.answer;
  const { predicted, low, high, cycles } = enters(plan);
  const against = enters(app.kept ? app.kept.answer.plan : app.today.base).predicted;
  const change = predicted - against;
  const share = against ? ` (${change > 0 ? "+" : ""}${fixed((100 * change) / against, 1)} %)` : "";
  const worth = predicted - difference.unchanged_batch;
  const ends = [difference.low, difference.high].map((end) => amount(end, true));
  const interval = app.kept || !change ? "" : ` (${ends.join(" to ")})`;
  const learned = cycles === 1 ? "1 cycle" : `${thousands(cycles)} cycles`;
  const notes = [
    `${thousands(difference.kept)} picks stay, ${thousands(difference.entering_count)} enter, ${thousands(difference.leaving_count)} leave`,
    worth ? `planning again brings ${amount(worth, true)} of it` : null,
    matched ? `${thousands(matched)} new ${matched === 1 ? "query" : "queries"} matched` : null,
    slow ? "all pairs estimated again" : null,
    revisitsOf(plan),
  ];
  return html(
    "p",
    { class: "headline" },
    "Expected impact ",
    html("strong", { id: "impact" }, amount(predicted)),
    ` (${amount(low)} to ${amount(high)}, ${cycles ? `learned from ${learned}` : "not learned yet"})`,
    html(
      "span",
      { id: "change", class: change < 0 ? "worse" : change > 0 ? "better" : "note" },
      ` ${amount(change, true)}${share}${interval}`,
    ),
    ` against ${app.kept ? "A" : "today"}; ${notes.filter(Boolean).join("; ")}.`,
  );
}

function summaryView(app) {
  const live = html("div", { "aria-live": "polite" });
  const legend = html("p", { class: "caption", id: "legend" });
  const keep = html("button", { type: "button", id: "keep", click: () => app.keep() }, "Keep as A");
  const forget = html(
    "button",
    {
      type: "button",
      id: "forget",
      click: () => {
        app.forget();
        keep.focus();
      },
    },
    "Forget A",
  );
  const files = planFiles(app);
  const place = html("div");
  document
    .getElementById("summary")
    .append(
      live,
      html("div", { class: "acts" }, keep, forget, files.node),
      files.trouble,
      place,
      legend,
    );
  return () => {
    live.replaceChildren(headline(app));
    forget.hidden = !app.kept;
    keep.textContent = app.kept ? "Keep as A instead" : "Keep as A";
    place.replaceChildren(tableOf("Plans", PLAN_HEAD, plansOf(app).map(planRow)));
    place.querySelector("caption").className = "unseen";
    const now = `this scenario: ${described(app.answered)}`;
    legend.replaceChildren(
      "Compared: ",
      bdi(app.kept ? `A: ${described(app.kept.scenario)}` : "the plan of today"),
      " with ",
      bdi(now),
      ". Impact is in askings: query frequencies, summed over the result lists that a page is expected to be in when the batch is fetched; in brackets what holds 95 %.",
      plansOf(app).some(({ scenario }) => scenario?.visibility)
        ? " Where ranks are seen otherwise, each counts by how likely it is seen: sums are no gain or loss against today."
        : "",
    );
  };
}
