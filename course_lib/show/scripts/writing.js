// A sentence being written: what the model has read, where it looks, and what it expects next.

function draw({ source, steps }) {
  const { element, say } = speaker();
  const read = el("p");
  const looks = el("p");
  const thinks = el("div");

  function show(number) {
    const { read: words, candidates, alpha } = steps[number];
    const chosen = candidates[0][0];
    read.replaceChildren("has read: ", ...words.map((word) => chip(word)), " → ", chip(chosen, 0, true));
    looks.replaceChildren("looks at: ", ...source.map((word, i) => chip(`${word} ${decimal(alpha[i])}`, alpha[i])));
    const drawn = bars("what it expects next", candidates.map(([word]) => word));
    drawn.set(candidates.map(([, p]) => p), [0]);
    thinks.replaceChildren("thinks next:", drawn.element);
    const most = alpha.indexOf(Math.max(...alpha));
    say(`After ${words.at(-1)} it looks most at ${source[most]}, and writes ${chosen}.`);
  }

  const walk = player("word", steps.length, show, { seconds: 1.2 });
  show(0);
  return [walk.element, read, looks, thinks, element];
}
