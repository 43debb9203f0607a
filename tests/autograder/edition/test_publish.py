"""The class edition of lesson 00, and what is asked of its folder: nothing of an answer in it, and checks as ever.

Tests `publish.py`, `library.py`, `leaks.py`.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZipFile

import nbformat
import pytest

from autograder.cli import make_parser
from autograder.course.course import Course
from autograder.edition.leaks import find_leaks
from autograder.edition.library import imported_by
from autograder.edition.publish import Plan, manifest_of, plan_edition, publish
from autograder.edition.recording import Recorded
from autograder.errors import BadInput
from course_lib import exercises
from course_lib.judging.exercise import Exercise
from course_lib.learner.solutions import SOLVED
from tests.autograder.conftest import Katze

ROOT = Path(__file__).parents[3]
LESSON, NEXT = "00_words_in_a_bag", "01_attention"
SEED = 2**70 + 1


@pytest.fixture(scope="module")
def course() -> Course:
    return Course.find(ROOT)


@pytest.fixture(scope="module")
def plan(course: Course) -> Plan:
    return plan_edition(course, ["00"], [], ["01"])


@pytest.fixture(scope="module")
def edition(slow: None, course: Course, plan: Plan, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published") / "class"
    publish(course, folder, plan, "somebody/class", "autumn")
    return folder


@pytest.fixture(scope="module")
def released(course: Course) -> dict[str, Path]:
    return {LESSON: course.release_notebook(LESSON)}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Records nothing: for what is written beside."""

    def catalogue(listed: list[Exercise], folder: Path) -> list[Recorded]:
        (folder / "exercises.json").write_text(json.dumps([one.id for one in listed]))
        return [Recorded(one.id, {"step": 2}, ("far",)) for one in listed]

    monkeypatch.setattr("autograder.edition.publish.write_lesson", catalogue)


class TestWhatGoesIn:
    def test_a_number_is_enough_and_the_order_is_the_course_s(self, course: Course) -> None:
        plan = plan_edition(course, [NEXT, "00"], [], [])
        assert plan.lessons == (LESSON, NEXT)
        assert plan.withheld["course_lib.attention"] == (NEXT,)
        assert plan.open["course_lib.positions"] == ("03_positions",)
        assert not {"course_lib.attention", "course_lib.masking", "course_lib.bags"} & plan.modules

    def test_a_closed_lesson_brings_its_modules_back_and_a_later_one_can_be_withheld(self, course: Course) -> None:
        plan = plan_edition(course, ["00", "01"], ["01"], ["03"])
        assert "course_lib.attention" in plan.modules
        assert not {"course_lib.bags", "course_lib.positions"} & plan.modules

    def test_a_lesson_that_uses_what_another_withholds(self, course: Course) -> None:
        with pytest.raises(
            BadInput, match=r"05_encoder_decoder uses course_lib\.attention, which 01_attention .* --closed 01"
        ):
            plan_edition(course, ["01", "05"], [], [])
        assert plan_edition(course, ["01", "05"], ["01"], []).lessons == (NEXT, "05_encoder_decoder")

    def test_the_lessons_up_to_the_block_can_be_open_together(self, course: Course) -> None:
        plan = plan_edition(course, ["01", "02", "03", "04"], [], [])
        withheld = {f"course_lib.{name}" for name in ("attention", "masking", "positions", "multihead", "blocks")}
        assert withheld <= plan.withheld.keys()
        assert not withheld & plan.modules

    def test_a_demo_may_lack_something(self, course: Course) -> None:
        assert not imported_by(course.release_notebook(LESSON))["course_lib.evaluation.similarity"]
        assert plan_edition(course, ["00"], [], []).without[LESSON] == ("course_lib.evaluation.similarity",)

    @pytest.mark.parametrize(("lessons", "closed"), [(["13"], []), (["00", "attention"], []), (["00"], ["01"])])
    def test_a_lesson_that_there_is_not(self, course: Course, lessons: list[str], closed: list[str]) -> None:
        with pytest.raises(BadInput, match=r"no lesson .* here; there are: .*00_words_in_a_bag"):
            plan_edition(course, lessons, closed, [])


