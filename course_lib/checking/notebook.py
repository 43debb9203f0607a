"""What a student calls: `check` (in nbgrader's check cells), `case`, `hint`, `solution`, `progress`, `recall`."""

from __future__ import annotations

import contextlib
import inspect
import io
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from course_lib.judging.answer_key import PUBLIC_SEED, AnswerKey
from course_lib.judging.errors import UnusableExercises
from course_lib.judging.exercise import Case, Exercise, Value
from course_lib.judging.finding import cells_above, find_answer, wrong_name
from course_lib.judging.judge import judge, rule_broken
from course_lib.judging.last_run import Run, RunLog, log_of_notebook, running_shell
from course_lib.judging.observation import Observation, Outcome, Raised, observe, raised_by, with_article
from course_lib.judging.recorded.reading import RecordedExercise
from course_lib.judging.render import TEXT_WIDTH
from course_lib.judging.rules import Code
from course_lib.judging.verdict import Verdict
from course_lib.judging.wording.torch_words import explained

if TYPE_CHECKING:
    from course_lib.learner.failing import FailingCase
    from course_lib.learner.panel import HelpPanel
    from course_lib.learner.progress_map import ProgressMap

IMPORTED_CHECK = f"from {__package__} import check"
"""The first line of a check cell, so that it says what is missing after a restart of the kernel."""

HELP = frozenset({"case", "hint", "progress", "solution"})
"""What a lesson imports only for its readers: no cell calls it, and nothing is missing without it."""


def check(exercise_id: str = "", answer: Callable[..., Value] | None = None, *, hidden: bool = False) -> Verdict | None:
    """Check an answer and say what is right, what is wrong, and which mistake it is.

    Args:
        exercise_id: such as "attention.scaled_dot_product".
        answer: the function or class; by default, what the notebook defines under the exercise's name.
        hidden: run the hidden cases as well, with a public seed.

    Returns:
        The verdict, which shows itself when it is the last value of a cell. None if there is no such exercise, or no
        usable one (a printed sentence says so), and inside the grader's sandbox, where the grader checks from outside.

    Raises:
        KeyboardInterrupt: the user stopped the check; the message says where the answer was.
    """
    if find_spec("course_lib.exercises") is None:
        print("This check is left to the grader, which runs it outside the notebook.")
        return None
    from course_lib.learner.asked import NOTHING, asked_for
    from course_lib.learner.noting import noted

    exercise = asked_for(exercise_id, "check")
    if exercise is None:
        return None
    if hidden and isinstance(exercise, RecordedExercise):
        print("Only the full course has hidden cases: these are the visible ones.")
        hidden = False
    try:
        return noted(*_checked(exercise, answer, hidden))
    except UnusableExercises as problem:
        print(f"{NOTHING['check']}, which is not your fault: {problem}.")
        return None


def _checked(exercise: Exercise, answer: Callable[..., Value] | None, hidden: bool) -> tuple[Verdict, Sequence[str]]:
    """Return the verdict, and the code that was run if it contains the answer."""
    log = log_of_notebook()
    namespace, runs = (log.namespace, log.runs) if log is not None else _script()
    cells = [run.source for run in runs]
    if answer is not None:
        return _verdict(exercise, answer, cells, hidden), []
    if _is_blank(exercise, namespace):
        return _undefined(exercise, _NEW_KERNEL), []
    missing = _not_in_the_cells(exercise, runs, log, namespace)
    if missing is not None:
        return missing, []
    return _verdict(exercise, namespace.get(exercise.name), cells, hidden), cells


def _not_in_the_cells(
    exercise: Exercise, runs: Sequence[Run], log: RunLog | None, namespace: Mapping[str, Value]
) -> Verdict | None:
    """Return a verdict if the present cells give the answer's name no value, whatever the kernel holds; else None."""
    answer_cells = [place for place, run in enumerate(runs) if run.is_of(exercise.id)]
    found = find_answer(exercise.name, [run.source for run in runs], answer_cells)
    last = runs[found.cell] if found.cell is not None else None
    if log is not None and last is not None and last.raised is not None and last is not log.origin(exercise.name):
        return _did_not_run(exercise, last.raised)
    outdated = log is not None and log.is_outdated(exercise.name)
    if exercise.name in namespace and not outdated:
        return None
    if found.other:
        return _undefined(exercise, wrong_name(exercise, found.other))
    gone = (
        f"The cell that defined {exercise.name} no longer does. Define it there again, or run the cell that defines it "
        "now; then check again."
    )
    return _undefined(exercise, gone) if outdated else None


class NoCase:
    """Stand-in for a missing case, so that a cell that uses it ends in a sentence.

    Args:
        why: the sentence that `case` has printed.
    """

    def __init__(self, why: str) -> None:
        self._why = why

    def __repr__(self) -> str:
        return self._why

    def _ipython_display_(self) -> None:
        """Show nothing: the sentence is printed."""

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):  # looked up on any value that is shown
            raise AttributeError(name)
        raise NoCaseHere(f"There is no {name}: {self._why[0].lower()}{self._why[1:]} Delete this cell, or go on.")


