// Hosts that are left out or count more.

function hostsGroup(app) {
  const known = html(
    "datalist",
    { id: "hosts-known" },
    app.today.hosts.map((host) => html("option", { value: host })),
  );
  const host = (label) =>
    html("input", {
      type: "text",
      list: "hosts-known",
      "aria-label": label,
      placeholder: "host or *.domain",
      dir: "auto",
      required: true,
    });
  const factor = html("input", {
    type: "number",
    min: 0,
    step: "any",
    value: "2",
    "aria-label": "Factor",
    required: true,
  });
  const said = html("div");
  const exclude = entryForm("exclude", [host("Host to exclude")], (name) =>
    app.change((edit) => {
      if (!edit.excluded.includes(name.trim())) edit.excluded.push(name.trim());
    }),
  );
  const boost = entryForm("boost", [host("Host to boost"), factor], (name, by) =>
    app.change((edit) => {
      edit.boosted = edit.boosted.filter((other) => other.host !== name.trim());
      edit.boosted.push({ host: name.trim(), by: Number(by) });
    }),
  );
  const take = (list, entry) => () =>
    app.change((edit) => {
      edit[list] = edit[list].filter((other) => other !== entry);
    });
  return {
    group: group("Hosts", ["exclude-hosts", "boost-hosts"], false, known, exclude, boost, said),
    follow(edit) {
      const excluded = edit.excluded.map((name) => ({
        text: `without ${name}`,
        remove: take("excluded", name),
      }));
      const boosted = edit.boosted.map((one) => ({
        text: `${one.host} × ${one.by}`,
        remove: take("boosted", one),
      }));
      said.replaceChildren(...[chips("Hosts", excluded.concat(boosted))].filter(Boolean));
    },
  };
}
