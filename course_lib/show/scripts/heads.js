// Attention weights of every layer and head, for a few texts: where each word looks.

function draw({ texts, layers, heads, opens }) {
  const { element, say } = speaker();
  const stage = el("div");
  const sources = el("div");
  let [text, layer, head, query] = [texts[0], ...opens];
  let [grid, links] = [null, null];
  const rounded = (value) => value.toFixed(2);
  const names = ["mean of the heads", ...range(heads).map((i) => `head ${i + 1}`)];

  function weights() {
    const all = text.alpha[layer];
    const cell = (q, k) => (head ? all[head - 1][q][k] : sum(all.map((one) => one[q][k])) / heads) / 1000;
    return text.queries.map((_, q) => text.keys.map((_, k) => cell(q, k)));
  }

  // Two columns of words, and a line from each query to each key, as wide as its weight.
  function paint(all) {
    const [high, left, right] = [24, 150, 310];
    const height = high * Math.max(text.queries.length, text.keys.length) + 8;
    const at = (i) => 18 + high * i;
    const line = (q, k) => {
      const style = `stroke-width:${(1 + 7 * all[q][k]).toFixed(2)};stroke-opacity:${q === query ? clamp(0.25 + all[q][k], 0, 1) : 0.1}`;
      return svg("line", { class: "blue", x1: left + 6, y1: at(q) - 4, x2: right - 6, y2: at(k) - 4, style });
    };
    const order = [...range(text.queries.length).filter((q) => q !== query), query];
    const word = (label, x, y, anchor, bold) => svg("text", { x, y, "text-anchor": anchor, "font-weight": bold ? 700 : 400 }, label);
    links.replaceChildren(
      svg(
        "svg",
        { class: "katze-chart", viewBox: `0 0 480 ${height}`, style: "max-width:600px", role: "img", "aria-label": `Lines from each word to the words it looks at; the lines from ${text.queries[query]} are bold.` },
        ...order.flatMap((q) => text.keys.map((_, k) => (all[q][k] < 0.01 ? null : line(q, k))).filter(Boolean)),
        ...text.queries.map((label, q) => word(label, left, at(q), "end", q === query)),
        ...text.keys.map((label, k) => word(`${label} ${rounded(all[query][k])}`, right, at(k), "start", all[query][k] >= 0.1)),
      ),
    );
  }

  function look(from) {
    query = from;
    const all = weights();
    const now = all[query];
    grid.mark("chosen", text.keys.map((_, k) => [query, k]));
    paint(all);
    const first = range(now.length).sort((a, b) => now[b] - now[a]).slice(0, 3);
    const who = head ? `head ${head} of layer ${layer + 1}` : `layer ${layer + 1}, the mean of its heads,`;
    say(`From “${text.queries[query]}” ${who} looks at ${first.map((k) => `“${text.keys[k]}” ${rounded(now[k])}`).join(", ")}.`);
  }

  function update() {
    grid.set(weights());
    look(query);
  }

  function renew() {
    query = Math.min(query, text.queries.length - 1);
    grid = matrix("query ↓  key →", text.queries, text.keys, { text: rounded, pick: look });
    grid.cells.forEach((line, q) => line.forEach((cell) => cell.addEventListener("mouseenter", () => look(q))));
    links = el("div", { style: "flex:1 0 min(30em,100%)" });
    sources.replaceChildren(choices("look from", text.queries, query, look).element);
    stage.replaceChildren(el("div", { class: "katze-row top" }, links, grid.element));
    update();
  }

  const which = select("text", texts.map((one) => one.name), 0, (index) => {
    text = texts[index];
    renew();
  });
  const where = select("layer", range(layers).map((i) => i + 1), layer, (index) => {
    layer = index;
    update();
  });
  const by = select("head", names, head, (index) => {
    head = index;
    update();
  });
  renew();
  return [row(which.element, where.element, by.element), sources, stage, element];
}
