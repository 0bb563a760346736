// Questions to the server. What it refuses becomes a Failure, which the page shows.

class Failure extends Error {
  constructor(message, hint) {
    super(message);
    this.hint = hint;
  }
}

/** The token that the address brought, with which a plan may be written. It stays with the tab: the address goes on to
 * say what is shown. */
const TOKEN = (() => {
  const brought = new URLSearchParams(location.hash.slice(1)).get("token");
  if (brought) sessionStorage.setItem("token", brought);
  return brought ?? sessionStorage.getItem("token") ?? "";
})();

/** The response to a question; a POST where there is a body. */
async function ask(path, body, signal) {
  const post = {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Prospect-Token": TOKEN },
    body: JSON.stringify(body),
  };
  let response;
  try {
    response = await fetch(path, { ...(body === undefined ? {} : post), signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure("the server does not answer", "look whether prospect serve still runs");
  }
  if (response.ok) return response;
  const said = await response.json().catch(() => ({}));
  throw new Failure(said.error || `the server answered ${response.status}`, said.hint);
}

/**
 * Asks one question at a time: a new one ends the one under way. The answer to a question that is
 * not the last is null.
 */
function asker() {
  let last = null;
  return async (path, body) => {
    last?.abort();
    const own = new AbortController();
    last = own;
    try {
      const answer = await (await ask(path, body, own.signal)).json();
      return own === last ? answer : null;
    } catch (error) {
      if (own !== last || error.name === "AbortError") return null;
      throw error;
    }
  };
}

/** Shows a failure in a live region, or that there is none. */
function showTrouble(place, error) {
  place.replaceChildren();
  if (!error) return;
  place.append(html("strong", null, "Error: "), bdi(error.message));
  if (error.hint) place.append(html("span", { class: "hint" }, " Hint: ", bdi(error.hint)));
}
