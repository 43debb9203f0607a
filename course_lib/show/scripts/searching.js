// Beam search on a tree of next words, step by step; at any step the reader may keep another candidate by hand. A node of
// the tree is [word, its probability, what may follow], the last one missing if it was not computed.

function draw({ source, tree, end, alpha }) {
  const { element, say } = speaker();
  const picture = el("div", { class: "katze-matrix", tabindex: 0, role: "group", "aria-label": "the tree so far, which scrolls" });
  const chosen = el("div", { class: "katze-row", role: "group", "aria-label": "candidates of this step" });
  const seed = { words: [], key: "", score: 0, next: tree, parent: null };
  let [width, penalised, steps, now, walk] = [2, false, [], 0, null];
  let byHand = {};

  const done = (node) => node.words.at(-1) === end;
  const rank = (node) => node.score / (penalised ? ((5 + node.words.length) / 6) ** alpha : 1);
  const best = (nodes) => [...nodes].sort((a, b) => rank(b) - rank(a));
  const told = (node) => node.words.join(" ");
  const unknown = (node) => !done(node) && !node.next;

  function following(node) {
    return node.next.map(([word, p, next], i) => ({
      words: [...node.words, word],
      key: `${node.key}.${i}`,
      score: node.score + Math.log(p),
      next,
      parent: node,
    }));
  }

  // The beams at each step of a search of this width; it ends when all are finished, or unknown.
  function search(beams, wishes) {
    const found = [{ candidates: [seed], kept: [seed] }];
    for (const step of range(20)) {
      const { kept } = found.at(-1);
      if (kept.every(done) || kept.some(unknown)) break;
      const candidates = best(kept.flatMap((node) => (done(node) ? [node] : following(node))));
      const wanted = candidates.filter(({ key }) => (wishes[step + 1] || []).includes(key));
      const others = candidates.filter((node) => !wanted.includes(node));
      found.push({ candidates, kept: best([...wanted, ...others].slice(0, beams)) });
    }
    return found;
  }

  function greedyPath() {
    const found = search(1, {});
    return found.map(({ kept: [node] }) => node);
  }

  function keep(node) {
    const wishes = byHand[now] || [];
    byHand = Object.fromEntries(Object.entries(byHand).filter(([step]) => step < now));
    byHand[now] = [node.key, ...wishes.filter((key) => key !== node.key)].slice(0, width);
    renew(now);
    (range(chosen.children.length).map((i) => chosen.children[i]).find((one) => one.dataset.key === node.key) || reset).focus();
  }

  // Every visible node at its position: a column for each word, a row for each leaf.
  function laidOut(nodes) {
    const all = new Map();
    for (const node of nodes) for (let one = node; one && !all.has(one.key); one = one.parent) all.set(one.key, one);
    const children = (node) => best([...all.values()].filter(({ parent }) => parent && parent.key === node.key));
    let rows = 0;
    const positions = new Map();
    const settle = (node) => {
      const below = children(node).map(settle);
      const row = below.length ? (below[0] + below.at(-1)) / 2 : rows++;
      positions.set(node.key, { node, x: 14 + 118 * node.words.length, y: 20 + 38 * row });
      return row;
    };
    settle(seed);
    return { positions, height: 38 * rows + 6 };
  }

  function tinted(node, { live, dropped, greedy }) {
    if (live.has(node.key)) return "blue";
    return dropped.has(node.key) ? "dashed" : greedy.has(node.key) ? "" : "grey";
  }

  function paint(step) {
    const { candidates, kept } = steps[step];
    const path = greedyPath().slice(0, step + 1);
    const shown = [...steps.slice(0, step + 1).flatMap((one) => one.kept), ...candidates, ...path];
    const { positions, height } = laidOut(shown);
    const live = new Set();
    for (const node of kept) for (let one = node; one; one = one.parent) live.add(one.key);
    const greedy = new Set(path.map(({ key }) => key));
    const dropped = new Set(candidates.filter((node) => !kept.includes(node)).map(({ key }) => key));
    const deep = Math.max(...shown.map(({ words }) => words.length));
    const lines = [...positions.values()].filter(({ node }) => node.parent);
    const from = ({ node }) => positions.get(node.parent.key);
    const after = ({ node, x }) => x + 7 * Math.max(4, (node.words.at(-1) || "").length);
    const wide = 14 + 118 * deep + 110;
    const drawn = svg(
      "svg",
      {
        class: "katze-chart",
        viewBox: `0 0 ${wide} ${height}`,
        role: "img",
        style: `width:${wide}px;max-width:none`,
        "aria-label": `After step ${step}: ${candidates.map((node) => `${told(node)} ${decimal(rank(node))}${kept.includes(node) ? ", kept" : ""}`).join("; ")}.`,
      },
      ...lines.flatMap((at) => {
        const d = `M${after(from(at))} ${from(at).y}L${at.x - 8} ${at.y}`;
        const own = greedy.has(at.node.key) ? [svg("path", { class: "orange dotted", d, transform: "translate(0 5)" })] : [];
        return [svg("path", { class: tinted(at.node, { live, dropped, greedy }) || "grey", d }), ...own];
      }),
      ...[...positions.values()].map(({ node, x, y }) =>
        svg(
          "g",
          candidates.includes(node) && node !== seed ? { click: () => keep(node), style: "cursor:pointer" } : {},
          svg("text", { x: x - 4, y: y - 2, "font-weight": live.has(node.key) ? 700 : 400 }, node.words.at(-1) || "<s>"),
          svg("text", { x: x - 4, y: y + 11 }, node === seed ? "" : decimal(rank(node))),
        ),
      ),
    );
    picture.replaceChildren(drawn);
    picture.scrollLeft = wide;
  }

  function show(step) {
    now = step;
    const { candidates, kept } = steps[step];
    paint(step);
    chosen.replaceChildren(
      ...(step ? candidates : []).map((node) =>
        button(`${told(node)} ${decimal(rank(node))}`, () => keep(node), { "aria-pressed": String(kept.includes(node)), "data-key": node.key }),
      ),
    );
    const [first] = kept;
    const last = step === steps.length - 1;
    if (!step) say(`The search begins with <s> alone and keeps ${width} beginning${width > 1 ? "s" : ""} at each step.`);
    else if (last && kept.some(unknown)) say(`Kept: ${kept.map(told).join("; ")}. What may follow was not computed: this branch ends here.`);
    else if (last) say(el("b", {}, "Found: "), `${told(first)}, score ${decimal(rank(first))}. `, el("b", {}, "Greedy: "), greedySays());
    else say(`Step ${step}: ${candidates.length} candidates; kept: ${kept.map((node) => `${told(node)} ${decimal(rank(node))}`).join("; ")}.`);
  }

  function greedySays() {
    const last = greedyPath().at(-1);
    return `${told(last)}, score ${decimal(rank(last))}.`;
  }

  function renew(step) {
    steps = search(width, byHand);
    if (walk) walk.stop();
    const text = (at) => `${at} of ${steps.length - 1}`;
    const fresh = player("step", steps.length, show, { seconds: 1.5, text });
    if (walk) walk.element.replaceWith(fresh.element);
    walk = fresh;
    walk.go(step);
  }

  const beams = slider("beams", { min: 1, max: 4, value: width }, (value) => {
    [width, byHand] = [value, {}];
    renew(now);
  });
  const penalty = checkbox(`length penalty, alpha = ${alpha}`, penalised, (on) => {
    [penalised, byHand] = [on, {}];
    renew(now);
  });
  const reset = button("let the search decide again", () => {
    byHand = {};
    renew(now);
  });
  renew(1);
  const legend = el("p", {}, el("b", {}, "━"), " kept   ╍ dropped now   ─ dropped earlier   ┉ orange: what greedy decoding writes");
  const keepers = el("p", {}, "Candidates, the best first; press one to keep it:");
  return [el("p", {}, "English: ", el("b", {}, source)), row(beams.element, penalty.element, reset), walk.element, legend, picture, keepers, chosen, element];
}
