// What every page does of itself: it changes its theme, and draws anew when its width changes.

function theme(button) {
  const themes = [
    [null, "Theme: as the system"],
    ["light", "Theme: light"],
    ["dark", "Theme: dark"],
  ];
  let at = 0;
  button.hidden = false;
  button.textContent = themes[at][1];
  button.addEventListener("click", () => {
    at = (at + 1) % themes.length;
    const [name, text] = themes[at];
    if (name) document.documentElement.dataset.theme = name;
    else delete document.documentElement.dataset.theme;
    button.textContent = text;
  });
}

/** Draws figures again once their room has stopped changing. */
function redrawing() {
  let waiting = 0;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => figures.forEach((one) => one.resized()), 120);
  });
}
