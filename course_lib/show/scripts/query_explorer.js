// A query in the plane of its keys, which are also the values: drag it, and see which it matches and what it retrieves.

function draw({ keys, vectors, query, reach }) {
  const { element, say } = speaker();
  const names = ["q[0]", "q[1]"];
  const q = [...query];
  const plane = chart({ x: [-reach, reach], y: [-reach, reach], xLabel: "dim 0", yLabel: "dim 1", height: 340 });
  const at = ([x, y]) => ({ x: plane.across(x), y: plane.up(y) });
  const labels = keys.map((key, i) => {
    const { x, y } = at(vectors[i]);
    return [svg("circle", { class: "blue", cx: x, cy: y, r: 5 }), svg("text", { x, y: y - 14, "text-anchor": "middle" }, key)];
  });
  const arrow = svg("line", { class: "orange", "stroke-linecap": "round" });
  const head = svg("polygon", { class: "orange" });
  const out = svg("circle", { r: 9, class: "ring" });
  plane.element.append(...labels.flat(), out, arrow, head);
  Object.assign(plane.element.style, { touchAction: "none", cursor: "grab" });

  const table = matrix("step by step", keys, ["scores", "scaled", "alpha"], { most: Infinity, text: (value) => decimal(value, 4) });
  const weights = bars("alpha", keys, { text: (value) => decimal(value, 4) });

  function update() {
    const scores = vectors.map((key) => dot(q, key));
    const scaled = scores.map((score) => score / Math.sqrt(q.length));
    const alpha = softmax(scaled);
    const brought = q.map((_, i) => dot(alpha, vectors.map((value) => value[i])));
    const [from, to, end] = [at([0, 0]), at(q), at(brought)];
    const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
    const [along, beside] = [[(to.x - from.x) / length, (to.y - from.y) / length], [(from.y - to.y) / length, (to.x - from.x) / length]];
    const corner = (back, side) => `${to.x - back * along[0] + side * beside[0]},${to.y - back * along[1] + side * beside[1]}`;
    fill(arrow, { x1: from.x, y1: from.y, x2: to.x - 8 * along[0], y2: to.y - 8 * along[1] }, []);
    fill(head, { points: [corner(0, 0), corner(15, 7), corner(15, -7)].join(" ") }, []);
    fill(out, { cx: end.x, cy: end.y }, []);
    const most = alpha.indexOf(Math.max(...alpha));
    table.set(keys.map((_, i) => [scores[i], scaled[i], alpha[i]]));
    weights.set(alpha, [most]);
    plane.element.setAttribute("aria-label", `the query at ${q.map((x) => decimal(x, 1)).join(", ")} among the keys`);
    say(`Most of alpha, ${decimal(alpha[most])}, goes to “${keys[most]}”; out = [${brought.map((x) => decimal(x)).join(", ")}].`);
  }

  const sliders = names.map((name, i) =>
    slider(name, { min: -reach, max: reach, step: 0.1, value: q[i], text: (value) => value.toFixed(1) }, (value) => {
      q[i] = value;
      update();
    }),
  );
  const drag = (event) => {
    const box = plane.element.getBoundingClientRect();
    const [width, height] = plane.element.getAttribute("viewBox").split(" ").slice(2).map(Number);
    const pointer = [((event.clientX - box.left) / box.width) * width, ((event.clientY - box.top) / box.height) * height];
    const [left, right] = [plane.across(-reach), plane.across(reach)];
    const [low, high] = [plane.up(-reach), plane.up(reach)];
    const wanted = [(pointer[0] - left) / (right - left), (pointer[1] - low) / (high - low)];
    wanted.forEach((value, i) => {
      q[i] = Number(clamp((2 * value - 1) * reach, -reach, reach).toFixed(1));
      sliders[i].value = q[i];
    });
    update();
  };
  plane.element.addEventListener("pointerdown", (event) => {
    plane.element.setPointerCapture(event.pointerId);
    drag(event);
  });
  plane.element.addEventListener("pointermove", (event) => event.buttons && drag(event));
  update();
  const side = el("div", {}, ...sliders.map((each) => row(each.element)), table.element, weights.element, element);
  return [el("div", { class: "katze-row top" }, plane.element, side)];
}
