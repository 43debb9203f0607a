"""At L2 nothing in a sandbox tells where the course lies, or another one: memory, environment, links, files."""

import ast
from pathlib import Path

import pytest

from autograder.box.box import Box
from autograder.box.fork_server.client import ForkServer
from tests.autograder.box.conftest import raised, value
from tests.boxes import COURSE

SEARCH = """
import gc, os, sys, types
word = {word!r}[::-1]
gc.unfreeze()
members = gc.get_referents(*gc.get_objects())
hidden = [one for one in members if not gc.is_tracked(one)]
texts = [str(one) for one in (*hidden, *gc.get_referents(*hidden)) if isinstance(one, (str, os.PathLike))]
texts += [one.__code__.co_filename for one in members if isinstance(one, types.FunctionType)]
texts += [*sys.argv, *sys.orig_argv, *sys.path, os.getcwd()]
sorted({{text for text in texts if word in text and text != word}}, key=len)[:5]
"""
ENVIRONMENT = """
import ctypes
entries, place, found = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ"), 0, []
while entries[place]:
    found.append(entries[place].decode())
    place += 1
found
"""
LINKS = """
import os
found = []
for process in ("self", os.getppid(), *range(1, 50)):
    for name in ("cwd", "root", "exe", *(f"fd/{number}" for number in range(70))):
        try:
            found.append(os.readlink(f"/proc/{process}/{name}"))
        except OSError:
            pass
found
"""
FILES = "auxv cgroup cmdline environ maps mem mountinfo mounts numa_maps smaps stat status".split()


def found(box: Box, source: str) -> list[str]:
    return list(ast.literal_eval(value(box, source)))


def test_no_object_in_memory_names_the_course(box: Box) -> None:
    assert found(box, SEARCH.format(word=COURSE[::-1])) == []


def test_the_search_would_find_it(box: Box) -> None:
    """A path that a cell makes up, as if something had left it in a dict of a dict."""
    box.run_cell(f"kept = {{'a': {{'b': '/home/somebody/{COURSE}/.katze'}}}}")
    assert f"/home/somebody/{COURSE}/.katze" in found(box, SEARCH.format(word=COURSE[::-1]))


def test_the_environment_that_the_c_library_sees_does_not_either(box: Box) -> None:
    entries = found(box, ENVIRONMENT)
    assert any(entry.startswith("PATH=") for entry in entries)
    assert not [entry for entry in entries if COURSE in entry]


def test_links_lead_to_its_own_folder_only(box: Box) -> None:
    own = box.run_cell("import os; print(os.getcwd())").outputs[0]["text"].strip()
    links = found(box, LINKS)
    assert own in links
    assert not [link for link in links if COURSE in link]


@pytest.mark.parametrize("process", ["self", "{os.getppid()}", "thread-self"])
def test_what_the_kernel_writes_about_a_process_cannot_be_read(box: Box, process: str) -> None:
    for name in FILES:
        assert raised(box, f"import os; open(f'/proc/{process}/{name}', 'rb').read()").type_name == "PermissionError"


def test_the_parents_folder_and_files_cannot_be_asked_for(box: Box) -> None:
    for name in ("cwd", "root", "exe"):
        source = f"import os; os.readlink(f'/proc/{{os.getppid()}}/{name}')"
        assert raised(box, source).type_name == "PermissionError"


def test_boxes_lie_in_folders_whose_names_nobody_can_guess(fork_server: ForkServer, box: Box) -> None:
    """Below a folder that a sandbox cannot list, with eight random characters each."""
    with fork_server.open_box() as other:
        mine, its = (Path(found(one, "import os; [os.getcwd()]")[0]) for one in (box, other))
        assert mine.parent == its.parent
        assert COURSE not in str(its)
        assert len(its.name) >= 8
        assert raised(box, "import os; os.listdir('..')").type_name == "PermissionError"


def test_a_traceback_names_no_file_of_the_course(box: Box) -> None:
    result = box.run_cell("import torch\ntorch.ones(2) @ torch.ones(3)")
    assert result.raised is not None
    assert COURSE not in str(result.outputs)
