"""`katze doctor` on machines that are made up: what it says, and the one command that it gives."""

import contextlib
import io
import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from autograder import doctor, machine
from autograder.box import trial
from autograder.box.confinement import container, selftest
from autograder.box.confinement.levels import Level
from autograder.box.fork_server import client
from autograder.cli import main
from autograder.console import output_console
from autograder.doctor import WORK, Examination, Finding, LevelFinding, examine, print_diagnosis
from tests.autograder.gradebook.earlier import change
from tests.autograder.gradebook.toy_lesson import make_gradebook
from tests.postgres import PASSWORD, Cluster

pytestmark = pytest.mark.usefixtures("processes")


ROOT = Path(__file__).resolve().parents[2]


class Machine:
    """A Linux machine that is made up: which levels hold, and what is installed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.problems: dict[Level, list[str]] = {}
        self.installed = {"bwrap"}
        self.switch = ""
        self.landlock = ""
        self.inside = False
        self.image = False
        monkeypatch.setattr(sys, "platform", "linux")
        self.failing: list[str] = []
        monkeypatch.setattr(selftest, "self_test", lambda level: self.problems.get(level, []))
        monkeypatch.setattr(client, "ForkServer", lambda withheld, level, limits: contextlib.nullcontext(limits))
        monkeypatch.setattr(trial, "what_fails", lambda limits: self.failing)
        monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}" if name in self.installed else None)
        monkeypatch.setattr(machine, "version_of", lambda name: "1.0" if name in self.installed else "")
        monkeypatch.setattr(machine, "forbidding_switch", lambda: self.switch)
        monkeypatch.setattr(machine, "landlock_problem", lambda: self.landlock)
        monkeypatch.setattr(machine, "seccomp_problem", lambda: "")
        monkeypatch.setattr(machine, "user_namespace_problem", lambda: "")
        monkeypatch.setattr(machine, "in_container", lambda: self.inside)
        monkeypatch.setattr(machine, "install_command", lambda package: f"sudo apt install {package}")
        monkeypatch.setattr(container, "find_engine", self.find_engine)
        monkeypatch.setattr(container, "engine_problem", lambda engine: "")
        monkeypatch.setattr(container, "has_image", lambda engine: self.image)

    def find_engine(self) -> str:
        for engine in container.ENGINES:
            if engine in self.installed:
                return engine
        raise container.ContainerFailed("neither podman nor docker is installed")


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Machine:
    monkeypatch.chdir(tmp_path)
    return Machine(monkeypatch)


def found(diagnosis: Examination, name: str) -> Finding:
    [finding] = [one for one in diagnosis.findings if one.name == name]
    return finding


def command(diagnosis: Examination) -> str:
    assert diagnosis.advice is not None
    return diagnosis.advice.command


def holding(diagnosis: Examination) -> dict[str, bool | None]:
    return {one.level: one.holds for one in diagnosis.levels}


def test_all_is_well_and_a_container_would_be_stronger(made_up: Machine) -> None:
    diagnosis = examine()
    assert (diagnosis.level, diagnosis.is_well) == ("L3", True)
    assert holding(diagnosis) == {"L0": True, "L1": True, "L2": True, "L3": True, "L4": False}
    assert command(diagnosis) == "sudo apt install podman"
    made_up.installed.add("docker")
    assert holding(examine())["L4"] is None
    assert command(examine()) == "katze grade LESSON --container"
    made_up.image = True
    assert holding(examine())["L4"] is True
    made_up.problems[Level.L4] = ["crun: no cgroups"]
    assert holding(examine())["L4"] is False
    assert examine().advice is None


def test_without_bubblewrap_it_is_to_be_installed(made_up: Machine) -> None:
    made_up.installed.clear()
    made_up.problems[Level.L3] = ["bubblewrap is not installed"]
    diagnosis = examine()
    assert (diagnosis.level, diagnosis.is_well) == ("L2", True)
    assert command(diagnosis) == "sudo apt install bubblewrap"


@pytest.mark.parametrize(
    ("switch", "wanted"),
    [
        ("kernel.unprivileged_userns_clone", "sudo sysctl -w kernel.unprivileged_userns_clone=1"),
        ("user.max_user_namespaces", "sudo sysctl -w user.max_user_namespaces=15000"),
        ("kernel.apparmor_restrict_unprivileged_userns", "/etc/apparmor.d/bwrap"),
    ],
)
def test_whoever_forbids_user_namespaces_is_named_with_the_command(made_up: Machine, switch: str, wanted: str) -> None:
    made_up.problems[Level.L3] = ["bwrap: setting up uid map: Permission denied"]
    made_up.switch = switch
    diagnosis = examine()
    assert wanted in command(diagnosis)
    assert diagnosis.advice is not None
    assert switch in diagnosis.advice.effect
    forbidden = Finding("machine", "user namespaces", f"{switch} forbids them", False)
    assert found(diagnosis, "user namespaces") == forbidden
    assert "container" not in diagnosis.advice.effect
    made_up.inside = True
    assert "to be run outside this container" in str(examine().advice)


def test_inside_a_container_there_is_no_command_to_give(made_up: Machine) -> None:
    made_up.inside = True
    made_up.problems[Level.L3] = ["bwrap: No permissions to create new namespace"]
    diagnosis = examine()
    assert command(diagnosis) == ""
    assert diagnosis.advice is not None
    assert "in this container" in diagnosis.advice.effect


def test_an_old_kernel_is_not_well(made_up: Machine) -> None:
    made_up.landlock = "it came with Linux 5.13, and this is 5.10"
    made_up.problems = {level: ["no Landlock"] for level in (Level.L2, Level.L3, Level.L4)}
    diagnosis = examine()
    assert (diagnosis.level, diagnosis.wanted, diagnosis.is_well) == ("L1", "L2", False)
    assert diagnosis.advice is not None
    assert "this is 5.10" in diagnosis.advice.effect
    assert main(["doctor", "--json", os.devnull]) == 1


def test_what_lessons_do_is_tried_with_the_list_that_the_course_has_chosen(made_up: Machine, tmp_path: Path) -> None:
    assert found(examine(), WORK) == Finding("software", "work in a sandbox", "yes, with the allow-list", True)
    (tmp_path / "nbgrader_config.py").write_text(
        'c = get_config()\nc.Katze.repository = "a/b"\nc.Katze.system_calls = "deny-list"\n'
    )
    assert found(examine(), WORK).value == "yes, with the deny-list"


def test_a_box_in_which_nothing_works_is_not_well(made_up: Machine) -> None:
    made_up.failing = [
        'a sandbox cannot train: it is refused the system call x; set c.Katze.system_calls = "deny-list"'
    ]
    diagnosis = examine()
    assert (diagnosis.level, diagnosis.is_well) == ("L3", False)
    assert found(diagnosis, WORK) == Finding("software", WORK, made_up.failing[0], False)
    assert "Sandboxes cannot do here what lessons need; see above." in shown(diagnosis)


def test_elsewhere_it_says_that_this_is_not_linux(made_up: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert holding(examine()) == {"L0": True, "L1": True, "L2": False}
    assert examine().is_well
    monkeypatch.setattr(sys, "platform", "win32")
    assert not examine().is_well
    assert command(examine()) == "wsl --install"


def test_a_course_is_looked_at_where_there_is_one(
    made_up: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = found(examine(), "course")
    assert course.fine is None
    assert "no nbgrader_config.py" in course.value
    (tmp_path / "nbgrader_config.py").write_text('c = get_config()\nc.Katze.repository = "a/b"\n')
    fine = {one.name: one.fine for one in examine().findings if one.group == "course"}
    assert fine.keys() == {"course", "gradebook", "disk of the course", "disk of sandboxes"}
    assert fine["gradebook"] is True
    usage = shutil.disk_usage(tmp_path)._replace(free=1 << 20)
    with pytest.MonkeyPatch.context() as full:
        full.setattr(os, "access", lambda path, mode: False)
        full.setattr(shutil, "disk_usage", lambda folder: usage)
        diagnosis = examine(tmp_path)
    assert found(diagnosis, "gradebook").fine is False
    assert found(diagnosis, "disk of the course") == Finding("course", "disk of the course", "1 MB free", False)
    monkeypatch.setattr("autograder.gradebook.file.FREE_BYTES", 1 << 60)
    assert "the disk is nearly full" in found(examine(tmp_path), "gradebook").value


def test_a_gradebook_that_grading_refuses_is_told_in_the_same_words(made_up: Machine, tmp_path: Path) -> None:
    (tmp_path / "nbgrader_config.py").write_text('c = get_config()\nc.Katze.repository = "a/b"\n')
    gradebook = tmp_path / "gradebook.db"
    gradebook.write_bytes(bytes(range(256)) * 20)
    diagnosis = examine(tmp_path)
    assert (found(diagnosis, "gradebook").fine, diagnosis.is_well) == (False, False)
    refusal = "it is not a gradebook: move it away, or restore it from a copy"
    assert found(diagnosis, "gradebook").value.endswith(refusal)
    assert "Grades cannot be written to the course's gradebook" in shown(diagnosis)
    gradebook.unlink()
    make_gradebook(gradebook)
    diagnosis = examine(tmp_path)
    fine = Finding("course", "gradebook", f"{gradebook} can be written", True)
    assert (found(diagnosis, "gradebook"), diagnosis.is_well) == (fine, True)
    change(gradebook, "UPDATE katze_version SET version_num = '99'")
    assert "holds records of a newer Katze (version 99" in found(examine(tmp_path), "gradebook").value


def test_a_gradebook_on_a_server_is_looked_at_and_named_without_its_password(
    made_up: Machine, tmp_path: Path, cluster: Cluster, database: str
) -> None:
    def gradebook(database: str) -> Finding:
        settings = f"c = get_config()\nc.CourseDirectory.db_url = {cluster.url(database)!r}\n"
        (tmp_path / "nbgrader_config.py").write_text(settings)
        diagnosis = examine(tmp_path)
        assert PASSWORD not in shown(diagnosis) + str(diagnosis.record())
        return found(diagnosis, "gradebook")

    assert gradebook(database) == Finding("course", "gradebook", f"{cluster.server(database)} can be written", True)
    refused = gradebook("nowhere")
    assert refused.fine is False
    assert refused.value.endswith("there is no such database: make it with `createdb`")


def test_what_is_not_installed_is_found(made_up: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_PACKAGES", ("torch", "no-such-package"))
    diagnosis = examine()
    assert found(diagnosis, "torch").fine is True
    assert found(diagnosis, "no-such-package") == Finding("software", "no-such-package", "not installed", False)


def shown(diagnosis: Examination) -> str:
    console = output_console(io.StringIO(), 100)
    print_diagnosis(diagnosis, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_it_is_shown_with_marks_and_the_command_on_a_line_of_its_own() -> None:
    advice = doctor.Advice("sudo apt install bubblewrap " + "x" * 200, "Install it.")
    findings = (Finding("machine", "Landlock", "version 7", True), Finding("course", "course", "[red]none[/]"))
    levels = (LevelFinding("L2", True, "Landlock, seccomp"), LevelFinding("L3", False, "bubblewrap is not installed"))
    text = shown(Examination(findings, levels, "L2", "L2", advice))
    assert "✓   Landlock" in text
    assert "✗   L3" in text
    assert "[red]none[/]" in text
    assert "Grading works here, in sandboxes at level L2." in text
    assert f"\n  {advice.command}\n" in text
    text = shown(Examination((), (), "L1", "L2", None))
    assert "Grading needs sandboxes at level L2; this machine offers L1." in text


def test_the_command_on_this_machine(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status = main(["doctor", "--course", str(ROOT), "--json"])
    record = json.loads(capsys.readouterr().out)
    assert list(record) == ["findings", "levels", "level", "wanted", "advice", "is_well"]
    assert status == (0 if record["is_well"] else 1)
    assert {one["name"] for one in record["findings"]} >= {"system", "python", "torch", "gradebook"}
