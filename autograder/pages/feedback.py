"""Renders feedback for a student: one HTML page with the points, the verdicts, and the notebook.

The page needs no network and runs no scripts but those of the course's own widgets (it allows only these, by their
hashes). It follows the reader's light or dark theme, and puts the student's own work first: unchanged cells of the
lesson are folded under their headings.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from html import escape, unescape
from pathlib import Path
from typing import Any

import mistune
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from autograder.gradebook.record import ExerciseRecord, HandGrade, Record
from autograder.intake import sanitise
from autograder.pages.deadlines import deadline_for_student
from autograder.words import count
from course_lib.judging.observation import Outcome
from course_lib.judging.render import HEADINGS, with_code

HIGHLIGHT_CHARACTERS = 50_000
"""Longer cells are shown without colors."""

CHANGED = "Changed since it was read"
"""Shown next to points that a person gave for another text than the page shows."""

MARKDOWN_CHARACTERS = 2 * sanitise.MARKDOWN_CHARACTERS
"""Longer cells are shown without formatting; `sanitise.markdown` returns shorter ones."""


def render_feedback(
    notebook: Mapping[str, Any] | None,
    record: Record,
    verdict_html_by_exercise: Mapping[str, str],
    title: str = "",
    questions: Sequence[Mapping[str, Any]] = (),
) -> str:
    """Render a student's feedback on a lesson, as a page for `feedback/<student>/<lesson>/<lesson>.html`.

    Args:
        notebook: the graded notebook, from `Repaired.notebook`; None if there was none to grade.
        record: the submission's results, with points and comments by hand.
        verdict_html_by_exercise: `Verdict.html()` of each exercise; trusted, unlike everything else.
        title: the lesson's title, in case the notebook does not state it.
        questions: the cells of the lesson's written answers, in case no notebook contains them.
    """
    styles = dict.fromkeys(style for html in verdict_html_by_exercise.values() for style in _STYLE.findall(html))
    verdicts = {exercise: _STYLE.sub("", html) for exercise, html in verdict_html_by_exercise.items()}
    cells = notebook["cells"] if notebook else []
    given = {cell.cell: cell for cell in record.by_hand}
    asked = questions if notebook is None else cells
    written = [(cell, given.get(_grade_id(cell))) for cell in asked if _is_written(cell)]
    open_points = sum(_worth(cell, hand) for cell, hand in written if _is_filled(cell) and not _is_read(hand))
    left_out = open_points + sum(one.max_points for one in record.ungraded)
    total, most = record.total, record.max_points + sum(_worth(cell, hand) for cell, hand in written) - left_out
    blocks = list(_blocks(cells, verdicts, given))
    anchors = set(_ANCHOR.findall("".join(blocks)))
    replaced = {
        _katze(cell)["exercise"]: given[_grade_id(cell)]
        for cell in cells
        if _kind(cell) == "check" and _grade_id(cell) in given and given[_grade_id(cell)].is_given
    }
    rows = [(one.exercise, *_row(one, replaced.get(one.exercise))) for one in record.exercises]
    rows += [
        (_katze(cell).get("exercise") or "written", *_written_row(cell, hand, notebook is None))
        for cell, hand in written
    ]
    return template("feedback.html").render(
        student=record.student,
        title=lesson_title({"cells": [cell for cell in cells if _is_lesson(cell)]}) or title or record.lesson,
        css=Markup(feedback_css()),
        scripts=_allowed_scripts("".join(blocks)),
        verdict_styles=list(map(Markup, styles)),
        points=None if total is None else f"{total:g}",
        max_points=f"{most:g}",
        max_word="point" if most == 1 else "points",
        percent=f"{100 * max(0.0, min(1.0, (total or 0) / most)):.1f}" if most else "0",
        waiting=count(open_points, "more point") if open_points else "",
        ungraded=_ungraded_in_words(record.ungraded),
        given=_given_in_words(record.by_hand),
        graded=record.points is not None,
        deadline=deadline_for_student(record),
        adjustments=record.adjustments,
        repairs=record.repairs,
        problem=record.problem,
        overview=[(_anchor(exercise), exercise, *row) for exercise, *row in rows],
        anchors=anchors,
        blocks=blocks,
        is_folded=any("<details" in block for block in blocks),
    )


def _allowed_scripts(page: str) -> str:
    """Return the hashes of the widgets' scripts on this page, the only ones that may run."""
    names = set(_WIDGET.findall(page))
    if not names:
        return "'none'"
    from course_lib.show.interactive import script_hash  # imports matplotlib, which few pages need

    return " ".join(map(script_hash, sorted(names)))


