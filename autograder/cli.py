"""The command `katze`: what each part of the harness does, under one name.

Exit status: 0 done, 1 the grader or a check failed, or somebody could not be graded because of a folder's name, 2 wrong
use or bad input.
"""

from __future__ import annotations

import argparse
import atexit
import errno
import gc
import json
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import argcomplete
from argcomplete.shell_integration import shellcode

from autograder.console import output_console
from autograder.errors import DISK_FULL, BadInput
from autograder.words import count
from course_lib import __version__
from course_lib.exercises import LESSONS
from course_lib.learner.references import REFERENCES

if TYPE_CHECKING:
    from autograder.box import Level

DONE, FAILED, MISUSED = 0, 1, 2

_SLOW = {
    "demo": "the demo begins",
    "learn": "preparing the lessons",
    "site": "running the lessons",
    "release": "reading the solutions",
    "grade": "starting the boxes",
    "report": "reading the gradebook",
    "check": "starting a box",
    "doctor": "trying what this machine offers",
    "certify": "trying every answer",
}
"""What commands say at once that need a while before they have something to tell."""

BUILT = "build"
"""The folder for what commands make: it and those in it are made when they are needed; all others must be there."""

_ROOM, _RIGHT = "make room, then run this again", "get permission to write there, then run this again"
DISK = dict.fromkeys((*DISK_FULL, errno.EFBIG), _ROOM) | dict.fromkeys((errno.EROFS, errno.EACCES), _RIGHT)
"""What a disk may refuse, and the next step."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `katze` with these arguments, by default those of the command line; returns the exit status."""
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[variable] = "1"  # before torch is imported: workers are forks, and threads do not survive one
    # else jsonschema, which nbformat imports, builds a grammar of web addresses: a second, and no notebook needs it.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    atexit.register(gc.freeze)  # else the collector looks through all of torch once more at the end: a second
    parser = _parser()
    if "_ARGCOMPLETE" in os.environ:  # a shell asks, by `katze completion`
        argcomplete.autocomplete(parser)
    options = parser.parse_args(arguments)
    if "run" not in options:
        parser.print_help(sys.stderr)
        return MISUSED
    if options.command in _SLOW and sys.stderr.isatty():  # importing torch takes seconds, and nobody should wonder
        print(f"katze: {_SLOW[options.command]} ...", file=sys.stderr)
    try:
        status: int = options.run(options)
    except BadInput as problem:
        end = "" if str(problem).endswith((".", "?")) else "."
        print(f"katze: {problem}{end}", file=sys.stderr)
        return MISUSED
    except BrokenPipeError:
        return DONE
    except OSError as problem:
        if problem.errno not in DISK or problem.filename is None:
            raise
        print(f"katze: cannot write {problem.filename}: {problem.strerror}; {DISK[problem.errno]}.", file=sys.stderr)
        return MISUSED
    except KeyboardInterrupt as stopped:
        print(f"katze: {str(stopped) or 'stopped; what was recorded stays recorded'}", file=sys.stderr)
        return 130
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="katze", description="Release, grade and certify a course of notebooks.")
    parser.add_argument("--version", action="version", version=f"katze {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    def command(name: str, run: Any, summary: str, course: bool = True) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=summary, description=summary)
        made.set_defaults(run=run, command=name)
        if course:
            made.add_argument(
                "--course", type=Path, metavar="DIR", help="the course's folder (default: found from here)"
            )
        return made

    demo = command("demo", _demo, "train a small translator, build the release, and grade the bundled class", False)
    demo.add_argument(
        "folder",
        nargs="?",
        type=Path,
        default=Path("build/demo"),
        metavar="DIR",
        help="where to (default: %(default)s)",
    )
    _add_workers(demo)

    learn = command("learn", _learn, "make a folder to work in, with every lesson, and open JupyterLab on it", False)
    learn.add_argument(
        "folder", nargs="?", type=Path, default=Path("work"), metavar="DIR", help="where to (default: %(default)s)"
    )
    learn.add_argument("--scripts", action="store_true", help="each lesson as a Python file, and no JupyterLab")
    learn.add_argument(
        "--lab",
        type=shlex.split,
        default=[],
        metavar="OPTIONS",
        help='for JupyterLab: --lab="--no-browser --port 9000"',
    )
    learn.add_argument("--no-lab", action="store_true", help="copy the lessons, and start nothing")
    learn.add_argument(
        "--move-answers",
        metavar="LESSON",
        help="move answers out of the released notebook of a lesson into the folder, and restore that notebook",
    )

    release = command("release", _release, "build the students' notebooks from the solutions")
    release.add_argument("lessons", nargs="*", metavar="LESSON", help="such as 01_attention (default: all)")
    release.add_argument("--check", action="store_true", help="change nothing; fail if the release is out of date")

    grade = command("grade", _grade, "grade the submissions to a lesson")
    _add_lesson(grade)
    grade.add_argument("--student", action="append", metavar="ID", help="only this student (may be repeated)")
    grade.add_argument("--all-cells", action="store_true", help="run the cells tagged demo as well")
    grade.add_argument("--no-feedback", action="store_true", help="write no feedback pages")
    grade.add_argument("--force", action="store_true", help="grade everything again, changed or not")
    _add_workers(grade)
    _add_level(grade)
    _add_json(grade)

    preflight = command("preflight", _preflight, "look at a notebook as grading will, before it is submitted", False)
    preflight.add_argument("file", type=Path, metavar="FILE.ipynb", help="the notebook that you want to submit")
    preflight.add_argument("--lesson", help="the lesson that it is meant for (default: told by its cells)")
    preflight.add_argument(
        "--release", type=Path, metavar="FILE.ipynb", help="the notebook as you were given it (default: found)"
    )
    preflight.add_argument(
        "--run", dest="in_box", action="store_true", help="run it in a box, and check what students can check"
    )
    preflight.add_argument("--write", type=Path, metavar="OUT.ipynb", help="write a mended copy")
    _add_json(preflight)

    log = command("log", _log, "tell the story of one grade: how it came about, and everything that changed it")
    log.add_argument("student", metavar="STUDENT", help="the student's id")
    _add_lesson(log)
    log.add_argument("--all", action="store_true", dest="every_case", help="every case, with its time")
    _add_json(log)

    export = command("export", _export, "write the grades as CSV, for a learning platform")
    export.add_argument(
        "lessons", nargs="*", metavar="LESSON", help="such as 01_attention (default: all that are graded)"
    )
    export.add_argument("--to", type=_writable, default="-", metavar="FILE.csv", help="where to (default: print it)")
    export.add_argument(
        "--roster", type=Path, metavar="FILE.csv", help="the platform's own export: its rows are filled in"
    )
    export.add_argument(
        "--student-column",
        default="student",
        metavar="NAME",
        help="the column of the students' ids (default: %(default)s)",
    )
    export.add_argument(
        "--lesson-column",
        action="append",
        type=_heading,
        default=[],
        metavar="LESSON=NAME",
        help="the column of a lesson's points (may be repeated)",
    )

    report = command("report", _report, "write a page about a graded class: points, exercises, mistakes, students")
    _add_lesson(report)
    report.add_argument("file", type=_writable, metavar="FILE.html", help="where to (-: print it)")

    check = command("check", _check, "check one answer from a Python file, in a box", False)
    named = check.add_argument("exercise", metavar="EXERCISE_ID", help="such as attention.scaled_dot_product")
    named.completer = lambda **_asked: list(REFERENCES)  # type: ignore[attr-defined]
    check.add_argument("file", metavar="FILE.py[:NAME]", help="the answer, and its name if it has another")
    check.add_argument("--visible-only", action="store_true", help="only the cases that students see")
    _add_level(check)
    _add_json(check)

    listed = command("exercises", _exercises, "list the exercises", False)
    listed.add_argument("--lesson", help="only those of this lesson")
    _add_json(listed)

    site = command("site", _site, "build the course as a website, to be read without a network")
    site.add_argument("folder", type=Path, metavar="DIR", help="where to, such as build/site")
    _add_workers(site)

    doctor = command("doctor", _doctor, "say which boxes this machine offers, and what would make stronger ones")
    _add_json(doctor)

    completion = command("completion", _completion, "print what makes a shell complete katze's commands", False)
    completion.add_argument("shell", choices=("bash", "zsh", "fish"), help='then: eval "$(katze completion bash)"')

    certify = command("certify", _certify, "prove that every check accepts right answers and names wrong ones")
    certify.add_argument(
        "names", nargs="*", metavar="NAME", help="lessons, or exercises such as attention.scores (default: all)"
    )
    _add_json(certify)
    return parser


def _add_lesson(parser: argparse.ArgumentParser) -> None:
    lesson = parser.add_argument("lesson", metavar="LESSON", help="such as 01_attention")
    lesson.completer = lambda **_asked: list(LESSONS)  # type: ignore[attr-defined]


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--json", nargs="?", const="-", type=_writable, metavar="FILE", help="write JSON to FILE (default: print it)"
    )


