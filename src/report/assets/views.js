// What an experiment shows of its policies beside their curves: the legend and the intervals.
//
// `state` of an experiment: kind (a number), band ("sd", "range" or "none"), hidden (policies).

const BANDS = [
  ["none", "none"],
  ["sd", "± 1 standard deviation"],
  ["range", "smallest to largest"],
];

function policyName(experiment, policy) {
  const baseline = policy.name === experiment.baseline ? " (baseline)" : "";
  return policy.name + (policy.oracle ? " (oracle)" : "") + baseline;
}

/** Choice of kind and band, and the legend whose entries hide and show a policy. */
function controlsView(experiment, state, changed) {
  const kinds = choice("Query kind", experiment.kinds, (at) => {
    state.kind = at;
    changed("kind");
  });
  kinds.classList.add("choose-kind");
  const bands = choice(
    "Spread over seed sets",
    BANDS.map(([, text]) => text),
    (at) => {
      state.band = BANDS[at][0];
      changed("band");
    },
  );
  const legend = html("div", {
    class: "legend",
    role: "group",
    "aria-label": "Policies; press to hide or show",
  });
  const buttons = experiment.policies.map((policy, at) => {
    const button = html(
      "button",
      {
        type: "button",
        "aria-pressed": "true",
        "data-policy": at,
        title: policyName(experiment, policy),
        click: () => toggle([at], state.hidden.has(at)),
      },
      swatch(look(at, policy)),
      bdi(cut(policyName(experiment, policy), 40)),
    );
    return button;
  });
  function toggle(policies, visible) {
    for (const at of policies) {
      if (visible) state.hidden.delete(at);
      else state.hidden.add(at);
    }
    buttons.forEach((button, at) =>
      button.setAttribute("aria-pressed", String(!state.hidden.has(at))),
    );
    changed("policies");
  }
  const every = experiment.policies.map((_, at) => at);
  const compared = every.filter((at) => experiment.policies[at].name !== experiment.baseline);
  legend.append(...buttons);
  const quick = html(
    "span",
    { class: "choice quick" },
    "Policies",
    html("button", { type: "button", click: () => toggle(every, true) }, "show all"),
    html(
      "button",
      { type: "button", click: () => toggle(compared, false) },
      experiment.baseline ? "baseline alone" : "hide all",
    ),
  );
  return [
    html(
      "div",
      { class: "choices" },
      experiment.kinds.length > 1 ? kinds : null,
      experiment.sets > 1 ? bands : null,
      quick,
    ),
    legend,
  ];
}

/** Speedups as intervals. */
function summaryView(experiment, state) {
  const sides = [
    ["speedup_relevant", "Speedup in relevant pages"],
    ["speedup_impact", "Speedup in true impact"],
  ];
  const rowsOf = (field) =>
    experiment.policies
      .map((policy, at) => ({ policy, at, interval: policy.kinds[state.kind][field] }))
      .filter(
        ({ at, interval, policy }) =>
          interval && !state.hidden.has(at) && policy.name !== experiment.baseline,
      )
      .map(({ policy, at, interval }) => ({
        name: policyName(experiment, policy),
        style: look(at, policy),
        interval,
      }));
  const has = ([field]) =>
    experiment.policies.some((policy) => policy.kinds.some((kind) => kind[field]));
  const panels = sides.filter(has).map(([field, title]) => {
    const panel = figure({
      title,
      draw: (width) => {
        const rows = rowsOf(field);
        return rows.length
          ? intervalChart(width, { rows, reference: 1, label: "speedup", names: { x: "speedup" } })
          : {
              svg: svg(
                "svg",
                { width, height: 40, viewBox: `0 0 ${width} 40` },
                svg("text", { x: 8, y: 24 }, "nothing to show"),
              ),
              stops: [],
              box: {},
            };
      },
      table: () => ({
        head: ["policy", "speedup", "95 % interval", "seed sets"],
        rows: rowsOf(field).map(({ name, interval }) => [
          name,
          fixed(interval.mean, 3),
          range(interval, 3).trim() || "–",
          interval.values.map((value) => fixed(value, 3)).join(" · "),
        ]),
      }),
    });
    panel.retitle(title, [
      "Times as fast as ",
      bdi(experiment.baseline || "the baseline"),
      ", which is the line at 1. Bar: 95\u00a0% interval over seed sets; small dots: the seed sets; filled: the interval does not hold 1.",
    ]);
    return panel;
  });
  return panelsView(panels);
}
