// Scales, ticks and the frame of a chart.

/** Round steps between two values, about `count` of them. */
function linearTicks(low, high, count) {
  const raw = (high - low || 1) / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const off = (factor) => Math.abs(Math.log((factor * power) / raw));
  const step =
    [1, 2, 2.5, 5, 10].reduce((best, factor) => (off(factor) < off(best) ? factor : best)) * power;
  const ticks = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-9; at += 1) {
    ticks.push(at * step);
  }
  return { ticks, step };
}

/** Powers of ten, with 2 and 5 between them where there are few. */
function powerTicks(low, high) {
  const between = Math.log10(high / low) < 3 ? [1, 2, 5] : [1];
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    for (const factor of between) {
      const tick = factor * 10 ** power;
      if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(tick);
    }
  }
  return ticks;
}

/** Ticks of an axis that runs in log(1 + v). */
function shiftedTicks(high) {
  return [0, ...powerTicks(Math.min(1, high / 10), high)];
}

/** kind: linear, log, or log1p. Gives a function with its ticks. */
function scale(kind, low, high, from, to, count) {
  const forward = { linear: (v) => v, log: Math.log10, log1p: (v) => Math.log1p(v) }[kind];
  if (!(high > low)) high = low + (Math.abs(low) || 1);
  const [start, end] = [forward(low), forward(high)];
  const place = (value) => from + ((forward(value) - start) / (end - start)) * (to - from);
  if (kind === "log") place.ticks = powerTicks(low, high);
  else if (kind === "log1p") place.ticks = shiftedTicks(high);
  else ({ ticks: place.ticks, step: place.step } = linearTicks(low, high, count));
  return place;
}

function tickText(place, value) {
  if (value === 0) return "0";
  if (place.step) {
    const digits = String(Number(place.step.toPrecision(2)));
    return fixed(value, digits.includes(".") ? digits.split(".")[1].length : 0);
  }
  if (Math.abs(value) >= 1) return thousands(value);
  return String(Number(value.toPrecision(3)));
}

/** Leaves out ticks whose texts would touch. */
function spaced(place, ticks, textOf) {
  let end = -Infinity;
  return ticks.filter((tick) => {
    const half = textOf(tick).length * 3.4 + 5;
    if (place(tick) - half < end) return false;
    end = place(tick) + half;
    return true;
  });
}

/** An empty chart: grid, ticks, names of the axes. `box` has left, right, top, bottom in pixels. */
function frame(width, height, box, x, y, names) {
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height });
  const grid = svg("g", { class: "grid" });
  const texts = svg("g", { class: "ticks" });
  let last = Infinity;
  for (const tick of y ? y.ticks : []) {
    if (last - y(tick) < 17) continue;
    last = y(tick);
    grid.append(svg("line", { x1: box.left, x2: box.right, y1: y(tick), y2: y(tick) }));
    texts.append(
      svg("text", { x: box.left - 7, y: y(tick) + 4, "text-anchor": "end" }, tickText(y, tick)),
    );
  }
  const textOf = (tick) => (names.xText || ((value) => tickText(x, value)))(tick);
  for (const tick of spaced(x, x.ticks, textOf)) {
    grid.append(
      svg("line", { class: "minor", x1: x(tick), x2: x(tick), y1: box.top, y2: box.bottom }),
    );
    texts.append(
      svg("text", { x: x(tick), y: box.bottom + 17, "text-anchor": "middle" }, textOf(tick)),
    );
  }
  grid.append(
    svg("line", { class: "base", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }),
  );
  const middle = (box.left + box.right) / 2;
  texts.append(
    svg("text", { class: "name", x: middle, y: height - 5, "text-anchor": "middle" }, names.x),
  );
  if (names.y) {
    texts.append(svg("text", { class: "name", x: 2, y: 12 }, names.y));
  }
  root.append(grid, texts);
  return root;
}
