"""Checkpoints: written whole or not at all, read as plain data, refused when they do not fit, and averaged."""

import os
import threading
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from course_lib.training.checkpoints import (
    BackgroundSaves,
    CheckpointError,
    Checkpoints,
    average_weights,
    check_optimizer,
    check_weights,
    read_checkpoint,
    write_checkpoint,
)


def weights(value: float) -> dict[str, torch.Tensor]:
    return {"a": torch.full((2, 3), float(value)), "count": torch.tensor(int(value))}


def test_what_was_written_is_read(tmp_path: Path) -> None:
    write_checkpoint(str(tmp_path / "x.pt"), {"model": weights(1.5), "losses": [0.5], "validations": {3: 0.25}})
    content = read_checkpoint(tmp_path / "x.pt")
    assert_close(content["model"], weights(1.5))
    assert content["losses"] == [0.5]
    assert content["validations"] == {3: 0.25}
    assert [path.name for path in tmp_path.iterdir()] == ["x.pt"]


def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_checkpoint(tmp_path / "x.pt", {"model": weights(1)})

    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_checkpoint(tmp_path / "x.pt", {"model": weights(2)})
    assert read_checkpoint(tmp_path / "x.pt")["model"]["count"] == 1
    assert [path.name for path in tmp_path.iterdir()] == ["x.pt"]


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_a_file_that_is_cut_off_is_refused(tmp_path: Path, share: float) -> None:
    path = tmp_path / "x.pt"
    write_checkpoint(path, {"model": weights(1)})
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(CheckpointError, match="x.pt is damaged, .* remove it to continue from the one before"):
        read_checkpoint(path)


