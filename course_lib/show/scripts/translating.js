// A translation that grows word by word, with the attention of a cross-attention head before each word. The reader
// types a sentence, or chooses its words one after another; the model has translated all that can be chosen.

function draw({ sentences, layers, heads }) {
  const { element, say } = speaker();
  const stage = el("div");
  const offers = el("div", { class: "katze-row", role: "group", "aria-label": "the next word" });
  let [layer, head, current, found, walk] = [layers - 1, 0, 0, sentences[0], null];

  const rounded = (value) => value.toFixed(2);
  const words = () => box.input.value.toLowerCase().replace(/[.!?]/g, " ").replace(/,/g, " , ").split(/\s+/).filter(Boolean);
  const begins = (whole, start) => start.every((word, i) => whole[i] === word);
  const names = ["mean of the heads", ...range(heads).map((i) => `head ${i + 1}`)];

  function looks(step) {
    const all = found.alpha[layer].map((one) => one[step]);
    return found.source.map((_, key) => (head ? all[head - 1][key] : sum(all.map((one) => one[key])) / heads) / 1000);
  }

  function show(step) {
    current = step;
    const rows = range(step + 1).map(looks);
    const now = rows[step];
    const grid = matrix("attention so far", found.target.slice(0, step + 1), found.source, { text: rounded });
    grid.set(rows);
    grid.mark("chosen", found.source.map((_, key) => [step, key]));
    const [likely, chances] = [found.likely[step].map(([word]) => word), found.likely[step].map(([, p]) => p / 1000)];
    const expected = bars("the likeliest next words", likely, { text: rounded });
    expected.set(chances, [0]);
    stage.replaceChildren(
      el("p", { lang: "en" }, "English: ", ...found.source.map((word, key) => chip(`${word} ${rounded(now[key])}`, now[key]))),
      el("p", { lang: "de" }, "German: ", ...found.target.slice(0, step + 1).map((word, i) => chip(word, 0, i === step))),
      el("div", { class: "katze-row top" }, grid.element, el("div", {}, "the likeliest next words", expected.element)),
    );
    const most = now.indexOf(Math.max(...now));
    const who = head ? `head ${head} of layer ${layer + 1} looks` : `the heads of layer ${layer + 1} look`;
    say(`Before “${found.target[step]}” ${who} most at “${found.source[most]}”: ${rounded(now[most])}.`);
  }

  function begin() {
    if (walk) walk.stop();
    const fresh = player("German word", found.target.length, show, { seconds: 1.2 });
    if (walk) walk.element.replaceWith(fresh.element);
    walk = fresh;
    show(0);
  }

  function typed() {
    const start = words();
    const fitting = sentences.filter(({ source }) => begins(source, start));
    const next = [...new Set(fitting.map(({ source }) => source[start.length]).filter(Boolean))];
    offers.replaceChildren("next word: ", ...next.map((word) => button(word, () => write([...start, word]))));
    offers.style.display = next.length ? "" : "none";
    const whole = fitting.find(({ source }) => source.length === start.length);
    if (whole === found) show(current);
    else if (whole) {
      found = whole;
      begin();
    } else if (!fitting.length) {
      say("This page has no translation that begins like this. In a running notebook, put the sentence into the cell above.");
    } else if (!whole) say(`Go on: ${next.join(", ")}?`);
  }

  function write(start) {
    box.input.value = start.join(" ");
    typed();
    (offers.querySelector("button") || box.input).focus();
  }

  const box = field("English", found.source.join(" "), typed);
  const back = button("take the last word away", () => {
    box.input.value = words().slice(0, -1).join(" ");
    typed();
  });
  const which = select("head", names, head, (chosen) => {
    head = chosen;
    show(current);
  });
  const where = select("layer", range(layers).map((i) => i + 1), layer, (chosen) => {
    layer = chosen;
    show(current);
  });
  begin();
  typed();
  return [row(box.element, back), offers, row(where.element, which.element), walk.element, stage, element];
}
