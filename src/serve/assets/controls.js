// What can be different: numbers, queries, hosts. Every group has a place for what is wrong with it.

/** A group of controls; `keys` are those of a scenario that it edits. */
function group(title, keys, open, ...content) {
  const trouble = html("div", { class: "trouble", "aria-live": "polite" });
  const node = html("details", { open }, html("summary", null, title), ...content, trouble);
  return { node, keys, trouble };
}

/** What a control is called. */
const labelOf = ({ help }) => help[0].toUpperCase() + help.slice(1);

/** Values that a slider for an option stops at; none if it is no quantity. */
function stepsOf({ kind, today, is_cap }, frontier) {
  if (kind.whole && Number.isSafeInteger(kind.whole.most)) {
    const most = Math.min(kind.whole.most, Math.max(frontier, Number(today) || 0, 1));
    return [...(is_cap ? [0] : []), ...ratioSteps(most)];
  }
  if (!kind.number) return null;
  const reach = Math.max(2, Math.ceil((Number(today) || 0) * 2));
  return evenSteps(Math.min(kind.number.most, reach), 0.01);
}

/** All groups. `app.change(edit => …)` edits the scenario and asks again. */
function controlGroups(app) {
  const { options, base } = app.today;
  const shown = [];
  const control = (option) => {
    const { name: key, today, is_cap } = option;
    const changed = (value) =>
      app.change((edit) => {
        if (value === null) delete edit.values[key];
        else edit.values[key] = value;
      });
    const steps = stepsOf(option, base.frontier);
    const quantity = typeof today === "number" ? Number(today.toFixed(4)) : 0;
    const none = is_cap ? "none" : "";
    const one = steps
      ? slider({ key, label: labelOf(option), steps, today: quantity, none, changed })
      : optionField(option, changed);
    shown.push(one);
    return one.node;
  };
  const head = html(
    "p",
    { class: "slider head", "aria-hidden": "true" },
    html("span", null, ""),
    html("span", null, "scenario"),
    html("span", null, "today"),
  );
  const of = (title, isMeant, open, ...before) => {
    const meant = options.filter((option) => !option.is_slow && isMeant(option));
    const keys = meant.map(({ name }) => name);
    return group(title, keys, open, ...before, meant.map(control));
  };
  const workload = workloadGroup(app);
  const hosts = hostsGroup(app);
  const slow = slowGroup(app);
  const groups = [
    of("Budget", ({ is_cap, invalidates }) => !is_cap && invalidates === "selection", true, head),
    of("Weights of queries and parts", ({ invalidates }) => invalidates === "weights", true),
    workload.group,
    hosts.group,
    of("Caps", ({ is_cap }) => is_cap, false),
    slow.group,
  ];
  return {
    groups,
    workload,
    /** Shows what `edit` says, where it was changed elsewhere. */
    follow(edit) {
      shown.forEach((one) => one.set(edit.values[one.key]));
      workload.follow(edit);
      hosts.follow(edit);
      slow.follow(edit);
    },
  };
}

/** A field for an option that is no slider. Calls `changed(value)`, with null for the value of today. */
function optionField(option, changed) {
  const { name: key, kind, range, today } = option;
  const told = typeof today === "number" ? typed(today) : today;
  const label = labelOf(option);
  const shared = { "aria-label": label, title: range };
  const names = (kind.choice || []).map((name) =>
    html("option", { selected: name === today }, name),
  );
  const field = kind.choice
    ? html("select", { ...shared, change: () => changed(value()) }, names)
    : html("input", { ...shared, type: "text", value: told, change: () => changed(value()) });
  const value = () => {
    const given = field.value.trim();
    if (given === "" || given === told) return null;
    return !kind.choice && Number.isFinite(Number(given)) ? Number(given) : given;
  };
  const node = html(
    "label",
    { class: "field", "data-key": key },
    html("span", null, label),
    field,
    html("span", { class: "note" }, `today ${told}`),
  );
  const set = (given) => {
    const shown = given ?? told;
    field.value = typeof shown === "number" ? typed(shown) : shown;
  };
  return { node, key, value, set };
}

/** Options for which all pairs are estimated again. */
function slowGroup(app) {
  const slow = app.today.options.filter(({ is_slow }) => is_slow);
  const fields = slow.map((option) => optionField(option, () => {}));
  const apply = () =>
    app.change((edit) => {
      for (const { key, value } of fields) {
        const given = value();
        if (given === null) delete edit.values[key];
        else edit.values[key] = given;
      }
    });
  const made = group(
    "Slow: lists, objective and matching",
    fields.map(({ key }) => key),
    false,
    html("p", { class: "caption" }, "All pairs have to be estimated again, which takes a while."),
    fields.map(({ node }) => node),
    html("button", { type: "button", id: "again", click: apply }, "Estimate again"),
  );
  let applied = {};
  return {
    group: made,
    // What is typed and not applied stays.
    follow: ({ values }) => {
      for (const { key, set } of fields) {
        if (values[key] !== applied[key]) set(values[key]);
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
