// A slider with the number beside it, and a way back to the value of today.

/** Whole numbers from 1, about evenly spaced by their ratio, `most` the last. */
function ratioSteps(most) {
  const steps = new Set([1]);
  for (let power = 1; power <= most; power *= 10) {
    for (let tenths = 10; tenths < 100; tenths += 1) {
      const value = Math.round((power * tenths) / 10);
      if (value <= most) steps.add(value);
    }
  }
  return [...steps, most];
}

const evenSteps = (most, step) =>
  Array.from({ length: Math.round(most / step) + 1 }, (_, at) => Number((at * step).toFixed(4)));

/**
 * `steps` are the values at which the slider stops; `today` is the value without a scenario. Calls
 * `changed(value)`, with null for the value of today. `none` is what 0 means.
 */
function slider({ key, label, steps, today, unit = "", none = "", changed }) {
  const stops = [...new Set([...steps, today])].sort((a, b) => a - b);
  const nearestStop = (value) =>
    stops.reduce((best, stop, at) => {
      return Math.abs(stop - value) < Math.abs(stops[best] - value) ? at : best;
    }, 0);
  const say = (value) => (value === 0 && none ? none : `${thousandsOf(value)}${unit}`);
  const name = html("span", { class: "name" }, label);
  const range = html("input", {
    type: "range",
    min: 0,
    max: stops.length - 1,
    step: 1,
    "aria-label": label,
    input: () => take(stops[Number(range.value)], range),
  });
  const number = html("input", {
    type: "number",
    min: 0,
    step: "any",
    "aria-label": `${label}, number`,
    input: () => number.value.trim() !== "" && take(Number(number.value), number),
    change: () => number.value.trim() === "" && take(today, null),
  });
  const was = html("span", { class: "note" }, none && today === 0 ? none : typed(today));
  const reset = html(
    "button",
    {
      type: "button",
      class: "reset",
      title: `Back to ${say(today)}`,
      "aria-label": `Reset ${label}`,
      click: () => {
        take(today, null);
        // The button is of no use now.
        number.focus();
      },
    },
    "↺",
  );
  const node = html("div", { class: "slider", "data-key": key }, name, range, number, was, reset);

  function show(value, from) {
    if (from !== range) range.value = String(nearestStop(value));
    // Who types "0." is not through yet.
    const typing = from === number || document.activeElement === number;
    if (!typing) number.value = typed(value);
    range.setAttribute("aria-valuetext", say(value));
    reset.disabled = value === today;
    node.classList.toggle("changed", value !== today);
  }
  function take(value, from) {
    show(value, from);
    changed(value === today ? null : value);
  }
  show(today, null);
  // What is no number, such as a share in percent, has no place here: the scenario says it.
  return { node, key, set: (value) => show(Number.isFinite(value) ? value : today, null) };
}