def _writable(name: str) -> str:
    """A place for a file that can be written: found out before the work is done, not after."""
    path = Path(name)
    folder = path.parent
    while BUILT in folder.parts and not folder.exists():  # `_make_folder` will make it
        folder = folder.parent
    if name != "-" and (path.is_dir() or not os.access(path if path.exists() else folder, os.W_OK)):
        missing = "" if folder.exists() else f"there is no folder {folder}; "
        raise argparse.ArgumentTypeError(f"cannot write {name}: {missing}name a file in a folder that exists")
    return name


def _make_folder(path: Path) -> None:
    """Make the folder of a file that is about to be written, where it is below `build`."""
    if BUILT in path.parent.parts:
        path.parent.mkdir(parents=True, exist_ok=True)


def _heading(text: str) -> tuple[str, str]:
    """A lesson, and the heading of its column."""
    lesson, equals, heading = text.partition("=")
    if not (lesson and equals and heading):
        raise argparse.ArgumentTypeError(f"{text!r} is not LESSON=NAME, such as 01_attention='Homework 1'")
    return lesson, heading


def _add_workers(parser: argparse.ArgumentParser) -> None:
    default = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parser.add_argument(
        "--workers", type=_positive, default=default, metavar="N", help="boxes at once (default: cores)"
    )


