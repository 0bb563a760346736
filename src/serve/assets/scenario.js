// The scenario that is being edited, as the server takes it and as a file says it.

/** Nothing is different. `values` go by option; `asked` by query. */
const nothingEdited = () => ({
  values: {},
  asked: new Map(),
  added: [],
  scaled: [],
  excluded: [],
  boosted: [],
});

/** Keys of a scenario that are lists. */
const LISTS = ["scale", "drop", "add", "exclude-hosts", "boost-hosts"];

function scenarioOf(edit) {
  const scenario = { ...edit.values };
  // A frequency that is set replaces the old one: the query goes and is asked anew.
  const asked = [...edit.asked];
  const again = asked
    .filter(([, frequency]) => frequency > 0)
    .map(([query, frequency]) => ({ query, frequency }));
  const lists = {
    scale: edit.scaled,
    drop: asked.length ? [{ list: asked.map(([query]) => query) }] : [],
    add: again.concat(edit.added),
    "exclude-hosts": edit.excluded,
    "boost-hosts": edit.boosted,
  };
  for (const [key, list] of Object.entries(lists)) {
    if (list.length) scenario[key] = list.slice();
  }
  return scenario;
}

/**
 * The other way round: the edit that makes a scenario, as the address of the page says it. What an edit cannot say
 * is left out.
 */
function editOf(scenario) {
  const edit = nothingEdited();
  const entries = (key, isMeant) => [scenario[key]].flat().filter((entry) => entry && isMeant(entry));
  const isText = (entry) => typeof entry === "string";
  const isNumber = (entry) => Number.isFinite(entry);
  for (const { list } of entries("drop", ({ list }) => Array.isArray(list))) {
    for (const query of list.filter(isText)) edit.asked.set(query, 0);
  }
  for (const one of entries("add", ({ query }) => isText(query))) {
    const { query, frequency } = { frequency: 1, ...one };
    if (!isNumber(frequency)) continue;
    if (edit.asked.get(query) === 0) edit.asked.set(query, frequency);
    else edit.added.push({ query, frequency });
  }
  edit.scaled = entries("scale", ({ by, pattern }) => isNumber(by) && isText(pattern));
  edit.excluded = entries("exclude-hosts", isText);
  edit.boosted = entries("boost-hosts", ({ host, by }) => isText(host) && isNumber(by));
  for (const [key, value] of Object.entries(scenario)) {
    if (!LISTS.includes(key) && (isText(value) || isNumber(value))) edit.values[key] = value;
  }
  return edit;
}

const isNothing = (scenario) => Object.keys(scenario).length === 0;

function tomlValue(value) {
  if (typeof value === "string") {
    return JSON.stringify(value.toWellFormed()).replace(/\u007f/g, "\\u007f");
  }
  if (Array.isArray(value)) {
    if (!value.some((entry) => typeof entry === "object")) {
      return `[${value.map(tomlValue).join(", ")}]`;
    }
    return `[\n${value.map((entry) => `  ${tomlValue(entry)},\n`).join("")}]`;
  }
  if (typeof value === "object") {
    const entries = Object.entries(value).map(([key, entry]) => `${key} = ${tomlValue(entry)}`);
    return `{ ${entries.join(", ")} }`;
  }
  return String(value);
}

/** A scenario as a file for `prospect whatif --scenario`. */
function tomlOf(scenario) {
  const lines = Object.entries(scenario).map(([key, value]) => `${key} = ${tomlValue(value)}`);
  return ["[[scenario]]", ...lines].join("\n") + "\n";
}

const SAID = {
  scale: "pattern scaled, patterns scaled",
  add: "query asked as well, queries asked as well",
  "exclude-hosts": "host excluded, hosts excluded",
  "boost-hosts": "host boosted, hosts boosted",
};

/** A scenario in a few words. */
function described(scenario) {
  const count = (many, words) => `${many} ${words.split(", ")[many === 1 ? 0 : 1]}`;
  const set = new Set((scenario.drop || []).flatMap(({ list }) => list));
  const words = [];
  for (const [key, value] of Object.entries(scenario)) {
    if (key === "drop") words.push(count(set.size, "frequency set, frequencies set"));
    else if (Array.isArray(value)) {
      const more = value.filter((entry) => key !== "add" || !set.has(entry.query));
      if (more.length) words.push(count(more.length, SAID[key]));
    } else words.push(`${key} ${value}`);
  }
  return words.join("; ") || "nothing different";
}
