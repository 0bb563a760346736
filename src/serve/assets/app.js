// Starts the page and keeps what is edited, what was answered, and what is kept as A.

/** Time to wait for another change before asking. */
const PAUSE_MS = 60;
/** Time after which a question under way is said to be. */
const SLOW_MS = 200;

async function start() {
  theme(document.getElementById("theme"));
  redrawing();
  const trouble = document.getElementById("trouble");
  const busy = document.getElementById("busy");
  const place = document.getElementById("answer");
  let today;
  try {
    today = await (await ask("api/state")).json();
  } catch (error) {
    showTrouble(trouble, error);
    return;
  }
  const { state } = today;
  document
    .getElementById("state")
    .replaceChildren(
      `${thousands(state.pages)} pages, ${thousands(state.queries)} queries, ${thousands(state.pairs)} pairs, lists of ${state.k}; plan `,
      bdi(state.plan_id),
    );

  const question = asker();
  const writeAddress = addressWriter();
  const said = readAddress();
  // Another address in the same window is another state of the page.
  addEventListener("hashchange", () => location.reload());
  let tab = said.tab;
  let waiting = 0;
  let asking = 0;
  const app = {
    today,
    edit: editOf(said.scenario),
    scenario: {},
    answered: {},
    answer: null,
    kept: null,
    /** Edits the scenario, and asks when nothing more is changed for a moment. */
    change(how) {
      how(app.edit);
      edited();
      place.setAttribute("aria-busy", "true");
      clearTimeout(waiting);
      waiting = setTimeout(update, PAUSE_MS);
    },
    keep() {
      app.kept = { scenario: app.answered, answer: app.answer };
      draw();
    },
    forget() {
      app.kept = null;
      draw();
    },
  };
  app.details = detailsView(app);
  const controls = controlGroups(app);
  const file = fileGroup(app);
  const groups = [...controls.groups, file.group];
  document.getElementById("edit").append(...groups.map(({ node }) => node));
  const drawSummary = summaryView(app);
  const tabs = [
    { key: "budget", title: "Budget", ...budgetTab(app) },
    { key: "urls", title: "URLs that change", ...urlsTab(app) },
    { key: "queries", title: "Queries", ...queriesTab(app) },
    { key: "hosts", title: "Hosts", ...hostsTab(app) },
    { key: "help", title: "Without help", ...helpTab(app) },
    { key: "plan", title: "Whole plan", ...frontierTab(app) },
    { key: "enough", title: "Enough", ...enoughTab(app) },
  ];
  const drawn = tabsView(document.getElementById("tabs"), tabs, (key) => {
    tab = key;
    address();
  });
  tab = tabs.some(({ key }) => key === tab) ? tab : null;
  drawn.open(tab);

  function edited() {
    app.scenario = scenarioOf(app.edit);
    controls.follow(app.edit);
    file.follow();
  }
  function draw() {
    drawSummary();
    drawn.draw();
    address();
  }
  function address() {
    writeAddress({ tab, scenario: app.answered, kept: app.kept?.scenario });
  }
  /** Asks for the scenario that the address keeps as A. */
  async function keepSaid() {
    try {
      const answer = await (await ask("api/whatif", { scenario: said.kept })).json();
      app.kept = { scenario: said.kept, answer };
      if (app.answer) draw();
    } catch (error) {
      showTrouble(trouble, error);
    }
  }
  /** Says what is wrong beside the control that it is about. */
  function say(error) {
    const key = error?.message.match(/^([a-z0-9-]+)[.:]/)?.[1];
    const about = groups.find(({ keys }) => keys.includes(key));
    groups.forEach((one) => showTrouble(one.trouble, one === about ? error : null));
    if (about) about.node.open = true;
    showTrouble(trouble, about ? null : error);
    if (about) trouble.append("Shown is the last scenario that could be planned.");
    place.classList.toggle("stale", Boolean(error));
  }
  async function update() {
    const scenario = app.scenario;
    waiting = 0;
    asking += 1;
    const own = asking;
    const slow = setTimeout(() => {
      busy.textContent = "Planning …";
    }, SLOW_MS);
    try {
      const answer = await question("api/whatif", { scenario });
      if (!answer) return;
      [app.answer, app.answered] = [answer, scenario];
      say(null);
      draw();
      controls.workload.load(false);
    } catch (error) {
      say(error);
    } finally {
      clearTimeout(slow);
      if (own === asking) busy.textContent = "";
      if (own === asking && !waiting) place.setAttribute("aria-busy", "false");
    }
  }
  edited();
  await update();
  if (said.kept) await keepSaid();
}

/** The scenario as a file, and back to nothing. */
function fileGroup(app) {
  const text = html("textarea", { readonly: true, rows: 8, "aria-label": "The scenario as TOML" });
  const said = html("span", { role: "status", class: "note" });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text.value);
      said.textContent = "copied";
    } catch {
      text.select();
      said.textContent = "press Ctrl+C";
    }
  };
  const reset = () => app.change((edit) => Object.assign(edit, nothingEdited()));
  const made = group(
    "The scenario",
    [],
    true,
    html(
      "div",
      { class: "acts" },
      html("button", { type: "button", id: "reset", click: reset }, "Reset all"),
      html("button", { type: "button", click: copy }, "Copy"),
      said,
    ),
    text,
    html(
      "p",
      { class: "caption" },
      "In a file scenario.toml, it is carried out by ",
      html("code", { id: "carry-out" }, `${app.today.carry_out} --scenario scenario.toml`),
      ", in the place of the open plan; prospect whatif tells of it what this page does.",
    ),
  );
  const follow = () => {
    text.value = tomlOf(app.scenario);
    said.textContent = "";
  };
  return { group: made, follow };
}

start();
