"""The reference is absent: what a lesson withholds is not in its sandboxes, whichever way one looks for it.

Ways to import it are tried one by one inside. What they share is then looked for from outside, in all of a sandbox's
memory and in every file that it can read.
"""

import ast
import importlib
import inspect
import re
import types
from pathlib import Path

import pytest

import course_lib
from autograder.box.box import Box
from autograder.box.confinement.levels import Level
from autograder.box.fork_server.client import ForkServer
from autograder.box.library import find_modules, held_modules
from autograder.grading.digests.reach import held_by_lesson
from autograder.repair import Release
from course_lib import exercises
from tests.autograder.box.conftest import own_memory, raised, value
from tests.boxes import WITHHELD, ServerOf, server_at

REPOSITORY = Path(course_lib.__file__).parents[1]
LESSONS = sorted({exercise.lesson for exercise in exercises.all()})


def withheld(lesson: str) -> set[str]:
    """What the exercises of a lesson withhold."""
    return {name for exercise in exercises.all() if exercise.lesson == lesson for name in exercise.withheld}


def held(lesson: str) -> frozenset[str]:
    """What its sandboxes are for."""
    release = Release.load(REPOSITORY / "notebooks" / lesson / f"{lesson}.ipynb")
    return held_by_lesson(exercises.COURSE, lesson, release.code)


@pytest.fixture(scope="module", params=[Level.L2, Level.L3], ids=lambda level: level.name)
def fork_server(server_of: ServerOf, request: pytest.FixtureRequest) -> ForkServer:
    assert withheld("01_attention") == {*WITHHELD}
    return server_of(request.param)


LIBRARY = str(REPOSITORY / "course_lib")
FILE = f"{LIBRARY}/attention.py"
TRICKS = {
    "import": "import course_lib.attention",
    "from": "from course_lib import attention",
    "importlib": "import importlib; importlib.import_module('course_lib.attention')",
    "what imports it": "import course_lib.masking",
    "exercises": "import course_lib.exercises",
    "path": f"""
import importlib, sys, course_lib
sys.path.insert(0, {str(REPOSITORY)!r})
course_lib.__path__.insert(0, {LIBRARY!r})
importlib.invalidate_caches()
import course_lib.attention
""",
    "fresh package": f"""
import sys
for name in [name for name in sys.modules if name.startswith('course_lib')]:
    del sys.modules[name]
sys.path[:] = [{str(REPOSITORY)!r}]
import course_lib.attention
""",
    "by file": f"""
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location('attention', {FILE!r})
spec.loader.exec_module(module_from_spec(spec))
""",
    "solution": f"open({LIBRARY!r} + '/learner/solved/attention.scores.md')",
    "own solution": """
import course_lib.learner, pathlib
(pathlib.Path(course_lib.learner.__file__).parent / 'solved' / 'attention.scores.md').read_text()
""",
    "bytecode": f"""
import pathlib
[path.read_bytes() for path in pathlib.Path({LIBRARY!r}).glob('*')]
open({LIBRARY!r} + '/__pycache__/attention.cpython-311.pyc', 'rb')
""",
    "site": "import site; site.main(); import course_lib.attention",
    "runpy": f"import runpy; runpy.run_path({FILE!r})",
    "linecache": f"import linecache; assert linecache.getlines({FILE!r})",
    "zip": f"import zipimport; zipimport.zipimporter({str(REPOSITORY)!r})",
    "magic": f"%run {FILE}\nassert 'scale_scores' in globals()",
    "load": f"%load {FILE}",
    "metadata": """
import importlib.metadata
importlib.metadata.distribution('katze').locate_file('course_lib/attention.py').read_text()
""",
    "every finder": """
import sys
for finder in sys.meta_path:
    spec = finder.find_spec('course_lib.attention', __import__('course_lib').__path__)
    assert spec is None or not spec.has_location
raise ModuleNotFoundError
""",
    "every folder": f"""
import importlib.machinery, os, sys
folders = [*sys.path, *sys.path_importer_cache, {str(REPOSITORY)!r}, os.path.dirname(os.getcwd()), '/', '/usr/lib']
loaders = (importlib.machinery.SourceFileLoader, importlib.machinery.SourcelessFileLoader)
for folder in folders:
    for name in ('course_lib/attention.py', 'course_lib/__pycache__/attention.cpython-311.pyc', 'attention.py'):
        for loader in loaders:
            try: module = loader('attention', os.path.join(folder, name)).load_module()
            except (OSError, ImportError, EOFError): continue
            assert not hasattr(module, 'dot_product_scores'), folder
raise ModuleNotFoundError
""",
    "packages": """
import course_lib, pkgutil
assert 'attention' in [module.name for module in pkgutil.iter_modules(course_lib.__path__)]
""",
    "resources": """
import importlib.resources
importlib.resources.files('course_lib').joinpath('attention.py').read_text()
""",
    "frozen": "import _imp; _imp.get_frozen_object('course_lib.attention')",
    "reload": "import course_lib, importlib; importlib.reload(course_lib); course_lib.attention",
    "pickle": "import pickle; pickle.loads(b'ccourse_lib.attention\\ndot_product_scores\\n.')",
    "torch's packages": "import torch.package; torch.package.sys_importer.import_module('course_lib.attention')",
    "source": "import course_lib, inspect; assert 'def dot_product' in inspect.getsource(course_lib)",
    "what was read": """
import linecache, sys
texts = [line for entry in linecache.cache.values() for line in (entry[2] if len(entry) > 2 else [])]
assert any(text.startswith('def dot_product_scores') for text in texts)
""",
    "leftovers": """
import sys
assert [name for name in sys.modules if name.partition('.')[0] in ('course_lib', 'autograder') and 'attention' in name]
""",
    "names in leftovers": """
import sys, types
modules = [module for module in list(sys.modules.values()) if isinstance(module, types.ModuleType)]
assert [module for module in modules if 'dot_product_scores' in vars(module)]
""",
    "kept bytecode": """
import glob, sys
found = [path for folder in sys.path for below in ('', '/*', '/*/*')
         for path in glob.glob(f'{folder}{below}/course_lib/**/attention*.py*', recursive=True)]
assert found
""",
    "memory": """
import gc
modules = {getattr(thing, '__module__', None) for thing in gc.get_objects() if callable(thing)}
assert 'course_lib.attention' in modules
""",
}


