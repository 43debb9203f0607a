"""What describes the environment agrees: pyproject.toml, environment.yml, constraints.txt, and the Makefile."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions, requires, version
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from autograder.cli import main
from tests.test_imports import imports

ROOT = Path(__file__).parents[1]
CONDA_NAMES = {"jupyter-core": "jupyter_core", "torch": "pytorch"}
"""Packages that conda-forge calls by another name."""


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def environment() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "environment.yml").read_text())


def specifiers(project: dict[str, Any], *extras: str) -> dict[str, str]:
    """What the project needs, or what these extras of it add, those that they name included."""
    lines = [Requirement(line) for extra in extras for line in project["optional-dependencies"][extra]]
    if not extras:
        lines = [Requirement(line) for line in project["dependencies"]]
    found = {canonicalize_name(line.name): str(line.specifier) for line in lines if line.name != project["name"]}
    for line in lines:
        if line.name == project["name"]:
            found |= specifiers(project, *line.extras)
    return found


def test_conda_environment_is_what_running_needs(project: dict[str, Any], environment: dict[str, Any]) -> None:
    wanted = specifiers(project) | {"python": project["requires-python"], "pip": ""}
    *listed, with_pip = environment["dependencies"]
    described = {line.name: str(line.specifier) for line in map(Requirement, listed)}
    assert described == {CONDA_NAMES.get(name, name): specifier for name, specifier in wanted.items()}
    assert with_pip == {"pip": ["--editable ."]}


def test_developing_takes_every_extra_and_nothing_is_listed_twice(project: dict[str, Any]) -> None:
    extras = project["optional-dependencies"]
    others = set(extras) - {"dev"}
    assert set(Requirement(extras["dev"][0]).extras) == others == {"models", "postgres", "cluster", "site"}
    lists = [project["dependencies"], *extras.values()]
    names = [canonicalize_name(Requirement(line).name) for listed in lists for line in listed]
    assert len(names) == len(set(names))


def test_running_needs_none_of_the_extras(project: dict[str, Any]) -> None:
    brought = needed_by(set(specifiers(project)))
    assert {"nbgrader", "jupyterlab", "torch"} <= brought
    through_jupyter = {"beautifulsoup4", "jsonschema", "jupyter-client", "nbclient", "packaging", "psutil"}
    assert brought & set(specifiers(project, "dev")) == through_jupyter


def test_every_dependency_is_pinned_within_its_range(project: dict[str, Any]) -> None:
    pins = {canonicalize_name(pin.name): next(iter(pin.specifier)).version for pin in read_pins()}
    for name, wanted in (specifiers(project) | specifiers(project, "dev")).items():
        assert pins[name] in SpecifierSet(wanted), f"{name} {pins[name]} is outside {wanted}"


def test_pins_are_exact_and_torch_is_the_tested_one() -> None:
    pins = read_pins()
    assert all([item.operator for item in pin.specifier] == ["=="] for pin in pins)
    assert "torch==2.13.0" in [str(pin) for pin in pins]
    assert len({canonicalize_name(pin.name) for pin in pins}) == len(pins)


def test_what_the_code_imports_is_declared(project: dict[str, Any]) -> None:
    """Nothing comes in only because some other package needs it."""
    declared = set(specifiers(project)) | set(specifiers(project, "models", "site", "cluster"))
    assert distributions("course_lib", "autograder") - declared == set()
    assert distributions("tests", "benchmarks") - declared - set(specifiers(project, "dev")) == set()


def test_what_is_declared_for_tools_is_used(project: dict[str, Any]) -> None:
    commands = {"import-linter", "mypy", "pre-commit", "pytest-xdist", "ruff"}
    extras = set(specifiers(project, "models", "postgres", "site", "cluster"))
    assert set(specifiers(project, "dev")) - extras <= distributions("tests", "benchmarks") | commands


@pytest.mark.usefixtures("processes")
def test_what_is_made_installs_no_more_than_it_needs_and_only_once(tmp_path: Path) -> None:
    """Each call: the stamps that are there, what is made, and what is installed for it."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copyfile(ROOT / name, tmp_path / name)
    stamps = {"run": tmp_path / ".venv" / ".ready", "develop": tmp_path / ".venv" / ".ready-dev"}
    stamps["run"].parent.mkdir()
    for there, made, installed in (
        ("", "demo", ["."]),
        ("", "quick", [".", "'.[dev]'"]),
        ("run", "demo", []),
        ("run", "lint", ["'.[dev]'"]),
        ("run develop", "demo", []),
        ("run develop", "test", []),
        ("run develop", "thorough", []),
        ("old", "demo", ["."]),
        ("old", "test", [".", "'.[dev]'"]),
    ):
        for name, stamp in stamps.items():
            stamp.unlink(missing_ok=True)
            if name in there or there == "old":
                stamp.touch()
                at = 0 if there == "old" else (tmp_path / "pyproject.toml").stat().st_mtime + len(name)
                os.utime(stamp, (at, at))
        done = subprocess.run(
            ["make", "--dry-run", made], cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout
        assert re.findall(r"pip install .* --editable (\S+)", done) == installed, (there, made)


@pytest.mark.parametrize(
    ("without", "extra", "command"),
    [
        ("dask", "cluster", ["doctor", "--scheduler", "tcp://127.0.0.1:1"]),
        ("distributed", "cluster", ["doctor", "--scheduler", "local"]),
        ("autograder.site.build", "site", ["site", "nowhere"]),
    ],
)
def test_what_an_extra_brings_is_asked_for_by_its_name(
    project: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    without: str,
    extra: str,
    command: list[str],
) -> None:
    monkeypatch.setitem(sys.modules, without, None)
    assert main(command) == 2
    assert f"in a clone of Katze, get it with: pip install --editable '.[{extra}]'" in capsys.readouterr().err
    assert extra in project["optional-dependencies"]


TRAINING = {"jaxtyping", "numpy", "safetensors", "sacrebleu", "tokenizers", "torch"}
"""What a machine needs to train a translator and judge it, beside the text."""

BARE = """
import sys
class Bare:
    def __init__(self, finder):
        self.finder = finder
    def __getattr__(self, name):
        return getattr(self.finder, name)
    def find_spec(self, name, *more):
        return None if name.partition(".")[0] in {refused} else self.finder.find_spec(name, *more)
sys.meta_path[:] = map(Bare, sys.meta_path)
from pathlib import Path
from benchmarks.gpu import __main__, learning, machine
settings = learning.Settings("cpu", Path({folder!r}), tiny=True, steps=2)
machine.machine(settings, print)
learning.multi30k(settings, print)
"""


@pytest.mark.usefixtures("processes")
def test_training_to_bleu_needs_no_notebook_and_no_bar(tmp_path: Path) -> None:
    brought = needed_by(TRAINING)
    refused = {
        root for root, names in packages_distributions().items() if not brought & set(map(canonicalize_name, names))
    }
    assert {"IPython", "matplotlib", "rich", "pooch", "platformdirs", "nltk", "traitlets"} <= refused
    refused -= {"course_lib", "autograder", "benchmarks", "tests"}
    code = BARE.format(refused=refused, folder=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert "BLEU of test 2016, lower-cased" in done.stdout, done.stderr
    assert f"what='transformers', text='{version('transformers')}'" in done.stdout, "it is here, and not imported"


def needed_by(names: set[str]) -> set[str]:
    """These distributions with all that they need."""
    found: set[str] = set()
    while more := names - found:
        found |= more
        lines = [Requirement(line) for name in more for line in requires(name) or ()]
        names = {
            canonicalize_name(line.name) for line in lines if not line.marker or line.marker.evaluate({"extra": ""})
        }
    return found


def distributions(*packages: str) -> set[str]:
    """The distributions whose modules the code of these folders imports."""
    answers = ROOT / "autograder" / "demo" / "answers"  # a class of students may import what it likes
    files = [path for package in packages for path in (ROOT / package).rglob("*.py") if answers not in path.parents]
    roots = {name.split(".")[0] for path in files for name in imports(path.read_text())}
    known = packages_distributions()
    ours = {"course_lib", "autograder", "katze", "benchmarks", "tests"}
    return {canonicalize_name(known[root][0]) for root in roots - ours - sys.stdlib_module_names}


def read_pins() -> list[Requirement]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def test_an_installed_katze_brings_every_released_notebook() -> None:
    files = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["data-files"]
    assert files == {"share/katze/notebooks": ["notebooks/*/*.ipynb"]}
    notebooks = list((ROOT / "notebooks").glob("*/*.ipynb"))
    assert {path.stem for path in notebooks} == {path.parent.name for path in notebooks}, "they lie in one folder"
