// Byte-pair encoding on any text, one pair at a time: the counts, the pieces, and the trade-off between them.

function draw({ text, mark }) {
  const { element, say } = speaker();
  const counted = el("div", { style: "flex:1 1 18em" });
  const cut = el("p", { "aria-label": "the text in tokens" });
  const measured = el("div", { class: "katze-row top", style: "flex:1 1 18em" });
  let [typed, rounds, ages, walk] = [text, [], new Map(), null];

  const words = () => typed.split(/\s+/).filter(Boolean);
  const pairOf = (left, right) => `${left} ${right}`; // no piece has a space in it

  function neighbours(pieces) {
    const counts = new Map();
    for (const parts of pieces) {
      for (const i of parts.keys()) {
        if (i === 0) continue;
        const pair = pairOf(parts[i - 1], parts[i]);
        counts.set(pair, (counts.get(pair) || 0) + 1);
      }
    }
    return counts;
  }

  // Whether a pair is more frequent than another; of equals, whether its pieces were learned earlier.
  function order([pair, times], [other, others]) {
    if (times !== others) return others - times;
    const [[left, right], [otherLeft, otherRight]] = [pair.split(" "), other.split(" ")];
    return ages.get(left) - ages.get(otherLeft) || ages.get(right) - ages.get(otherRight);
  }

  function merged(parts, left, right) {
    const found = [];
    let open = false; // whether the last piece may still be the left one of the pair
    for (const part of parts) {
      if (open && part === right && found.at(-1) === left) {
        found[found.length - 1] = left + right;
        open = false;
      } else {
        found.push(part);
        open = true;
      }
    }
    return found;
  }

  // The text after each round, and the pairs that the next one chooses from.
  function learn() {
    let pieces = words().map((word) => [mark, ...word]);
    const characters = [...new Set(pieces.flat())].sort((a, b) => a.codePointAt(0) - b.codePointAt(0));
    ages = new Map(characters.map((character, i) => [character, i]));
    let made = null;
    rounds = [];
    for (const _ of range(81)) {
      const counts = [...neighbours(pieces)];
      rounds.push({ pieces, counts, made, known: ages.size });
      if (!counts.length) break;
      const [next] = counts.reduce((best, pair) => (order(pair, best) < 0 ? pair : best));
      const [left, right] = next.split(" ");
      pieces = pieces.map((parts) => (parts.length > 1 ? merged(parts, left, right) : parts));
      made = left + right;
      ages.set(made, ages.size);
    }
  }

  function measure({ pieces, known }) {
    const all = words();
    const lengths = [sum(all.map((word) => [...word].length + 1)), pieces.flat().length, all.length];
    const kinds = [new Set(rounds[0].pieces.flat()).size, known, new Set(all).size];
    const lines = [["symbols in the text", lengths], ["different ones to know", kinds]].map(([label, numbers]) => {
      const drawn = bars(label, ["characters", "tokens now", "words"], { most: Math.max(...numbers), text: String });
      drawn.set(numbers, [1]);
      return el("div", { style: "flex:1 1 18em" }, label, drawn.element);
    });
    measured.replaceChildren(...lines);
  }

  function show(number) {
    const { pieces, counts, made } = rounds[number];
    const next = [...counts].sort(order);
    cut.replaceChildren(
      ...pieces.map((parts) => el("span", { class: "katze-word" }, ...parts.map((part, i) => chip(part, i % 2 ? 0.6 : 0.2, part === made)))),
    );
    const first = next.slice(0, 8);
    const drawn = bars("the most frequent pairs", first.map(([pair]) => pair.replace(" ", " + ")), { most: first.length ? first[0][1] : 1, text: String });
    drawn.set(first.map(([, times]) => times), [0]);
    counted.replaceChildren("the most frequent pairs of neighbors, the next one to be merged in orange", drawn.element);
    measure(rounds[number]);
    const before = made ? `“${made}” is a token now. ` : "";
    if (!next.length) return say(`${before}Each word is one token: there is nothing left to merge.`);
    const [[pair, times], ...others] = next;
    const same = others.filter(([, count]) => count === times).length;
    const why = same ? `as often as ${same} other pair${same > 1 ? "s" : ""}: the tokens that came first decide` : "more often than any other";
    say(`${before}Next: ${pair.replace(" ", " + ")}, neighbors ${times} time${times > 1 ? "s" : ""}, ${why}.`);
  }

  function renew() {
    learn();
    if (walk) walk.stop();
    const fresh = player("merges", rounds.length, show, { text: (number) => `${number} of ${rounds.length - 1}` });
    if (walk) walk.element.replaceWith(fresh.element);
    walk = fresh;
    show(0);
  }

  const box = field("your text", text, (value) => {
    typed = value.slice(0, 400);
    renew();
  });
  box.input.maxLength = 400;
  renew();
  return [row(box.element), walk.element, cut, el("div", { class: "katze-row top" }, counted, measured), element];
}
