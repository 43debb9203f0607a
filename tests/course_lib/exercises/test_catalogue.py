"""Which exercises a course has, read from its settings and its modules; and what is said where it cannot be."""

import pickle
import sys
from pathlib import Path

import pytest

from autograder.grading.digests.fingerprints import of_exercise
from course_lib.exercises import COURSE
from course_lib.exercises.catalogue import Catalogue, UnknownName, own_catalogue
from course_lib.judging.errors import UnusableExercises

EXERCISE = """
from course_lib.judging.exercise import Case, Exercise


def slope(x, y):
    return 2.0


def exercise(name):
    return Exercise(
        id=name, name="slope", title="The slope", statement="slope(x, y)", points=1, minutes=1,
        section="", source="", reference=slope, cases=lambda generator, hidden: [Case("one", (1.0, 2.0))],
        misconceptions=(), correct=(),
    )
"""


def course(folder: Path, module: str, setting: str = '{"01_ols": "ols_exercises"}') -> Catalogue:
    (folder / "ols_exercises.py").write_text(EXERCISE + module, encoding="utf-8")
    config = folder / "nbgrader_config.py"
    config.write_text(f"c = get_config()\nc.Katze.exercises = {setting}\n", encoding="utf-8")
    found = own_catalogue(config)
    assert found is not None
    return found


def test_a_module_in_the_course_s_folder_is_found_by_lesson_and_by_id(tmp_path: Path) -> None:
    path = list(sys.path)
    moved = 'MOVED = {"ols.fit": "ols.slope", "ols.guess": ""}'
    found = course(tmp_path, f'EXERCISES = (exercise("ols.slope"),)\nWRITTEN = {{"ols.why": 2}}\n{moved}')
    assert [(one.id, one.lesson) for one in found.of_lesson("01_ols")] == [("ols.slope", "01_ols")]
    assert found.find("ols.slope") is found.named(["01_ols", "ols.slope"])[0]
    assert found.written_in("01_ols") == found.all_written() == {"ols.why": 2}
    assert found.title("01_ols") == "Ols"
    (tmp_path / "titled").mkdir()
    assert course(tmp_path / "titled", 'TITLE = "Least squares"').title("01_ols") == "Least squares"
    assert sys.path == path
    with pytest.raises(UnknownName, match=r"no exercise 'slope'; did you mean ols\.slope"):
        found.find("slope")
    with pytest.raises(UnknownName, match="why is read by a person"):
        found.find("ols.why")
    assert found.moved_in("01_ols") == {"ols.fit": "ols.slope", "ols.guess": ""}
    with pytest.raises(UnknownName, match=r"ols.fit is .* an earlier version; what .* is now in ols\.slope"):
        found.find("ols.fit")
    with pytest.raises(UnknownName, match="nothing took its place"):
        found.find("ols.guess")
    with pytest.raises(UnknownName, match="did you mean 01_ols"):
        found.of_lesson("1_ols")


def test_what_a_module_imports_from_the_folder_is_part_of_the_exercise(tmp_path: Path) -> None:
    digests = []
    for number, factor in ((1, 2.0), (2, 2.0), (3, 3.0)):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "ols_tools.py").write_text(f"def scaled(x):\n    return {factor} * x\n")
        made = course(folder, 'from ols_tools import scaled\nslope = scaled\nEXERCISES = (exercise("ols.slope"),)')
        digests.append(of_exercise(made.find("ols.slope"))["definition"])
    assert digests[0] == digests[1] != digests[2]


