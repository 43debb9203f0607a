// One transformer block, line by line: the shape of the output, how many numbers it has, and the learned parameters.

function draw({ orders, sizes }) {
  const { element, say } = speaker();
  const values = Object.fromEntries(sizes.map(({ name, value }) => [name, value]));
  const body = el("tbody");
  let [order, position] = [0, 0];
  const product = (names) => names.reduce((total, name) => total * measure(name), 1);
  const many = (number) => number.toLocaleString("en");

  function measure(name) {
    if (name === "d_model") return values.heads * values.d_head;
    if (name === "d_ff") return 4 * values.heads * values.d_head;
    return values[name];
  }

  function update() {
    const lines = orders[order].lines;
    const learned = lines.map((line) => sum(line.parameters.map(product)));
    body.replaceChildren(
      ...lines.map(({ code, shape }, i) => {
        const cells = [`[${shape.map(measure).join(", ")}]`, many(product(shape)), learned[i] ? many(learned[i]) : "–"];
        const current = i === position && { "aria-current": "step", class: "marked" };
        return el("tr", current || {}, el("th", { scope: "row" }, mono(code)), ...cells.map((cell) => el("td", {}, cell)));
      }),
    );
    const { code, shape, says } = lines[position];
    const total = many(sum(learned));
    say(mono(`${code}: [${shape.join(", ")}]`), el("br"), `${says} All ${lines.length} lines together learn ${total} numbers.`);
  }

  const walk = player("line", orders[0].lines.length, (wanted) => {
    position = wanted;
    update();
  }, { text: (line) => String(line + 1), seconds: 1.5 });
  const controls = sizes.map(({ name, least, most, step, value }) =>
    slider(name, { min: least, max: most, step, value }, (chosen) => {
      values[name] = chosen;
      update();
    }),
  );
  const kind = choices("Add and norm:", orders.map(({ name }) => name), 0, (chosen) => {
    order = chosen;
    update();
  });
  update();
  const head = el("tr", {}, ...["line", "shape", "numbers", "learned"].map((name) => el("th", { scope: "col" }, name)));
  const table = el("table", { class: "katze-lines", "aria-label": "the lines of a block" }, el("thead", {}, head), body);
  return [kind.element, row(...controls.map((each) => each.element)), walk.element, element, scrolled(table, "the lines of a block")];
}
