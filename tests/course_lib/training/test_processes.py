"""Two processes under `torchrun` learn what one does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from course_lib.training.processes import World, join_processes

SCRIPT = """
import json
import os
import sys
from pathlib import Path

import torch

from course_lib.training.checkpoints import Checkpoints
from course_lib.text.batches import LengthBuckets, collate
from course_lib.objectives.losses import translation_loss
from course_lib.models import Transformer, TransformerConfig
from course_lib.training.schedules import constant_schedule
from course_lib.training.loop import TrainingConfig, Validation, train

steps, accumulate, max_tokens, folder = *map(int, sys.argv[1:4]), Path(sys.argv[4])
generator = torch.Generator().manual_seed(0)
sources = [torch.randint(4, 12, (2 + i % 5,), generator=generator) for i in range(23)]
pairs = [(source, torch.tensor([1, *source.flip(0).tolist(), 2])) for source in sources]
pairs.append((torch.tensor([5]), torch.tensor([1])))  # without anything to predict
data = LengthBuckets(pairs, lambda pair: (len(pair[0]), len(pair[1])), max_tokens, collate)
torch.manual_seed(1)
model = Transformer(
    TransformerConfig(12, 12, d_model=16, heads=2, d_hidden=32, encoder_layers=1, decoder_layers=1, dropout=0.0)
)
config = TrainingConfig(steps, constant_schedule(5e-3), accumulate=accumulate, epsilon=1e-4, precision="fp32")
result = train(
    model, data, translation_loss, config, "cpu",
    validation=Validation(data, every=4), checkpoints=Checkpoints(folder, every=4), resume=True,
)
weights = {name: tensor.double().sum().item() for name, tensor in model.state_dict().items()}
path = folder / f"told-{os.environ.get('RANK', '0')}.json"
path.write_text(json.dumps([result.losses, list(result.validations.values()), weights, result.tokens]))
"""

TAGGER = """
import json
import os
import sys
from pathlib import Path

import torch

from course_lib.objectives.heads import TokenClassifier, head_loss
from course_lib.objectives.labelled_data import labelled_data
from course_lib.models import BERT, BERTConfig
from course_lib.training.schedules import constant_schedule
from course_lib.toys.tasks import roles
from course_lib.training.loop import TrainingConfig, train

steps, accumulate, max_tokens, folder = *map(int, sys.argv[1:4]), Path(sys.argv[4])
task = roles(training=30, held_out=1)
torch.manual_seed(1)
sizes = BERTConfig(len(task.vocabulary), 32, 16, 2, 1, 32, dropout=0.0, attention_dropout=0.0)
model = TokenClassifier(BERT(sizes), len(task.labels), dropout=0.0)
pooler = model.encoder.pooler.weight.clone()
config = TrainingConfig(steps, constant_schedule(5e-3), accumulate=accumulate, epsilon=1e-4, precision="fp32")
result = train(model, labelled_data(task.training, max_tokens), head_loss, config, "cpu")
path = folder / f"told-{os.environ.get('RANK', '0')}.json"
path.write_text(json.dumps([result.losses, torch.equal(pooler, model.encoder.pooler.weight)]))
"""

AGAIN_AND_AGAIN = """
import json
import os
import sys
from pathlib import Path

import torch

from course_lib.models import GPT, GPTConfig
from course_lib.objectives.losses import language_model_loss
from course_lib.text.batches import Windows
from course_lib.training.loop import TrainingConfig, evaluate, train
from course_lib.training.schedules import constant_schedule

steps, accumulate, length, folder = *map(int, sys.argv[1:4]), Path(sys.argv[4])
data = Windows(torch.randint(0, 9, (60,), generator=torch.Generator().manual_seed(0)), length, batch_size=4)
config = TrainingConfig(steps, constant_schedule(5e-3), accumulate=accumulate, precision="fp32")
losses = []
for number in range(30):
    if number % 3 == 0:  # the same model is trained three times, and then comes another
        torch.manual_seed(1)
        model = GPT(GPTConfig(9, 8, d_model=8, heads=2, layers=1, d_hidden=8, dropout=0.0))
    losses.append([*train(model, data, language_model_loss, config, "cpu").losses,
                   evaluate(model, data, language_model_loss, "cpu")])
