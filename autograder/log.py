"""Tells the story of a grade: what was submitted, how it was graded, and everything that has changed since."""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from shlex import quote
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from autograder.course.course import Course
from autograder.course.store.collected import readable_deliveries, remarks_on_late
from autograder.errors import BadInput
from autograder.gradebook import store
from autograder.gradebook.access import read_only
from autograder.gradebook.deadlines.terms import LATE_PENALTY, with_lateness
from autograder.gradebook.grades import withdrawn_from
from autograder.gradebook.record import CaseRecord, Change, ExerciseRecord, Record, Standing
from autograder.grading.answer_keys import SLOTS
from autograder.pages.class_report import message_of
from autograder.pages.deadlines import deadline_for_student
from autograder.pages.terminal import colour_of, standing_in_words
from autograder.words import count, score
from course_lib.exercises.catalogue import Catalogue
from course_lib.judging.observation import Outcome
from course_lib.judging.verdict import AGAIN

_VERSIONS = ("Katze", "Python", "torch", "numpy")


def story_of(course: Course, student: str, lesson: str) -> dict[str, Any]:
    """Return everything recorded about a submission, as JSON data. Hidden inputs are named, never shown.

    Raises:
        BadInput: there is no such record, or no gradebook with records.
    """
    with read_only(course.gradebook) as session:
        found = store.counted(session, lesson, student).get(student)
        if found is None:
            raise BadInput(_unknown(course, student, lesson, store.records(session, lesson)))
        graded, run, judged_by = store.graded_by(session, lesson, student)
        cases = store.cases(session, lesson, student)
        runs = store.runs(session)
        by_hand = store.by_hand(session, lesson, student).get(student, ())
        [record] = with_lateness(course, session, lesson, [replace(found, by_hand=by_hand)])
        late, collected = record.lateness, readable_deliveries(course, lesson).get(student)
        order = {one.exercise: place for place, one in enumerate(record.exercises)}
        return {
            "student": student,
            "lesson": lesson,
            "points": None if record.void else record.total,
            "max_points": record.max_total,
            "automatic_points": None if record.void else record.points,
            "waiting_by_hand": sum(cell.max_points for cell in record.waiting),
            "counts": not record.void,
            "handed_in": record.handed_in,
            "due": late.due.isoformat() if late.due else None,
            "seconds_late": late.seconds,
            "late_penalty": late.penalty,
            "deadline": deadline_for_student(record),
            "deadline_is_written": late.is_written,
            "is_withdrawn": bool(withdrawn_from(course, lesson, [student])),
            "is_late_without_time": bool(collected and collected.is_late_without_time) and not late.handed_in,
            "collected": asdict(collected) if collected else None,
            "notebook_sha256": record.notebook,
            "digest": record.digest,
            "repairs": list(record.repairs),
            "problem": record.problem,
            "remarks": list(record.remarks),
            "graded": graded,
            "seconds": record.seconds,
            "run": runs[run],
            "versions": dict(record.conditions.versions),
            "settings": dict(record.conditions.settings),
            "hidden_inputs": {"slot": record.slot, "slots": SLOTS} if record.conditions.seed else None,
            "exercises": [
                _exercise(one, cases.get(one.exercise, ()), runs[judged_by[one.exercise]], course.exercises)
                for one in record.exercises
            ],
            "by_hand": [
                asdict(cell)
                for cell in by_hand
                if cell.is_given
                or cell.comment
                or (cell.waits and "autograded" in record.files)  # otherwise there is nothing to look at
            ],
            "history": [
                _event(event, sorted(changes, key=lambda change: order.get(change.exercise, len(order))), runs)
                for event, changes in store.history(session, lesson, student)
            ],
        }


def _unknown(course: Course, student: str, lesson: str, known: Mapping[str, Record]) -> str:
    if not known:
        course.release_notebook(lesson)  # a misspelled lesson raises an error that lists the known ones
        return f"nothing of {lesson} has been graded yet; run `{course.grading(lesson)}`"
    near = [name for name in known if student.casefold() in name.casefold()][:3]
    near = near or difflib.get_close_matches(student, known, n=3, cutoff=0.5)
    hint = (
        f"did you mean {' or '.join(near)}?"
        if near
        else f"{count(len(known), 'student')} {'has' if len(known) == 1 else 'have'} one"
    )
    return f"{ascii(student)} has no graded submission to {lesson}; {hint}"


