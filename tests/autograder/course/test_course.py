"""A course on disk: found from anywhere inside, configured by nbgrader's own file, with one secret."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from autograder.course.course import Course
from autograder.errors import BadInput
from course_lib.learner.current_catalogue import current_catalogue

CONFIG = 'c = get_config()\nc.Katze.repository = "someone/their-course"\n'


def make_course(root: Path, settings: str = "") -> Course:
    root.mkdir(parents=True, exist_ok=True)
    (root / "nbgrader_config.py").write_text(CONFIG + settings)
    return Course.find(root)


def test_a_course_is_found_from_below_and_the_nearest_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_course(tmp_path)
    inner = make_course(tmp_path / "build" / "demo")
    below = inner.root / "submitted" / "ada"
    below.mkdir(parents=True)
    assert Course.find(below) == inner
    monkeypatch.chdir(tmp_path / "build")
    assert Course.find().root == tmp_path


def test_no_course_and_no_folder_are_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no nbgrader_config.py"):
        Course.find(tmp_path)
    with pytest.raises(BadInput, match="no folder"):
        Course.find(tmp_path / "absent")


def test_folders_and_gradebook_are_nbgrader_s_defaults_or_follow_its_settings(tmp_path: Path) -> None:
    course = make_course(tmp_path / "plain")
    names = {"source", "release", "submitted", "autograded", "feedback", "solutions"}
    assert {getattr(course, name) for name in names} == {tmp_path / "plain" / name for name in names}
    assert course.gradebook == tmp_path / "plain" / "gradebook.db"
    course = make_course(
        tmp_path / "course",
        f'c.CourseDirectory.release_directory = "handed/out"\nc.Katze.solutions_directory = "{tmp_path}/written"\n'
        'c.CourseDirectory.db_url = "sqlite:///grades/all.db"\n',
    )
    assert course.release == tmp_path / "course" / "handed" / "out"
    assert course.solutions == tmp_path / "written"
    assert course.gradebook == tmp_path / "course" / "grades" / "all.db"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ('c.Katze.repository = "https://github.com/a/b"\n', "OWNER/NAME"),
        ('c.Katze.repository = "a/b\\n%pip install c"\n', "OWNER/NAME"),
        ("c.CourseDirectory.release_directory = 3\n", "release_directory must be a string"),
        (
            'c.CourseDirectory.db_url = "mysql://ada:secret@h/grades"\n',
            r"must be .*, not 'mysql://ada:\*\*\*@h/grades'",
        ),
        ("1 / 0\n", "ZeroDivisionError"),
        ("def (\n", "SyntaxError"),
    ],
)
def test_unusable_settings_are_bad_input(tmp_path: Path, settings: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        make_course(tmp_path, settings)


def test_lessons_are_folders_with_a_notebook_of_their_name_and_others_plain_assignments(tmp_path: Path) -> None:
    course = make_course(tmp_path)
    assert course.lessons() == []
    for name in ("02_masking/02_masking", "01_attention/01_attention", "01_attention/notes", "ps1/one", "ps1/two"):
        path = course.release / f"{name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    assert course.lessons() == ["01_attention", "02_masking"]
    assert course.assignments() == ["01_attention", "02_masking", "ps1"]
    assert course.release_notebook("02_masking") == course.release / "02_masking" / "02_masking.ipynb"
    with pytest.raises(BadInput, match="ps1 is a plain nbgrader assignment, .*`katze autograde ps1` grades it"):
        course.release_notebook("ps1")
    for lesson in ("03_absent", "../release/01_attention", "", "01_attention\n", "/etc"):
        with pytest.raises(BadInput, match="[Tt]here are: 01_attention, 02_masking$"):
            course.release_notebook(lesson)


def test_the_secret_is_made_once_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    course = make_course(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        drawn = set(pool.map(lambda _: course.secret(), range(32)))
    assert len(drawn) == 1
    assert len(drawn.pop()) == 32
    files = list((tmp_path / ".katze").iterdir())
    assert [file.name for file in files] == ["secret"]
    assert stat.S_IMODE(files[0].stat().st_mode) == 0o600


def test_a_damaged_secret_is_bad_input_and_left_alone(tmp_path: Path) -> None:
    course = make_course(tmp_path)
    course.secret()
    path = tmp_path / ".katze" / "secret"
    path.write_bytes(b"short")
    with pytest.raises(BadInput, match="5 bytes, not 32"):
        course.secret()
    assert path.read_bytes() == b"short"


def test_limits_are_of_exercises_that_there_are(tmp_path: Path) -> None:
    settings = 'c.Katze.exercise_limits = {"attention.score%s": {"call_seconds": 20}}\n'
    course = make_course(tmp_path, settings % "s")
    assert course.exercise_limits["attention.scores"].call_seconds == 20
    course.require_exercises()
    hash(course)
    with pytest.raises(BadInput, match=r"limits: no exercise 'attention\.score'; did you mean attention.scores"):
        make_course(tmp_path, settings % "").require_exercises()


@pytest.fixture
def jupyter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's own folder of Jupyter's settings."""
    folder = tmp_path / "jupyter"
    folder.mkdir()
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(folder))
    return folder


