// A mask to paint, and the cheating experiment: the last word is replaced, and every output that changes has seen it.

function draw({ words, x, other, presets }) {
  const { element, say } = speaker();
  const positions = words.map((_, i) => i);
  const dimensions = x[0].map((_, i) => `dim ${i}`);
  let mask = positions.map((r) => positions.map((c) => c <= r));
  let [kind, exchanged] = [0, false];

  const fixed = (value) => (Math.abs(value) < 5e-5 ? 0 : value).toFixed(4);
  const change = (value) => (value > 1e-9 && value < 1e-4 ? "< 0.0001" : fixed(value));

  function outputs(vectors) {
    const alpha = vectors.map((query, r) => {
      const scaled = vectors.map((key) => dot(query, key) / Math.sqrt(query.length));
      if (kind === 1) return softmax(scaled.map((score, c) => (mask[r][c] ? score : 0)));
      const seen = positions.filter((c) => mask[r][c]);
      const weights = softmax(seen.map((c) => scaled[c]));
      return positions.map((c) => (mask[r][c] ? weights[seen.indexOf(c)] : 0));
    });
    return { alpha, out: alpha.map((row) => dimensions.map((_, i) => dot(row, vectors.map((value) => value[i])))) };
  }

  const paint = matrix("mask: click, or Enter", words, words, {
    text: (value) => (value ? "✓" : "·"),
    said: (value) => (value ? "allowed" : "forbidden"),
    name: "mask",
    pick: (r, c) => {
      mask[r][c] = !mask[r][c];
      update();
    },
  });
  const weights = matrix("alpha", words, words, { text: fixed });
  const out = matrix("out", words, [...dimensions, "changes by"], { most: Infinity, text: (value, r, c) => (c === dimensions.length ? change(value) : fixed(value)) });

  function update() {
    const last = words.length - 1;
    const now = outputs(exchanged ? [...x.slice(0, last), other] : x);
    const before = outputs(x);
    const changes = positions.map((r) => Math.max(...dimensions.map((_, i) => Math.abs(now.out[r][i] - before.out[r][i]))));
    paint.set(mask.map((line) => line.map(Number)));
    weights.set(now.alpha);
    out.set(now.out.map((line, r) => [...line, changes[r]]));
    const noticed = positions.filter((r) => r < last && changes[r] > 1e-9);
    out.mark("used", noticed.map((r) => [r, dimensions.length]));
    const who = noticed.map((r) => words[r]).join(", ");
    if (!exchanged) say("Exchange the last word, and see whether an earlier one notices.");
    else if (noticed.length) say(`The future was changed, and the past noticed: ${who}. A model trained like this cheats.`);
    else say(`The last word has changed, and no word before ${words[last]} noticed: no cheating.`);
  }

  const how = choices("What the mask does:", ["fills with −∞ before the softmax", "multiplies the scores"], 0, (index) => {
    kind = index;
    update();
  });
  const swap = checkbox("exchange the last word", false, (on) => {
    exchanged = on;
    update();
  });
  const allowed = [(r, c) => c <= r, () => true, (r, c) => c === r];
  const buttons = presets.map((name, i) =>
    button(name, () => {
      mask = positions.map((r) => positions.map((c) => allowed[i](r, c)));
      update();
    }),
  );
  update();
  const grids = [paint, weights, out].map((each) => each.element);
  return [row(...buttons, swap.element), how.element, el("div", { class: "katze-row top" }, ...grids), element];
}
