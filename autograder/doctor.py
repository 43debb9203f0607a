"""Examines this machine for `katze doctor`: its sandboxes, what is missing for stronger ones, and how to get it.

Nothing is guessed that can be tried: a level holds if its self-test passes.
"""

import importlib.metadata
import os
import platform
import shutil
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder import machine
from autograder.course.address import Address
from autograder.course.course import Course
from autograder.errors import BadInput
from autograder.limits import size

GRADEBOOK = "gradebook"
"""The name of the finding about the course's gradebook."""

WORK = "work in a sandbox"
"""The name of the finding about whether lessons work in sandboxes."""

_INSIDE = "it is in the course's folder, so a sandbox at L2 can tell where that folder is; at L3 it cannot"
_PROC_HIDES = "sandboxes see nothing of each other's processes"
_PROC_SHOWS = (
    "sandboxes can count each other's threads and open files; `sudo mount -o remount,hidepid=ptraceable /proc` hides "
    "them"
)
_PACKAGES = ("torch", "nbgrader", "numpy", "ipython")
_ROOM = 1 << 30  # bytes; with less, a class's outputs could fill the disk
_APPARMOR_PROFILE = (
    r"printf 'abi <abi/4.0>,\nprofile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }\n'"
    " | sudo tee /etc/apparmor.d/bwrap && sudo apparmor_parser -r /etc/apparmor.d/bwrap"
)


@dataclass(frozen=True)
class Finding:
    """A result of the examination.

    Attributes:
        group: "machine", "software" or "course".
        name: what was examined.
        value: its state, in a few words.
        fine: whether that is as it should be; None if it does not matter.
    """

    group: str
    name: str
    value: str
    fine: bool | None = None


@dataclass(frozen=True)
class LevelFinding:
    """The result for a level of confinement.

    Attributes:
        level: its name.
        holds: whether sandboxes of this level are available here; None if that was not tried.
        says: a description, or why they are not available.
    """

    level: str
    holds: bool | None
    says: str


@dataclass(frozen=True)
class Advice:
    """The next step.

    Attributes:
        command: a command; empty if no command would help.
        effect: what it would change, or what would have to change without a command.
    """

    command: str
    effect: str


@dataclass(frozen=True)
class Examination:
    """The results of `katze doctor`.

    Attributes:
        findings: the single results.
        levels: all levels, the weakest first.
        level: the level that grading chooses automatically; empty if there is none.
        wanted: the weakest level that it accepts automatically.
        advice: how to raise the level; None if that is impossible.
    """

    findings: tuple[Finding, ...]
    levels: tuple[LevelFinding, ...]
    level: str
    wanted: str
    advice: Advice | None

    @property
    def is_well(self) -> bool:
        """Whether grading works as things are."""
        return self.level >= self.wanted and not self.fails(GRADEBOOK) and not self.fails(WORK)

    def fails(self, name: str) -> bool:
        """Return whether the finding with this name is not as it should be."""
        return any(one.name == name and one.fine is False for one in self.findings)

    def record(self) -> dict[str, Any]:
        """Return the results as JSON data."""
        return {**asdict(self), "is_well": self.is_well}


def examine(folder: Path | None = None) -> Examination:
    """Examine this machine, and the course in `folder` or above it, if there is one."""
    findings = (*_of_machine(), *_of_software(), *_of_course(folder))
    if sys.platform == "win32":
        advice = Advice("wsl --install", "Grade inside WSL, which is Linux; students need no sandboxes.")
        return Examination(findings, (), "", "L1", advice)
    if not sys.platform.startswith("linux"):
        levels = (_L0, _L1, LevelFinding("L2", False, "only Linux has Landlock and seccomp"))
        return Examination(
            findings, levels, "L1", "L1", Advice("", "Level L2 and above need Linux, in a virtual machine for instance")
        )
    levels = (_L0, _L1, *_of_linux())
    if levels[2].holds:
        findings = (*findings, _of_work(folder))
    holding = [one.level for one in levels if one.holds and one.level != "L4"]
    return Examination(findings, levels, holding[-1], "L2", _advice(levels))


_L0 = LevelFinding("L0", True, "no confinement; never chosen automatically")
_L1 = LevelFinding("L1", True, "own session and folder, scrubbed environment; files and network are open")
_L2_SAYS = "Landlock, seccomp; a sandbox can ask for the size and times of a file whose path it guesses; L3 stops that"