def _is_read(cell: HandGrade | None) -> bool:
    """Return whether a written answer is settled: a person has given points, or the course has decided."""
    return cell is not None and cell.written and (cell.points is not None or cell.is_settled)


def _worth(cell: Mapping[str, Any], given: HandGrade | None) -> float:
    """Return the maximum points of a written answer, from the gradebook if it has them."""
    if given is None or not given.written:
        return float(cell["metadata"]["nbgrader"].get("points", 0))
    return given.max_points


def _given_in_words(by_hand: Sequence[HandGrade]) -> str:
    """Return how much of the total a person gave; empty if nothing."""
    if not any(cell.is_given for cell in by_hand):
        return ""
    given = sum(cell.given for cell in by_hand)
    return f"{count(given, 'point')} {'was' if given == 1 else 'were'} given by a person."


def _ungraded_in_words(exercises: Sequence[ExerciseRecord]) -> str:
    """Return which exercises could not be graded, and what that means; empty if there are none."""
    if not exercises:
        return ""
    names, points = ", ".join(one.exercise for one in exercises), sum(one.max_points for one in exercises)
    left_out = f"{count(points, 'point')} {'is' if points == 1 else 'are'} left out"
    return f"{names} could not be graded. This is not a zero: {left_out}."


_Row = tuple[str, str, str]
"""An exercise's state, which is a style; its outcome in a word or two; and its points."""


def _row(result: ExerciseRecord, given: HandGrade | None) -> _Row:
    """Return an exercise's row; points by hand replace its automatic points, or add to them."""
    if given is not None:
        score = (given.automatic or 0.0) + given.gained
        word = CHANGED if given.is_changed else "Points by a person"
        return _state(score, result.max_points), word, f"{score:g} / {given.max_points:g}"
    if not result.counts:
        return "waiting", "Dropped", "–"
    if result.adjustment and result.points and result.points >= result.max_points:
        most = f" / {result.max_points:g}" if result.max_points else " extra"
        word = HEADINGS[Outcome.PASSED] if result.outcome is Outcome.PASSED else "Counts"
        return "passed", word, f"{result.points:g}{most}"
    if result.outcome is Outcome.PASSED:
        state = "passed"
    elif result.outcome in (Outcome.NOT_ATTEMPTED, Outcome.NEVER_DEFINED) or result.points is None:
        state = "waiting"
    else:
        state = "partly" if result.points else "failed"
    word = "Partly right" if state == "partly" else HEADINGS[result.outcome]
    earned = "no score" if result.points is None else f"{result.points:g}"
    return state, word, f"{earned} / {result.max_points:g}"


def _state(score: float, most: float) -> str:
    return "passed" if score >= most else "partly" if score > 0 else "failed"


def _written_row(cell: Mapping[str, Any], given: HandGrade | None, unreadable: bool) -> _Row:
    """Return a written answer's row."""
    if given is not None:
        earned = f"{given.gained:g} / {given.max_points:g}"
        if given.is_settled and given.automatic and not given.is_given:
            return "passed", "Counts", earned
        if given.is_settled and not given.max_points and _is_filled(cell):
            return "waiting", "Dropped", "–"
        if given.is_given:
            word = CHANGED if given.is_changed else "Read by a person"
            return _state(given.gained, given.max_points), word, earned
    if unreadable:
        word, had = HEADINGS[Outcome.UNREADABLE], "no score"
    else:
        word, had = ("Waiting for a person", "–") if _is_filled(cell) else (HEADINGS[Outcome.NOT_ATTEMPTED], "0")
    return "waiting", word, f"{had} / {_worth(cell, given):g}"


