// A sentence with a cat on one of its words, and what a model says lies under it.

function draw({ words, guesses, place, cat }) {
  const { element, say } = speaker();
  const under = el("div");

  function cover(chosen) {
    const drawn = bars("what may lie under the cat", guesses[chosen].map(([word]) => word), {
      text: (share) => `${(100 * share).toFixed(0)}%`,
    });
    const right = guesses[chosen].findIndex(([word]) => word === words[chosen]);
    drawn.set(guesses[chosen].map(([, share]) => share), [right]);
    under.replaceChildren(drawn.element);
    say(words.map((word, i) => (i === chosen ? cat : word)).join(" "));
  }

  const buttons = choices("Put the cat on a word:", words, place, cover);
  cover(place);
  return [buttons.element, element, under];
}
