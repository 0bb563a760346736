// Tabs: arrow keys walk them, and only what is in sight is drawn.

/**
 * `tabs` are { key, title, node, show }; `turned(key)` is told which one is opened. Gives two functions: one
 * draws the open tab anew, one opens another by its key, without drawing it.
 */
function tabsView(place, tabs, turned) {
  let open = 0;
  const buttons = tabs.map(({ key, title }, at) =>
    html(
      "button",
      {
        type: "button",
        role: "tab",
        id: `tab-${key}`,
        "aria-controls": `panel-${key}`,
        click: () => turn(at),
      },
      title,
    ),
  );
  const panels = tabs.map(({ key, node }) =>
    html(
      "div",
      { role: "tabpanel", id: `panel-${key}`, "aria-labelledby": `tab-${key}`, hidden: true },
      node,
    ),
  );
  function turn(to) {
    mark(to);
    turned(tabs[open].key);
    tabs[open].show();
  }
  function mark(to) {
    open = to;
    buttons.forEach((button, at) => {
      button.setAttribute("aria-selected", String(at === open));
      button.tabIndex = at === open ? 0 : -1;
      panels[at].hidden = at !== open;
    });
  }
  const list = html("div", { role: "tablist", "aria-label": "What comes of it" }, buttons);
  list.addEventListener("keydown", (event) => {
    const last = buttons.length - 1;
    const to = {
      ArrowRight: open === last ? 0 : open + 1,
      ArrowLeft: open === 0 ? last : open - 1,
      Home: 0,
      End: last,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    turn(to);
    buttons[to].focus();
  });
  place.append(list, ...panels);
  return {
    draw: () => {
      mark(open);
      tabs[open].show();
    },
    open: (key) => mark(Math.max(0, tabs.findIndex((tab) => tab.key === key))),
  };
}