def _add_level(parser: argparse.ArgumentParser) -> None:
    levels = ("L0", "L1", "L2", "L3", "L4")
    parser.add_argument("--min-level", choices=levels, help="refuse to grade in weaker boxes than this")
    parser.add_argument(
        "--container", action="store_const", const="L4", dest="min_level", help="grade in a container: --min-level L4"
    )


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _write_json(destination: str, content: Any) -> None:
    _write(destination, (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode())


def _write(destination: str, content: bytes) -> None:
    """Write to a file, or to standard output where the destination is "-"."""
    if destination == "-":
        sys.stdout.write(content.decode().replace("\r\n", "\n"))
    else:
        _make_folder(Path(destination))
        Path(destination).write_bytes(content)


def _demo(options: argparse.Namespace) -> int:
    from autograder.demo import run_demo

    return run_demo(options.folder, workers=options.workers)


def _learn(options: argparse.Namespace) -> int:
    if options.move_answers:
        return _move_answers(options.move_answers, options.folder)
    from autograder.course.released import released_notebooks

    released = released_notebooks(Path.cwd())
    if options.scripts:
        from autograder.learn.script import write_scripts

        for line in write_scripts(released, options.folder):
            print(line)
        return DONE
    from autograder.learn.folder import copy_lessons
    from autograder.learn.lab import open_lab, write_start_page

    copied = copy_lessons(released, options.folder)
    if copied.new:
        print(f"{count(len(copied.new), 'lesson')} copied to {options.folder}/: this is where you write.")
    for lesson, before in copied.renewed.items():
        print(f"{lesson}: a new version, with your answers in it; what was there before is in {before}")
    for lesson in copied.foreign:
        print(f"{lesson}: left as it is, since it is of another version; rename it to get this one beside it")
    write_start_page(options.folder)
    if options.no_lab:
        return DONE
    print("JupyterLab starts; Ctrl-C here ends it.", flush=True)
    return open_lab(options.folder, options.lab)


def _move_answers(lesson: str, folder: Path) -> int:
    from autograder.course.course import Course
    from autograder.learn.folder import move_answers

    print(f"your answers are in {move_answers(Course.find(), lesson, folder)} now; the release is as it was")
    return DONE


def _release(options: argparse.Namespace) -> int:
    from autograder.course.course import Course
    from autograder.course.release import check_release, release

    course = Course.find(options.course)
    if options.check:
        drift = check_release(course, options.lessons or None)
        for line in drift:
            print(line, file=sys.stderr)
        print("the release is out of date: run `katze release`" if drift else "the release is up to date")
        return FAILED if drift else DONE
    for path in release(course, options.lessons or None):
        print(path)
    return DONE


def _grade(options: argparse.Namespace) -> int:
    gc.disable()  # what is imported is not garbage, and looking for some takes a fifth of the time
    from autograder.course.course import Course
    from autograder.grading.batch import grade_lesson
    from autograder.intake.misplaced import misplaced
    from autograder.pages.terminal import print_class
    from autograder.words import some

    gc.freeze()
    gc.enable()
    course = Course.find(options.course)
    run = grade_lesson(
        course,
        options.lesson,
        students=options.student,
        workers=options.workers,
        min_level=_level(options),
        skip_demos=not options.all_cells,
        feedback=not options.no_feedback,
        force=options.force,
    )
    print_class(run)
    lost = misplaced(course, options.lesson)
    if lost:
        where = course.submitted / "STUDENT" / options.lesson
        print(f"not looked at: {some(lost)}; submissions belong in {where}/.", file=sys.stderr)
    if run.gradings:
        written = [course.gradebook, course.autograded, *([] if options.no_feedback else [course.feedback])]
        print("written:", ", ".join(os.path.relpath(path) for path in written))
    if options.json:
        _write_json(options.json, run.records())
    return FAILED if run.grader_failed or run.refused else DONE


def _preflight(options: argparse.Namespace) -> int:
    from autograder.errors import Unreadable
    from autograder.preflight import UNREADABLE, preflight, print_preflight, write_mended

    try:
        found = preflight(options.file, options.lesson, options.release, options.in_box)
    except Unreadable as problem:
        print(f"{options.file}: {problem.reason}", file=sys.stderr)
        return UNREADABLE
    if options.write:
        _make_folder(options.write)
        write_mended(found, options.write)
    if options.json:
        _write_json(options.json, found.record())
    if options.json != "-":
        print_preflight(found, output_console())
        if options.write:
            print(f"written: {options.write}")
    return found.status


def _log(options: argparse.Namespace) -> int:
    from autograder.course.course import Course
    from autograder.log import print_story, story_of

    told = story_of(Course.find(options.course), options.student, options.lesson)
    if options.json:
        _write_json(options.json, told)
    if options.json != "-":
        print_story(told, every_case=options.every_case)
    return DONE


def _export(options: argparse.Namespace) -> int:
    from autograder.course.course import Course
    from autograder.gradebook.standings import standings
    from autograder.pages.export import export

    graded = standings(Course.find(options.course), options.lessons)
    made = export(graded, options.roster, options.student_column, dict(options.lesson_column))
    _write(options.to, made.table.content())
    for remark in made.remarks:
        print(remark, file=sys.stderr)
    if options.to != "-":
        print(f"written: {options.to}")
    return DONE


def _report(options: argparse.Namespace) -> int:
    from autograder.course.course import Course
    from autograder.pages.class_report import class_page

    _write(options.file, class_page(Course.find(options.course), options.lesson).encode())
    if options.file != "-":
        print(f"written: {options.file}")
    return DONE


def _check(options: argparse.Namespace) -> int:
    from autograder.grading.single import check_file

    verdict, level = check_file(options.exercise, options.file, options.visible_only, _level(options))
    if options.json:
        _write_json(options.json, {**verdict.record(), "level": level.name})
    if options.json != "-":
        print(verdict.text())
    return DONE if verdict.passed else FAILED


def _exercises(options: argparse.Namespace) -> int:
    from autograder.pages.terminal import exercise_records, print_exercises

    records = exercise_records(options.lesson)
    if options.json:
        _write_json(options.json, records)
    if options.json != "-":
        print_exercises(records)
    return DONE


def _site(options: argparse.Namespace) -> int:
    from autograder.course.course import Course

    try:
        from autograder.site.build import build_site
    except ModuleNotFoundError as missing:
        raise BadInput(f"{missing.name} is not installed; get it with: pip install 'katze[site]'") from None
    for line in build_site(Course.find(options.course), options.folder, options.workers):
        print(line, file=sys.stderr)
    print(f"written: {options.folder / 'index.html'}")
    return DONE


def _doctor(options: argparse.Namespace) -> int:
    from autograder.doctor import examine, print_diagnosis

    diagnosis = examine(options.course)
    if options.json:
        _write_json(options.json, diagnosis.record())
    if options.json != "-":
        print_diagnosis(diagnosis)
    return DONE if diagnosis.is_well else FAILED


def _completion(options: argparse.Namespace) -> int:
    print(shellcode(["katze"], shell=options.shell))
    return DONE


def _certify(options: argparse.Namespace) -> int:
    from autograder.certify import certify, print_table
    from autograder.course.course import Course
    from autograder.course.given import released_stubs
    from course_lib import exercises

    course = Course.find(options.course)
    stubs = released_stubs(course.release_notebook(lesson) for lesson in course.lessons())
    try:
        certificates = certify(exercises.named(options.names) if options.names else exercises.all(), stubs)
    except exercises.UnknownName as problem:
        raise BadInput(str(problem)) from None
    if options.json:
        _write_json(options.json, [certificate.record() for certificate in certificates])
    if options.json != "-":
        print_table(certificates, output_console())
    return DONE if all(certificate.holds for certificate in certificates) else FAILED


def _level(options: argparse.Namespace) -> Level | None:
    from autograder.box import Level

    return Level[options.min_level] if options.min_level else None


if __name__ == "__main__":
    sys.exit(main())
