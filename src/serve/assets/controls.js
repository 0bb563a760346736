// What can be different: numbers, queries, hosts. Every group has a place for what is wrong with it.

/** A group of controls; `keys` are those of a scenario that it edits. */
function group(title, keys, open, ...content) {
  const trouble = html("div", { class: "trouble", "aria-live": "polite" });
  const node = html("details", { open }, html("summary", null, title), ...content, trouble);
  return { node, keys, trouble };
}

const WEIGHTS = {
  query: "Queries that match",
  locality: "Queries near by",
  page: "Model of pages",
  importance: "Importance",
  quality: "Quality",
};

/** All groups. `app.change(edit => …)` edits the scenario and asks again. */
function controlGroups(app) {
  const { settings, weights, base } = app.today;
  const sliders = [];
  const add = (options) => {
    const one = slider({
      ...options,
      changed: (value) =>
        app.change((edit) => {
          if (value === null) delete edit.values[options.key];
          else edit.values[options.key] = value;
        }),
    });
    sliders.push(one);
    return one.node;
  };
  const most = Math.max(base.frontier, settings.budget, 1);
  const cap = (key, label) =>
    add({
      key,
      label,
      steps: [0, ...ratioSteps(most)],
      today: settings.caps[key.replace("-", "_")] || 0,
      none: "none",
    });
  const weight = ([part, label]) =>
    add({
      key: `weights.${part}`,
      label,
      steps: evenSteps(Math.max(2, Math.ceil((weights[part] || 0) * 2)), 0.01),
      today: Number((weights[part] || 0).toFixed(4)),
    });
  const share = (key, label, today, none) =>
    add({ key, label, steps: evenSteps(1, 0.01), today, none });
  const head = html(
    "p",
    { class: "slider head", "aria-hidden": "true" },
    html("span", null, ""),
    html("span", null, ""),
    html("span", null, "scenario"),
    html("span", null, "today"),
  );
  const workload = workloadGroup(app);
  const hosts = hostsGroup(app);
  const slow = slowGroup(app);
  const groups = [
    group(
      "Budget",
      ["budget", "explore"],
      true,
      head,
      add({
        key: "budget",
        label: "URLs to pick",
        steps: ratioSteps(most),
        today: settings.budget,
      }),
      share("explore", "Share explored", settings.explore, "none"),
    ),
    group(
      "Weights of the parts of an estimate",
      ["weights"],
      true,
      Object.entries(WEIGHTS).map(weight),
    ),
    workload.group,
    hosts.group,
    group(
      "Caps",
      ["per-host", "per-domain", "per-site", "site-share"],
      false,
      cap("per-host", "URLs of a host"),
      cap("per-domain", "URLs of a domain"),
      cap("per-site", "URLs of a site"),
      share("site-share", "Share of a site", settings.caps.site_share || 0, "none"),
    ),
    slow.group,
  ];
  return {
    groups,
    workload,
    /** Shows what `edit` says, where it was changed elsewhere. */
    follow(edit) {
      sliders.forEach((one) => one.set(edit.values[one.key]));
      workload.follow(edit);
      hosts.follow(edit);
      slow.follow(edit);
    },
  };
}

const VISIBILITIES = ["top", "log", "geometric:0.8"];
const OBJECTIVES = ["expected", "ranks", "served", "cautious"];

/** Lists, the objective and the rule of matching, for which all pairs are estimated again. */
function slowGroup(app) {
  const { k, rho, visibility, objective } = app.today.settings;
  const input = (label, today, step) =>
    html("input", { type: "number", min: 0, step, "aria-label": label, value: typed(today) });
  const length = input("Results in a list (k)", k, 1);
  const share = input("Share of words that a URL must hold (rho)", rho, "any");
  const select = (label, names, today) => {
    const all = [...new Set([today, ...names])].sort();
    const options = all.map((name) => html("option", { selected: name === today }, name));
    return html("select", { "aria-label": label }, options);
  };
  const seen = select("How likely a rank is seen", VISIBILITIES, visibility);
  const aim = select("What a batch is to bring the most of", OBJECTIVES, objective);
  const typedNumber = (field, today) => (field.value.trim() === "" ? today : Number(field.value));
  const fields = [
    { key: "k", today: k, field: length, value: typedNumber },
    { key: "visibility", today: visibility, field: seen, value: ({ value }) => value },
    { key: "objective", today: objective, field: aim, value: ({ value }) => value },
    { key: "rho", today: rho, field: share, value: typedNumber },
  ];
  const apply = () =>
    app.change((edit) => {
      for (const { key, field, today, value } of fields) {
        const given = value(field, today);
        if (given === today) delete edit.values[key];
        else edit.values[key] = given;
      }
    });
  const row = (label, field, today) =>
    html(
      "label",
      { class: "field" },
      html("span", null, label),
      field,
      html("span", { class: "note" }, `today ${typeof today === "string" ? today : typed(today)}`),
    );
  const made = group(
    "Slow: lists, objective and matching",
    fields.map(({ key }) => key),
    false,
    html("p", { class: "caption" }, "All pairs have to be estimated again, which takes a while."),
    row("Results in a list (k)", length, k),
    row("How likely a rank is seen", seen, visibility),
    row("What a batch is to bring the most of", aim, objective),
    row("Share of words that a URL must hold (rho)", share, rho),
    html("button", { type: "button", id: "again", click: apply }, "Estimate again"),
  );
  let applied = {};
  return {
    group: made,
    // What is typed and not applied stays.
    follow: ({ values }) => {
      for (const { key, field, today } of fields) {
        const shown = values[key] ?? today;
        if (values[key] === applied[key]) continue;
        field.value = typeof shown === "string" ? shown : typed(shown);
      }
      applied = { ...values };
    },
  };
}

/** What was said one by one, each with a button that takes it back. */
function chips(label, entries) {
  if (!entries.length) return null;
  const takeBack = (remove) => (event) => {
    const around = event.currentTarget.closest("details");
    remove();
    // The button is gone; the next one, or a field of the group, takes the focus.
    (around.querySelector(".chips button") || around.querySelector("form input")).focus();
  };
  return html(
    "ul",
    { class: "chips", "aria-label": label },
    entries.map(({ text, remove }) =>
      html(
        "li",
        null,
        bdi(cut(text, 60)),
        html(
          "button",
          {
            type: "button",
            title: "Take back",
            "aria-label": `Take back: ${text}`,
            click: takeBack(remove),
          },
          "×",
        ),
      ),
    ),
  );
}

/** Fields in a line with a button, which Enter presses too. */
function entryForm(button, fields, done) {
  const form = html(
    "form",
    {
      class: "entry",
      submit: (event) => {
        event.preventDefault();
        if (done(...fields.map((field) => field.value)) === false) return;
        fields.forEach((field) => {
          field.value = field.defaultValue;
        });
        fields[0].focus();
      },
    },
    fields,
    html("button", { type: "submit" }, button),
  );
  return form;
}
