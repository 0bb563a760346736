// The address of the page: the scenario that is edited, the one that is kept as A, and the open tab, so that a
// reload, a bookmark or a link shows the same again.

/** Pause before the address is written: browsers refuse to change it many times a second. */
const ADDRESS_PAUSE_MS = 300;

/** What the address says; what it says wrongly counts as not said. */
function readAddress() {
  const said = new URLSearchParams(location.hash.slice(1));
  return {
    tab: said.get("tab"),
    scenario: scenarioSaid(said.get("scenario")) ?? {},
    kept: scenarioSaid(said.get("a")),
  };
}

function scenarioSaid(json) {
  try {
    const said = JSON.parse(json);
    return typeof said === "object" && !Array.isArray(said) ? said : null;
  } catch {
    return null;
  }
}

/** Gives a function that writes the address once nothing has changed for a moment. */
function addressWriter() {
  let waiting = 0;
  return ({ tab, scenario, kept }) => {
    const said = new URLSearchParams();
    if (tab) said.set("tab", tab);
    if (!isNothing(scenario)) said.set("scenario", JSON.stringify(scenario));
    if (kept) said.set("a", JSON.stringify(kept));
    const hash = said.toString();
    clearTimeout(waiting);
    waiting = setTimeout(
      () => history.replaceState(null, "", hash ? `#${hash}` : location.pathname),
      ADDRESS_PAUSE_MS,
    );
  };
}
