// A sentence with a cat on one of its words, and a model's guesses of the word below.

function draw({ words, guesses, position, cat }) {
  const { element, say } = speaker();
  const under = el("div");

  function cover(chosen) {
    const drawn = bars("what may lie under the cat", guesses[chosen].map(([word]) => word), {
      text: (p) => `${(100 * p).toFixed(0)}%`,
    });
    const right = guesses[chosen].findIndex(([word]) => word === words[chosen]);
    drawn.set(guesses[chosen].map(([, p]) => p), [right]);
    under.replaceChildren(drawn.element);
    say(words.map((word, i) => (i === chosen ? cat : word)).join(" "));
  }

  const buttons = choices("Put the cat on a word:", words, position, cover);
  cover(position);
  return [buttons.element, element, under];
}