class TestTheFolder:
    def test_what_it_says_of_itself(self, edition: Path) -> None:
        assert manifest_of(edition)["lessons"] == [LESSON]
        assert manifest_of(edition)["closed"] == []
        files = {path.relative_to(edition).as_posix() for path in edition.rglob("*") if path.is_file()}
        assert files == set(json.loads((edition / "edition.json").read_text())["files"])
        assert f"notebooks/{LESSON}/{LESSON}.ipynb" in (edition / "README.md").read_text()

    def test_its_notebooks_install_it_and_nothing_else_is_changed(
        self, edition: Path, released: Mapping[str, Path]
    ) -> None:
        before, after = (
            nbformat.read(path, as_version=4).cells
            for path in (released[LESSON], edition / "notebooks" / LESSON / f"{LESSON}.ipynb")
        )
        changed = [new.source for old, new in zip(before, after, strict=True) if old != new]
        assert len(changed) == 2
        assert f"github/somebody/class/blob/autumn/notebooks/{LESSON}/{LESSON}.ipynb" in changed[0]
        assert '"katze @ git+https://github.com/somebody/class@autumn"' in changed[1]

    @pytest.mark.usefixtures("quick")
    def test_without_an_address_they_install_the_folder(self, course: Course, plan: Plan, tmp_path: Path) -> None:
        publish(course, tmp_path / "class", plan)
        text = (tmp_path / "class" / "notebooks" / LESSON / f"{LESSON}.ipynb").read_text()
        assert '\\"../..\\"' in text
        assert "git+https" not in text
        assert "colab.research.google.com" not in text

    @pytest.mark.usefixtures("processes")
    def test_pip_makes_a_wheel_of_it(self, edition: Path, plan: Plan, tmp_path: Path) -> None:
        quiet = ("--disable-pip-version-check", "--no-input", "--no-deps", "--no-build-isolation", "--no-index")
        copied = tmp_path / "class"
        subprocess.run(["cp", "-r", edition, copied], check=True)  # building leaves folders behind
        subprocess.run([sys.executable, "-m", "pip", "wheel", *quiet, "-w", tmp_path, copied], check=True)
        (wheel,) = tmp_path.glob("*.whl")
        held = {name for name in ZipFile(wheel).namelist() if name.startswith("course_lib/")}
        here = {path.relative_to(edition).as_posix() for path in (edition / "course_lib").rglob("*") if path.is_file()}
        assert held == here
        assert {"course_lib/learner/noting.py", "course_lib/exercises/words_in_a_bag/cosine.safetensors.gz"} <= held

    @pytest.mark.usefixtures("quick")
    def test_an_earlier_edition_gives_way_and_the_rest_stays(self, course: Course, plan: Plan, tmp_path: Path) -> None:
        folder = tmp_path / "class"
        (folder / ".git").mkdir(parents=True)
        publish(course, folder, plan_edition(course, ["00", "01"], [], []))
        (folder / ".git" / "HEAD").write_text("main")
        (folder / "syllabus.md").write_text("Mondays")
        library = folder / "course_lib" / "positions.py"
        written = library.stat().st_mtime_ns
        publish(course, folder, plan)
        assert not (folder / "notebooks" / NEXT / f"{NEXT}.ipynb").exists()
        assert (folder / "syllabus.md").is_file()
        assert (folder / ".git" / "HEAD").is_file()
        assert library.stat().st_mtime_ns == written

    def test_a_folder_that_holds_something_else_is_left_alone(self, course: Course, plan: Plan, tmp_path: Path) -> None:
        (tmp_path / "thesis.tex").write_text("mine")
        with pytest.raises(BadInput, match="holds something else"):
            publish(course, tmp_path, plan)
        with pytest.raises(BadInput, match="is a file"):
            publish(course, tmp_path / "thesis.tex", plan)
        with pytest.raises(BadInput, match="no class edition"):
            manifest_of(tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


class TestNothingIsGivenAway:
    def test_nothing_is_found(self, edition: Path, released: Mapping[str, Path]) -> None:
        assert find_leaks(edition, exercises.COURSE, released, SEED) == []

    def test_nor_is_any_file_of_an_answer_there(self, edition: Path) -> None:
        names = {path.name for path in edition.rglob("*")}
        pages = {page.name for page in SOLVED.glob("*.md")}
        assert not {"solved", "autograder", "solutions"} & names
        for name in ("bags", "attention", "masking"):
            assert (edition / "course_lib" / f"{name}.py").read_text().count("\n") == 6
        assert not pages & names
        secret = ROOT / ".katze" / "secret"
        if secret.is_file():
            kept = secret.read_bytes()
            text = b"".join(path.read_bytes() for path in edition.rglob("*") if path.is_file())
            assert kept not in text
            assert kept.hex().encode() not in text

    def test_what_would_be_found(self, edition: Path, released: Mapping[str, Path]) -> None:
        """A reference, renamed and in a notebook; an answer; a solution; the inputs of hidden cases, under no name.

        The seed is that of cases that confirm a mistake, so that their inputs are there.
        """
        code = (ROOT / "course_lib" / "bags.py").read_text()
        renamed = code.replace("embeddings", "table").replace('"""', '"""Another: ', 1)
        added = {
            "notes/extra.ipynb": nbformat.writes(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(renamed)])),
            "course_lib/more.py": (ROOT / "course_lib" / "exercises" / "words_in_a_bag" / "cosine.py").read_text(),
            "course_lib/learner/solved/words_in_a_bag.cosine.md": "",
        }
        for name, content in added.items():
            (edition / name).parent.mkdir(parents=True, exist_ok=True)
            (edition / name).write_text(content)
        try:
            open_ = find_leaks(edition, exercises.COURSE, released, 1706)
            closed = find_leaks(edition, exercises.COURSE, released, SEED, [LESSON])
        finally:
            for name in added:
                (edition / name).unlink()
        assert any("extra.ipynb holds the reference of words_in_a_bag.cosine" in told for told in open_)
        assert any("more.py holds an answer to words_in_a_bag.cosine" in told for told in open_)
        assert any("the inputs of the hidden case" in told for told in open_)
        assert not any("is named" in told for told in open_)
        assert closed == ["course_lib/learner/solved/words_in_a_bag.cosine.md is a solution"]


