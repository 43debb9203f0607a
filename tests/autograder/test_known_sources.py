"""What follows from a source's text is found out once, and anew wherever that could matter."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FUNCTION = """
from autograder.known_sources import known

def words(source: str, more: str = "") -> list[str]:
    print("called", source, more)
    return [source.upper()]

print(known(words, "one"), known(words, "one"), known(words, "\\udcff", "two"))
"""
FIRST = ["called one ", "called \\udcff two", "['ONE'] ['ONE'] ['\\udcff']"]
NOTHING_CALLED = FIRST[-1:]


def run(cache: Path, script: Path, function: str = FUNCTION) -> list[str]:
    script.write_text(function)
    environment = {**os.environ, "KATZE_CACHE": str(cache), "PYTHONIOENCODING": "utf-8:backslashreplace"}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.usefixtures("processes")
def test_a_text_is_read_once_in_all_runs(tmp_path: Path) -> None:
    cache, script = tmp_path / "cache", tmp_path / "function.py"
    assert run(cache, script) == FIRST
    kept = (cache / "sources.json").stat()
    assert run(cache, script) == NOTHING_CALLED
    assert (cache / "sources.json").stat().st_mtime_ns == kept.st_mtime_ns  # nothing new, nothing written
    assert run(cache, script, FUNCTION + "# another function, for all anybody knows\n") == FIRST
    longer = FUNCTION + 'if os.fork() == 0:\n    known(words, "three")\n    sys.exit()\nos.wait()\n'
    run(cache, script, "import os, sys\n" + longer)
    assert len(json.loads((cache / "sources.json").read_text())) == 6  # of three functions; nothing of a fork


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("damage", ["{", "[]", "\udcff"], ids=["cut off", "other JSON", "no text"])
def test_damage_costs_time_and_nothing_else(damage: str, tmp_path: Path) -> None:
    cache, script = tmp_path / "cache", tmp_path / "function.py"
    cache.mkdir()
    (cache / "sources.json").write_text(damage, errors="surrogateescape")
    assert run(cache, script) == FIRST
    assert run(cache, script) == NOTHING_CALLED


@pytest.mark.usefixtures("processes")
def test_where_nothing_can_be_kept_it_is_found_out_each_time(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file, where a folder belongs")
    for _ in range(2):
        assert run(tmp_path / "cache", tmp_path / "function.py") == FIRST
