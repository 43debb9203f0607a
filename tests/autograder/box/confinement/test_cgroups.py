import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.box.confinement.cgroups import Division, _own_group, divide, remove_group
from autograder.box.confinement.levels import Level
from autograder.box.endings import BoxUnavailable
from autograder.box.fork_server import client
from autograder.box.fork_server.client import ForkServer
from autograder.limits import Limits

MOUNTS = """\
proc /proc proc rw,nosuid,nodev,noexec,relatime 0 0
cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nodev,noexec,relatime,nsdelegate 0 0
"""


def hierarchy(folder: Path, controllers: str) -> Path:
    """What the kernel shows of a group, as plain files."""
    (folder / "cgroup.controllers").write_text(controllers)
    (folder / "cgroup.subtree_control").touch()
    (folder / "cgroup.procs").touch()
    return folder


@pytest.mark.parametrize(
    ("groups", "mounts", "expected"),
    [
        ("0::/user.slice/run-7.scope\n", MOUNTS, Path("/sys/fs/cgroup/user.slice/run-7.scope")),
        ("4:memory:/box\n0::/\n", MOUNTS.replace("/sys/fs/cgroup ", "/mnt/unified "), Path("/mnt/unified")),
        ("4:memory:/box\n", MOUNTS, None),
        ("0::/\n", "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n", None),
    ],
)
def test_where_the_kernel_shows_the_own_group(groups: str, mounts: str, expected: Path | None) -> None:
    assert _own_group(groups, mounts) == expected


def test_a_division_has_what_the_kernel_offers(tmp_path: Path) -> None:
    """Plain files stand in for the kernel's: it shows `cgroup.procs` in new folders, they do not."""
    hierarchy(tmp_path, "cpuset cpu memory hugetlb pids\n")
    for part in ("katze-grader", "katze-boxes"):
        (tmp_path / part).mkdir()
    division = divide(tmp_path)
    assert division == Division(tmp_path / "katze-boxes", ("memory", "pids", "cpu"))
    assert (tmp_path / "katze-grader/cgroup.procs").read_text() == str(os.getpid())
    for part in (tmp_path, tmp_path / "katze-boxes"):
        assert (part / "cgroup.subtree_control").read_text() == "+memory +pids +cpu"


@pytest.mark.parametrize("controllers", ["", "hugetlb cpuset\n"])
def test_a_group_that_limits_nothing_is_left_alone(tmp_path: Path, controllers: str) -> None:
    assert divide(hierarchy(tmp_path, controllers)) is None
    assert not (tmp_path / "katze-boxes").exists()


def test_a_group_that_holds_others_stays_as_it_was(tmp_path: Path) -> None:
    """The kernel refuses to divide it."""
    hierarchy(tmp_path, "memory pids cpu")
    (tmp_path / "katze-boxes/cgroup.subtree_control").mkdir(parents=True)
    (tmp_path / "katze-grader").mkdir()
    assert divide(tmp_path) is None
    assert (tmp_path / "cgroup.procs").read_text() == str(os.getpid()), "this process went back"


def test_limits_are_written_where_the_kernel_has_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = ["memory.max", "pids.max", "cpu.max"]  # no swap here, and an old kernel

    def made(*args: object, **kwargs: object) -> str:
        folder = tmp_path / "box-1"
        folder.mkdir()
        for name in shown:
            (folder / name).touch()
        return str(folder)

    monkeypatch.setattr(tempfile, "mkdtemp", made)
    limits = Limits(memory_bytes=1 << 30, memory_ceiling_bytes=2 << 30, threads=100)
    folder = Division(tmp_path, ("memory", "pids", "cpu")).admit(4711, limits)
    written = {path.name: path.read_text() for path in folder.iterdir()}
    set_limits = {"memory.max": str((2 << 30) + (512 << 20)), "pids.max": "200", "cpu.max": "100000 100000"}
    assert written == {**set_limits, "cgroup.procs": "4711"}


@pytest.fixture
def kernels_own() -> Iterator[Path]:
    """A part of a real hierarchy of version 2 in which groups can be made."""
    mounts = Path("/proc/self/mounts").read_text() if sys.platform.startswith("linux") else ""
    group = _own_group("0::/\n", mounts)
    if group is None or not os.access(group, os.W_OK):
        pytest.skip("no hierarchy of version 2 in which this user may make groups")
    folder = Path(tempfile.mkdtemp(prefix="katze-test-", dir=group))
    yield folder
    folder.rmdir()


@pytest.mark.usefixtures("processes")
def test_a_process_is_admitted_and_its_group_removed(kernels_own: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        group = Division(kernels_own, ()).admit(process.pid, Limits())
        assert f"0::{'/'.join(['', *group.parts[-2:]])}" in Path(f"/proc/{process.pid}/cgroup").read_text()
        remove_group(group)
        assert group.exists(), "it still holds a process"
        process.kill()
    remove_group(group)
    assert not group.exists()


@pytest.mark.usefixtures("processes")
def test_a_group_goes_where_its_process_has_gone(kernels_own: Path) -> None:
    with subprocess.Popen(["true"]) as process:
        pass
    with pytest.raises(OSError, match="No such process"):
        Division(kernels_own, ()).admit(process.pid, Limits())
    assert not any(path.is_dir() for path in kernels_own.iterdir())


@pytest.mark.usefixtures("processes")
def test_a_box_lives_in_a_group_of_its_own(
    fork_server: ForkServer, kernels_own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fork_server, "_division", Division(kernels_own, ()))
    with fork_server.open_box() as box:
        (group,) = [path for path in kernels_own.iterdir() if path.is_dir()]
        assert group.name in Path(f"/proc/{box._handle.process}/cgroup").read_text()
        assert box.run_cell("1 + 1").raised is None
    assert not any(path.is_dir() for path in kernels_own.iterdir())


@pytest.mark.usefixtures("processes")
def test_no_box_is_opened_that_cannot_be_grouped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "own_division", lambda: Division(tmp_path / "gone", ()))
    with ForkServer(level=Level.L1, start="spawn") as fork_server, pytest.raises(BoxUnavailable, match="control group"):
        fork_server.open_box()