class Planted:
    """Runs code where it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("planted",)


def test_nothing_in_a_file_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    torch.save({"format": "katze-training-1", "model": Planted()}, "x.pt")
    with pytest.raises(CheckpointError, match="is damaged, or holds more than plain data"):
        read_checkpoint("x.pt")
    assert not Path("planted").exists()


@pytest.mark.parametrize("content", [{"model": {}}, {"format": "other"}, torch.zeros(3)])
def test_foreign_files_are_refused(tmp_path: Path, content: object) -> None:
    torch.save(content, tmp_path / "x.pt")
    with pytest.raises(CheckpointError, match="expected format 'katze-training-1', got"):
        read_checkpoint(tmp_path / "x.pt")


@pytest.mark.parametrize("content", [b"", b"no checkpoint", b"\x80\x02.", b"(dp0\n."])
def test_what_torch_has_not_written_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.pt").write_bytes(content)
    with pytest.raises(CheckpointError, match="is damaged, or holds more than plain data"):
        read_checkpoint(tmp_path / "x.pt")


def test_weights_of_another_model_are_refused_by_name() -> None:
    ours = {"a": torch.zeros(2), "b": torch.zeros(3)}
    for theirs, message in [
        ({"a": torch.zeros(2)}, "it has no b"),
        ({**ours, "c": torch.zeros(1)}, "it has c, which this one lacks"),
        ({"a": torch.zeros(2), "b": torch.zeros(4)}, r"its b is \[4\], this one's \[3\]"),
    ]:
        with pytest.raises(CheckpointError, match=message):
            check_weights(theirs, ours, "x.pt")


def test_an_optimizer_of_other_parameters_is_refused() -> None:
    found = stepped(nn.Linear(3, 2)).state_dict()
    with pytest.raises(CheckpointError, match="its trained parameters: 2, this one's: 1; freeze the same ones"):
        check_optimizer(found, stepped(nn.Linear(3, 2, bias=False)), "x.pt")
    with pytest.raises(CheckpointError, match=r"exp_avg of its trained parameter 0 is \[2, 3\], this one's is \[5"):
        check_optimizer(found, stepped(nn.Linear(3, 5)), "x.pt")


def stepped(layer: nn.Linear) -> torch.optim.Optimizer:
    """An optimizer that has moved a layer once."""
    optimizer = torch.optim.AdamW(layer.parameters())
    layer(torch.ones(3)).sum().backward()
    optimizer.step()
    return optimizer


class TestFolder:
    def test_the_newest_stay(self, tmp_path: Path) -> None:
        checkpoints = Checkpoints(tmp_path / "new" / "run", every=5, keep=2)
        for step in (5, 10, 15):
            checkpoints.save(step, {"model": weights(step)})
        assert [path.name for path in checkpoints.files()] == ["step-00000010.pt", "step-00000015.pt"]

    def test_other_files_are_left_alone(self, tmp_path: Path) -> None:
        for name in ("step-1.pt", "notes.txt", "step-00000001.pt.bak"):
            (tmp_path / name).write_text("mine")
        checkpoints = Checkpoints(tmp_path, keep=1)
        checkpoints.save(7, {"model": weights(7)})
        assert [path.name for path in checkpoints.files()] == ["step-00000007.pt"]
        assert len(list(tmp_path.iterdir())) == 4


class TestInTheBackground:
    def test_what_is_saved_is_what_it_was_when_asked_for(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        saves, may_write = BackgroundSaves(Checkpoints(tmp_path)), threading.Event()
        original = os.fsync
        monkeypatch.setattr(os, "fsync", lambda file: may_write.wait(60) and original(file))
        tied, losses = torch.zeros(3), [0.5]
        saves.save(1, {"model": {"one": tied, "other": tied, "part": tied[:2]}, "losses": losses})
        tied += 1
        losses.append(0.25)
        may_write.set()
        saves.close()
        (path,) = Checkpoints(tmp_path).files()
        content = read_checkpoint(path)
        assert content["losses"] == [0.5]
        assert content["model"]["one"].tolist() == [0, 0, 0]
        assert content["model"]["part"].tolist() == [0, 0]
        assert content["model"]["one"].data_ptr() == content["model"]["other"].data_ptr()

    @pytest.mark.parametrize("after", ["wait", "save"])
    def test_what_could_not_be_written_is_told(self, tmp_path: Path, after: str) -> None:
        (tmp_path / "in the way").touch()
        saves = BackgroundSaves(Checkpoints(tmp_path / "in the way"))
        saves.save(1, {})
        with pytest.raises(OSError, match="in the way"):
            saves.wait() if after == "wait" else saves.save(2, {})


class TestTimes:
    EARLY, LAST = Checkpoints(Path(), every=10, keep=2, pause=60.0), 100

    @pytest.mark.parametrize(
        ("step", "seconds", "due"),
        [
            (10, 59.9, False),
            (10, 60.0, True),
            (15, 600.0, False),  # between two of its steps
            (80, 0.0, False),
            (90, 0.0, True),  # one of the last two, whenever it comes
            (100, 0.0, True),
        ],
    )
    def test_a_pause_lies_between_all_but_the_last(self, step: int, seconds: float, due: bool) -> None:
        assert self.EARLY.are_due(step, self.LAST, seconds) is due

    def test_without_a_pause_every_one_is_due(self) -> None:
        often = Checkpoints(Path(), every=10, keep=2)
        assert [step for step in range(1, 46) if often.are_due(step, 45, 0.0)] == [10, 20, 30, 40, 45]


class TestAverage:
    def test_is_the_mean_of_fractions_and_the_last_of_counters(self, tmp_path: Path) -> None:
        for value in (1, 2, 6):
            write_checkpoint(tmp_path / f"{value}.pt", {"model": weights(value)})
        mean = average_weights([tmp_path / f"{value}.pt" for value in (1, 2, 6)])
        assert_close(mean, {"a": torch.full((2, 3), 3.0), "count": torch.tensor(6)})

    def test_of_one_is_itself(self, tmp_path: Path) -> None:
        write_checkpoint(tmp_path / "1.pt", {"model": {"a": torch.tensor([1.1], dtype=torch.bfloat16)}})
        assert_close(average_weights([tmp_path / "1.pt"]), {"a": torch.tensor([1.1], dtype=torch.bfloat16)})

    def test_of_different_models_is_refused(self, tmp_path: Path) -> None:
        write_checkpoint(tmp_path / "1.pt", {"model": {"a": torch.zeros(2)}})
        write_checkpoint(tmp_path / "2.pt", {"model": {"a": torch.zeros(3)}})
        with pytest.raises(CheckpointError, match="2.pt is from another model"):
            average_weights([tmp_path / "1.pt", tmp_path / "2.pt"])