def _of_linux() -> list[LevelFinding]:
    """Return the results for levels L2 to L4, from their self-tests."""
    from autograder.box.confinement.levels import Level
    from autograder.box.confinement.selftest import self_test

    found = []
    for level, says in ((Level.L2, _L2_SAYS), (Level.L3, "bubblewrap, Landlock, seccomp")):
        problems = self_test(level)
        found.append(LevelFinding(level.name, not problems, "; ".join(problems) or says))
    return [*found, _of_containers()]


def _of_work(folder: Path | None) -> Finding:
    """Find out whether lessons work in sandboxes, with the course's list of system calls."""
    from autograder.box import trial
    from autograder.box.confinement.levels import Level
    from autograder.box.endings import BoxUnavailable
    from autograder.box.fork_server.client import ForkServer
    from autograder.limits import Limits

    try:
        limits = Course.find(folder).limits
    except BadInput:
        limits = Limits()
    try:
        with ForkServer((), Level.L2, limits) as fork_server:
            problems = trial.what_fails(fork_server)
    except BoxUnavailable as problem:
        problems = [str(problem)]
    return Finding("software", WORK, "; ".join(problems) or f"yes, with the {limits.system_calls}", not problems)


def _of_containers() -> LevelFinding:
    """Return the result for level L4, tried only if its image is built: building takes minutes and a network."""
    from autograder.box.confinement import container
    from autograder.box.confinement.levels import Level
    from autograder.box.confinement.selftest import self_test

    try:
        engine = container.find_engine()
    except container.ContainerFailed as problem:
        return LevelFinding("L4", False, str(problem))
    if not container.has_image(engine):
        return LevelFinding("L4", None, f"{engine} answers; building the image shows whether its containers work")
    problems = self_test(Level.L4)
    return LevelFinding("L4", not problems, "; ".join(problems) or f"{engine}, Landlock, seccomp; when asked for")


def _advice(levels: tuple[LevelFinding, ...]) -> Advice | None:
    """Return advice that raises the automatic level, or that offers one more."""
    by_name = {one.level: one for one in levels}
    if not by_name["L2"].holds:
        problem = machine.landlock_problem() or machine.seccomp_problem() or by_name["L2"].says
        if machine.in_container():
            return Advice("", f"Level L2 is not available in this container ({problem}); grade outside it.")
        return Advice("", f"Level L2 is not available with this kernel ({problem}); grade on Linux 5.13 or newer.")
    if not by_name["L3"].holds:
        return _advice_on_bubblewrap(by_name["L3"].says)
    if by_name["L4"].holds is None:
        return Advice("katze grade LESSON --container", "Level L4: builds its image first, which takes minutes, once.")
    if by_name["L4"].holds:
        return Advice("katze grade LESSON --container", "Level L4, which is taken only when asked for.")
    if not any(shutil.which(engine) for engine in ("podman", "docker")) and machine.install_command("podman"):
        return Advice(machine.install_command("podman"), "Makes level L4 possible: katze grade LESSON --container.")
    return None


def _advice_on_bubblewrap(problem: str) -> Advice:
    effect = "Raises the level from L2 to L3."
    if not shutil.which("bwrap"):
        return Advice(machine.install_command("bubblewrap"), f"Install bubblewrap. {effect}")
    commands = {
        "kernel.unprivileged_userns_clone": "sudo sysctl -w kernel.unprivileged_userns_clone=1",
        "user.max_user_namespaces": "sudo sysctl -w user.max_user_namespaces=15000",
        "kernel.apparmor_restrict_unprivileged_userns": _APPARMOR_PROFILE,
    }
    switch = machine.forbidding_switch()
    if switch:
        where = ", to be run outside this container" if machine.in_container() else ""
        return Advice(commands[switch], f"{switch} forbids what bubblewrap needs. {effect.rstrip('.')}{where}.")
    if machine.in_container():
        return Advice("", f"bubblewrap does not work in this container ({problem}); grade outside it for level L3.")
    return Advice("", f"bubblewrap is installed but does not work: {problem}")


def _of_machine() -> list[Finding]:
    found = [Finding("machine", "system", machine.system())]
    if not sys.platform.startswith("linux"):
        return found
    from autograder.box.confinement import landlock

    def look(name: str, problem: str, well: str) -> Finding:
        return Finding("machine", name, problem or well, not problem)

    switch, version = machine.forbidding_switch(), machine.version_of("bwrap")
    namespaces = filter(None, (machine.user_namespace_problem(), switch and f"{switch} forbids them"))
    return [
        *found,
        look("Landlock", machine.landlock_problem(), f"version {landlock.abi()}"),
        look("seccomp", machine.seccomp_problem(), "yes"),
        Finding("machine", "/proc", _PROC_HIDES if machine.hides_processes() else _PROC_SHOWS),
        look("user namespaces", "; ".join(namespaces), "yes"),
        _of_control_group(),
        look("bubblewrap", "" if version else "not installed", version),
        *map(_of_engine, ("podman", "docker")),
    ]


