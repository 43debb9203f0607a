"""The command at its smallest, and what becomes of a training that does not come to its end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.gpu import __main__ as gpu
from benchmarks.gpu.learning import Settings
from benchmarks.gpu.results import Said, Tell
from benchmarks.table import Row

pytestmark = pytest.mark.usefixtures("processes")


def ran(out: Path, *arguments: str) -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit status, and the parts as they are in the JSON."""
    status = gpu.main(["--out", str(out), *arguments])
    return status, {part["part"]: part for part in json.loads((out / "results.json").read_text())["parts"]}


def test_the_whole_command_at_its_smallest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in (("more.en", "the cat slept\na dog ran\n"), ("more.de", "die Katze schlief\nein Hund lief\n")):
        (tmp_path / name).write_text(text)
    out = tmp_path / "out"
    test = ["--test", str(tmp_path / "more.en"), str(tmp_path / "more.de")]
    status, parts = ran(out, "--tiny", "--steps", "4", "--seeds", "2", *test)
    assert status == 0
    assert {part["outcome"] for part in parts.values()} == {"done"}
    rows = {row["name"]: row for row in parts["multi30k"]["rows"]}
    for seed in range(2):
        assert 0 <= rows[f"BLEU of test 2016, seed {seed}, lower-cased"]["ours"] <= 100
        assert 0 <= rows[f"BLEU of more.en, seed {seed}, cased"]["ours"] <= 100
        assert rows[f"shapes of batches in a pass, seed {seed}"]["ours"] > 1
        assert 0 <= rows[f"padding, seed {seed}"]["ours"] < 100
        assert [step for step, _ in parts["multi30k"]["curves"][f"training loss, seed {seed}"]] == [1, 2, 3, 4]
        assert parts["multi30k"]["curves"][f"validation loss, seed {seed}"][-1][0] == 4
    assert "its deviation from seed to seed" in rows
    assert "case:lc" in parts["multi30k"]["said"]["signature, lower-cased"]
    assert len((out / "translations.txt").read_text().splitlines()) == 20
    assert len((out / "sample.txt").read_text()) == 15
    assert all(part["rows"] for part in parts.values())
    table = capsys.readouterr().out
    assert "\n| smallest validation loss" in table
    assert "torch " in table.splitlines()[0]
    assert {path.name for path in out.iterdir()} == {"results.json", "sample.txt", "translations.txt"}


def test_without_a_gpu_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert gpu.main(["--out", str(tmp_path)]) == 1
    assert "no GPU" in capsys.readouterr().out


def test_a_training_that_fails_stops_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(settings: Settings, tell: Tell) -> None:
        settings.unfinished.mkdir()
        tell(Said("before", "it failed"))
        raise ValueError("what went wrong")

    def ends(settings: Settings, tell: Tell) -> None:
        tell(Row.of("a figure", 1.0, 2.0, "s", more=True, goal=0.1))

    monkeypatch.setattr(gpu, "TRAININGS", {"fails": fails, "ends": ends})
    status, found = ran(tmp_path, "--tiny")
    assert status == 1
    assert {name: (part["outcome"], part["why"]) for name, part in found.items()} == {
        "fails": ("failed", "ValueError: what went wrong"),
        "ends": ("done", ""),
    }
    assert found["fails"]["said"] == {"before": "it failed"}
    (row,) = found["ends"]["rows"]
    assert (row["ratio"], row["goal"]) == (0.5, None), "at its smallest, nothing is measured against a goal"
    assert not (tmp_path / "unfinished").exists()
