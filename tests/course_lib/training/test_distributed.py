"""Two processes under `torchrun` learn what one does: one launch makes all the trainings that are looked at here."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from course_lib.training.checkpoints import read_checkpoint
from course_lib.training.distributed import World, join_processes
from tests.course_lib.training.together import BATCHES, WAYS, Told, learn, tag, translate

Launch = tuple[Path, Told, Told]


@pytest.fixture(scope="module")
def launch(processes: None, tmp_path_factory: pytest.TempPathFactory) -> Launch:
    """Where the two processes saved, and what each of them said."""
    folder = tmp_path_factory.mktemp("together")
    start = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command = [*start, "-m", "tests.course_lib.training.together", str(folder)]
    root = Path(__file__).parents[3]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    first, second = (json.loads((folder / f"told-{rank}.json").read_text()) for rank in range(2))
    return folder, first, second


def assert_alike(found: Told, expected: Told) -> None:
    assert found["losses"] == pytest.approx(expected["losses"], rel=1e-4)
    assert found["validations"] == pytest.approx(expected["validations"], rel=1e-4)
    for name, weight in expected["weights"].items():
        assert found["weights"][name] == pytest.approx(weight, rel=1e-2, abs=2e-4), name


class TestTwo:
    @pytest.mark.parametrize("way", WAYS)
    def test_learn_what_one_does(self, launch: Launch, way: str, tmp_path: Path) -> None:
        _, first, second = launch
        assert first[way] == second[way]
        assert_alike(first[way], learn(tmp_path, way))

    @pytest.mark.parametrize("batches", BATCHES)
    def test_each_have_their_part_of_the_work(self, launch: Launch, batches: str) -> None:
        _, first, second = (told if isinstance(told, Path) else dict(told[batches]) for told in launch)
        alone = translate(*BATCHES[batches])
        assert first.pop("tokens") + second.pop("tokens") == alone["tokens"]
        assert first == second  # the two hold the same weights throughout
        assert_alike(first, alone)

    def test_go_on_bit_for_bit(self, launch: Launch) -> None:
        _, first, _ = launch
        assert first["gone on with"] == first["accumulated"]

    @pytest.mark.parametrize("accumulate", [1, 2])
    def test_learn_by_a_loss_that_leaves_weights_out(self, launch: Launch, accumulate: int) -> None:
        _, first, second = (told if isinstance(told, Path) else told[f"tagged, {accumulate}"] for told in launch)
        alone = tag(accumulate)
        assert first == second
        assert first["losses"] == pytest.approx(alone["losses"], rel=1e-4)
        assert alone["pooler as it was"] is first["pooler as it was"] is True

    def test_learn_thirty_times_in_one_launch(self, launch: Launch) -> None:
        _, first, second = launch
        losses = first["again and again"]
        assert losses == second["again and again"]
        assert losses[:3] * 10 == losses
        assert len({str(each) for each in losses}) == 3

    def test_save_once_and_the_whole(self, launch: Launch) -> None:
        folder, first, _ = launch
        saved = read_checkpoint(folder / "accumulated" / "step-00000006.pt")
        weights = {name: tensor.flatten().tolist() for name, tensor in saved["model"].items()}
        assert weights == first["accumulated"]["weights"]
        assert {held["exp_avg"].dim() for held in saved["optimizer"]["state"].values()} == {1, 2}
        assert len(list((folder / "accumulated").glob("step-*"))) == 2


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