path = folder / f"told-{os.environ.get('RANK', '0')}.json"
path.write_text(json.dumps(losses))
"""


def trained(
    folder: Path, processes: int, steps: int = 8, accumulate: int = 1, max_tokens: int = 60, script: str = SCRIPT
) -> list[list[object]]:
    """What each process says in the end."""
    folder.mkdir(exist_ok=True)
    (folder / "script.py").write_text(script)
    arguments = [str(folder / "script.py"), str(steps), str(accumulate), str(max_tokens), str(folder)]
    start = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)] if processes > 1 else []
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, *start, *arguments], cwd=root, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return [json.loads(path.read_text()) for path in sorted(folder.glob("told-*.json"))]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("accumulate", "max_tokens"),
    [(1, 60), pytest.param(2, 14, id="2-batches of one example, none for the second process")],
)
def test_two_processes_give_the_losses_of_one_with_twice_the_batch(
    tmp_path: Path, accumulate: int, max_tokens: int
) -> None:
    [alone] = trained(tmp_path / "alone", 1, accumulate=accumulate, max_tokens=max_tokens)
    first, second = trained(tmp_path / "two", 2, accumulate=accumulate, max_tokens=max_tokens)
    assert first[:3] == second[:3]  # the two hold the same weights throughout
    assert first[0] == pytest.approx(alone[0], rel=1e-4)
    assert first[1] == pytest.approx(alone[1], rel=1e-4)
    assert first[2] == pytest.approx(alone[2], rel=1e-3, abs=1e-3)
    assert first[3] + second[3] == alone[3]  # and each had its part of the work


@pytest.mark.slow
def test_two_processes_resume_bit_for_bit(tmp_path: Path) -> None:
    straight = trained(tmp_path / "straight", 2)
    trained(tmp_path / "resumed", 2, steps=4)
    resumed = trained(tmp_path / "resumed", 2)
    assert [told[:3] for told in resumed] == [told[:3] for told in straight]
    assert sorted(path.name for path in (tmp_path / "resumed").glob("step-*")) == ["step-00000008.pt"]


@pytest.mark.slow
@pytest.mark.parametrize("accumulate", [1, 2])
def test_a_loss_that_leaves_weights_out_is_learned_from_too(tmp_path: Path, accumulate: int) -> None:
    """A tagger makes no use of BERT's pooler, so that no gradient of it ever comes."""
    [alone] = trained(tmp_path / "alone", 1, accumulate=accumulate, script=TAGGER)
    first, second = trained(tmp_path / "two", 2, accumulate=accumulate, script=TAGGER)
    assert first[0] == second[0]
    assert first[0] == pytest.approx(alone[0], rel=1e-4)
    assert alone[1] == first[1] == second[1] is True


@pytest.mark.slow
def test_thirty_trainings_in_one_launch(tmp_path: Path) -> None:
    first, second = trained(tmp_path, 2, steps=3, max_tokens=6, script=AGAIN_AND_AGAIN)
    assert first == second
    assert first[:3] * 10 == first
    assert len({str(losses) for losses in first}) == 3


def test_each_of_n_takes_every_nth_example() -> None:
    cpu = torch.device("cpu")
    assert [World(rank, 3, cpu).share([5, 6, 7, 8]) for rank in range(3)] == [[5, 8], [6], [7]]


def test_alone_there_is_one_process() -> None:
    world = join_processes("cpu")
    assert (world.rank, world.size, world.is_first) == (0, 1, True)
    assert world.sum([1.5, 2]) == [1.5, 2]
    assert world.gather(torch.arange(2))[0].tolist() == [0, 1]


def test_a_process_without_a_gpu_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "4")
    monkeypatch.setenv("LOCAL_RANK", "3")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(ValueError, match="process 3 of this machine has no GPU: there are 2"):
        join_processes("cuda")
