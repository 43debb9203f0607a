// Questions with the same choices each. The answers stay in this browser, and in a line of Python to copy.

function draw({ name, questions, choices: options }) {
  const { element, say } = speaker();
  const key = `katze ${name} ${questions.join("|")}`;
  const answers = kept() ?? questions.map(() => null);
  const line = el("input", { type: "text", readonly: true, "aria-label": "your answers, as a line of Python" });

  function kept() {
    try {
      const found = JSON.parse(localStorage.getItem(key));
      return Array.isArray(found) && found.length === questions.length ? found : null;
    } catch {
      return null; // a page in a frame of its own keeps nothing
    }
  }

  function keep() {
    try {
      localStorage.setItem(key, JSON.stringify(answers));
    } catch {
      // as above
    }
  }

  function update() {
    const given = answers.filter((answer) => answer != null).length;
    line.value = `${name}.answers = [${answers.map((answer) => answer ?? "None").join(", ")}]`;
    const rest = given === questions.length ? " Copy this line into the next cell:" : "";
    say(`${given} of ${questions.length} answered.${rest}`);
  }

  const asked = questions.map((question, i) =>
    choices(`${i + 1}. ${question}`, options, answers[i], (index) => {
      answers[i] = index;
      keep();
      update();
    }),
  );
  const copy = button("Copy", async () => {
    line.select();
    try {
      await navigator.clipboard.writeText(line.value);
    } catch {
      document.execCommand("copy"); // where a page may not use the clipboard
    }
    copy.textContent = "Copied";
  });
  update();
  return [...asked.map((each) => each.element), element, row(line, copy)];
}
