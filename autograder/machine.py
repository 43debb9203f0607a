"""Reads what this machine offers for sandboxes, without changing anything."""

import contextlib
import ctypes
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

NEW_USER_NAMESPACE = 0x10000000  # CLONE_NEWUSER
_LANDLOCK_CREATE_RULESET = 444
_ANSWER_SECONDS = 10

SWITCHES = {
    "kernel.unprivileged_userns_clone": "0",
    "user.max_user_namespaces": "0",
    "kernel.apparmor_restrict_unprivileged_userns": "1",
}
"""Kernel settings, with the values that forbid user namespaces to ordinary users."""


def system() -> str:
    """Describe the system in a few words, such as "Debian GNU/Linux 12 (bookworm), Linux 6.1.0, x86_64"."""
    name = os_release().get("PRETTY_NAME", "")
    kernel = f"{platform.system()} {platform.release()}, {platform.machine()}"
    return f"{name}, {kernel}" if name else kernel


def os_release() -> dict[str, str]:
    """Return the distribution's description of itself; empty if there is none."""
    with contextlib.suppress(OSError):
        return platform.freedesktop_os_release()
    return {}


def landlock_problem() -> str:
    """Return why the kernel has no Landlock; empty if it has."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1)) >= 1:
        return ""
    if os.strerror(ctypes.get_errno()) == os.strerror(95):  # EOPNOTSUPP
        return "the kernel has it, but it was not switched on when the machine started"
    release = platform.release().split(".")
    if [int(part) for part in release[:2] if part.isdigit()] < [5, 13]:
        return f"it came with Linux 5.13, and this is {platform.release()}"
    return "the kernel was built without it, or a sandbox around this process hides it"


def seccomp_problem() -> str:
    """Return why system calls cannot be filtered; empty if they can."""
    actions = _read("/proc/sys/kernel/seccomp/actions_avail").split()
    if not actions:
        return "the kernel was built without it"
    return "" if "errno" in actions else "the kernel cannot answer filtered calls with an error"


def hides_processes() -> bool:
    """Return whether /proc shows a process only those that it may trace, and sandboxes may not trace each other
    (proc(5)).
    """
    mounts = [line.split() for line in _read("/proc/self/mounts").splitlines()]
    options = [fields[3].split(",") for fields in mounts if fields[1] == "/proc"]
    return bool(options) and not {"hidepid=ptraceable", "hidepid=4"}.isdisjoint(options[-1])


def user_namespace_problem() -> str:
    """Return why this user cannot make a user namespace, tried in a fork; empty if it works."""
    sys.stdout.flush()
    worker = os.fork()
    if worker == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        failed = libc.unshare(NEW_USER_NAMESPACE) != 0
        os._exit(ctypes.get_errno() if failed else 0)
    _, status = os.waitpid(worker, 0)
    number = os.waitstatus_to_exitcode(status)
    return "" if number == 0 else f"the kernel answers: {os.strerror(number) if number > 0 else 'nothing'}"


def forbidding_switch() -> str:
    """Return the kernel setting that forbids this user to make or to use user namespaces; empty if none does."""
    for name, forbids in SWITCHES.items():
        is_for_everyone = name == "user.max_user_namespaces"
        if _read(f"/proc/sys/{name.replace('.', '/')}") == forbids and (is_for_everyone or os.geteuid() != 0):
            return name
    return ""


def in_container() -> bool:
    """Return whether this process seems to be in a container, whose owner decides what it may do."""
    return any(os.path.exists(mark) for mark in ("/.dockerenv", "/run/.containerenv"))


def version_of(program: str) -> str:
    """Return the version that a program reports in its first line; empty if it is not installed."""
    path = shutil.which(program)
    if path is None:
        return ""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run([path, "--version"], capture_output=True, timeout=_ANSWER_SECONDS, check=False)
        lines = done.stdout.decode(errors="replace").splitlines()
        words = [word.strip(",") for word in lines[0].split() if word[:1].isdigit()] if lines else []
        return words[0] if words else "of an unknown version"
    return "of an unknown version"


def install_command(package: str) -> str:
    """Return the command that installs a package on this distribution; empty if unknown."""
    release = os_release()
    family = {release.get("ID", ""), *release.get("ID_LIKE", "").split()}
    for names, command in (
        ({"debian", "ubuntu"}, "sudo apt install"),
        ({"fedora", "rhel", "centos"}, "sudo dnf install"),
        ({"arch"}, "sudo pacman -S"),
        ({"suse", "opensuse"}, "sudo zypper install"),
        ({"alpine"}, "sudo apk add"),
    ):
        if family & names:
            return f"{command} {package}"
    return ""


def _read(path: str) -> str:
    with contextlib.suppress(OSError):
        return Path(path).read_text().strip()
    return ""
