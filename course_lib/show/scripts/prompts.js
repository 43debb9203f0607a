// Beginnings, and how a model continued them: sampled several times each, and written here word by word.

function draw({ beginnings, texts }) {
  const page = el("p", { style: "min-height:6em" });
  const { element, say } = speaker();
  let [chosen, time] = [0, 0];
  let walk;

  function write(count) {
    const words = texts[chosen][time];
    page.replaceChildren(el("b", {}, beginnings[chosen]), ` ${words.slice(0, count).join(" ")}`);
    if (count === words.length) say(`Text ${time + 1} of ${texts[chosen].length}; the same beginning, different words.`);
  }

  function renew() {
    if (walk) walk.stop();
    const fresh = player("words", texts[chosen][time].length + 1, write, { text: String, seconds: 0.2 });
    if (walk) walk.element.replaceWith(fresh.element);
    walk = fresh;
    walk.go(texts[chosen][time].length);
  }

  const begin = choices("Begin with:", beginnings, 0, (index) => {
    [chosen, time] = [index, 0];
    renew();
  });
  const again = button("again, with other dice", () => {
    time = (time + 1) % texts[chosen].length;
    renew();
  });
  renew();
  return [begin.element, row(again), walk.element, page, element];
}