APART = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in str(finder)]  # of this checkout
"""

SCRIPT = """
from course_lib.checking import case, check, hint, progress, solution
from course_lib.exercises import of_lesson

import torch

def accuracy(logits, labels):
    return (logits.argmax(1) == labels).float().mean()

def majority_accuracy(labels):
    return 0.5

def cosine_similarities(query, embeddings):
    return embeddings @ query

def mean_pooling(embeddings, mask):
    raise NotImplementedError()

for name in ("accuracy", "majority", "cosine", "mean_pooling", "parameters", "nothing"):
    print(check("words_in_a_bag." + name))
print(check("words_in_a_bag.cosine"), hint("words_in_a_bag.mean_pooling"))
found = case("words_in_a_bag.cosine", lambda table, i: table[:, 0])
print(check("words_in_a_bag.cosine", lambda table, i: table[:, 0]), found, found.args, found.expected)
print("MORE")
print(progress())
print(check("words_in_a_bag.cosine", hidden=True))
print(solution("words_in_a_bag.cosine"))
print(check("gpt.generate"))
"""


def ran(script: str, library: Path, place: Path) -> str:
    place.mkdir()
    (place / "work.py").write_text(APART + script)
    known = {"PYTHONPATH": str(library), "KATZE_WORK": str(place)}
    done = subprocess.run(
        [sys.executable, place / "work.py"],
        cwd=place,
        env=os.environ | known,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.replace(str(place), "HERE")


@pytest.mark.usefixtures("processes")
def test_check_and_hint_say_the_same_as_in_the_full_course(edition: Path, tmp_path: Path) -> None:
    full, here = ran(SCRIPT, ROOT, tmp_path / "full"), ran(SCRIPT, edition, tmp_path / "here")
    same, more = here.split("MORE")
    assert same == full.split("MORE")[0]
    assert "words_in_a_bag.accuracy: Right" in same
    assert "Divide" in same or "length" in same
    assert "words_in_a_bag.mean_pooling: Hint" in same
    assert "A case that fails, " in same
    assert "\n         lengths  [" in same
    assert "01 Attention" not in more
    assert "00 Words in a bag" in more
    assert "Only the full course has hidden cases" in more
    assert "holds no solutions" in more
    assert "lesson '07_gpt' is not in this edition of the course" in more


BORROWING = """
from course_lib import show
from course_lib.mine import answer

