// The basis of every widget: elements, controls, charts and a little arithmetic. A control is a function that
// returns its `element` and functions to set it. Data reaches the page as text and numbers, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== false && value != null) node.setAttribute(name, value === true ? "" : value);
  }
  if (node.matches("input,select,button,[tabindex]")) node.dataset.lmSuppressShortcuts = true; // not Jupyter's keys
  node.append(...children);
  return node;
}

// An element; an attribute whose value is a function listens to the event of its name.
function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function row(...children) {
  return el("div", { class: "katze-row" }, ...children);
}

// A paragraph that is read aloud when `say` changes it.
function speaker() {
  const element = el("p", { class: "katze-say", "aria-live": "polite" });
  return { element, say: (...parts) => element.replaceChildren(...parts) };
}

function mono(text) {
  return el("code", {}, text);
}

// --- arithmetic

const range = (count) => Array.from({ length: Math.min(count, 2000) }, (_, i) => i);
const sum = (values) => values.reduce((total, value) => total + value, 0);
const dot = (a, b) => sum(a.map((value, i) => value * b[i]));
const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

function softmax(values) {
  const most = Math.max(...values);
  const powers = values.map((value) => Math.exp(value - most));
  const total = sum(powers);
  return powers.map((power) => power / total);
}

// Decimals, or a power of ten if they would show nothing.
function decimal(value, places = 2) {
  if (value === -Infinity) return "-inf";
  if (value !== 0 && Math.abs(value) < 0.5 * 10 ** -places) return value.toExponential(1);
  return value.toFixed(places);
}

// --- controls

function slider(label, { min = 0, max = 1, step = 1, value = min, text = String }, changed) {
  const input = el("input", { type: "range", min, max, step, value });
  const output = el("output");
  const show = () => {
    output.textContent = text(Number(input.value));
    input.setAttribute("aria-valuetext", output.textContent);
  };
  input.addEventListener("input", () => {
    show();
    changed(Number(input.value));
  });
  show();
  return {
    element: el("label", { class: "katze-control" }, el("span", {}, label), input, output),
    input,
    get value() {
      return Number(input.value);
    },
    set value(wanted) {
      input.value = wanted;
      show();
    },
  };
}

function select(label, options, value, changed) {
  const input = el("select", {}, ...options.map((name, i) => el("option", { value: i, selected: i === value }, name)));
  input.addEventListener("change", () => changed(Number(input.value)));
  return { element: el("label", { class: "katze-control" }, el("span", {}, label), input), input };
}

function checkbox(label, checked, changed) {
  const input = el("input", { type: "checkbox", checked });
  input.addEventListener("change", () => changed(input.checked));
  return { element: el("label", { class: "katze-control" }, input, el("span", {}, label)), input };
}

function field(label, value, changed) {
  const input = el("input", { type: "text", value, maxlength: 80, spellcheck: "false", autocomplete: "off" });
  input.addEventListener("input", () => changed(input.value));
  return { element: el("label", { class: "katze-control" }, el("span", {}, label), input), input };
}

function button(label, pressed, attributes = {}) {
  return el("button", { type: "button", click: pressed, ...attributes }, label);
}

// One of several, as buttons side by side; `value` is its index, null for none yet.
function choices(label, options, value, changed) {
  const group = `katze-${Math.random().toString(36).slice(2)}`;
  const inputs = options.map((_, i) => el("input", { type: "radio", name: group, value: i, checked: i === value }));
  inputs.forEach((input, i) => input.addEventListener("change", () => changed(i)));
  const labels = options.map((name, i) => el("label", {}, inputs[i], el("span", {}, name)));
  const element = el("fieldset", { class: "katze-choices" }, el("legend", {}, label), ...labels);
  return { element, inputs, set: (index) => inputs.forEach((input, i) => (input.checked = i === index)) };
}

// Steps 0 to count - 1, to walk through by hand or to play. It never starts by itself.
function player(label, count, show, { text = (step) => `${step + 1} of ${count}`, seconds = 1 } = {}) {
  let timer = null;
  const stop = () => {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
  };
  const go = (step) => {
    steps.value = clamp(step, 0, count - 1);
    show(steps.value);
  };
  const tick = () => {
    if (!element.isConnected || steps.value >= count - 1) return stop();
    go(steps.value + 1);
    if (steps.value >= count - 1) stop();
  };
  const toggle = () => {
    if (timer) return stop();
    play.textContent = "Pause";
    timer = setInterval(tick, 1000 * seconds);
    go(steps.value >= count - 1 ? 0 : steps.value + 1);
  };
  const by = (change) => () => {
    stop();
    go(steps.value + change);
  };
  const steps = slider(label, { max: count - 1, text }, (step) => {
    stop();
    show(step);
  });
  const play = button("Play", toggle);
  const back = button("◀", by(-1), { "aria-label": "one step back" });
  const on = button("▶", by(1), { "aria-label": "one step on" });
  const element = el("div", { class: "katze-row katze-player" }, play, back, on, steps.element);
  return { element, go, stop };
}

// --- pictures

// Content that may be wider than a phone. If nothing in it can take the focus, it takes it itself, to scroll by keys.
function scrolled(child, name, focus = true) {
  return el("div", focus ? { class: "katze-scroll", tabindex: 0, role: "group", "aria-label": name } : { class: "katze-scroll" }, child);
}

