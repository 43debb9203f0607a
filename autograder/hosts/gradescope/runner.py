"""Grades one submission on Gradescope: `run_autograder` starts it as root in a container of the service.

    /autograder/source                      the archive (`bundle.py`)
    /autograder/submission                  the student's files
    /autograder/submission_metadata.json    who handed in, and when
    /autograder/results/results.json        the results (`results.py`)

The student's code runs in the same container as the answers and the secret, so it runs only in a sandbox of level L2 or
above. If a submission could not be graded, there is no `results.json`: Gradescope then reports that the autograder
failed, and gives no score. The reason is printed, which only instructors see. If a single exercise could not be graded,
its test has no score and says why, and the others count.
"""

import json
import sys
import tempfile
import traceback
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from autograder.box.confinement.levels import Level
from autograder.box.confinement.selftest import choose_level
from autograder.course.course import Course
from autograder.errors import BadInput
from autograder.gradebook.changes.adjustments import adjusted
from autograder.grading.assignment import Assignment
from autograder.grading.exercise_strategy import ExerciseStrategy
from autograder.grading.plan import FIRST
from autograder.grading.publish import write_whole
from autograder.grading.task import Task
from autograder.grading.workers import grade_in_parallel
from autograder.hosts.gradescope.results import Json, results_of

WEAKEST = Level.L2
"""In a weaker sandbox, student code could read the secret and the answers."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Grade the submission in a folder laid out like Gradescope's `/autograder`; return the exit status."""
    [folder] = sys.argv[1:] if arguments is None else arguments
    root = Path(folder)
    target = root / "results" / "results.json"
    target.unlink(missing_ok=True)
    try:
        results = grade_submission(root)
    except BadInput as problem:
        print(f"This could not be graded: {problem}")
        return 1
    except Exception:  # whatever it is, the student gets no score and the instructor the reason
        print(f"This could not be graded: the grader failed.\n{traceback.format_exc()}")
        return 1
    write_whole(target, json.dumps(results, indent=1) + "\n")
    target.chmod(0o644)  # for the process that collects it; the student may read it anyway
    return 0


def grade_submission(root: Path) -> Json:
    """Grade the one submission in this folder, and return its results.

    Raises:
        BadInput: it cannot be graded, or no sandbox is strong enough.
    """
    course = Course.find(root / "source" / "course")
    if not course.secret(make=False):
        raise BadInput(f"there is no {course.secret_file}; upload the archive of `katze gradescope` as it is")
    course.secret_file.chmod(0o600)
    [lesson] = course.lessons()
    level = choose_level(WEAKEST)
    with tempfile.TemporaryDirectory(prefix="katze-") as scratch:
        course = replace(course, autograded=Path(scratch, "autograded"), feedback=Path(scratch, "feedback"))
        assignment = Assignment.load(course, lesson, skip_demos=True, feedback=False)
        strategy = ExerciseStrategy(assignment)
        student = read_submitters(root / "submission_metadata.json")
        task = Task(student, root / "submission", "", (FIRST,), strategy.exercises)
        with strategy.make_fork_server(level) as fork_server:
            [finished] = grade_in_parallel(strategy, fork_server, [task], workers=1, tick=lambda: None)
    record = adjusted(finished.record, assignment.adjustments)
    print(f"{task.student}, level {record.level or level.name}", *record.remarks, sep="\n")
    if record.problem or lesson not in finished.notebooks:
        raise BadInput(record.problem or "there is no graded notebook")
    for result in record.ungraded:
        print(f"no score for {result.exercise}. {result.note}")
    return results_of(assignment, record, finished.notebooks[lesson])


def read_submitters(metadata: Path) -> str:
    """Return a name for whoever handed in; it is the same for all submissions of a student or group.

    Hidden inputs depend on it, so it contains only Gradescope's user numbers and nothing that a student chooses.
    """
    try:
        users = json.loads(metadata.read_text(encoding="utf-8"))["users"]
        numbers = sorted({int(user["id"]) for user in users})
    except (OSError, ValueError, LookupError, TypeError):
        numbers = []
    return "-".join(["gradescope", *map(str, numbers)])[:200]


if __name__ == "__main__":
    sys.exit(main())