def _exercise(
    one: ExerciseRecord, cases: Sequence[CaseRecord], run: Mapping[str, Any], catalogue: Catalogue
) -> dict[str, Any]:
    return {
        "exercise": one.exercise,
        "outcome": str(one.outcome),
        "points": one.points,
        "max_points": one.max_points,
        "misconception": one.misconception,
        "misconception_message": message_of(one.exercise, one.misconception, catalogue),
        "note": one.note,
        "level": one.level,
        "run": run["id"],
        "fingerprint": one.fingerprint,
        "answer": one.answer,
        "ruling": one.adjustment,
        "worth_a_look": one.worth_a_look.splitlines(),
        "cases": [{**asdict(case), "outcome": str(case.outcome)} for case in cases],
    }


def _event(
    event: Mapping[str, Any], changes: Sequence[Change], runs: Mapping[int, Mapping[str, Any]]
) -> dict[str, Any]:
    names = ("at", "kind", "why", "run", "digest", "handed_in", "points", "max_points")
    return {
        **{name: event[name] for name in names},
        "host": runs[event["run"]]["host"],
        "changes": [asdict(change) for change in changes],
    }


# --- for the terminal


def print_story(tale: Mapping[str, Any], console: Console, every_case: bool = False) -> None:
    """Print the story: facts, each exercise with its cases, points by hand, and the history. Right cases are only
    counted, unless every case is to be printed.
    """
    worth = _points(tale) if tale["counts"] else f"{store.WAS_SET_ASIDE}: to be graded again"
    if tale["waiting_by_hand"] and tale["counts"]:
        worth += f", and {tale['waiting_by_hand']:g} more wait to be given by hand"
    _print(console, 0, (tale["student"], "bold"), (f"  {tale['lesson']}  ", ""), (worth, "bold"))
    _print_facts(tale, console)
    _print(console, 0, ("\nExercises" if tale["counts"] else "\nExercises, as they were before", "bold"))
    for exercise in tale["exercises"]:
        _print_exercise(exercise, tale["run"]["id"], every_case, console)
    if tale["by_hand"]:
        _print(console, 0, ("\nBy hand", "bold"))
        for entry in tale["by_hand"]:
            _print(console, 2, (f"{entry['cell']}  {_by_hand(entry)}", ""))
    _print(console, 0, ("\nHistory", "bold"))
    for event in tale["history"]:
        _print_event(event, console)


def _print_facts(tale: Mapping[str, Any], console: Console) -> None:
    run, versions, inputs = tale["run"], tale["versions"], tale["hidden_inputs"]
    facts = {
        "handed in": tale["handed_in"] or "the submission does not say when",
        "notebook": f"SHA-256 {tale['notebook_sha256'][:12]}…" if tale["notebook_sha256"] else "",
        "graded": f"{_moment(tale['graded'])} by run {run['id']} on {run['host']}, in {tale['seconds']:.1f} s",
        "sandboxes": run["boxes"].partition(" at ")[2],
        "versions": ", ".join(f"{name} {versions[name]}" for name in _VERSIONS if name in versions),
        "hidden inputs": "set {slot} of {slots}".format(**inputs) if inputs else "",
        "problem": tale["problem"],
        "withdrawn": "the submission is no longer there: it is not exported" if tale["is_withdrawn"] else "",
    }
    grid = Table.grid(padding=(0, 2))
    for name, fact in facts.items():
        if fact:
            grid.add_row(Text(name, "dim"), Text(_printable(fact)))
    deadline = [*tale["deadline"]]
    if tale["is_late_without_time"]:
        deadline += remarks_on_late(tale["lesson"], [tale["student"]])
    if not tale["deadline_is_written"]:
        deadline.append(f"This is not on the feedback page yet: run `katze grade {quote(tale['lesson'])}`.")
    for name, lines in (
        ("collected", _delivered(tale["collected"])),
        ("deadline", deadline),
        ("repaired", tale["repairs"]),
        ("remarks", tale["remarks"]),
    ):
        for number, line in enumerate(lines):
            grid.add_row(Text("" if number else name, "dim"), Text(_printable(line)))
    console.print(Padding.indent(grid, 2))


def _delivered(collected: Mapping[str, Any] | None) -> list[str]:
    if collected is None:
        return []
    lines = [f"{', '.join(collected['names'][:1])}, from {collected['platform']} ({collected['source']})"]
    if collected["id"]:
        lines.append(f"the folder {collected['student']} stands for {collected['id']}")
    for other in collected["others"]:
        when = f", {_moment(other['handed_in'])}" if other["handed_in"] else ""
        kept = f"; kept in {other['kept']}" if other["kept"] else ""
        lines.append(f"does not count: {other['name'] or 'what was there before'}{when}{kept}")
    return lines


