"""What is read from a machine, on this one and on others that are made up."""

import ctypes
import errno
import os
import platform
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder import machine
from autograder.box.confinement import landlock, seccomp

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="of Linux")


def pretend(monkeypatch: pytest.MonkeyPatch, **files: str) -> None:
    """Let only these files of /proc/sys exist."""
    settings = {f"/proc/sys/{name.replace('__', '/')}": text for name, text in files.items()}
    monkeypatch.setattr(machine, "_read", lambda path: settings.get(path, ""))


@pytest.mark.usefixtures("processes")
@linux
def test_what_is_said_of_this_kernel_is_what_boxes_find() -> None:
    assert (machine.landlock_problem() == "") == (landlock.abi() >= 1)
    assert machine.seccomp_problem() == "" or not seccomp.supported()


@linux
@pytest.mark.parametrize(
    ("error", "release", "said"),
    [
        (errno.EOPNOTSUPP, "6.1.0", "not switched on"),
        (errno.ENOSYS, "5.10.0-28-amd64", "came with Linux 5.13, and this is 5.10"),
        (errno.ENOSYS, "6.1.0", "built without it"),
    ],
)
def test_why_there_is_no_landlock(monkeypatch: pytest.MonkeyPatch, error: int, release: str, said: str) -> None:
    def fail(*_: object) -> int:
        ctypes.set_errno(error)
        return -1

    monkeypatch.setattr(machine.ctypes, "CDLL", lambda *_, **__: SimpleNamespace(syscall=fail))
    monkeypatch.setattr(platform, "release", lambda: release)
    assert said in machine.landlock_problem()


def test_why_there_is_no_seccomp(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, kernel__seccomp__actions_avail="kill_process trap errno allow")
    assert machine.seccomp_problem() == ""
    pretend(monkeypatch, kernel__seccomp__actions_avail="kill_process allow")
    assert "error" in machine.seccomp_problem()
    pretend(monkeypatch)
    assert "without it" in machine.seccomp_problem()


@pytest.mark.parametrize(
    ("files", "user", "switch"),
    [
        ({"kernel__unprivileged_userns_clone": "0"}, 1000, "kernel.unprivileged_userns_clone"),
        ({"kernel__unprivileged_userns_clone": "0"}, 0, ""),
        ({"kernel__unprivileged_userns_clone": "1"}, 1000, ""),
        ({"user__max_user_namespaces": "0"}, 0, "user.max_user_namespaces"),
        ({"user__max_user_namespaces": "15000"}, 1000, ""),
        (
            {"kernel__apparmor_restrict_unprivileged_userns": "1"},
            1000,
            "kernel.apparmor_restrict_unprivileged_userns",
        ),
        ({}, 1000, ""),
    ],
)
def test_the_switch_that_forbids_user_namespaces_is_named(
    monkeypatch: pytest.MonkeyPatch, files: dict[str, str], user: int, switch: str
) -> None:
    pretend(monkeypatch, **files)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert machine.forbidding_switch() == switch


@linux
@pytest.mark.parametrize(
    ("options", "hides"),
    [("rw,relatime", False), ("rw,hidepid=invisible", False), ("rw,hidepid=ptraceable", True), ("rw,hidepid=4", True)],
)
def test_whether_the_system_hides_processes_from_each_other(
    monkeypatch: pytest.MonkeyPatch, options: str, hides: bool
) -> None:
    mounts = f"proc /proc proc rw 0 0\ntmpfs /run tmpfs rw,hidepid=4 0 0\nproc /proc proc {options} 0 0"
    monkeypatch.setattr(machine, "_read", {"/proc/self/mounts": mounts}.get)
    assert machine.hides_processes() is hides
    pretend(monkeypatch)
    assert not machine.hides_processes()


@pytest.mark.usefixtures("processes")
@linux
def test_a_user_namespace_that_is_refused_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "NEW_USER_NAMESPACE", 0x7FFFFFFF)  # flags that no kernel takes together
    assert "Invalid argument" in machine.user_namespace_problem()


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize(
    ("printed", "version"),
    [("bubblewrap 0.8.0", "0.8.0"), ("Docker version 28.2.2, build e6534b4", "28.2.2"), ("", "of an unknown version")],
)
def test_a_version_is_the_first_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: str, version: str
) -> None:
    (tmp_path / "tool").write_text(f"#!/bin/sh\necho '{printed}'\n")
    (tmp_path / "tool").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert machine.version_of("tool") == version
    assert machine.version_of("no-such-tool") == ""


@pytest.mark.parametrize(
    ("release", "command"),
    [
        ({"ID": "debian"}, "sudo apt install bubblewrap"),
        ({"ID": "pop", "ID_LIKE": "ubuntu debian"}, "sudo apt install bubblewrap"),
        ({"ID": "fedora"}, "sudo dnf install bubblewrap"),
        ({"ID": "manjaro", "ID_LIKE": "arch"}, "sudo pacman -S bubblewrap"),
        ({"ID": "something"}, ""),
        ({}, ""),
    ],
)
def test_how_a_package_is_installed_depends_on_the_distribution(
    monkeypatch: pytest.MonkeyPatch, release: dict[str, str], command: str
) -> None:
    monkeypatch.setattr(machine, "os_release", lambda: release)
    assert machine.install_command("bubblewrap") == command


def test_a_container_is_known_by_its_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "exists", lambda path: path == "/run/.containerenv")
    assert machine.in_container()
    monkeypatch.setattr(os.path, "exists", lambda path: False)
    assert not machine.in_container()
