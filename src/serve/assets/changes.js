// What a scenario changes: URLs, queries, hosts, and whom nothing can help.

const URL_CHANGES = [
  ["entering", "enter"],
  ["leaving", "leave"],
  ["moving", "move"],
];

function urlsTab(app) {
  let kind = "entering";
  const room = html("div");
  const chosen = switches("URLs that", URL_CHANGES, kind, (to) => {
    kind = to;
    show();
  });
  function show() {
    const plans = comparedPlans(app);
    const last = plans[plans.length - 1].difference;
    [...chosen.children].forEach((button, at) => {
      const [key, shown] = URL_CHANGES[at];
      button.textContent = `${shown} (${thousands(last[`${key}_count`])})`;
    });
    const word = URL_CHANGES.find(([key]) => key === kind)[1];
    const table = ({ difference, scenario }) => {
      const changes = difference[kind];
      const all = difference[`${kind}_count`];
      if (!changes.length) return html("p", { class: "note" }, `No URL would ${word}.`);
      const more = all > changes.length ? `, the first ${thousands(changes.length)}` : "";
      return tableOf(
        `URLs that ${word}: ${thousands(all)}${more}`,
        [wide("URL"), "place", "estimate", { text: "why", class: "text why" }],
        changes.map((change) => [
          urlButton(app, change.url, scenario),
          `${place(change.rank_before)} → ${place(change.rank_after)}`,
          `${amount(change.estimate_before)} → ${amount(change.estimate_after)}`,
          bdi(change.reason),
        ]),
      );
    };
    room.replaceChildren(sideBySide(app, table));
  }
  return { node: html("div", null, chosen, room), show };
}

function queriesTab(app) {
  const node = html("div");
  const table = (title, changes, scenario) => {
    if (!changes.length) return html("p", { class: "note" }, `${title}: none.`);
    const most = largest(changes.flatMap(askings).concat(0.001));
    return tableOf(
      title,
      [wide("query"), "asked", "results expected", "askings", ""],
      changes.map((one) => {
        const [before, after] = askings(one);
        const asked = [one.frequency_before, one.frequency_after].map(thousandsOf);
        return [
          queryButton(app, one, scenario),
          asked[0] === asked[1] ? asked[0] : asked.join(" → "),
          `${amount(one.results_before)} → ${amount(one.results_after)}`,
          amount(after - before, true),
          change(before, after, most),
        ];
      }),
    );
  };
  const show = () =>
    node.replaceChildren(
      html(
        "p",
        { class: "caption" },
        "How often a query is asked times the results that the batch is expected to bring it: today (hollow) and then (filled).",
      ),
      sideBySide(app, ({ difference, scenario }) => [
        table("Queries that gain most", difference.gaining, scenario),
        table("Queries that lose most", difference.losing, scenario),
      ]),
    );
  return { node, show };
}

/** Picks of a host in a plan and their impact; null where it is not among those that are listed. */
function hostIn(plan, host) {
  const found = plan.plan.hosts.find((one) => one.host === host);
  const changed = plan.difference?.hosts.find((one) => one.host === host);
  if (found) return [found.urls, found.impact];
  return changed ? [changed.urls_after, changed.impact_after] : null;
}

function hostsTab(app) {
  const MOST = 20;
  const rows = () => {
    const plans = plansOf(app);
    const names = plans.flatMap(({ plan, difference }) =>
      [...(difference?.hosts || []), ...plan.hosts].map(({ host }) => host),
    );
    const before = (host) =>
      plans.flatMap(({ difference }) => difference?.hosts || []).find((one) => one.host === host);
    const at = (plan, host) => {
      const old = plan.at === 0 && before(host);
      return hostIn(plan, host) || (old ? [old.urls_before, old.impact_before] : null);
    };
    return [...new Set(names)]
      .map((name) => ({ name, figures: plans.map((plan) => at(plan, name)) }))
      .sort((a, b) => worth(b) - worth(a))
      .slice(0, MOST);
  };
  const worth = ({ figures }) => largest(figures.map((one) => (one ? one[1] : 0)));
  const series = () => plansOf(app).map(({ name, at }) => ({ name, class: `k${at}` }));
  const panel = barFigure({
    title: "Hosts of the picks",
    caption: `Expected impact of the picks of each host; of more than ${MOST}, those with most. `,
    heading: "host",
    names: { x: "expected impact" },
    read: () => ({
      rows: rows().map(({ name, figures }) => ({
        name,
        values: figures.map((one) => (one ? one[1] : null)),
      })),
      series: series(),
    }),
  });
  const table = html("div");
  const show = () => {
    panel.rekey();
    panel.redraw();
    const names = series().map(({ name }) => name);
    const cells = (one) => (one ? [thousands(one[0]), amount(one[1])] : ["–", "–"]);
    table.replaceChildren(
      tableOf(
        "Hosts",
        [wide("host"), ...names.flatMap((name) => [`URLs, ${name}`, `impact, ${name}`])],
        rows().map(({ name, figures }) => [bdi(name), ...figures.flatMap(cells)]),
      ),
    );
  };
  return { node: html("div", null, panel.node, table), show };
}

function helpTab(app) {
  const node = html("div");
  const table = ({ plan, scenario }) => {
    const { queries, frequency, most_asked: most } = plan.uncovered;
    if (!queries) return html("p", null, "Every query has a URL in the frontier that may help it.");
    return [
      html(
        "p",
        null,
        `No known URL may answer ${thousands(queries)} of the queries, ${amount(frequency)} askings together: they need seeds.`,
      ),
      tableOf(
        "The most asked",
        [wide("query"), "asked", "results now"],
        most.map((one) => [
          queryButton(app, one, scenario),
          thousandsOf(one.frequency),
          thousands(one.served),
        ]),
      ),
    ];
  };
  return { node, show: () => node.replaceChildren(sideBySide(app, table)) };
}

/** Why no cap costs anything: one can be set where it holds nothing back, as the share of a site among few sites. */
function noPrice(app) {
  const plans = plansOf(app);
  const isSet = ({ name, is_cap: isCap, today }) =>
    isCap && plans.some(({ scenario }) => Number(scenario[name] ?? today) > 0);
  const labels = app.today.options.filter(isSet).map(labelOf);
  return labels.length
    ? `Set, but of no effect among the sites of this frontier: ${labels.join("; ")}.`
    : "No cap is set, so none costs anything.";
}

function budgetTab(app) {
  const panel = budgetFigure(() => plansOf(app), 300);
  const prices = html("div");
  const show = () => {
    panel.rekey();
    panel.redraw();
    const rows = plansOf(app).flatMap(({ name, plan }) =>
      plan.caps.map(({ cap, limit, price }) => [name, cap, thousandsOf(limit), amount(price)]),
    );
    prices.replaceChildren(
      rows.length
        ? tableOf("What caps cost", [text("plan"), text("cap"), "limit", "impact lost"], rows)
        : html("p", { class: "note" }, noPrice(app)),
    );
  };
  return { node: html("div", null, panel.node, prices), show };
}