// A table of numbers whose cells are blue above zero and orange below. With `pick`, its cells can be chosen: by a
// click, or by the arrow keys and Enter; `said` gives a sign's words. `set(values)` fills it, `mark(kind, cells)` outlines cells [row, column].
function matrix(caption, rows, columns, { text = (value) => decimal(value), said = null, most = 1, pick = null, name = caption } = {}) {
  const cells = rows.map((_, r) => columns.map((_, c) => el("td", pick ? { role: "gridcell", tabindex: r + c ? -1 : 0 } : {})));
  const head = el("tr", {}, el("td"), ...columns.map((label) => el("th", { scope: "col" }, label)));
  const body = rows.map((label, r) => el("tr", {}, el("th", { scope: "row" }, label), ...cells[r]));
  const table = el("table", { role: pick && "grid", "aria-label": name }, head, ...body);
  const focus = (r, c) => {
    cells.flat().forEach((cell) => (cell.tabIndex = -1));
    cells[r][c].tabIndex = 0;
    cells[r][c].focus();
  };
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  if (pick) {
    cells.forEach((line, r) =>
      line.forEach((cell, c) => {
        cell.addEventListener("click", () => {
          focus(r, c);
          pick(r, c);
        });
        cell.addEventListener("keydown", (event) => {
          const step = steps[event.key];
          if (step) focus(clamp(r + step[0], 0, rows.length - 1), clamp(c + step[1], 0, columns.length - 1));
          else if (event.key === "Enter" || event.key === " ") pick(r, c);
          else return;
          event.preventDefault();
        });
      }),
    );
  }
  return {
    element: el("div", { class: "katze-matrix" }, el("div", {}, caption), scrolled(table, name, !pick)),
    cells,
    set(values) {
      values.forEach((line, r) =>
        line.forEach((value, c) => {
          const size = Number.isFinite(value) ? clamp(value / most, -1, 1) : 0;
          cells[r][c].textContent = text(value, r, c);
          if (said) cells[r][c].setAttribute("aria-label", said(value));
          cells[r][c].style.setProperty("--weight", Math.abs(size).toFixed(3));
          cells[r][c].classList.toggle("below", size < 0);
        }),
      );
    },
    mark(kind, chosen) {
      cells.flat().forEach((cell) => cell.classList.remove(kind));
      chosen.forEach(([r, c]) => cells[r][c].classList.add(kind));
      if (pick && kind === "chosen") cells.flat().forEach((cell) => cell.setAttribute("aria-selected", cell.classList.contains(kind)));
    },
  };
}

// A word in a box, the bluer the greater its weight.
function chip(text, weight = 0, marked = false) {
  return el("span", { class: `katze-chip${marked ? " marked" : ""}`, style: `--weight:${clamp(weight, 0, 1)}` }, text);
}

// A bar for each name, with its number beside it. `set(values, marked)` draws; the marked ones are orange.
function bars(label, names, { most = 1, text = (value) => decimal(value) } = {}) {
  const lines = names.map((name) => {
    const bar = el("i");
    const number = el("span");
    return { bar, number, element: el("li", {}, el("span", {}, name), el("span", { class: "katze-bar" }, bar), number) };
  });
  const element = el("ul", { class: "katze-bars", "aria-label": label }, ...lines.map((line) => line.element));
  return {
    element,
    set: (values, marked = []) =>
      values.forEach((value, i) => {
        lines[i].number.textContent = text(value);
        lines[i].bar.style.width = `${100 * clamp(Math.abs(value) / most, 0, 1)}%`;
        lines[i].element.classList.toggle("marked", marked.includes(i));
      }),
  };
}

const tick = (value) => String(Number(value.toPrecision(3)));

// Curves over one axis. `set(series, alt)` draws [{points: [[x, y], ...], colour: "blue" | "orange" | "grey", dots}].
function chart({ x, y, xLabel = "", yLabel = "", width = 360, height = 200, xText = tick }) {
  const [left, right, top, bottom] = [46, 12, 12, 36];
  const across = (value) => left + ((value - x[0]) / (x[1] - x[0])) * (width - left - right);
  const up = (value) => height - bottom - ((clamp(value, y[0], y[1]) - y[0]) / (y[1] - y[0])) * (height - top - bottom);
  const curves = svg("g");
  const words = (at, text, anchor) => svg("text", { x: at[0], y: at[1], "text-anchor": anchor }, text);
  const element = svg(
    "svg",
    { class: "katze-chart", viewBox: `0 0 ${width} ${height}`, role: "img", style: `max-width:${width}px` },
    svg("path", { class: "axis", d: `M${left} ${top}V${height - bottom}H${width - right}` }),
    ...[...x, (x[0] + x[1]) / 2].map((value) => words([across(value), height - bottom + 14], xText(value), "middle")),
    ...[...y, (y[0] + y[1]) / 2].map((value) => words([left - 5, up(value) + 4], tick(value), "end")),
    words([(left + width - right) / 2, height - 4], xLabel, "middle"),
    words([left + 4, top + 2], yLabel, "start"),
    curves,
  );
  return {
    element,
    across,
    up,
    set(series, alt) {
      element.setAttribute("aria-label", alt);
      curves.replaceChildren(
        ...series.flatMap(({ points, colour, dots }) =>
          dots
            ? points.map(([a, b]) => svg("circle", { class: colour, cx: across(a), cy: up(b), r: 4 }))
            : [svg("polyline", { class: colour, points: points.map(([a, b]) => `${across(a)},${up(b)}`).join(" ") })],
        ),
      );
    },
  };
}

// --- the widget itself

// Draws each widget of this kind in place of its still picture, which stays if anything goes wrong. A script cannot
// rely on its place in the page, since VS Code runs it elsewhere.
function mount(name, draw) {
  for (const still of document.querySelectorAll(`.katze-widget[data-katze-widget="${name}"] > .katze-still`)) {
    const data = JSON.parse(still.parentElement.querySelector('script[type="application/json"]').textContent);
    still.replaceWith(el("div", { class: "katze-live" }, ...draw(data)));
  }
}
