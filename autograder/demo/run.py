"""Runs the demo, from a model that learns to translate to a gradebook that can be opened."""

import shlex
import shutil
import sys
from pathlib import Path

from rich.console import Console

from autograder.box.confinement.levels import Level
from autograder.box.confinement.selftest import choose_level
from autograder.course.course import Course
from autograder.course.release import release
from autograder.demo.students import STUDENTS, make_class, students, surprises
from autograder.demo.translation import Learned, learn
from autograder.errors import BadInput
from autograder.gradebook.results import ClassResult
from autograder.grading.batch import grade_assignment
from autograder.pages.class_report import class_page
from autograder.pages.terminal import print_class
from autograder.progress import progress_bar
from course_lib.toys.toy_translator import TOY_STEPS

MARKER = ".katze-demo"
"""A file in each folder that the demo has made and may therefore remove."""

SENTENCE = "the cat danced"
_STEPS_SHOWN = 10
"""Redraw the progress bar after this many steps, because drawing takes time, too."""

SHOWN = "hana_slides_numbers"
"""A student with interesting feedback."""

_CONFIG = '''"""The demo's course, made by `katze demo`; the next run removes and remakes this folder."""

from autograder.intake.timestamps import mend_formgrader

c = get_config()
c.Katze.repository = {repository!r}
c.Katze.solutions_directory = {solutions!r}
c.CourseDirectory.course_id = "katze-demo"
c.HTMLExporter.sanitize_html = True
c.HTMLExporter.filters = {{"clean_html": "autograder.course.filters.clean_html"}}
mend_formgrader()
'''


def run_demo(folder: Path, workers: int, steps: int = TOY_STEPS) -> int:
    """Train the small translator, release the lessons, make the bundled class, and grade it.

    Args:
        folder: the folder for the demo's own course; it is made, or made again if an earlier demo made it.
        workers: how many submissions are graded at once.
        steps: how many training steps.

    Returns:
        0 if every submission had the expected result, else 1.

    Raises:
        BadInput: `folder` contains something that the demo did not make, this is not a course, or there are no
            sandboxes here.
    """
    console = Console(highlight=False, markup=False)
    level = choose_level()
    course = make_course(folder, Course.find())

    console.rule("A transformer learns to translate", align="left")
    _report_translation(_learn(console, steps), console)

    console.rule("A class submits two lessons and is graded in sandboxes", align="left")
    release(course, list(STUDENTS))
    graded = []
    for lesson in STUDENTS:
        make_class(course.release_notebook(lesson), lesson, course.submitted, level)
        graded.append(grade_assignment(course, lesson, workers=workers, level=level, console=console))
        print_class(graded[-1], console)

    console.rule("What came out", align="left")
    as_expected = _report_surprises(graded, level, console)
    _report_places(course, console)
    return 0 if as_expected else 1


def make_course(folder: Path, home: Course) -> Course:
    """Make an empty course in `folder` with the solutions of another course.

    Args:
        folder: the folder; an earlier demo's course in it is removed.
        home: the course whose solutions are used; nothing is written to it.

    Raises:
        BadInput: `folder` contains something that the demo did not make.
    """
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise BadInput(f"{folder} is not a folder; name another place for the demo")
    if folder.is_dir() and any(folder.iterdir()):
        if not (folder / MARKER).is_file():
            raise BadInput(f"{folder} holds something that no demo has made; name another folder")
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARKER).touch()
    settings = _CONFIG.format(repository=home.repository, solutions=str(home.solutions))
    (folder / "nbgrader_config.py").write_text(settings, encoding="utf-8")
    return Course.find(folder)


def _learn(console: Console, steps: int) -> Learned:
    with progress_bar(console) as bar:
        task = bar.add_task("making sentences", total=steps)

        def progress(step: int, loss: float) -> None:
            doing = "training" if step < steps else "testing "
            bar.update(task, completed=step, description=f"{doing}, loss {loss:.2f}")
            if step % _STEPS_SHOWN == 0 or step == steps:
                bar.refresh()

        bar.refresh()
        return learn(SENTENCE, steps, progress)


def _report_translation(learned: Learned, console: Console) -> None:
    share = learned.matches / learned.held_out
    console.print(
        f"Learned from {learned.training_pairs} pairs of sentences in {learned.seconds:.0f} s. "
        f"Of {learned.held_out} held-out sentences {learned.matches} are translated word for word ({share:.1%})."
    )
    console.print(f"  [bold]{SENTENCE}[/]  ->  [bold]{learned.translation}[/]", markup=True)
    console.print(f"It {'is' if learned.was_known else 'is not'} among the sentences that were learned from.")


def _report_surprises(graded: list[ClassResult], level: Level, console: Console) -> bool:
    found = {(run.lesson, student): lines for run in graded for student, lines in surprises(run, level).items()}
    total = sum(len(students(run.lesson, level)) for run in graded)
    console.print(f"{total - len(found)} of {total} submissions came out as expected.")
    for (lesson, student), lines in found.items():
        for line in lines:
            console.print(f"  [red]{lesson}, {student}: {line}[/]", markup=True)
    left_out = sum(len(students(run.lesson)) for run in graded) - total
    if left_out:
        console.print(
            f"{left_out} submissions were left out: their code must not run in sandboxes of level {level.name}."
        )
    return not found


def _report_places(course: Course, console: Console) -> None:
    lesson = next(iter(STUDENTS))
    page = course.root / "class.html"
    page.write_text(class_page(course, lesson), encoding="utf-8")
    katze = _near(Path(sys.executable).with_name("katze"))  # as typed from the current directory
    again = [katze, "grade", lesson, "--course", _near(course.root), "--student", SHOWN]
    for what, place in (
        ("gradebook", _near(course.root / "gradebook.db")),
        ("the class on a page", _near(page)),
        ("one student's feedback", _near(course.feedback / SHOWN / lesson / f"{lesson}.html")),
        ("the same student's notebook", _near(course.submitted / SHOWN / lesson / f"{lesson}.ipynb")),
    ):
        console.print(f"  {what + ':':<29}{place}", soft_wrap=True)
    console.print("Next, change something in that notebook, and grade it again:")
    console.print(f"  {shlex.join(again)}", soft_wrap=True)


def _near(path: Path) -> str:
    """Return a path relative to the current directory if it is below it."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
