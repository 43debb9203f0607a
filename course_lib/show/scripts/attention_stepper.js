// Worked example A: every cell shows how it was computed. The arithmetic of both versions, the formula's and the
// slide's, is in the data; this script only looks it up.

function draw({ matrices, versions }) {
  const { element, say } = speaker();
  const names = Object.keys(matrices);
  let [version, chosen] = [versions[0], ["scaled", 1, 0]];

  const grids = {};
  for (const name of names) {
    const { formula, rows, columns, most } = matrices[name];
    grids[name] = matrix(el("span", {}, el("b", {}, name), ` = ${formula}`), rows, columns, {
      name,
      most,
      text: (value, r, c) => version.cells[name][r][c].text,
      pick: (r, c) => {
        chosen = [name, r, c];
        update();
      },
    });
  }

  function update() {
    const { question, arithmetic, uses } = version.cells[chosen[0]][chosen[1]][chosen[2]];
    for (const name of names) {
      const here = (cell) => cell[0] === name;
      grids[name].set(version.cells[name].map((line) => line.map((cell) => cell.value)));
      grids[name].mark("used", uses.filter(here).map(([, r, c]) => [r, c]));
      grids[name].mark("chosen", [chosen].filter(here).map(([, r, c]) => [r, c]));
    }
    say(question, el("br"), mono(arithmetic));
  }

  const slip = checkbox(versions[1].label, false, (on) => {
    version = versions[on ? 1 : 0];
    note.textContent = version.note;
    update();
  });
  const note = el("p", { "aria-live": "polite" }, version.note);
  update();
  const sideBySide = (wanted) => el("div", { class: "katze-row top" }, ...wanted.map((name) => grids[name].element));
  return [slip.element, sideBySide(names.slice(0, 3)), sideBySide(names.slice(3)), element, note];
}
