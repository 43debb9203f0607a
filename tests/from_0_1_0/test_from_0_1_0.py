"""What version 0.1.0 has written is still read: gradebook, kept answers, weights, checkpoints, tokenizers.

Everything beside this file was written by that version, and nothing of it is ever written anew.
"""

import gzip
import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from nbgrader.api import Gradebook
from safetensors.torch import load_file
from torch.testing import assert_close

from autograder.cli import main
from autograder.course.course import Course
from course_lib import exercises
from course_lib.judging.answer_key import AnswerKey
from course_lib.judging.exercise import Exercise
from course_lib.judging.judge import judge
from course_lib.judging.observation import observe
from course_lib.learner.kept_answers import load_answer
from course_lib.learner.progress_file import ProgressFile
from course_lib.text.byte_pairs import ByteLevelVocabulary
from course_lib.text.fast_subwords import SubwordVocabulary
from tests.autograder.small_class import hand_in, make_course
from tests.from_0_1_0.small_models import SMALL_MODELS

HERE = Path(__file__).parent
EXPORTED = {
    "01_attention": "student,01_attention\nada,19\nben,1.62\nhana,11\nzora,\n",
    "02_masking": "student,02_masking\nada,19\nhana,12\n",
}
"""Ada's points by hand are among hers. Ben has one for an accepted answer, one by hand, and 0.38 off for two days."""


class TestGradebook:
    @pytest.fixture
    def course(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        make_course(tmp_path)
        shutil.copytree(HERE / "course", tmp_path, dirs_exist_ok=True)
        (tmp_path / "gradebook.db").write_bytes(gzip.decompress((tmp_path / "gradebook.db.gz").read_bytes()))
        monkeypatch.chdir(tmp_path)
        return tmp_path

    @pytest.mark.parametrize("lesson", EXPORTED)
    def test_has_every_grade(self, course: Path, lesson: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["export", lesson]) == 0
        assert capsys.readouterr().out == EXPORTED[lesson]

    def test_tells_how_a_grade_came_about(self, course: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["log", "ben", "01_attention", "--json"]) == 0
        log = json.loads(capsys.readouterr().out)
        assert [event["kind"] for event in log["history"]] == ["graded", "counted anew", "late penalty"]
        [why_scale] = log["by_hand"]
        assert (why_scale["points"], why_scale["comment"]) == (1.0, "And what of the gradient?")
        [scale] = [one for one in log["exercises"] if one["exercise"] == "attention.scale"]
        assert scale["points"] == 1.0

    @pytest.mark.usefixtures("processes")
    def test_keeps_a_frozen_lesson_frozen(self, course: Path, capsys: pytest.CaptureFixture[str]) -> None:
        hand_in(Course.find(course), "carl", lesson="02_masking")
        assert main(["grade", "02_masking"]) == 0
        assert "02_masking is frozen" in capsys.readouterr().out
        assert main(["thaw", "02_masking"]) == 0

    @pytest.mark.usefixtures("processes")
    def test_takes_another_student(self, course: Path) -> None:
        hand_in(Course.find(course), "carl")
        assert main(["grade", "01_attention"]) == 0
        with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
            found = {name: book.find_submission("01_attention", name).score for name in ("ada", "ben", "hana", "carl")}
            # of ada's 19 one was for an exercise that is gone: nbgrader's tables drop it with its cell
            assert found == {"ada": 18, "ben": 2, "hana": 11, "carl": 17}


class TestWork:
    def test_answers_are_at_hand(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        shutil.copytree(HERE / "work", tmp_path, dirs_exist_ok=True)
        monkeypatch.setenv("KATZE_WORK", str(tmp_path))
        scaled = torch.tensor([[0.0, 1.0]])
        assert_close(load_answer("attention.weights", "attention_weights")(scaled), scaled.softmax(-1))
        assert load_answer("attention.scale", "scale_scores") is None

    @pytest.mark.parametrize("exercise", [one for one in exercises.all() if one.formerly], ids=lambda one: one.id)
    def test_answers_with_earlier_parameters_pass(self, exercise: Exercise) -> None:
        earlier = exercise.formerly
        taken = ", ".join([*filter(None, earlier.values()), "**others"])
        given = ", ".join([*(f"{name}={old}" for name, old in earlier.items()), "**others"])
        names: dict[str, Any] = {"base": exercise.reference}
        if exercise.is_class:
            exec(f"class Answer(base):\n    def __init__(self, {taken}): super().__init__({given})", names)
        else:  # of an argument that there was none of
            exec("Answer = lambda one, *two: base(one, *two)", names)
        verdict = judge(AnswerKey(exercise), partial(observe, names["Answer"]))
        assert verdict.passed, verdict.text()

    def test_progress_is_known(self) -> None:
        histories = ProgressFile(HERE / "work" / "progress.jsonl").read()
        assert sum(history.passed for history in histories.values()) == 6
        scale = histories["attention.scale"]
        assert (scale.failures, scale.mistake, scale.hints) == (1, "divided_by_d_head", ("idea",))


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("name", ["transformer", "gpt", "llama", "bert"])
def test_weights_are_loaded(name: str) -> None:
    folder, small = HERE / "models" / name, SMALL_MODELS[name]
    loaded = type(small.make()).from_pretrained(folder)
    assert_close(small.outputs(loaded), load_file(folder / "expected.safetensors")["outputs"])


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("name", sorted(SMALL_MODELS.keys() - {"bert"}))
def test_training_goes_on(name: str, tmp_path: Path) -> None:
    folder, small = HERE / "models" / name, SMALL_MODELS[name]
    shutil.copy(folder / "step-00000002.pt", tmp_path)
    model = small.make()
    small.train(model, 2, tmp_path)
    assert_close(small.outputs(model), load_file(folder / "expected.safetensors")["outputs"])
    losses = json.loads((folder / "losses.json").read_text())
    assert small.train(model, 4, tmp_path).losses == pytest.approx(losses, rel=1e-5)


TOKENIZERS: dict[str, tuple[Callable[[Path], Any], list[int]]] = {
    "byte-pair encoding": (
        lambda folder: SubwordVocabulary.load(folder / "bpe.json"),
        [35, 26, 47, 57, 38, 10, 3, 58, 55, 50, 34, 39, 45, 12],
    ),
    "WordPiece": (
        lambda folder: SubwordVocabulary.load(folder / "wordpiece.json"),
        [46, 50, 20, 51, 59, 17, 1, 52, 54, 30, 18, 55, 21, 23, 45, 19],
    ),
    "bytes": (
        lambda folder: ByteLevelVocabulary.load(folder / "vocab.json", folder / "merges.txt"),
        [262, 257, 275, 257, 256, 267, 67, 26, 257, 260, 220, 266, 89, 68, 264, 268, 273, 69],
    ),
}


@pytest.mark.parametrize("name", TOKENIZERS)
def test_a_tokenizer_cuts_as_before(name: str) -> None:
    load, ids = TOKENIZERS[name]
    assert load(HERE / "tokenizers").encode("the dog danced; die Katze schlief") == ids
