// The paper's learning rate beside a cosine with the same warm-up, and the arithmetic at one step.

function draw({ steps, warmup, width, peak }) {
  const { element, say } = speaker();
  const picture = el("div");
  const thousandths = (rate) => decimal(1000 * rate, 3);

  function root(step) {
    const [falling, rising] = [step ** -0.5, step * warm.value ** -1.5];
    return { falling, rising, rate: width ** -0.5 * Math.min(falling, rising) };
  }

  function cosine(step) {
    if (step <= warm.value) return (top.value * step) / warm.value;
    return 0.5 * top.value * (1 + Math.cos((Math.PI * (step - warm.value)) / (steps - warm.value)));
  }

  function update() {
    const step = at.value;
    const sampled = range(201).map((i) => Math.max(1, (steps * i) / 200));
    const highest = 1000 * Math.max(root(warm.value).rate, top.value);
    const drawn = chart({
      x: [0, steps / 1000],
      y: [0, Number((1.05 * highest).toPrecision(2))],
      xLabel: "thousands of steps",
      yLabel: "1000 · learning rate",
      width: 400,
      height: 230,
    });
    const [ours, other] = [root(step), cosine(step)];
    const marked = (rate, colour) => ({ points: [[step / 1000, 1000 * rate]], colour, dots: true });
    drawn.set(
      [
        { points: [[step / 1000, 0], [step / 1000, highest]], colour: "grey" },
        { points: sampled.map((step) => [step / 1000, 1000 * root(step).rate]), colour: "blue" },
        { points: sampled.map((step) => [step / 1000, 1000 * cosine(step)]), colour: "orange dashed" },
        marked(ours.rate, "blue"),
        marked(other, "orange"),
      ],
      `Two learning rates that rise for ${warm.value} steps. At step ${step} the inverse square root has ${thousandths(ours.rate)} thousandths, the cosine ${thousandths(other)}.`,
    );
    picture.replaceChildren(drawn.element);
    const which = step < warm.value ? "the second is smaller: the rate rises" : "the first is smaller: the rate falls";
    const cosineSays =
      step <= warm.value
        ? `${decimal(top.value, 4)} · ${step} / ${warm.value}`
        : `${decimal(top.value, 4)} · (1 + cos(π · ${step - warm.value} / ${steps - warm.value})) / 2`;
    say(
      el("b", {}, "━ inverse square root: "),
      mono(`${width}^-0.5 · min(${step}^-0.5, ${step} · ${warm.value}^-1.5) = ${decimal(width ** -0.5, 4)} · min(${decimal(ours.falling, 5)}, ${decimal(ours.rising, 5)}) = ${decimal(ours.rate, 6)}`),
      ` (${step === warm.value ? "both are equal: the peak" : which})`,
      el("br"),
      el("b", {}, "╍ cosine: "),
      mono(`${cosineSays} = ${decimal(other, 6)}`),
    );
  }

  const widths = [64, 128, 256, 512, 1024];
  const wide = select("d_model", widths, widths.indexOf(width), (index) => {
    width = widths[index];
    update();
  });
  const warm = slider("warm-up, in steps", { min: 100, max: steps / 2, step: 100, value: warmup }, update);
  const top = slider("peak of the cosine", { min: 0.0001, max: 0.003, step: 0.0001, value: peak, text: (value) => value.toFixed(4) }, update);
  const at = slider("look at step", { min: 100, max: steps, step: 100, value: 2 * warmup }, update);
  const same = button("give both the same peak", () => {
    top.value = root(warm.value).rate;
    update();
  });
  update();
  return [row(wide.element, warm.element, at.element), row(top.element, same), picture, element];
}
