// Why a URL is planned or not, and what a query has and may get: a dialog that Escape closes.

/**
 * `open(kind, id, scenario, button)` shows a URL or a query, beside today where the scenario is
 * another; focus goes back to the button.
 */
function detailsView(app) {
  const dialog = document.getElementById("details");
  const title = html("h2", { id: "details-title", tabindex: "-1", dir: "auto" });
  const trouble = html("div", { class: "trouble", "aria-live": "polite" });
  const content = html("div");
  const back = html("button", { type: "button", click: () => step() }, "Back");
  const close = html("button", { type: "button", click: () => dialog.close() }, "Close");
  const question = [asker(), asker()];
  let trail = [];
  let from = null;
  dialog.append(html("div", { class: "bar" }, title, back, close), trouble, content);
  // This comes some time after the dialog is gone and the browser has put the focus back to its
  // button: who has gone on since, to another button or into another dialog, is not to be led back.
  dialog.addEventListener("close", () => {
    if (!dialog.open && document.activeElement === document.body) opener()?.focus();
  });
  /** What opened it; where that was drawn anew, the button of the same name, or else the tab. */
  function opener() {
    if (!from || from.isConnected) return from;
    const buttons = document.querySelectorAll('[role="tabpanel"]:not([hidden]) button');
    const same = [...buttons].find((button) => button.textContent === from.textContent);
    return same || document.querySelector('[role="tab"][tabindex="0"]');
  }
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());

  function step() {
    trail.pop();
    show();
  }
  async function show() {
    const { kind, id, scenario } = trail[trail.length - 1];
    back.hidden = trail.length < 2;
    const path = `api/${kind}`;
    const body = kind === "url" ? { url: id } : { qid: id };
    const sides = isNothing(scenario)
      ? [["today", {}]]
      : [
          ["today", {}],
          [app.kept?.scenario === scenario ? "A" : "this scenario", scenario],
        ];
    if (!content.firstChild) title.textContent = "…";
    try {
      const asked = ([, scenario], at) => {
        const answer = question[at](path, { scenario, ...body });
        // What only the scenario brings is not there today.
        return at + 1 < sides.length ? answer.catch((error) => ({ absent: error })) : answer;
      };
      const answers = await Promise.all(sides.map(asked));
      if (answers.includes(null)) return;
      const last = answers[answers.length - 1];
      title.replaceChildren(kind === "url" ? webLink(last.url) : bdi(last.query));
      const side = (answer, at) =>
        html(
          "section",
          null,
          html("h3", null, sides[at][0]),
          answer.absent
            ? html("p", { class: "note" }, bdi(answer.absent.message))
            : VIEWS[kind](app, answer, scenario),
        );
      content.replaceChildren(
        html("div", { class: sides.length > 1 ? "sides two" : "sides" }, answers.map(side)),
      );
      showTrouble(trouble, null);
      title.focus();
    } catch (error) {
      showTrouble(trouble, error);
    }
  }
  return {
    open(kind, id, scenario, button) {
      if (!dialog.open) {
        [trail, from] = [[], button];
        content.replaceChildren();
        dialog.showModal();
      }
      trail.push({ kind, id, scenario });
      show();
    },
  };
}

const VIEWS = { url: urlView, query: queryView };

/** A number and what it is made of, however deep that goes, as the rows of a table. */
function factorRows({ name, value, note, sum, product }, depth = 0) {
  const terms = sum ?? product ?? [];
  const isPlain = terms.every((term) => !term.sum && !term.product && !term.note);
  const sign = sum ? " + " : " × ";
  const made = isPlain
    ? terms.map((term) => `${amount(term.value)} ${term.name}`).join(sign)
    : `the ${sum ? "sum" : "product"} of`;
  const row = [html("span", { class: `deep-${depth}` }, name), amount(value), made, note ?? ""];
  return [row, ...(isPlain ? [] : terms.flatMap((term) => factorRows(term, depth + 1)))];
}

