// The queries: how often each is asked, searched, edited in place, dropped, multiplied and added.

const QUERIES_SHOWN = 25;

function workloadGroup(app) {
  const question = asker();
  const shown = { search: "", order: "frequency", offset: 0 };
  const body = html("tbody");
  const rows = new Map();
  const turning = html("div");
  const said = html("div");
  const search = searchBox("queries", (search) => seek({ search, offset: 0 }));
  const order = choice("by", ["how often asked", "what they gain"], (at) =>
    seek({ order: ["frequency", "gain"][at], offset: 0 }),
  );
  const table = html(
    "table",
    { class: "workload" },
    html("caption", { class: "unseen" }, "Queries"),
    html(
      "thead",
      null,
      html(
        "tr",
        null,
        ["query", "asked", "gains", ""].map((name) => html("th", { scope: "col" }, name)),
      ),
    ),
    body,
  );

  function seek(change) {
    Object.assign(shown, change);
    load(true);
  }
  async function load(anew) {
    try {
      const body = { scenario: app.scenario, ...shown, limit: QUERIES_SHOWN };
      const found = await question("api/queries", body);
      if (!found) return;
      show(found, anew);
      showTrouble(made.trouble, null);
    } catch (error) {
      showTrouble(made.trouble, error);
    }
  }

  /** Rows stay where they are while one of them is edited: else it would move from under the keys. */
  function show(found, anew) {
    const editing = body.contains(document.activeElement);
    const same =
      rows.size === found.queries.length && found.queries.every(({ query }) => rows.has(query));
    if (anew || !(editing || same)) {
      rows.clear();
      body.replaceChildren(
        ...found.queries.map((query) => {
          const row = queryRow(query);
          rows.set(query.query, row);
          return row.node;
        }),
      );
      const turn = (offset) => seek({ offset });
      turnTo(turning, [pager(shown.offset, QUERIES_SHOWN, found.total, turn)], search);
    }
    found.queries.forEach((query) => rows.get(query.query)?.show(query));
  }

  /** Sets how often a query is asked; null takes that back. */
  const set = (query, frequency) =>
    app.change((edit) => {
      const own = edit.added.find((added) => added.query === query.query);
      if (own && query.base_frequency === 0) {
        if (frequency) own.frequency = frequency;
        else edit.added = edit.added.filter((added) => added !== own);
      } else if (frequency === null || (frequency === query.base_frequency && !edit.scaled.length)) {
        edit.asked.delete(query.query);
      } else edit.asked.set(query.query, frequency);
    });

  function queryRow(first) {
    let query = first;
    const frequency = html("input", {
      type: "number",
      min: 0,
      step: "any",
      "aria-label": `How often: ${first.query}`,
      input: () => frequency.value.trim() !== "" && set(query, Number(frequency.value)),
    });
    const to = (value) => () => {
      // Once: what is computed from the field is another number when the field has changed.
      const given = value();
      frequency.value = typed(given);
      set(query, given);
    };
    const button = (shown, label, value) =>
      html(
        "button",
        {
          type: "button",
          title: label,
          "aria-label": `${label}: ${first.query}`,
          click: to(value),
        },
        shown,
      );
    const now = () => Number(frequency.value) || 0;
    const was = html("small", { class: "note" });
    const gains = html("td");
    const node = html(
      "tr",
      { "data-qid": first.qid },
      html("th", { scope: "row", class: "query" }, queryButton(app, first), was),
      html("td", null, frequency),
      gains,
      html(
        "td",
        { class: "acts" },
        button("×2", "Twice as often", () => now() * 2),
        button("0", "Drop", () => 0),
        button("↺", "As today", () => query.base_frequency),
      ),
    );
    const self = {
      node,
      show(found) {
        query = found;
        if (document.activeElement !== frequency) frequency.value = typed(found.frequency);
        was.textContent =
          found.base_frequency > 0 ? `today ${thousandsOf(found.base_frequency)}` : "new";
        const title = `${amount(found.results)} results expected, ${found.served} now, ${thousands(found.candidates)} candidates`;
        gains.textContent = amount(found.frequency * found.results);
        gains.title = title;
        node.classList.toggle("changed", found.frequency !== found.base_frequency);
      },
    };
    self.show(first);
    return self;
  }

  const field = (type, label, placeholder, value) =>
    html("input", {
      type,
      "aria-label": label,
      placeholder,
      value,
      required: true,
      dir: "auto",
      min: 0,
      step: "any",
    });
  const add = entryForm(
    "add",
    [
      field("text", "Query to add", "query to add"),
      field("number", "How often it is asked", "times", "10"),
    ],
    (query, frequency) =>
      app.change((edit) => edit.added.push({ query, frequency: Number(frequency) })),
  );
  const scale = entryForm(
    "scale",
    [field("text", "Pattern", "pattern, e.g. ^how"), field("number", "Factor", "factor", "2")],
    (pattern, by) => app.change((edit) => edit.scaled.push({ by: Number(by), pattern })),
  );
  const made = group(
    "Queries",
    ["queries", "scale", "drop", "add"],
    true,
    html("div", { class: "entry" }, search, order),
    html(
      "div",
      { class: "scroll listed", tabindex: "0", role: "region", "aria-label": "Queries" },
      table,
    ),
    turning,
    add,
    scale,
    said,
  );
  const without = (list, entry) => () =>
    app.change((edit) => {
      edit[list] = edit[list].filter((other) => other !== entry);
    });
  return {
    group: made,
    load,
    follow(edit) {
      const of = {
        scaled: edit.scaled.map((one) => ({
          text: `/${one.pattern}/ × ${one.by}`,
          remove: without("scaled", one),
        })),
        added: edit.added.map((one) => ({
          text: `${one.query}: ${one.frequency}`,
          remove: without("added", one),
        })),
        asked: [...edit.asked].map(([query, frequency]) => ({
          text: `${query} = ${frequency}`,
          remove: () => app.change((edit) => edit.asked.delete(query)),
        })),
      };
      const list = chips("Changes to queries", [...of.scaled, ...of.added, ...of.asked]);
      said.replaceChildren(...[list].filter(Boolean));
    },
  };
}
