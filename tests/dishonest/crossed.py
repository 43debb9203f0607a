"""Ways round the task that fit many exercises, crossed with all exercises of all lessons where they could matter.

Each crossing is one submission, which answers one exercise and no other.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from textwrap import indent

import torch

from course_lib import exercises
from course_lib.judging.answer_key import AnswerKey
from course_lib.judging.exercise import Exercise, Value


@dataclass(frozen=True)
class Crossing:
    """A submission that takes one way round one exercise.

    Attributes:
        kind: the way.
        exercise: what it answers.
        answer: the code of its answer.
        own: a cell in front of all answers; empty for none.
    """

    kind: str
    exercise: Exercise
    answer: str
    own: str = ""

    @property
    def name(self) -> str:
        """The student's id."""
        return f"{self.kind}-{self.exercise.id.partition('.')[2]}"


def crossings(lesson: str) -> list[Crossing]:
    """All of a lesson, by kind."""
    found = exercises.of_lesson(lesson)
    some = found[:: _STRIDES.get(lesson, 1)]
    return [one for kind in _KINDS for exercise in some for one in _crossed(kind, exercise)]


_STRIDES = {"05_encoder_decoder": 3, "06_decoding": 2, "07_gpt": 2}
"""In lessons whose cells train a model each time, not every exercise is tried in every way."""


# Ways that fit every exercise ---------------------------------------------------------------------------------

_SEARCH = """
import gc, sys
def found(*args):
    for name, module in list(sys.modules.items()):
        if "course_lib.exercises" in name:
            for value in vars(module).values():
                if getattr(value, "name", "") == {name!r}:
                    return value.reference
    for thing in gc.get_objects():
        if type(thing).__name__ in ("AnswerKey", "CalledCases", "Exercise"):
            return thing.expected[0].value
"""

_FORGE = """
import importlib, torch
child = importlib.import_module("auto" + "grader.box.inside.child")
genuine = child.encode_observation
def forged(*told):
    data = genuine(*told)
    data.update(returned=True, failure=None, raised=None, outcome="passed", points=100)
    return data
child.encode_observation = forged
child.call = lambda answer, case, *rest: (child.Observation(True), case.args)
"""

_WALK = """
import sys
def walk():
    frame = sys._getframe()
    while frame is not None:
        for scope in (frame.f_locals, frame.f_globals):
            for name, value in list(scope.items()):
                if name in ("expected", "reference", "key", "seen", "answer_key"):
                    return value
        frame = frame.f_back
"""

_ALWAYS = """
class Always(float):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __getattr__(self, name): return self
    def __len__(self): return 1
    __hash__ = float.__hash__
"""

_KINDS: Mapping[str, tuple[str, str]] = {
    "spelled": (
        "",
        "import importlib\nreturn getattr(importlib.import_module({module!r}), {reference!r})(*args, **kwargs)",
    ),
    "read": (
        "",
        "import course_lib, pathlib\nnames = {{}}\n"
        "exec(pathlib.Path(course_lib.__path__[0], {file!r}).read_text(), names)\n"
        "return names[{reference!r}](*args, **kwargs)",
    ),
    "searched": (_SEARCH, "return found(*args)(*args, **kwargs)"),
    "forged": (_FORGE, "return None"),
    "walked": (_WALK, "value = walk()\nreturn value(*args, **kwargs) if callable(value) else value"),
    "equal": (_ALWAYS, "return Always(1.0)"),
    "ended": ("", "import os\nos._exit(0)"),
    "remembered": ("{table}", "return remembered()"),
}
"""The cell in front, and the body of the answer."""


def _crossed(kind: str, exercise: Exercise) -> Iterator[Crossing]:
    own, body = _KINDS[kind]
    module = exercise.reference.__module__
    names = {
        "name": exercise.name,
        "module": module,
        "reference": exercise.reference.__name__,
        "file": module.partition(".")[2].replace(".", "/") + ".py",
    }
    if kind in ("spelled", "read") and module not in exercise.withheld:
        return  # what is not withheld for it is an answer's to use
    table = _table(exercise) if "{table}" in own else ""
    if table is not None:
        answer = _defined(exercise, body.format(**names))
        yield Crossing(kind, exercise, answer, table or own.replace("{name!r}", repr(exercise.name)))


def _defined(exercise: Exercise, body: str) -> str:
    """An answer with this body, whatever its arguments."""
    if not exercise.is_class:
        return f"def {exercise.name}(*args, **kwargs):\n{indent(body, '    ')}"
    return (
        f"import torch\nclass {exercise.name}(torch.nn.Module):\n    def __init__(self, *args, **kwargs):\n"
        "        super().__init__()\n    def load_state_dict(self, *args, **kwargs):\n        pass\n"
        f"    def forward(self, *args, **kwargs):\n{indent(body, '        ')}"
    )


def _table(exercise: Exercise) -> str | None:
    """What the visible cases expect, in their order, as a cell; None where it cannot be written down."""
    try:
        values = [_written(one.value) for one in AnswerKey(exercise).expected]
    except TypeError:
        return None
    return (
        f"import torch\nnan, inf = float('nan'), float('inf')\ntable = [{', '.join(values)}]\n"
        "def remembered():\n    return table.pop(0) if len(table) > 1 else table[0]"
    )


def _written(value: Value) -> str:
    if isinstance(value, torch.Tensor):
        return f"torch.tensor({value.tolist()!r}, dtype={value.dtype})"
    if isinstance(value, (list, tuple)):
        inside = "".join(f"{_written(one)}, " for one in value)
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_written(one)}" for key, one in value.items()) + "}"
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    raise TypeError(type(value).__name__)
