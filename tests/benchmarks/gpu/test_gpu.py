"""The command at its smallest, and what becomes of parts that do not come to their end."""

import json
import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.gpu import __main__ as gpu
from benchmarks.gpu import running
from benchmarks.gpu.__main__ import Part
from benchmarks.gpu.results import Said, Tell
from benchmarks.gpu.running import Settings
from benchmarks.table import Row

pytestmark = pytest.mark.usefixtures("processes")


HERE = "tests.benchmarks.gpu.test_gpu"


def ran(out: Path, *arguments: str) -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit status, and the parts as they are in the JSON."""
    status = gpu.main(["--out", str(out), *arguments])
    return status, {part["part"]: part for part in json.loads((out / "results.json").read_text())["parts"]}


@pytest.mark.usefixtures("thorough")
def test_the_whole_command_at_its_smallest(tmp_path: Path) -> None:
    out = tmp_path / "out"
    status, parts = ran(out, "--tiny", "--steps", "4")
    assert status == 0, (out / "log.txt").read_text()
    assert {part["outcome"] for part in parts.values()} == {"done"}
    rows = {row["name"]: row for row in parts["multi30k"]["rows"]}
    assert 0 <= rows["BLEU of test 2016, lower-cased"]["ours"] <= 100
    assert rows["shapes of batches in a pass"]["ours"] > 1
    assert 0 <= rows["padding"]["ours"] < 100
    assert [step for step, _ in parts["multi30k"]["curves"]["training loss"]] == [1, 2, 3, 4]
    assert parts["multi30k"]["curves"]["validation loss"][-1][0] == 4
    assert "case:lc" in parts["multi30k"]["said"]["signature, lower-cased"]
    assert len((out / "translations.txt").read_text().splitlines()) == 20
    assert len((out / "sample.txt").read_text()) == 15
    assert all(part["rows"] for part in parts.values())
    assert parts["lesson"]["said"]["form"].startswith("There is no GPU")
    table = (out / "results.md").read_text()
    assert "| shakespeare: smallest validation loss" in table
    assert "torch " in table.splitlines()[0]
    assert len(list(out.iterdir())) <= 8


def test_without_a_gpu_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert gpu.main(["--out", str(tmp_path)]) == 1
    assert "no GPU" in capsys.readouterr().out


def raises(settings: Settings, tell: Tell) -> None:
    tell(Row.of("before", 1.0, 2.0, "s", more=True, goal=1.0))
    print("what it printed")
    raise ValueError("what went wrong")


def dies(settings: Settings, tell: Tell) -> None:
    tell(Said("before", "it died"))
    os._exit(3)


def hangs(settings: Settings, tell: Tell) -> None:
    settings.unfinished.mkdir()
    started = os.fork()
    if started:
        (settings.out / "started").write_text(str(started))
        tell(Row.of("before", 1.0, None, "s", more=True))
    time.sleep(600)


def ends(settings: Settings, tell: Tell) -> None:
    tell(Row.of("a figure", 1.0, 2.0, "s", more=True, goal=0.1))


def test_a_part_that_does_not_end_well_stops_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [
        Part("raises", "", 100, f"{HERE}:raises"),
        Part("dies", "", 100, f"{HERE}:dies"),
        Part("hangs", "", 100, f"{HERE}:hangs"),
        Part("lacks", "", 100, f"{HERE}:ends", ("json", "no_such_package")),
        Part("ends", "", 100, f"{HERE}:ends"),
    ]
    monkeypatch.setattr(gpu, "PARTS", parts)
    started = tmp_path / "started"  # from then on it hangs, and the clock that its limit is read from is 500 s ahead
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + 500 * started.exists())
    monkeypatch.setattr(running, "time", clock)
    status, found = ran(tmp_path, "--tiny")
    assert status == 1
    assert {name: part["outcome"] for name, part in found.items()} == {
        **{"raises": "failed", "dies": "failed", "hangs": "cut off", "lacks": "skipped", "ends": "done"}
    }
    assert found["raises"]["why"] == "ValueError: what went wrong (more in log.txt)"
    assert [row["name"] for row in found["raises"]["rows"]] == ["before"]
    assert "exit code 3" in found["dies"]["why"]
    assert found["dies"]["said"] == {"before": "it died"}
    assert found["lacks"]["why"] == "not installed: no_such_package"
    (row,) = found["ends"]["rows"]
    assert (row["ratio"], row["goal"]) == (0.5, None), "at its smallest, nothing is measured against a goal"
    log = (tmp_path / "log.txt").read_text()
    assert "what it printed" in log
    assert "Traceback" in log
    assert not (tmp_path / "unfinished").exists()
    process = Path(f"/proc/{started.read_text()}/stat")
    assert not process.exists() or ") Z " in process.read_text(), "what a part has started ends with it"