@pytest.mark.parametrize("trick", TRICKS)
def test_what_is_withheld_cannot_be_imported(box: Box, trick: str) -> None:
    assert raised(box, TRICKS[trick]).type_name not in ("SyntaxError", "NameError", "TypeError")  # a slip of its own


def test_an_editable_installation_leads_nowhere(box: Box) -> None:
    source = (
        "import sys, os\n"
        "folder = next(p for p in sys.path if p.endswith('packages'))\n"
        "contents = []\n"
        "for name in os.listdir(folder):\n"
        "    if not name.endswith('.pth') and not name.startswith(('__editable__', 'course_lib')): continue\n"
        "    try: contents.append(open(os.path.join(folder, name)).read())\n"
        "    except (PermissionError, IsADirectoryError): pass\n"
        "contents"
    )
    assert value(box, source) == "[]"


# --- from outside


TEXT = re.compile(rb"[^\x00-\x1f]{31,}")
"""What of a memory could be a sentence: a small part, which is searched for hundreds of them."""


def sentences(module: types.ModuleType) -> set[bytes]:
    """The first lines of what the module's own functions and classes say of themselves: they are in its bytecode."""
    own = [thing for thing in vars(module).values() if getattr(thing, "__module__", None) == module.__name__]
    lines = {(inspect.getdoc(thing) or "").partition("\n")[0] for thing in own}
    return {line.encode() for line in lines if len(line) > 30}


@pytest.mark.usefixtures("processes")
def test_nothing_withheld_is_in_the_memory_or_the_files_of_a_box(sampled_lesson: str) -> None:
    lesson = sampled_lesson
    modules = find_modules(Path(course_lib.__file__).parent)
    allowed = held_modules(modules, withheld(lesson), held(lesson))
    absent = {name: sentences(importlib.import_module(name)) for name in sorted(set(modules) - allowed)}
    assert any(absent.values())
    present = sentences(importlib.import_module("course_lib.judging.observation"))
    options = {"held": held(lesson), "trains": False}
    with server_at(Level.L2, *withheld(lesson), **options) as fork_server, fork_server.open_box() as box:
        box.run_cell("import course_lib.judging.observation")
        texts = [b"\n".join(TEXT.findall(piece)) for piece in own_memory(box.process)]
        assert {line for text in texts for line in present if line in text}, "the search finds nothing at all"
        for text in texts:
            assert not [(name, line) for name, lines in absent.items() for line in lines if line in text]
        told = box.run_cell(
            "import os, sys\nfor folder, _, names in os.walk(sys.path[0]):\n"
            "    for name in names: print(open(os.path.join(folder, name)).read())"
        )
    text = told.outputs[0]["text"].encode()
    assert any(line in text for line in present)
    assert not [line for lines in absent.values() for line in lines if line in text]


@pytest.mark.parametrize("lesson", LESSONS)
def test_no_box_defines_what_its_lesson_asks_for_unless_the_lesson_itself_imports_it(lesson: str) -> None:
    """Lesson 10 imports a BLEU that asks sacrebleu, and its answers may not use it."""
    modules = find_modules(Path(course_lib.__file__).parent)
    asked = {name for one in exercises.of_lesson(lesson) for name in (one.name, one.reference.__name__)}
    imported = {name.rpartition(".")[0] for name in held(lesson)}
    defined = {
        module
        for module in held_modules(modules, withheld(lesson), held(lesson))
        for node in ast.parse(modules[module].read_text()).body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in asked
    }
    assert defined <= imported


def test_every_lesson_withholds_what_its_exercises_refer_to() -> None:
    names = set(find_modules(Path(course_lib.__file__).parent))
    for lesson in LESSONS:
        references = {one.reference.__module__ for one in exercises.all() if one.lesson == lesson}
        assert references <= withheld(lesson) <= names
