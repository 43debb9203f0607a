"""Files of torch: read as plain data, or refused in one way, whatever is wrong with them."""

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from course_lib.ground.torch_files import first_line, read_torch_file

WEIGHTS = torch.arange(12.0).view(3, 4)
CONTENT = {"weights": WEIGHTS, "step": 7, "names": ["a", "b"], "best": None}


def saved(path: Path, *, older: bool = False) -> bytes:
    torch.save(CONTENT, path, _use_new_zipfile_serialization=not older)
    return path.read_bytes()


def damaged(content: bytes, count: int) -> Iterator[bytes]:
    """The same bytes, cut off or with some of them changed."""
    rng = random.Random(0)
    for i in range(count):
        wrong = bytearray(content)
        if i % 5 == 0:
            yield content[: rng.randrange(len(content))]
            continue
        for _ in range(rng.randint(1, 4)):
            wrong[rng.randrange(len(wrong))] = rng.randrange(256)
        yield bytes(wrong)


@pytest.mark.parametrize("older", [False, True])
def test_what_was_saved_is_read(tmp_path: Path, older: bool) -> None:
    saved(tmp_path / "x.pt", older=older)
    found = read_torch_file(tmp_path / "x.pt")
    assert_close(found.pop("weights"), WEIGHTS)
    assert found == {"step": 7, "names": ["a", "b"], "best": None}


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
@pytest.mark.parametrize("older", [False, True])
def test_a_damaged_file_is_refused_whatever_torch_stumbles_over(tmp_path: Path, older: bool) -> None:
    content = saved(tmp_path / "x.pt", older=older)
    messages = []
    for wrong in damaged(content, 400):
        (tmp_path / "x.pt").write_bytes(wrong)
        try:
            read_torch_file(tmp_path / "x.pt")  # in an older file a changed number goes unnoticed
        except ValueError as error:
            messages.append(str(error))
    assert len(messages) > 200
    assert all("x.pt is damaged, or holds more than plain data (" in message for message in messages)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_a_large_file_that_is_cut_off_is_refused(tmp_path: Path, share: float) -> None:
    """Of some lengths torch says an OSError, as if the file could not be read."""
    torch.save({f"layer {i}": torch.zeros(1000) for i in range(30)}, tmp_path / "x.pt")
    content = (tmp_path / "x.pt").read_bytes()
    (tmp_path / "x.pt").write_bytes(content[: int(share * len(content))])
    with pytest.raises(ValueError, match="x.pt is damaged, or holds more than plain data"):
        read_torch_file(tmp_path / "x.pt")


def test_a_changed_number_is_found(tmp_path: Path) -> None:
    content = saved(tmp_path / "x.pt")
    place = content.index(WEIGHTS.numpy().tobytes()) + 5
    (tmp_path / "x.pt").write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
    assert not torch.equal(torch.load(tmp_path / "x.pt")["weights"], WEIGHTS)
    with pytest.raises(ValueError, match="x.pt is damaged, .*data/0 in it was changed after it was written"):
        read_torch_file(tmp_path / "x.pt")


class Planted:
    """Runs code where it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("planted",)


def test_nothing_in_a_file_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    torch.save({"weights": Planted()}, "x.pt")
    with pytest.raises(ValueError, match="x.pt is damaged, or holds more than plain data"):
        read_torch_file("x.pt")
    assert not Path("planted").exists()


def test_a_file_that_is_not_there_is_no_damaged_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_torch_file(tmp_path / "x.pt")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("one\ntwo"), "one"),
        (KeyError(), "KeyError"),
        (ValueError("\n"), "ValueError"),
        (ValueError("a" * 200), "a" * 120),
    ],
)
def test_the_first_line_of_an_error(error: Exception, line: str) -> None:
    assert first_line(error) == line