def test_two_courses_may_have_modules_of_one_name(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    first = course(tmp_path, 'EXERCISES = (exercise("ols.slope"),)')
    second = course(tmp_path / "other", 'EXERCISES = (exercise("ols.intercept"),)')
    found = [one.id for catalogue in (first, second, first) for one in catalogue.all()]
    assert found == ["ols.slope", "ols.intercept", "ols.slope"]


def test_it_can_be_sent_to_another_process(tmp_path: Path) -> None:
    found = course(tmp_path, 'EXERCISES = (exercise("ols.slope"),)')
    found.all()
    assert pickle.loads(pickle.dumps(found)).find("ols.slope").title == "The slope"


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("", "ols_exercises (01_ols): give it EXERCISES, a tuple of"),
        ("EXERCISES = (1, 2)", "give it EXERCISES, a tuple of"),
        ("EXERCISES = ()", "ols_exercises (01_ols): EXERCISES is empty; put an exercise into it"),
        ('EXERCISES = [exercise("a.b"), exercise("a.b")]', "2 exercises have the id 'a.b'; give each its own"),
        (
            'EXERCISES = [exercise("slope")]',
            """an id is "name.task" in small letters, digits and underscores, not 'slop""",
        ),
        (
            "raise SystemError('no luck')",
            "ols_exercises cannot be imported: SystemError: no luck (ols_exercises.py, lin",
        ),
        ("1 +", "ols_exercises cannot be imported: SyntaxError: invalid syntax"),
        (
            "import no_such_package",
            "cannot be imported: ModuleNotFoundError: No module named 'no_such_package' (ols_exer",
        ),
        ("raise SystemExit(3)", "ols_exercises cannot be imported: SystemExit: 3"),
    ],
)
def test_what_cannot_be_used_is_said_to_whoever_wrote_it(tmp_path: Path, module: str, said: str) -> None:
    found = course(tmp_path, module)
    with pytest.raises(UnusableExercises) as problem:
        found.all()
    assert said in str(problem.value)
    assert "\n" not in str(problem.value)


def test_two_lessons_may_not_share_an_id(tmp_path: Path) -> None:
    found = course(tmp_path, 'EXERCISES = [exercise("a.b")]', '{"01_ols": "ols_exercises", "02_gls": "gls_exercises"}')
    (tmp_path / "gls_exercises.py").write_text(EXERCISE + 'EXERCISES = [exercise("a.b")]', encoding="utf-8")
    with pytest.raises(UnusableExercises, match=r"^2 exercises have the id 'a\.b'"):
        found.all()


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("{}", "a course without exercises has nothing to grade"),
        ('["ols_exercises"]', "a module for each lesson, not ['ols_exercises']"),
        ('{"01_ols": 3}', "a module for each lesson, not {'01_ols': 3}"),
        ('{"01_ols": "ols_exercises.py"}', "is no name of a module; a file exercises.py is called 'exercises'"),
        ("dict(named)", "it is read without running the file, and 'dict(named)' is not written out"),
    ],
)
def test_a_setting_that_cannot_be_used(tmp_path: Path, setting: str, said: str) -> None:
    with pytest.raises(UnusableExercises) as problem:
        course(tmp_path, "", setting)
    assert said in str(problem.value)


def test_a_module_that_is_not_there_and_one_that_is_another_s(tmp_path: Path) -> None:
    with pytest.raises(UnusableExercises, match=r"names 'my_exercises', and there is no my_exercises\.py in"):
        course(tmp_path, "", '{"01_ols": "my_exercises"}').all()
    with pytest.raises(
        UnusableExercises, match="names 'statistics', and that is .*; give the course's own module a name"
    ):
        course(tmp_path, "", '{"01_ols": "statistics"}').all()


def test_settings_that_name_none_and_settings_that_are_no_python(tmp_path: Path) -> None:
    config = tmp_path / "nbgrader_config.py"
    config.write_text("c = get_config()\nc.Katze.packages = []\n")
    assert own_catalogue(config) is None
    config.write_text("c = (\n")
    with pytest.raises(UnusableExercises, match="cannot be read"):
        own_catalogue(config)


def test_our_own_course_is_one_of_many() -> None:
    assert COURSE.folder is None
    assert COURSE.find("attention.scale").lesson == "01_attention"
    assert COURSE.title("07_gpt") == "GPT"
