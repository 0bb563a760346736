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
