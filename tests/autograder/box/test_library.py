from pathlib import Path

import pytest

from autograder.box.library import copy_library, find_modules, held_modules, imports_of, permitted
from autograder.errors import BadInput


def package(root: Path, sources: dict[str, str]) -> dict[str, Path]:
    """The modules of a package `course_lib` made of these files."""
    for name, source in {"__init__.py": "", **sources}.items():
        path = root / "course_lib" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    return find_modules(root / "course_lib")


def test_what_imports_a_withheld_module_is_left_out_however_indirectly(tmp_path: Path) -> None:
    modules = package(
        tmp_path,
        {
            "attention.py": "",
            "masking.py": "from course_lib.attention import x",
            "multihead.py": "import course_lib.masking as m",
            "blocks.py": "from course_lib import multihead",
            "models.py": "from . import blocks",
            "inside.py": "try:\n    from .attention import x\nexcept ImportError:\n    pass",
            "in_class.py": "class A:\n    import course_lib.attention",
            "lazy.py": "def f():\n    import course_lib.attention",
            "typed.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from course_lib.attention import x",
            "positions.py": "import math",
        },
    )
    left = permitted(modules, ["course_lib.attention"])
    assert left == {"course_lib", "course_lib.lazy", "course_lib.typed", "course_lib.positions"}


def test_a_package_falls_with_its_init_and_withholding_it_withholds_all(tmp_path: Path) -> None:
    sources = {"attention.py": "", "show/__init__.py": "import course_lib.attention", "show/plots.py": "import math"}
    modules = package(tmp_path, sources)
    assert permitted(modules, ["course_lib.attention"]) == {"course_lib"}
    assert permitted(modules, ["course_lib.show"]) == {"course_lib", "course_lib.attention"}


@pytest.mark.parametrize(
    ("held", "found"),
    [
        (["course_lib.masking.causal_mask"], {"masking", "attention", "ground", "ground.files"}),
        (["course_lib.show"], {"show", "show.lazy"}),
        (["course_lib.ground.files"], {"ground", "ground.files"}),
        (["course_lib.later"], set()),  # it needs what is withheld
        (["course_lib.attention", "course_lib.nothing"], {"attention"}),
    ],
)
def test_of_what_is_permitted_a_box_holds_what_it_is_for_and_what_that_needs(
    tmp_path: Path, held: list[str], found: set[str]
) -> None:
    sources = {
        "attention.py": "",
        "masking.py": "from course_lib.attention import x\ndef f():\n    from course_lib.ground import files",
        "ground/__init__.py": "",
        "ground/files.py": "import os",
        "show/__init__.py": "def f():\n    from . import lazy",
        "show/lazy.py": "",
        "show/other.py": "",
        "later.py": "import course_lib.own",
        "own.py": "",
    }
    allowed = held_modules(package(tmp_path, sources), ["course_lib.own"], held)
    assert allowed == {"course_lib"} | {f"course_lib.{name}" for name in found}
    everything = held_modules(package(tmp_path, sources), ["course_lib.own"], None)
    assert allowed <= everything == {"course_lib", *(f"course_lib.{name}" for name in FREE)}


FREE = ("attention", "masking", "ground", "ground.files", "show", "show.lazy", "show.other")


def test_exercises_are_never_among_the_modules(tmp_path: Path) -> None:
    modules = package(tmp_path, {"exercises/__init__.py": "", "exercises/attention.py": "", "attention.py": ""})
    assert set(modules) == {"course_lib", "course_lib.attention"}


def test_relative_imports_count_from_the_package(tmp_path: Path) -> None:
    path = tmp_path / "c.py"
    path.write_text("from . import d\nfrom ..e import f\nfrom .g.h import i")
    assert {"a.b.d", "a.e", "a.e.f", "a.b.g.h"} <= imports_of(path, "a.b.c").at_once


@pytest.mark.parametrize(
    ("code", "at_once"),
    [
        ("def f():\n    import e", set()),
        ("async def f():\n    async with g() as h:\n        import e", set()),
        ("class C:\n    def f(self):\n        import e", set()),
        ("if TYPE_CHECKING:\n    import e", set()),
        ("class C:\n    import e", {"e"}),
        ("if typing.TYPE_CHECKING:\n    pass\nelse:\n    import e", {"e"}),
        ("try:\n    pass\nexcept ImportError:\n    import e", {"e"}),
        ("try:\n    pass\nexcept* ImportError:\n    pass\nelse:\n    import e", {"e"}),
        ("try:\n    pass\nfinally:\n    import e", {"e"}),
        ("for a in b:\n    pass\nelse:\n    import e", {"e"}),
        ("while a:\n    with b:\n        import e", {"e"}),
        ("match a:\n    case 1:\n        import e", {"e"}),
        ("a = (lambda: 1) if b else [c for c in f]; import e", {"e"}),
    ],
)
def test_what_is_imported_when_something_is_called_is_known_apart(tmp_path: Path, code: str, at_once: set[str]) -> None:
    path = tmp_path / "c.py"
    path.write_text(f"import d\n{code}")
    imports = imports_of(path, "c")
    assert imports.at_once == {"d"} | at_once
    assert imports.ever == {"d", "e"}


def test_the_copy_holds_python_and_what_shows_its_figures_and_nothing_withheld(tmp_path: Path) -> None:
    modules = copy_library(tmp_path, ["course_lib.attention"])
    assert "course_lib.judging.observation" in modules
    assert not {"course_lib.attention", "course_lib.masking"} & set(modules)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".py", ".css", ".js"}
    assert not [path for path in files if "exercises" in path.parts]
    assert not [path for path in files if "def dot_product_scores" in path.read_text()]


def test_only_what_exists_and_is_not_needed_can_be_withheld(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"course_lib\.atention"):
        copy_library(tmp_path, ["course_lib.atention"])
    with pytest.raises(BadInput, match=r"course_lib\.judging"):
        copy_library(tmp_path, ["course_lib.judging"])