@show.when_ready
def picture():
    cosine_similarities(1, 2)

try:
    import course_lib.bags
except ModuleNotFoundError as error:
    print(error)

@show.when_ready
def another():
    from course_lib.evaluation.similarity import TextEncoder

answer("words_in_a_bag.cosine")
"""


@pytest.mark.usefixtures("processes")
def test_what_is_withheld_is_not_borrowed_either(edition: Path, tmp_path: Path) -> None:
    told = ran(BORROWING, edition, tmp_path / "here")
    assert "Borrowed" not in told
    assert "cosine_similarities" in told
    assert "words_in_a_bag.cosine: missing until yours has passed its check" in told
    assert "course_lib.bags is not in this class edition of the course: 00_words_in_a_bag asks you to write" in told
    assert "Nothing to show yet: course_lib.evaluation.similarity is not in this class edition" in told


@pytest.mark.usefixtures("quick")
def test_the_command_tells_what_is_in_it(tmp_path: Path, katze: Katze) -> None:
    folder = tmp_path / "class"
    at = ("publish", folder, "--course", ROOT)
    told = katze(*at, "--lessons", "00", "01", "--closed", "00", "--withhold", "03")
    count = len(exercises.of_lesson("00_words_in_a_bag")) + len(exercises.of_lesson("01_attention"))
    assert f"{folder}: 2 lessons, {count} exercises" in told
    assert "left out: course_lib.attention, for 01_attention" in told
    assert "left out: course_lib.positions, for 03_positions" in told
    assert "(--withhold 08)" in told
    assert "(--withhold 03)" not in told
    assert "2 calls of step recorded; others are checked only in the full course" in told
    assert manifest_of(folder)["closed"] == [LESSON]
    assert "--lessons 00 01" in katze(*at, status=2)


@pytest.mark.usefixtures("processes")
def test_the_template_of_a_public_repository_writes_checks_and_pushes(tmp_path: Path) -> None:
    public, said = tmp_path / "public.git", tmp_path / "said"
    subprocess.run(["git", "init", "--quiet", "--bare", "--initial-branch=main", public], check=True)
    katze = tmp_path / "katze"
    katze.write_text(f'#!/bin/sh\necho "$@" >> {said}\ntest "$3" = --check || date +%N > "$2/edition.json"\n')
    katze.chmod(0o755)
    who = {f"GIT_{role}_{what}": "teacher" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    make = ["make", "-f", ROOT / "docs" / "class_edition" / "class.mk", "push", f"KATZE={katze}", f"REMOTE={public}"]
    for week in ("LESSONS=00", "LESSONS=00 01"):
        subprocess.run([*make, week, "CLOSED=00"], cwd=tmp_path, env=os.environ | who, check=True)
    log = subprocess.run(["git", "log", "--format=%s", "main"], cwd=public, capture_output=True, text=True)
    assert log.stdout.splitlines() == ["Lessons 00 01", "Lessons 00"]
    parser, _commands = make_parser()
    first, *_rest = calls = [parser.parse_args(line.split()) for line in said.read_text().splitlines()]
    assert (first.folder, first.lessons, first.closed) == (Path("build/class"), ["00"], ["00"])
    assert first.withhold[-1] == "12"
    assert [call.check for call in calls] == [False, True] * 2
