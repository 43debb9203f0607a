"""Level L4 with an engine that starts the command right here: what it is told, and that sandboxes can be reached.

Whether a real container holds is found out by the self-test, and by `test_confinement.py` where an image is built.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.box.confinement import container
from autograder.box.confinement.container import Container, ContainerFailed
from autograder.box.confinement.grants import package_folders
from autograder.box.confinement.levels import Level
from autograder.box.confinement.selftest import self_test
from autograder.box.endings import BoxUnavailable
from autograder.box.fork_server.client import ForkServer
from autograder.limits import Limits

ENGINE = """#!{python}
import json, os, sys
arguments = sys.argv[1:]
with open({log!r}, "a") as log:
    log.write(json.dumps(arguments) + "\\n")
if arguments[0] == "info" and {broken!r}:
    sys.exit("cannot connect\\nto the daemon")
if arguments[0] == "image":
    sys.exit(0 if os.path.exists({built!r}) else 1)
if arguments[0] == "build":
    folder = arguments[-1]
    files = {{name: open(os.path.join(folder, name)).read() for name in os.listdir(folder)}}
    json.dump(files, open({built!r}, "w"))
if arguments[0] == "run":
    image = next(n for n, argument in enumerate(arguments) if argument.startswith("katze-box:"))
    environment = dict(option.split("=", 2)[1:] for option in arguments if option.startswith("--env="))
    os.execve({python!r}, [{python!r}, *arguments[image + 2 :]], environment)
"""


class Engine:
    """A `podman` on the path: what it was asked, and whether it has an image."""

    def __init__(self, folder: Path, name: str = "podman", broken: bool = False) -> None:
        self.log = folder / f"{name}.log"
        self.built = folder / f"{name}.built"
        program = folder / "bin" / name
        program.parent.mkdir(exist_ok=True)
        settings = {"python": sys.executable, "log": str(self.log), "built": str(self.built), "broken": broken}
        program.write_text(ENGINE.format(**settings))
        program.chmod(0o755)

    def calls(self, command: str) -> list[list[str]]:
        """The arguments of all calls of one of its commands."""
        calls = [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []
        return [call for call in calls if call[0] == command]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose `bin` is all of the path."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    container.find_engine.cache_clear()
    yield tmp_path
    container.find_engine.cache_clear()


def options(command: list[str]) -> list[str]:
    """The options of `podman run`, without the command inside."""
    return command[: next(n for n, word in enumerate(command) if word.startswith("katze-box:"))]


@pytest.mark.usefixtures("processes")
def test_a_container_has_no_network_no_privileges_and_nothing_but_the_folder(path: Path) -> None:
    Engine(path)
    limits = Limits(memory_bytes=1 << 30, memory_ceiling_bytes=2 << 30, threads=100)
    command = Container(limits, boxes=2).command(Path("/tmp/katze-box-1"), {"HOME": "/tmp/katze-box-1"}, ["-c", "code"])
    assert command[:3] == ["podman", "run", "--rm"]
    assert command[-4:] == [container.image("podman"), "python3", "-c", "code"]
    text = " ".join(options(command))
    for option in (
        "--network=none",
        "--read-only",
        "--cap-drop=all",
        "--security-opt=no-new-privileges",
        f"--memory={2 * ((2 << 30) + (512 << 20)) + (2 << 30)}",
        "--pids-limit=248",
        "--volume=/tmp/katze-box-1:/tmp/katze-box-1",
        "--env=HOME=/tmp/katze-box-1",
    ):
        assert option in text
    assert text.count("--volume") == 1
    assert "--privileged" not in text


@pytest.mark.usefixtures("processes")
def test_an_engine_that_does_not_answer_is_passed_over(path: Path) -> None:
    Engine(path, "podman", broken=True)
    Engine(path, "docker")
    assert container.engine_problem("podman") == "to the daemon"
    assert container.find_engine() == "docker"


def test_without_an_engine_there_is_no_level_4(path: Path) -> None:
    with pytest.raises(ContainerFailed, match="neither podman nor docker is installed"):
        container.find_engine()
    assert self_test(Level.L4) == ["neither podman nor docker is installed"]
    with pytest.raises(BoxUnavailable, match="neither podman nor docker"):
        ForkServer(level=Level.L4)


@pytest.mark.usefixtures("processes")
def test_the_image_is_built_once_from_what_is_installed_here(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    engine = Engine(path)
    for _ in range(2):
        self_test(Level.L4)
    assert "building katze-box:" in capfd.readouterr().err
    [build] = engine.calls("build")
    files = json.loads(engine.built.read_text())
    assert files["Containerfile"] == container.CONTAINERFILE.read_text()
    assert f"--build-arg=PYTHON={sys.version_info.major}.{sys.version_info.minor}" in " ".join(build)
    requirements = files["requirements.txt"].splitlines()
    assert set(requirements) <= set(files["constraints.txt"].splitlines())
    assert [line.partition("==")[0] for line in requirements][:2] == ["torch", "numpy"]
    constraints = {line.partition("==")[0] for line in files["constraints.txt"].splitlines()}
    assert {"pillow", "sympy"} <= constraints  # what matplotlib and torch need
    assert (
        not {"katze", "pytest", "nbgrader"} & constraints
    )  # a package that sandboxes do not need makes no other image
    assert "+" not in files["constraints.txt"]


def test_an_image_follows_from_all_that_it_is_made_of(monkeypatch: pytest.MonkeyPatch) -> None:
    before = container.image("podman")
    assert container.image("docker") != before
    monkeypatch.setattr(container, "_recipe", lambda: {"requirements.txt": "torch==0\n", "constraints.txt": ""})
    assert container.image("podman") != before


@pytest.mark.usefixtures("processes")
def test_the_self_test_finds_that_this_engine_encloses_nothing(path: Path) -> None:
    Engine(path).built.touch()
    problems = self_test(Level.L4)
    assert problems[:2] == ["the enclosure lets it read files", "the enclosure lets it connect"]


@pytest.mark.usefixtures("processes")
def test_boxes_are_reached_through_a_socket_in_the_folder(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "PACKAGES", package_folders()[0])
    engine = Engine(path)
    with ForkServer(("course_lib.attention",), Level.L4, channels=2, trains=False) as fork_server:
        with fork_server.open_box(channel=0) as first, fork_server.open_box(channel=1) as second:
            for box in (first, second):
                assert box.run_cell("1 + 1").outputs[0]["data"]["text/plain"] == "2"
            assert Path(f"/proc/{first._handle.process}").exists()
        assert not Path(f"/proc/{first._handle.process}").exists()
    assert len(engine.calls("run")) == 1
    assert not engine.calls("rm")


@pytest.mark.usefixtures("processes")
def test_a_container_that_ends_at_once_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Engine(path)
    monkeypatch.setattr(container, "image", lambda engine: "katze-box:x")
    monkeypatch.setattr(Container, "command", lambda *_: [sys.executable, "-c", "raise SystemExit('no such image')"])
    with pytest.raises(BoxUnavailable, match="no such image"), ForkServer(level=Level.L4):
        pass