def test_jupyter_s_settings_come_before_the_course_s(tmp_path: Path, jupyter: Path) -> None:
    settings = '{"CourseDirectory": {"release_directory": "old", "course_id": "old"}}'
    (jupyter / "jupyter_config.json").write_text(settings)
    (jupyter / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.release_directory = 'out'\n")
    course = make_course(tmp_path / "course", "c.CourseDirectory.course_id = 'own'\n")
    assert (course.release, course.course_id) == (tmp_path / "course" / "out", "own")


@pytest.mark.parametrize("place", ["jupyter", "here", "here, relative", "here, to a course with settings"])
def test_the_course_is_where_its_root_says(
    tmp_path: Path, jupyter: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    (there / "release").mkdir(parents=True)
    (here / "below").mkdir(parents=True)
    setting = f"c = get_config()\nc.CourseDirectory.root = {'../there' if 'relative' in place else str(there)!r}\n"
    ((jupyter if place == "jupyter" else here) / "nbgrader_config.py").write_text(setting)
    if "with settings" in place:
        (there / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'there'\n")
    monkeypatch.chdir(here / "below")
    course = Course.find()
    assert (course.root, course.release) == (there, there / "release")
    assert course.course_id == ("there" if "with settings" in place else "")


def test_a_course_that_was_named_is_not_another_one(tmp_path: Path, jupyter: Path) -> None:
    (jupyter / "nbgrader_config.py").write_text(f"c = get_config()\nc.CourseDirectory.root = {str(tmp_path)!r}\n")
    assert make_course(tmp_path / "course").root == tmp_path / "course"


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("nbgrader_config.py", "c = get_config()\nc.CourseDirectory.root = '/no/such'\n", "root is /no/such, and "),
        ("nbgrader_config.py", "1 / 0", r"jupyter/nbgrader_config.py cannot be read: ZeroDivisionError"),
        ("jupyter_config.json", "{", r"jupyter_config.json cannot be read: JSONDecodeError"),
    ],
)
def test_jupyter_s_settings_may_be_unusable(
    tmp_path: Path, jupyter: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: str, told: str
) -> None:
    (jupyter / name).write_text(content)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match=told):
        Course.find()


@pytest.mark.parametrize(
    ("there", "settings", "has"),
    [
        ((), "", False),
        (("release/hw/hw.ipynb", "submitted/ada/hw/hw.ipynb"), "", False),
        (("release/01_ols/01_ols.ipynb",), 'c.Katze.packages = ["numpy"]\n', False),
        (("course_library/x.py", "01_attention_notes/x"), "", False),
        (("release/01_attention/01_attention.ipynb",), "", True),
        (("01_attention.ipynb",), "", True),
        (("course_lib/__init__.py",), "", True),
        ((), 'c.Katze.repository = "a/b"\n', True),
    ],
)
def test_only_the_course_of_the_library_has_its_exercises(
    tmp_path: Path, there: tuple[str, ...], settings: str, has: bool
) -> None:
    for name in there:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "nbgrader_config.py").write_text(f"c = get_config()\n{settings}")
    assert bool(Course.find(tmp_path).exercises.modules) == has
    assert bool(current_catalogue(tmp_path).modules) == has
    assert current_catalogue(tmp_path / "a" / "b" / "01_attention").modules
