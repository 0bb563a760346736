// What an experiment shows beside its curves: queries and hosts.

/** Queries that gained and lost, of one policy. */
function queriesView(experiment) {
  const policies = experiment.policies.filter(({ gained, lost }) => gained.length || lost.length);
  const place = html("div", { class: "panels" });
  const select = choice(
    "Policy",
    policies.map((policy) => policyName(experiment, policy)),
    show,
  );
  function show(at) {
    const { gained, lost } = policies[at];
    place.replaceChildren(changeTable("Gained most", gained), changeTable("Lost most", lost));
  }
  function changeTable(title, changes) {
    if (!changes.length) return html("p", { class: "note" }, `${title}: no query.`);
    const most = Math.max(...changes.flatMap(({ baseline, policy }) => [baseline, policy]), 0.001);
    const compared = bdi(experiment.baseline || "baseline");
    return tableOf(
      title,
      [wide("query"), text("kind"), { text: compared }, "policy", "change", ""],
      changes.map(({ qid, query, kind, baseline, policy }) => [
        html("bdi", { title: qid }, query),
        bdi(kind),
        fixed(baseline, 3),
        fixed(policy, 3),
        (policy > baseline ? "+" : "") + fixed(policy - baseline, 3),
        change(baseline, policy, most),
      ]),
    );
  }
  if (policies.length) show(0);
  const caption = html(
    "p",
    { class: "caption" },
    "Mean height of the query's nDCG@10 curve under the baseline (hollow) and under the policy (filled). Extremes of many queries: they show where a policy differs, not how much.",
  );
  return { nodes: [html("div", { class: "choices" }, select), place, caption] };
}

/** What hosts the fetched pages are on, of one policy. */
function hostsView(experiment) {
  const policies = experiment.policies.filter(({ hosts }) => hosts.pages.length);
  let at = 0;
  const key = html("div", { class: "legend still" });
  const layers = () =>
    policies[at].hosts.names.map((name, host) => ({
      name,
      values: policies[at].hosts.shares[host],
      class: name === "(other)" ? "other" : `k${host % COLOURS}${host >= COLOURS ? " pale" : ""}`,
    }));
  const panel = figure({
    title: "Hosts",
    tall: true,
    draw: (width) =>
      stackChart(width, {
        height: 340,
        pages: policies[at].hosts.pages,
        layers: layers(),
        names: { x: "pages fetched" },
      }),
    table: () => ({
      head: ["pages fetched", ...policies[at].hosts.names],
      rows: policies[at].hosts.pages.map((pages, i) => [
        thousands(pages),
        ...policies[at].hosts.shares.map((shares) => percent(shares[i])),
      ]),
    }),
  });
  const redraw = () => {
    panel.retitle(
      `Hosts of the pages fetched by ${policyName(experiment, policies[at])}`,
      "Share of all pages fetched so far, mean over seed sets. The collection's largest hosts, the largest at the bottom.",
    );
    key.replaceChildren(
      ...layers().map((layer) =>
        html(
          "span",
          { title: layer.name },
          html("i", { class: `patch ${layer.class}` }),
          bdi(cut(layer.name, 36)),
        ),
      ),
    );
    panel.redraw();
  };
  const select = choice(
    "Policy",
    policies.map((policy) => policyName(experiment, policy)),
    (to) => {
      at = to;
      redraw();
    },
  );
  return { nodes: [html("div", { class: "choices" }, select), key, panel.node], redraw };
}