class NoCaseHere(LookupError):
    """A cell uses a case that `case` could not return."""

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows: only the message, without a traceback."""
        return [str(self)]


def case(exercise_id: str = "", answer: Callable[..., Value] | None = None) -> FailingCase | NoCase:
    """Return the case that a check shows, for a closer look: its inputs (`args`), and the right result (`expected`).

    Args:
        exercise_id: such as "masking.packed_mask".
        answer: the function or class; by default, what the notebook defines under the exercise's name.

    Returns:
        The case, which shows how to go on when it is the last value of a cell. If nothing fails, there is no answer
        yet, the exercise is a prediction, or inside the grader's sandbox, a printed sentence says so, and a cell that
        uses the returned value repeats it.
    """
    if find_spec("course_lib.exercises") is None:
        return _no_case("No case is handed out during grading.")
    from course_lib.learner.asked import NOTHING, asked_for
    from course_lib.learner.failing import failing_case

    exercise = asked_for(exercise_id, "case")
    if exercise is None:
        return NoCase(f"{NOTHING['case']}.")
    try:
        found = failing_case(_checked(exercise, answer, hidden=False)[0])
    except UnusableExercises as problem:
        return _no_case(f"{NOTHING['case']}, which is not your fault: {problem}.")
    return _no_case(found) if isinstance(found, str) else found


def _no_case(why: str) -> NoCase:
    print(why)
    return NoCase(why)


def hint(exercise_id: str = "") -> HelpPanel | None:
    """Open a hint; each further call opens the next, from the idea to the outline of an answer.

    If the last check named a mistake that a hint addresses, that hint comes first.

    Args:
        exercise_id: such as "attention.scaled_dot_product".

    Returns:
        The hints opened so far, the newest last, which show themselves when they are the last value of a cell. None if
        there are none (a printed sentence says so), and inside the grader's sandbox.
    """
    if find_spec("course_lib.exercises") is None:
        print("There are no hints here.")
        return None
    from course_lib.learner.asked import asked_for
    from course_lib.learner.hints import next_hint

    exercise = asked_for(exercise_id, "hint")
    return next_hint(exercise) if exercise is not None else None


def solution(exercise_id: str = "") -> HelpPanel | None:
    """Return the course's solution with its reason, once an answer was checked, or when called a second time.

    Args:
        exercise_id: such as "attention.scaled_dot_product"; for a question to answer in words, the solution is one good
            answer.

    Returns:
        The solution, which shows itself when it is the last value of a cell. None if it is not shown: at the first
        call, if the course has turned solutions off, and inside the grader's sandbox. A printed sentence says so.
    """
    if find_spec("course_lib.exercises") is None:
        print("There are no solutions here.")
        return None
    from course_lib.learner.asked import asked_for
    from course_lib.learner.current_catalogue import current_catalogue
    from course_lib.learner.solutions import model_answer, shown_solution

    if exercise_id in current_catalogue().all_written():
        return model_answer(exercise_id)
    exercise = asked_for(exercise_id, "solution")
    return shown_solution(exercise) if exercise is not None else None


def progress(lesson: str | None = None) -> ProgressMap | None:
    """Show how far you are: what has passed in each lesson, and what comes next.

    Args:
        lesson: the lesson whose exercises to list, such as "01_attention"; by default the one you were last in.

    Returns:
        The map, which shows itself when it is the last value of a cell. None if there is no such lesson (a printed
        sentence says so), and inside the grader's sandbox.
    """
    if find_spec("course_lib.exercises") is None:
        print("There is no progress to show here.")
        return None
    from course_lib.exercises.catalogue import UnknownName
    from course_lib.learner.progress_map import progress_map

    try:
        return progress_map(lesson)
    except (UnknownName, UnusableExercises) as error:
        print(f"{error}")
        return None


def recall(lesson: str, letters: str = "") -> None:
    """Print how many questions at a lesson's beginning you answered correctly, and why a wrong choice is wrong.

    `progress` counts what is right the first time. It is never graded.

    Args:
        lesson: such as "01_attention".
        letters: your choices in order, such as "b d a - c", with a dash for a question that you leave out.
    """
    if find_spec("course_lib.exercises") is None:
        print("Questions that look back are not counted here.")
        return
    from course_lib.exercises.catalogue import UnknownName
    from course_lib.learner.recall import told

    try:
        for sentence in told(lesson, letters):
            print(textwrap.fill(sentence, TEXT_WIDTH, subsequent_indent="   "))
    except (UnknownName, UnusableExercises) as error:
        print(f"{error}")


def _verdict(exercise: Exercise, written: Value, cells: Sequence[str], hidden: bool) -> Verdict:
    """Return the verdict on the value under the answer's name; `written` is None if there is none."""
    if written is None:
        return never_defined(exercise)
    if not callable(written):
        return _given_away(exercise, written)
    rule = Code(cells).broken_rule(exercise.name, exercise.forbidden_names)
    if rule is not None:
        return rule_broken(exercise, rule.name, rule.place)
    from course_lib.learner.watch import Watch

    key, stopped = AnswerKey(exercise, PUBLIC_SEED if hidden else None), ""

    def watched(case: Case) -> Observation:
        """Observe the answer, and stop a call that does not come back."""
        nonlocal stopped
        watch = Watch()
        try:
            with watch:
                return observe(written, case, exercise.forbidden_names)
        except KeyboardInterrupt as interrupt:
            place = f"{exercise.name}{_place(interrupt)}. Is there a loop that never ends?"
            if not watch.fired:
                raise KeyboardInterrupt(f"You stopped {place}") from None  # without the check's own traceback
            stopped = f"The check has stopped {place}"
            return Observation(False, failure=Outcome.TIMED_OUT)

    with _quiet() as printed:
        verdict = judge(key, watched)
    return replace(verdict, prints=bool(printed.getvalue()), note=stopped or verdict.note)


