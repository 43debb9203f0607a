// The divisor of the scores, and the resulting softmax and its derivative.

function draw({ products, d_heads, divisors, start }) {
  const { element, say } = speaker();
  const keys = products.map((_, i) => `key ${i}`);
  const by = [() => 1, Math.sqrt, (d) => d];
  let [size, divisor, temperature] = [start, 1, 1];

  const weights = bars("alpha", keys, { text: (value) => decimal(value, 3) });
  const slopes = matrix("∂alpha / ∂scaled", keys, keys, { most: 0.25, text: (value) => decimal(value, 3) });
  const line = chart({ x: [0, d_heads.length - 1], y: [0, 0.6], xLabel: "d_head", xText: (index) => String(d_heads[index]), yLabel: "size of the gradient", height: 170 });

  function step(index) {
    const d = d_heads[index];
    const scaled = products.map((product) => (product * Math.sqrt(d)) / by[divisor](d) / temperature);
    const alpha = softmax(scaled);
    const slope = alpha.map((a, i) => alpha.map((b, j) => a * ((i === j) - b)));
    return { scaled, alpha, slope, volume: Math.sqrt(sum(slope.flat().map((value) => value * value))) };
  }

  function update() {
    const { scaled, alpha, slope, volume } = step(size);
    weights.set(alpha, [alpha.indexOf(Math.max(...alpha))]);
    slopes.set(slope);
    const points = d_heads.map((_, index) => [index, step(index).volume]);
    line.set([{ points, colour: "blue" }, { points: [points[size]], colour: "orange", dots: true }], "the size of the gradient against d_head");
    const how = volume < 0.05 ? "almost deaf" : Math.max(...alpha) < 0.3 ? "cannot choose" : "wide awake";
    say(`Scaled: ${scaled.map((x) => decimal(x, 1)).join(", ")}. The gradient's size is ${decimal(volume, 3)}: ${how}.`);
  }

  const controls = [
    slider("d_head", { max: d_heads.length - 1, value: size, text: (index) => String(d_heads[index]) }, (index) => {
      size = index;
      update();
    }),
    slider("temperature", { min: 0.1, max: 4, step: 0.1, value: 1, text: (value) => value.toFixed(1) }, (value) => {
      temperature = value;
      update();
    }),
  ];
  const divided = choices("scores divided by", divisors, divisor, (index) => {
    divisor = index;
    update();
  });
  update();
  const right = el("div", {}, el("div", {}, "alpha"), weights.element, line.element);
  return [divided.element, row(...controls.map((each) => each.element)), el("div", { class: "katze-row top" }, right, slopes.element), element];
}
