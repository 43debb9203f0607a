// Words in a plane: one of them is moved, and its neighbors are ranked twice, by dot product and by cosine.

function draw({ words, vectors, chosen, low, high }) {
  const { element, say } = speaker();
  const at = vectors.map((vector) => [...vector]);
  const plane = chart({ x: [low, high], y: [low, high], xLabel: "dim 0", yLabel: "dim 1", height: 340 });
  const marks = words.map((word) => ({ arrow: svg("line"), end: svg("circle"), name: svg("text", {}, word) }));
  plane.element.append(...marks.flatMap((mark) => [mark.arrow, mark.end, mark.name]));
  Object.assign(plane.element.style, { touchAction: "none", cursor: "grab" });
  let moved = chosen;

  const length = (vector) => Math.sqrt(dot(vector, vector));
  const cosine = (a, b) => dot(a, b) / (length(a) * length(b) || 1);
  const kinds = [
    ["by dot product", dot, (value) => decimal(value)],
    ["by cosine", cosine, (value) => decimal(value)],
  ];
  const lists = kinds.map(([name]) => el("ol", { class: "katze-bars", "aria-label": `neighbors ${name}` }));

  function ranked(closeness) {
    const others = range(words.length).filter((i) => i !== moved);
    return others.map((i) => [words[i], closeness(at[moved], at[i])]).sort((a, b) => b[1] - a[1]);
  }

  function line([word, value], most, text, first) {
    const bar = el("i", { style: `width:${100 * clamp(value / most, 0, 1)}%` });
    return el("li", { class: first && "marked" }, el("span", {}, word), el("span", { class: "katze-bar" }, bar), el("span", {}, text(value)));
  }

  function update() {
    const zero = { x: plane.across(0), y: plane.up(0) };
    const written = [];
    marks.forEach(({ arrow, end, name }, i) => {
      const [x, y] = [plane.across(at[i][0]), plane.up(at[i][1])];
      const colour = i === moved ? "orange" : "blue";
      fill(arrow, { x1: zero.x, y1: zero.y, x2: x, y2: y, class: colour, style: `stroke-width:${i === moved ? 2.5 : 1}` }, []);
      fill(end, { cx: x, cy: y, r: i === moved ? 7 : 4, class: colour }, []);
      const right = x > plane.across(low + 0.85 * (high - low));
      // A name goes below its point if it would cover another one above it.
      const isFree = (height) => written.every((other) => Math.abs(other.x - x) > 64 || Math.abs(other.y - height) > 14);
      const height = [y - 8, y + 18].find(isFree) ?? y - 8;
      written.push({ x, y: height });
      fill(name, { x: x + (right ? -8 : 8), y: height, "text-anchor": right ? "end" : "start" }, []);
    });
    const [byDot, byCosine] = kinds.map(([, closeness, text], kind) => {
      const order = ranked(closeness);
      const most = Math.max(...order.map(([, value]) => value), 1e-9);
      lists[kind].replaceChildren(...order.map((each, rank) => line(each, most, text, rank === 0)));
      return order[0][0];
    });
    sliders.forEach((each, i) => (each.value = at[moved][i]));
    const word = words[moved];
    plane.element.setAttribute("aria-label", `${word} at ${at[moved].map((x) => decimal(x)).join(", ")} among ${words.length - 1} other words`);
    const size = `“${word}” has the length ${decimal(length(at[moved]))}. `;
    if (byDot === byCosine) say(`${size}Its nearest word is “${byDot}”, by dot product and by cosine.`);
    else say(`${size}Its nearest word is “${byDot}” by dot product, and “${byCosine}” by cosine.`);
  }

  function move(vector) {
    at[moved] = vector.map((value) => Number(clamp(value, low, high).toFixed(2)));
    update();
  }

  // Longer or shorter in the same direction, as far as the plane reaches.
  function stretch(factor) {
    const most = at[moved].map((value) => (value > 0 ? high / value : value < 0 ? low / value : Infinity));
    move(at[moved].map((value) => value * Math.min(factor, ...most)));
  }

  const sliders = ["dim 0", "dim 1"].map((name, i) =>
    slider(name, { min: low, max: high, step: 0.05, value: at[moved][i], text: (value) => value.toFixed(2) }, (value) =>
      move(at[moved].map((old, j) => (j === i ? value : old))),
    ),
  );
  const which = select("the word to move", words, moved, (i) => {
    moved = i;
    update();
  });
  const longer = button("twice as long", () => stretch(2));
  const shorter = button("half as long", () => stretch(0.5));
  const drag = (event) => {
    const box = plane.element.getBoundingClientRect();
    const [width, height] = plane.element.getAttribute("viewBox").split(" ").slice(2).map(Number);
    const [x, y] = [((event.clientX - box.left) / box.width) * width, ((event.clientY - box.top) / box.height) * height];
    const part = [(x - plane.across(low)) / (plane.across(high) - plane.across(low)), (y - plane.up(low)) / (plane.up(high) - plane.up(low))];
    move(part.map((value) => low + value * (high - low)));
  };
  plane.element.addEventListener("pointerdown", (event) => {
    plane.element.setPointerCapture(event.pointerId);
    drag(event);
  });
  plane.element.addEventListener("pointermove", (event) => event.buttons && drag(event));
  update();
  const columns = kinds.map(([name], kind) => el("div", {}, el("div", {}, name), lists[kind]));
  const side = el("div", {}, row(which.element), ...sliders.map((each) => row(each.element)), row(longer, shorter));
  return [el("div", { class: "katze-row top" }, plane.element, side), el("div", { class: "katze-row top" }, ...columns), element];
}
