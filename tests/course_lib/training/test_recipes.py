"""The recipes, a few steps of them on small data: from text to a model, saved on the way and resumed."""

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from course_lib.models import GPT, Transformer
from course_lib.toys.grammar import toy_translation
from course_lib.training.checkpoints import Checkpoints, average_weights
from course_lib.training.progress import TrainingStep
from course_lib.training.recipes import (
    EVERYDAY,
    MULTI30K,
    MULTI30K_SMALL,
    SCENES,
    SHAKESPEARE,
    SHORT_SCENES,
    TranslationRecipe,
    learn_to_translate,
    learn_to_write,
)

SPLIT = toy_translation(training=60, held_out=10)
SHORT = dataclasses.replace(MULTI30K, pieces=90, d_model=16, d_ff=32, layers=1, max_tokens=600, steps=6)
SHORT = dataclasses.replace(SHORT, save_every=1, averaged=3)
TEXT = "the cat danced and the dog slept. " * 60
BRIEF = dataclasses.replace(
    SHAKESPEARE, length=16, d_model=24, heads=2, layers=1, batch_size=4, validate_every=2, steps=6
)


def test_the_published_sizes() -> None:
    with torch.device("meta"):
        translator, writer = Transformer(MULTI30K.model(10_000)), GPT(SHAKESPEARE.model(65))
    # Per encoder layer 4·d² + 4·d of attention, 2·d·h + h + d of its network, 4·d of norms; a decoder layer has one
    # attention and one norm more; the one embedding has vocabulary·d.
    # Pre-norm adds one norm to the end of each stack.
    assert sum(p.numel() for p in translator.parameters()) == 10_000 * 256 + 4 * (789_760 + 1_053_440) + 2 * 512
    assert sum(p.numel() for p in writer.parameters()) == 65 * 384 + 256 * 384 + 6 * 1_774_464 + 768
    assert (MULTI30K.dropout, MULTI30K.r_drop, MULTI30K.averaged, MULTI30K.beams) == (0.3, 1.0, 10, 5)
    assert (writer.config.context_length, writer.config.layers, writer.config.d_model) == (256, 6, 384)


def test_a_translator_has_the_mean_of_the_last_weights(tmp_path: Path) -> None:
    told: list[TrainingStep] = []
    learned = learn_to_translate(SHORT, SPLIT.training, SPLIT.held_out, tmp_path, "cpu", progress=told.append)
    assert [step.number for step in told] == [1, 2, 3, 4, 5, 6]
    files = Checkpoints(tmp_path).files()
    assert [path.name[5:13] for path in files] == ["00000004", "00000005", "00000006"]
    mean = average_weights(files)
    for name, tensor in learned.translator.model.state_dict().items():
        assert torch.equal(tensor, mean[name])
    said = learned.translator.translate(["the cat danced", "I slept"], beams=SHORT.beams, max_new_tokens=8)
    assert len(said) == 2
    assert (tmp_path / "tokenizer.json").exists()


def test_a_translator_goes_on_where_it_was(tmp_path: Path) -> None:
    def learn(folder: Path, until: int | None = None) -> list[float]:
        return learn_to_translate(SHORT, SPLIT.training, SPLIT.held_out, folder, "cpu", until=until).result.losses

    straight = learn(tmp_path / "straight")
    assert learn(tmp_path / "resumed", until=3) == straight[:3]
    assert learn(tmp_path / "resumed") == straight


@pytest.mark.parametrize(
    ("recipe", "highest"),
    [
        (MULTI30K, 800),
        (MULTI30K_SMALL, 550),
        (SHORT_SCENES, 50),
        (EVERYDAY, 50),
        (dataclasses.replace(MULTI30K, steps=3), 1),
    ],
)
def test_no_more_than_a_quarter_of_a_training_is_warm_up(recipe: TranslationRecipe, highest: int) -> None:
    rates = [recipe.rate()(step) for step in range(1, recipe.steps + 1)]
    assert max(rates) == rates[highest - 1] == recipe.peak
    assert 0 < rates[-1] <= recipe.peak / (recipe.steps + 1 - highest) * 1.001


def test_a_recipe_as_the_paper_has_it_does_not_depend_on_the_length() -> None:
    short = dataclasses.replace(SCENES, steps=200)
    assert [short.rate()(step) for step in (1, 100, 200)] == [SCENES.rate()(step) for step in (1, 100, 200)]


def test_a_writer_learns_and_keeps_its_best_weights(tmp_path: Path) -> None:
    recipe = dataclasses.replace(BRIEF, steps=40, warmup=5, peak=1e-2, dropout=0.0, validate_every=10)
    written = learn_to_write(recipe, TEXT, tmp_path, "cpu")
    assert list(written.result.validations) == [10, 20, 30, 40]
    assert written.result.losses[-1] < written.result.losses[0] - 1
    assert written.characters.decode(written.characters.encode("the cat")) == "the cat"


SCRIPT = """
import os
import sys
import time
from pathlib import Path

import torch

from course_lib.training.checkpoints import Checkpoints
from course_lib.text.fast_subwords import SubwordVocabulary
from course_lib.training.recipes import learn_to_translate
from tests.course_lib.training.test_recipes import SHORT, SPLIT

folder, rank = Path(sys.argv[1]), os.environ["RANK"]
save_words, save_step = SubwordVocabulary.save, Checkpoints.save


def noted(tokens, path):
    (folder / f"tokens-{rank}").touch()
    save_words(tokens, path)


def slow(checkpoints, step, content):
    time.sleep(2 if step == SHORT.steps else 0)  # the other process would not find the last one yet
    return save_step(checkpoints, step, content)


SubwordVocabulary.save, Checkpoints.save = noted, slow
learned = learn_to_translate(SHORT, SPLIT.training, SPLIT.held_out, folder, "cpu")
torch.save(learned.translator.model.state_dict(), folder / f"learned-{rank}.pt")
"""


@pytest.mark.usefixtures("processes")
def test_two_processes_return_the_same_translator_and_one_of_them_writes(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(script), str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, *command], cwd=root, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.glob("tokens-*")] == ["tokens-0"]
    mean = average_weights(Checkpoints(tmp_path).files())
    for rank in range(2):
        learned = torch.load(tmp_path / f"learned-{rank}.pt", weights_only=True)
        assert all(torch.equal(learned[name], tensor) for name, tensor in mean.items())


@pytest.mark.parametrize("text", ["", "a", "abc" * 30])
def test_a_text_that_is_too_short_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match="too short for windows of 16"):
        learn_to_write(BRIEF, text, tmp_path, "cpu")