function urlView(app, found, scenario) {
  if (found.estimate === null) {
    return [
      facts([
        ["state", bdi(found.state)],
        ["in-links", thousands(found.inlinks)],
      ]),
      html("p", { class: "note" }, "It cannot be planned here, so it has no estimate."),
    ];
  }
  return [
    facts([
      ["state", bdi(found.state)],
      ["place", `${place(found.frontier_rank)} of ${thousands(found.frontier)}`],
      ["in the batch", found.planned_rank === null ? "no" : place(found.planned_rank)],
      found.held_back_by ? ["held back by", bdi(found.held_back_by)] : null,
      ["in-links", thousands(found.inlinks)],
      found.quality === null ? null : ["quality", amount(found.quality)],
    ]),
    tableOf(
      "The estimate, and what it is made of",
      [text("factor"), "value", text("made of"), { text: "what it is", class: "text why" }],
      factorRows(found.estimate),
    ),
    found.queries.length
      ? tableOf(
          "Queries that it may answer",
          [wide("query, and what of it matched"), "asked", "chance", "score", "to beat"],
          found.queries.map((one) => [
            [queryButton(app, one, scenario), ...one.matched.map(matchedIn), meaning(one.similarity)],
            thousandsOf(one.frequency),
            amount(one.chance),
            amount(one.expected_score),
            amount(one.kth_score),
          ]),
        )
      : html("p", { class: "note" }, "No query matches it."),
    found.links.length
      ? tableOf(
          "Pages that link to it",
          [wide("page"), { text: "anchor", class: "text why" }],
          found.links.map(({ from, anchor }) => [webLink(from, shortAddress(from)), bdi(anchor)]),
        )
      : html("p", { class: "note" }, "No crawled page links to it."),
  ];
}

/** What matched, and where; below the name that it is about, where a narrow window shows it, too. */
function matchedIn({ place, text: anchor, ngrams }) {
  const where = place === "anchor" ? ["anchor ", bdi(cut(anchor, 60)), ": "] : [`${place}: `];
  return html("div", { class: "matched" }, where, html("strong", null, bdi(ngrams.join(", "))));
}

/** How close a query is in meaning; null without an embedding model. */
function meaning(similarity) {
  if (!similarity) {
    return null;
  }
  const { url, anchor, title } = similarity;
  const cosines = `URL ${url.toFixed(2)}, anchor ${anchor.toFixed(2)}, title ${title.toFixed(2)}`;
  return html("div", { class: "matched" }, "in meaning: ", cosines);
}

function queryView(app, found, scenario) {
  const results = found.results.map(({ url, score }, at) => {
    const kth = at + 1 === found.k;
    const row = [
      thousands(at + 1),
      webLink(url, shortAddress(url)),
      amount(score),
      kth ? "score to beat" : "",
    ];
    row.class = kth ? "kth" : null;
    return row;
  });
  const candidates = found.candidates.map((one) => [
    [
      urlButton(app, one.url, scenario),
      html("div", { class: "matched" }, one.matches ? "it matches" : "its neighbours match"),
    ],
    amount(one.chance),
    amount(one.expected_score),
    place(one.batch_rank),
  ]);
  const shown =
    candidates.length < found.candidates_total ? `, the first ${thousands(candidates.length)}` : "";
  return [
    facts([
      ["kind", bdi(found.kind)],
      ["asked", thousandsOf(found.frequency)],
      ["results", `${thousands(found.results.length)} of ${thousands(found.k)}`],
      ["score to beat", found.kth_score ? amount(found.kth_score) : "any: the list is not full"],
    ]),
    results.length
      ? tableOf("What is found now", ["", wide("page"), "score", text("")], results)
      : html("p", { class: "note" }, "No crawled page answers it."),
    candidates.length
      ? tableOf(
          `URLs that may answer it: ${thousands(found.candidates_total)}${shown}`,
          [wide("URL, and what matched"), "chance", "expected score", "picked"],
          candidates,
        )
      : html("p", { class: "note" }, "No known URL may answer it: it needs seeds."),
  ];
}
