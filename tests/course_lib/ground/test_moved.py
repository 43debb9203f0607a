"""What was handed out before a module moved goes on: notebooks, and configurations of courses."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from traitlets.config.loader import PyFileConfigLoader

import autograder
import course_lib
from course_lib.ground.moved import Moved

ROOT = Path(course_lib.__file__).parents[1]

BEFORE = """
from course_lib.checking.arrays import numpy_generator
from course_lib.checking.exercise import Case, Exercise, Hint, Misconception
from course_lib.continuation import begin_decoding
from course_lib.data import collate, examples, pad, translation_data
from course_lib.fast_subwords import BERT_SPECIAL, SubwordVocabulary
from course_lib.grammar import Sentence, is_english, is_held_out, log_probability, random_sentence, toy_translation
from course_lib.hub import PublishedModel
from course_lib.lexicon import LIVING, THINGS
from course_lib.losses import translation_loss
from course_lib.metrics import METRICS, evaluate_texts
from course_lib.optional import needed_for
from course_lib.precision import autocast, precision_for
from course_lib.schedules import linear_schedule
from course_lib.similarity import TextEncoder, bertscore
from course_lib.small_world import ASKED, ENTITIES, SMALL_BERT, TAGS, questions, same_kind, tagged, texts, who_acts
from course_lib.tables import Table
from course_lib.timing import milliseconds, race
from course_lib.tokenization import END_ID, PADDING_ID, SPECIAL, START_ID, WordVocabulary
from course_lib.training import TrainingConfig, train
""".strip().splitlines()
"""The imports of lessons from modules that have moved since."""

CONFIGURATION = """
from autograder.timestamps import mend_formgrader
c = get_config()
c.Katze.repository = "somebody/course"
c.HTMLExporter.filters = {"clean_html": "autograder.filters.clean_html"}
mend_formgrader()
"""


@pytest.mark.parametrize("line", BEFORE)
def test_an_import_of_before_gives_what_it_gave_and_says_where_it_is(line: str) -> None:
    names: dict[str, object] = {}
    if line.split()[1] != "course_lib.training":  # a package now, which stays
        sys.modules.pop(line.split()[1], None)
    with pytest.warns(FutureWarning, match="is now course_lib") as told:
        exec(line, names)
    assert len({str(warning.message) for warning in told}) == 1
    new = str(told[0].message).split()[3].rstrip(";")
    given = {name: value for name, value in names.items() if not name.startswith("__")}
    assert all(getattr(import_module(new), name) is value for name, value in given.items())


@pytest.mark.usefixtures("processes")
def test_once_is_enough() -> None:
    code = "from course_lib.tokenization import START_ID\nfrom course_lib.tokenization import END_ID\n"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stderr.count("course_lib.tokenization is now course_lib.text.tokenization") == 1


def test_a_name_that_never_was_is_missing() -> None:
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        exec("from course_lib.training import nothing")
    with pytest.raises(ModuleNotFoundError):
        import_module("course_lib.nothing")


@pytest.mark.parametrize("package", [autograder, course_lib])
def test_every_old_name_leads_somewhere_and_is_none_of_today(package: object) -> None:
    moved = [finder for finder in sys.meta_path if isinstance(finder, Moved)]
    names = {old: new for finder in moved for old, new in finder.names.items() if old.startswith(package.__name__)}
    assert names
    for old, new in names.items():
        path = ROOT.joinpath(*old.split("."))
        assert not path.exists()
        assert not path.with_suffix(".py").exists()
        assert import_module(new).__name__ == new


def test_a_configuration_of_before_loads(tmp_path: Path) -> None:
    (tmp_path / "nbgrader_config.py").write_text(CONFIGURATION)
    sys.modules.pop("autograder.timestamps", None)
    with pytest.warns(FutureWarning, match="autograder.timestamps is now autograder.intake.timestamps"):
        config = PyFileConfigLoader("nbgrader_config.py", path=str(tmp_path)).load_config()
    assert config.Katze.repository == "somebody/course"
    sys.modules.pop("autograder.filters", None)
    with pytest.warns(FutureWarning, match="autograder.filters is now"):
        assert import_module("autograder.filters").clean_html is import_module("autograder.course.filters").clean_html