def _print_exercise(exercise: Mapping[str, Any], run: int, every_case: bool, console: Console) -> None:
    outcome = Outcome(exercise["outcome"])
    earlier = f"  judged by run {exercise['run']}" if exercise["run"] != run else ""
    _print(
        console,
        2,
        (exercise["exercise"], "cyan"),
        (f"  {_points(exercise)}  ", ""),
        (outcome, colour_of(outcome)),
        (earlier, "dim"),
    )
    if exercise["misconception"]:  # on a separate line: it may be long, and should not be broken
        _print(console, 6, (exercise["misconception"], "yellow"))
    for said in (exercise["misconception_message"], exercise["note"], exercise["ruling"]):
        if said:
            _print(console, 6, (said, ""))
    for place in exercise["worth_a_look"]:
        _print(console, 6, (f"worth a look: {place}", "dim"))
    if exercise["answer"] and (every_case or outcome is not Outcome.PASSED):  # for `accept` in course.toml
        console.print(Padding.indent(Text(f"answer {exercise['answer']}", "dim"), 6), soft_wrap=True)
    _print_cases(exercise["cases"], every_case, console)


def _print_cases(cases: Sequence[Mapping[str, Any]], every_case: bool, console: Console) -> None:
    """Print the failed cases, each message once; only count right ones, unless `every_case` is set."""
    right = [case for case in cases if case["outcome"] == Outcome.PASSED]
    if right and not every_case:
        hidden = sum(case["hidden"] for case in right)
        kept = "" if not hidden else ", hidden" if len(right) == 1 else f", {hidden} of them hidden"
        _print(console, 6, ("ok    ", "green"), (f"{count(len(right), 'case')} right{kept}", ""))
    together: dict[str, list[Mapping[str, Any]]] = {}
    for case in cases if every_case else (case for case in cases if case not in right):
        name = _NUMBER.sub("…", case["name"]) if case["hidden"] else case["name"]  # as the message has it
        together.setdefault(case["message"].removeprefix(f"{name}: ").removeprefix(AGAIN), []).append(case)
    for message, alike in together.items():
        for case in alike:
            mark = ("ok    ", "green") if case in right else ("FAIL  ", "yellow")
            facts = [f"{1000 * case['seconds']:.1f} ms"] * every_case + ["hidden"] * case["hidden"]
            _print(console, 6, mark, (case["name"], ""), (f"  {', '.join(facts)}" if facts else "", "dim"))
        if message:
            _print(console, 12, (message, "dim"))


_NUMBER = re.compile(r"\d+(?:\.\d+)*")


def _print_event(event: Mapping[str, Any], console: Console) -> None:
    points = f", {_points(event)}" if event["kind"] in (store.WAS_GRADED, store.WAS_ADJUSTED, LATE_PENALTY) else ""
    _print(console, 2, (f"{_moment(event['at'])}  ", "dim"), (f"{event['kind']}{points}", ""))
    _print(console, 6, ("; ".join(event["why"]), "dim"))
    for change in event["changes"]:
        standings = (Standing(**change[when]) if change[when] else None for when in ("before", "after"))
        before, after = map(standing_in_words, standings)
        _print(console, 6, (f"{change['exercise']}: {before} -> {after}", ""))


def _points(entry: Mapping[str, Any]) -> str:
    return score(entry["points"], entry["max_points"])


def _by_hand(entry: Mapping[str, Any]) -> str:
    parts = []
    if entry["points"] is not None:
        automatic = "none" if entry["automatic"] is None else f"{entry['automatic']:g}"
        parts.append(f"{count(entry['points'], 'point')} given, where {automatic} were automatic")
        if entry["shared"]:
            parts.append("{:g} of {:g} were given, before the points of the cell changed".format(*entry["shared"]))
    if entry["extra_credit"]:
        parts.append(f"{count(entry['extra_credit'], 'point')} of extra credit")
    if entry["waits"]:
        parts.append("waiting to be read in formgrader" + (", changed since it was read" * entry["is_changed"]))
    if entry["comment"]:
        parts.append(f"comment: {entry['comment']}")
    return "; ".join(parts)


def _print(console: Console, indent: int, *parts: tuple[str, str]) -> None:
    text = Text()
    for words, style in parts:
        text.append(_printable(words), style)
    console.print(Padding.indent(text, indent))


def _printable(words: str) -> str:
    """Return words without characters that a terminal would obey: some are students' words."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in words)


def _moment(text: str) -> str:
    return text.replace("T", " ").replace("+00:00", " UTC")
