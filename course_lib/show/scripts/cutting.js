// A text cut into pieces: characters at first, then merged by one pair after another, in the order of the list.

function draw({ text, merges, mark }) {
  const { element, say } = speaker();
  const pieces = el("p");
  let [typed, known] = [text, merges.length];

  function merge(parts, [left, right]) {
    const merged = [];
    for (let i = 0; i < parts.length; i++) {
      merged.push(parts[i] === left && parts[i + 1] === right ? left + parts[++i] : parts[i]);
    }
    return merged;
  }

  function cut(word, number) {
    return merges.slice(0, number).reduce(merge, [mark, ...word]);
  }

  function update() {
    const found = typed.split(/\s+/).filter(Boolean).flatMap((word) => cut(word, known));
    pieces.replaceChildren(...found.map((piece, i) => chip(piece, i % 2 ? 0.7 : 0.25)));
    const last = known ? `; the last one merges ${merges[known - 1].join(" and ")}` : "";
    say(`${found.length} tokens by ${known} merges${last}.`);
  }

  const box = field("text", text, (value) => {
    typed = value;
    update();
  });
  const walk = player("pairs", merges.length + 1, (number) => {
    known = number;
    update();
  }, { text: String, seconds: 0.2 });
  walk.go(known);
  return [row(box.element), walk.element, pieces, element];
}
