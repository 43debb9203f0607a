"""What can be seen inside bubblewrap, before a sandbox confines itself on top."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import course_lib
from autograder.box.confinement import bubblewrap
from autograder.box.confinement.bubblewrap import Bubblewrap
from autograder.box.confinement.levels import Level
from tests.boxes import why_not

REPOSITORY = Path(course_lib.__file__).parents[2]

Inside = Callable[[str], Any]


@pytest.fixture
def inside(tmp_path: Path) -> Inside:
    """Evaluates an expression inside; only `tmp_path / "root"` is shared."""
    problems = why_not(Level.L3)
    if problems:
        pytest.skip(f"no sandboxes at level L3 here: {problems}")
    root = tmp_path / "root"
    root.mkdir()

    def evaluate(expression: str) -> Any:
        enclosure = Bubblewrap()
        code = f"import json, os, socket, sys; sys.path += {enclosure.packages!r}; print(json.dumps({expression}))"
        command = enclosure.command(root, {}, ["-I", "-S", "-B", "-c", code])
        done = subprocess.run(command, env={"PATH": "/usr/bin:/bin"}, capture_output=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)

    return evaluate


def test_only_what_a_box_needs_is_there(inside: Inside, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    paths = [REPOSITORY / "course_lib", REPOSITORY / ".git", REPOSITORY / "autograder", "/etc/passwd", "/bin/sh"]
    assert not any(inside(f"[os.path.exists(path) for path in {[*map(str, paths), str(tmp_path / 'secret')]!r}]"))
    assert inside(f"os.listdir({str(tmp_path)!r})") == ["root"]
    assert inside("__import__('numpy').__name__") == "numpy"


def test_what_leads_to_the_reference_is_hidden_in_the_folders_of_packages(inside: Inside) -> None:
    found = inside("""[
        os.path.join(folder, name)
        for folder in sys.path if os.path.isdir(folder)
        for name in os.listdir(folder)
        if name.startswith(("course_lib", "autograder", "katze", "__editable__")) or name.endswith(".pth")
    ]""")
    readable = inside(f"[path for path in {found!r} if os.path.isdir(path) and os.listdir(path)]")
    assert readable == []
    assert inside(f"[path for path in {found!r} if os.path.isfile(path) and os.access(path, os.R_OK)"
                  " and os.stat(path).st_size]") == []  # fmt: skip


def test_nothing_outside_the_folder_can_be_written(inside: Inside, tmp_path: Path) -> None:
    places = ["/", "/etc", "/proc/sys/kernel", os.path.dirname(bubblewrap.interpreter()), *Bubblewrap().packages]
    assert not any(inside(f"[os.access(place, os.W_OK) for place in {places!r}]"))
    inside("[open('here', 'w').close()]")
    assert (tmp_path / "root/here").exists()


def test_other_processes_and_networks_do_not_exist(inside: Inside) -> None:
    assert len(inside("[name for name in os.listdir('/proc') if name.isdigit()]")) <= 2
    assert [name for _, name in inside("socket.if_nameindex()")] == ["lo"]
    assert inside("open('/proc/self/status').read().split('CapEff:')[1].split()[0]") == "0" * 16


def test_a_folder_of_many_libraries_is_shown_whole_without_its_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    libraries = tmp_path / "lib"
    (libraries / "python3.99").mkdir(parents=True)
    (libraries / "libone.so.1").touch()
    monkeypatch.setattr(bubblewrap, "library_folders", lambda: [libraries])
    monkeypatch.setattr(bubblewrap, "standard_library", set)
    monkeypatch.setattr(bubblewrap, "FILES", ())
    one = str(libraries / "libone.so.1")
    assert bubblewrap.mounts([]) == ["--ro-bind", one, one]
    for number in range(100):
        (libraries / f"lib{number}.so").touch()
    whole, hidden = str(libraries), str(libraries / "python3.99")
    assert bubblewrap.mounts([]) == ["--ro-bind", whole, whole, "--tmpfs", hidden, "--remount-ro", hidden]


def test_of_packages_all_but_our_own_code_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "course_lib").mkdir()
    (tmp_path / "torch").mkdir()
    (tmp_path / "scipy").mkdir()
    (tmp_path / "__editable__.katze.pth").touch()
    monkeypatch.setattr(bubblewrap, "library_folders", list)
    monkeypatch.setattr(bubblewrap, "standard_library", set)
    monkeypatch.setattr(bubblewrap, "FILES", ())
    scipy, torch = str(tmp_path / "scipy"), str(tmp_path / "torch")
    shown = ["--ro-bind", scipy, scipy, "--ro-bind", torch, torch]
    around = ["--tmpfs", str(tmp_path), *shown, "--remount-ro", str(tmp_path)]
    assert bubblewrap.mounts([tmp_path, tmp_path / "absent"]) == around


def test_there_is_no_bubblewrap_but_on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert bubblewrap.bwrap_path() is None