def _place(interrupt: KeyboardInterrupt) -> str:
    """Return where an answer was interrupted, in brackets; empty if that is not known."""
    reached = raised_by(interrupt)
    return f" (line {reached.line}: {reached.code})" if reached.code else ""


def never_defined(exercise: Exercise) -> Verdict:
    """Return the verdict if the name does not exist (yet)."""
    run = "Run the cell that defines it, and look" if running_shell() is not None else "Look"
    return _undefined(exercise, f"There is no {exercise.name} yet. {run} for a typo in its name.")


def _undefined(exercise: Exercise, note: str) -> Verdict:
    return Verdict(exercise, Outcome.NEVER_DEFINED, 0.0, note=note)


_NEW_KERNEL = (
    "Nothing of this lesson is defined. Has the kernel been restarted? Run > Run All Above Selected Cell (in Colab: "
    "Runtime > Run before) defines it again."
)


def _is_blank(exercise: Exercise, namespace: Mapping[str, Value]) -> bool:
    """Return whether a notebook has nothing of an exercise's lesson: no answer and no import."""
    from course_lib.learner.current_catalogue import current_catalogue

    catalogue = current_catalogue()
    if running_shell() is None or exercise.lesson not in catalogue.modules:
        return False
    answers = {each.name for each in catalogue.of_lesson(exercise.lesson)}
    return not (answers | _IMPORTED) & namespace.keys()


_IMPORTED = {"show", "torch", "np", "numpy"}
"""Names of which a lesson's first cells import at least one."""


def _did_not_run(exercise: Exercise, raised: Raised) -> Verdict:
    """Return the verdict if an exception stopped the cell that writes the answer before it defined it."""
    line = f" in line {raised.line}" if raised.line else ""
    text = f": {raised.message}" if raised.message else ""
    missing = explained(raised.message) if raised.type_name == NameError.__name__ else ""
    meant = f"{missing} " if missing else ""
    return _undefined(
        exercise,
        f"The cell that defines {exercise.name} did not run: it stopped with {raised.type_name}{line}{text}. {meant}"
        "Nothing was checked. Fix that cell, run it, then check again.",
    )


def _given_away(exercise: Exercise, value: Value) -> Verdict:
    """Return the verdict if the name stands for something that cannot be called, such as a result."""
    kind = "class" if exercise.is_class else "function"
    return _undefined(
        exercise,
        f"{exercise.name} is not a {kind} but {with_article(type(value).__name__)}: its name has been given to "
        f"something else. Use another name there, then run what defines {exercise.name} again.",
    )


def _script() -> tuple[dict[str, Value], list[Run]]:
    """Return the names in the script that this runs in, and its cells up to here; no cells if it cannot be read."""
    script = sys.modules["__main__"]
    names, file = vars(script), getattr(script, "__file__", None)
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals is not names:
        frame = frame.f_back
    try:
        text = Path(file).read_text(encoding="utf-8") if file is not None else ""
    except (OSError, UnicodeDecodeError):
        text = ""
    return names, [Run.of(cell) for cell in cells_above(text, frame.f_lineno if frame is not None else None)]


@contextlib.contextmanager
def _quiet() -> Iterator[io.StringIO]:
    """Capture what an answer prints, since nbgrader scores any stderr in a check cell as zero."""
    nowhere = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stderr(nowhere), contextlib.redirect_stdout(nowhere):
        warnings.simplefilter("ignore")
        yield nowhere


log_of_notebook()  # the first cell imports this module, so the runs of all other cells are recorded