def _of_control_group() -> Finding:
    from autograder.box.confinement import cgroups

    division = cgroups.own_division()
    if division is None:
        said = (
            f"not ours to manage: limits apply to each process of a sandbox; try `{cgroups.DELEGATE} katze grade ...`"
        )
        return Finding("machine", "control group", said)
    return Finding("machine", "control group", f"limits {', '.join(division.controllers)} of each sandbox", True)


def _of_engine(engine: str) -> Finding:
    from autograder.box.confinement import container

    version = machine.version_of(engine)
    if not version:
        return Finding("machine", engine, "not installed")
    problem = container.engine_problem(engine)
    return Finding("machine", engine, f"{version}; {problem or 'it answers'}", not problem)


def _of_software() -> list[Finding]:
    found = [Finding("software", "python", platform.python_version(), sys.version_info >= (3, 11))]
    for package in _PACKAGES:
        try:
            found.append(Finding("software", package, importlib.metadata.version(package), True))
        except importlib.metadata.PackageNotFoundError:
            found.append(Finding("software", package, "not installed", False))
    return found


def _of_course(folder: Path | None) -> list[Finding]:
    try:
        course = Course.find(folder)
    except BadInput as problem:
        return [Finding("course", "course", str(problem))]
    found = [Finding("course", "course", str(course.root))]
    if Path(sys.prefix).is_relative_to(course.root):
        found.append(Finding("course", "environment", _INSIDE))
    refusal = _problem_of(course.gradebook)
    found.append(Finding("course", GRADEBOOK, refusal or f"{course.gradebook} can be written", not refusal))
    for name, where in (("disk of the course", course.root), ("disk of sandboxes", Path(tempfile.gettempdir()))):
        free = shutil.disk_usage(where).free
        found.append(Finding("course", name, f"{size(free)} free", free >= _ROOM))
    return found


def _problem_of(gradebook: Address) -> str:
    """Return why `katze grade` would refuse this gradebook, in its own words; empty if it would not."""
    if isinstance(gradebook, Path) and not os.access(gradebook.parent, os.W_OK):
        return f"this user cannot write to {gradebook.parent}, the gradebook's folder"
    if sys.platform == "win32":
        return ""  # Windows does not grade, and cannot lock the file
    from autograder.gradebook.access import open_gradebook
    from autograder.gradebook.file import check_room

    try:
        open_gradebook(gradebook).check()
        if isinstance(gradebook, Path):
            check_room(gradebook.parent)
    except BadInput as refusal:
        return str(refusal)
    return ""


# On the terminal --------------------------------------------------------------------------------------------

_MARKS = {True: Text("✓", "green"), False: Text("✗", "red"), None: Text("·", "dim")}


def _table(title: str | None = None) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, show_header=False)
    for options in ({"no_wrap": True}, {"no_wrap": True}, {"overflow": "fold"}):
        table.add_column(**options)
    return table


def print_diagnosis(diagnosis: Examination, console: Console) -> None:
    """Print all findings, the levels, and below them what to do."""
    table = _table()
    for group in ("machine", "software", "course"):
        table.add_section()
        for one in diagnosis.findings:
            if one.group == group:
                table.add_row(_MARKS[one.fine], one.name, one.value)
    console.print(table)
    levels = _table("boxes")
    for level in diagnosis.levels:
        style = "bold" if level.level == diagnosis.level else ""
        levels.add_row(_MARKS[level.holds], Text(level.level, style), level.says)
    console.print(levels)
    if diagnosis.is_well:
        said = f"Grading works here, in sandboxes at level {diagnosis.level}."
    elif diagnosis.fails(GRADEBOOK):
        said = "Grades cannot be written to the course's gradebook; see above."
    elif diagnosis.fails(WORK):
        said = "Sandboxes cannot do here what lessons need; see above."
    else:
        said = f"Grading needs sandboxes at level {diagnosis.wanted}; this machine offers {diagnosis.level or 'none'}."
    console.print(said, style="green" if diagnosis.is_well else "red")
    if diagnosis.advice is not None:
        console.print(diagnosis.advice.effect)
        if diagnosis.advice.command:
            console.print(f"  {diagnosis.advice.command}", style="bold", soft_wrap=True)