def _katze(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = cell["metadata"].get("katze", {})
    return found


def _is_written(cell: Mapping[str, Any]) -> bool:
    meta = cell["metadata"].get("nbgrader", {})
    return bool(meta.get("grade") and meta.get("solution")) or bool(meta.get("task"))


def _is_filled(cell: Mapping[str, Any]) -> bool:
    """Return whether a student has written in a cell; true for nbgrader's tasks, whose cells nobody writes in."""
    return _katze(cell).get("origin") == "student" or bool(cell["metadata"].get("nbgrader", {}).get("task"))


def _grade_id(cell: Mapping[str, Any]) -> str:
    return str(cell["metadata"].get("nbgrader", {}).get("grade_id", ""))


def _anchor(exercise: str) -> str:
    return "exercise-" + re.sub(r"[^A-Za-z0-9_-]", "-", exercise)


def lesson_title(notebook: Mapping[str, Any]) -> str:
    """Return the first heading of a lesson's notebook; empty if there is none."""
    for cell in notebook["cells"]:
        match = _HEADING.match("".join(cell["source"])) if cell["cell_type"] == "markdown" else None
        if match and len(match["level"]) == 1:
            return match["text"]
    return ""


def headings(source: str) -> list[tuple[int, str]]:
    """Return the headings in a text, outside blocks of code: their levels and texts."""
    found = [_HEADING.match(line) for line in _FENCED.sub("", source).split("\n")]
    return [(len(heading["level"]), heading["text"]) for heading in found if heading is not None]


# --- cells


def _blocks(
    cells: Sequence[Mapping[str, Any]], verdicts: Mapping[str, str], given: Mapping[str, HandGrade]
) -> Iterator[Markup]:
    """Yield the notebook from top to bottom; runs of unchanged lesson cells are folded, but not their headings."""
    folded: list[str] = []
    anchored: set[str] = set()
    for cell in cells:
        if _is_lesson(cell):
            text = cell["source"] if cell["cell_type"] == "markdown" else ""
            headings = _headings(text)
            begins = _HEADING.match(text) is not None
            if headings and begins:  # then it belongs above this cell, else above the next
                yield from _fold(folded)
                yield from headings
            folded.append(_cell(cell, "", "", verdicts))
            if headings and not begins:
                yield from _fold(folded)
                yield from headings
        else:
            yield from _fold(folded)
            exercise = _katze(cell).get("exercise") or ""
            anchor = "" if exercise in anchored or _kind(cell) == "check" else exercise
            anchored |= {anchor}
            yield Markup(_cell(cell, _label(cell), anchor, verdicts))
            if _grade_id(cell) in given:
                yield from _by_hand(given[_grade_id(cell)])
    yield from _fold(folded)


def _headings(source: str) -> list[Markup]:
    """Return the headings in a text, except the lesson's title."""
    return [
        Markup(f'<h{level} class="heading">{_inline(text)}</h{level}>')
        for level, text in ((min(3, level), text) for level, text in headings(source))
        if level > 1
    ]


def _by_hand(cell: HandGrade) -> Iterator[Markup]:
    """Yield the points and the comment that a person has given for a cell, to show below it."""
    words = []
    if cell.points is not None:
        words.append(f"{cell.points:g} of {count(cell.max_points, 'point')}, given by a person.")
    if cell.extra_credit:
        words.append(f"{count(cell.extra_credit, 'point')} of extra credit.")
    if cell.is_changed:
        words.append("You have changed this answer since then, so it will be read again.")
    if words or cell.comment:
        said = f"<p>{escape(' '.join(words))}</p>" if words else ""
        comment = f'<p class="comment">{escape(cell.comment)}</p>' if cell.comment else ""
        yield Markup(f'<div class="by-hand">{said}{comment}</div>')


def _fold(folded: list[str]) -> Iterator[Markup]:
    if folded:
        cells = count(len(folded), "cell")
        yield Markup(f'<details class="lesson"><summary>{cells} of the lesson</summary>{"".join(folded)}</details>')
        folded.clear()


def _kind(cell: Mapping[str, Any]) -> str:
    return str(_katze(cell).get("kind", cell["cell_type"]))


def _is_lesson(cell: Mapping[str, Any]) -> bool:
    """Return whether a cell is the lesson's, not the student's: unchanged, or an older release's link to Colab."""
    if _kind(cell) == "markdown" and _TO_COLAB.fullmatch(cell["source"]):
        return True  # it contains the repository's address, which may have changed since
    return _katze(cell).get("origin") != "student" and _kind(cell) in ("code", "markdown")


def _label(cell: Mapping[str, Any]) -> str:
    exercise = _katze(cell).get("exercise")
    name = f"<code>{escape(exercise)}</code>" if exercise else ""
    match _kind(cell):
        case "answer" | "written" if not _is_filled(cell):
            words = "Nothing written yet"
        case "answer":
            words = "Your answer"
        case "written":
            words = "Your answer, for a person to read"
        case "code" if exercise:
            words = "Another copy of your answer"
        case _:
            words = "Your own cell"
    return f'<div class="label"><span>{words}</span>{name}</div>'


def _cell(cell: Mapping[str, Any], label: str, anchor: str, verdicts: Mapping[str, str]) -> str:
    identity = f' id="{_anchor(anchor)}"' if anchor else ""
    if _kind(cell) == "check":
        verdict = verdicts.get(_katze(cell).get("exercise") or "")
        return f'<div class="verdict"{identity}>{verdict}</div>' if verdict else ""
    style = "cell answer" if _kind(cell) in ("answer", "written") else "cell"
    if cell["cell_type"] == "markdown":
        images = cell.get("attachments")
        text = _markdown(cell["source"], images) if images else _plain_markdown(cell["source"])
        body = f'<div class="text">{text}</div>'
    else:
        body = f'<pre class="source">{_code(_MARKER.sub("", cell["source"]))}</pre>{outputs_html(cell["outputs"])}'
    return f'<div class="{style}"{identity}>{label}{body}</div>'


def outputs_html(outputs: Sequence[Mapping[str, Any]]) -> str:
    """Return a cell's sanitized outputs as HTML, to show below the cell."""
    shown = "".join(map(_output, outputs))
    return f'<div class="outputs">{shown}</div>' if shown else ""


def _output(output: Mapping[str, Any]) -> str:
    match output["output_type"]:
        case "stream":
            style = ' class="warn"' if output["name"] == "stderr" else ""
            return f"<pre{style}>{_terminal(output['text'])}</pre>"
        case "error":
            trace = "\n".join(output["traceback"]) or f"{output['ename']}: {output['evalue']}"
            return f'<pre class="error">{_terminal(trace)}</pre>'
        case _:
            return _data(output["data"])


def _data(data: Mapping[str, str]) -> str:
    """Return the richest part of an output that is safe to show."""
    for kind in ("image/png", "image/jpeg"):
        if kind in data and _BASE64.fullmatch(data[kind]):
            said = data.get("text/plain", "")
            alt = "" if said.startswith("<") else said  # not <Figure size 640x480 with 1 Axes>
            return f'<img alt="{escape(alt)}" src="data:{kind};base64,{data[kind]}">'
    if "text/html" in data:
        return sanitise.course_widget(data["text/html"]) or f"<div>{sanitise.html(data['text/html'])}</div>"
    return f"<pre>{_terminal(data.get('text/plain', ''))}</pre>"


def _terminal(text: str) -> str:
    """Return text as a terminal would show it in the end: without colors, each line as last written."""
    lines = (line.rstrip("\r").rpartition("\r")[2] for line in _COLOUR.sub("", text).rstrip("\n").split("\n"))
    return escape("\n".join(lines))


# --- text and code


@lru_cache(maxsize=2048)
def _code(source: str) -> str:
    """Return Python source as HTML; cached, because everyone has the same cells of a lesson."""
    if len(source) > HIGHLIGHT_CHARACTERS:
        return escape(source)
    return str(highlight(source, _LEXER, _FORMATTER)).rstrip("\n")


@lru_cache(maxsize=1024)
def _plain_markdown(source: str) -> str:
    return _markdown(source, {})


def _markdown(source: str, attachments: Mapping[str, Mapping[str, str]]) -> str:
    """Return markdown as HTML; unformatted if it is too long for the parser or nested too deeply."""
    if len(source) <= MARKDOWN_CHARACTERS:
        try:
            plugins = [mistune.plugins.import_plugin(name) for name in _PLUGINS]
            return str(mistune.Markdown(_Renderer(attachments), plugins=plugins)(source))
        except RecursionError:
            pass
    return f'<pre class="source">{escape(source)}</pre>'


@lru_cache(maxsize=1024)
def _inline(source: str) -> str:
    return re.sub(r"^<h\d>|</h\d>$", "", _plain_markdown(f"# {source}").strip())


class _Renderer(mistune.HTMLRenderer):
    """Renders markdown as HTML: raw HTML is shown as text, and images come only from attachments."""

    def __init__(self, attachments: Mapping[str, Mapping[str, str]]) -> None:
        super().__init__(escape=True)
        self._attachments = attachments

    def text(self, text: str) -> str:
        return escape(unescape(text), quote=False)

    def heading(self, text: str, level: int, **attributes: Any) -> str:
        below = min(6, level + 2)  # the page's own headings rank above a cell's
        return f"<h{below}>{text}</h{below}>\n"

    def block_code(self, code: str, info: str | None = None) -> str:
        language = (info or "").split()
        body = _code(code) if language[:1] in (["python"], ["py"]) else escape(code)
        return f"<pre>{body}</pre>\n"

    def image(self, text: str, url: str, title: str | None = None) -> str:
        images = self._attachments.get(url.removeprefix("attachment:"), {})
        for kind, encoded in images.items():
            if kind in ("image/png", "image/jpeg") and _BASE64.fullmatch(encoded):
                return f'<img alt="{escape(text)}" src="data:{kind};base64,{encoded}">'
        return f"[{escape(text) or 'image'}]"

    def inline_math(self, text: str) -> str:
        return f'<span class="math">{escape(text)}</span>'

    def block_math(self, text: str) -> str:
        return f'<p class="math">{escape(text.strip())}</p>\n'

    def block_html(self, html: str) -> str:
        return "" if _COMMENT.fullmatch(html.strip()) else f"<p>{escape(html.strip())}</p>\n"


@cache
def template(name: str) -> Template:
    """Return a page's template, which is next to this file."""
    folder = Path(__file__).parent
    environment = Environment(loader=FileSystemLoader(folder), autoescape=True, undefined=StrictUndefined)
    environment.filters["with_code"] = lambda sentence: Markup(with_code(sentence))
    return environment.get_template(name)


@cache
def feedback_css() -> str:
    """Return the style sheet that all pages share."""
    return Path(__file__).with_suffix(".css").read_text(encoding="utf-8")


_MARKER = re.compile(r"^# katze: [^\n]*\n")
_TO_COLAB = re.compile(r"\[Open in Colab\]\(https://colab\.research\.google\.com/[^\s()]+\)")
_PLUGINS = ("table", "strikethrough", "math")
_LEXER = PythonLexer(stripnl=False, ensurenl=False)
_FORMATTER = HtmlFormatter(nowrap=True)
_HEADING = re.compile(r"(?P<level>#{1,6})[ \t]+(?P<text>[^\n]+)")
_FENCED = re.compile(r"^(```|~~~).*?^\1", re.M | re.S)
_ANCHOR = re.compile(r' id="(exercise-[A-Za-z0-9_-]+)"')
_WIDGET = re.compile(r'<div class="katze-widget" data-katze-widget="([a-z_]+)"')
_STYLE = re.compile(r"<style>.*?</style>\s*", re.S)
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_COMMENT = re.compile(r"<!--.*?-->", re.S)
