// The effect of temperature, top-k and the nucleus on a distribution over the next word, and words drawn from it.

function draw({ words, probabilities }) {
  const { element, say } = speaker();
  const shown = el("div");
  const drawn = el("p", { "aria-live": "polite" });
  let rolled = 0;

  // Each word with its probability at this temperature, and whether it remains; most probable first.
  function left() {
    const hot = softmax(probabilities.map((p) => Math.log(p) / heat.value));
    const order = range(words.length).sort((a, b) => hot[b] - hot[a]);
    let before = 0;
    const remaining = order.filter((i, rank) => {
      const stays = rank < kept.value && before < nucleus.value;
      before += rank < kept.value ? hot[i] / sum(order.slice(0, kept.value).map((one) => hot[one])) : 0;
      return stays;
    });
    const total = sum(remaining.map((i) => hot[i]));
    return { order, hot, remaining, total, p: words.map((_, i) => (remaining.includes(i) ? hot[i] / total : 0)) };
  }

  function update() {
    const { order, remaining, total, p } = left();
    const most = Math.max(...p, ...probabilities);
    const picture = (label, values, marked) => {
      const one = bars(label, order.map((i) => words[i]), { most, text: (value) => value.toFixed(3) });
      one.set(order.map((i) => values[i]), marked);
      return el("div", { style: "flex:1 1 20em" }, label, one.element);
    };
    const gone = range(order.length).filter((rank) => !remaining.includes(order[rank]));
    shown.replaceChildren(
      el("div", { class: "katze-row top" }, picture("what the model says (orange: cut off)", probabilities, gone), picture("what is drawn from", p, [])),
    );
    drawn.replaceChildren();
    const cut = words.length - remaining.length;
    const what = cut ? `${cut} of ${words.length} words are cut off, and with them ${(1 - total).toFixed(3)} of the probability at this temperature` : "No word is cut off";
    say(`${what}. The likeliest, “${words[order[0]]}”, has ${p[order[0]].toFixed(3)}.`);
  }

  function roll() {
    const { p } = left();
    const once = () => {
      let dice = Math.random();
      return p.findIndex((value) => value > 0 && (dice -= value) < 0);
    };
    const found = range(20).map(once).filter((i) => i >= 0).map((i) => words[i]);
    rolled += 1;
    drawn.replaceChildren(`Draw ${rolled}, twenty words: `, ...found.map((word) => chip(word)));
  }

  const heat = slider("temperature", { min: 0.1, max: 3, step: 0.1, value: 1, text: (value) => value.toFixed(1) }, update);
  const kept = slider("top-k", { min: 1, max: words.length, value: words.length, text: (k) => (k === words.length ? `${k}: all` : String(k)) }, update);
  const nucleus = slider("nucleus p", { min: 0.05, max: 1, step: 0.05, value: 1, text: (p) => p.toFixed(2) }, update);
  update();
  return [row(heat.element, kept.element, nucleus.element), shown, row(button("draw twenty words", roll)), drawn, element];
}
