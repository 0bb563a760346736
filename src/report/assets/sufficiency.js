// Starts the page of a workload's sufficiency: its queries are those that lie in the page.

function start(section, found) {
  const isFound = (query, { class: name, search }) =>
    (!name || query.class === name) &&
    query.query.toLowerCase().includes(search.trim().toLowerCase());
  const view = enoughView({
    list: (asked) => {
      const queries = found.queries.filter((query) => isFound(query, asked));
      const { offset, limit } = asked;
      return { total: queries.length, queries: queries.slice(offset, offset + limit) };
    },
    nameOf: ({ query }) => bdi(cut(query, 90)),
  });
  const listed = found.queries.length;
  const note =
    listed < found.total
      ? `Of ${thousands(found.total)} queries the ${thousands(listed)} that lack most are here; figures are of all.`
      : "";
  section.querySelector("[data-view]").append(view.node);
  view.show({ ...found, note });
}
