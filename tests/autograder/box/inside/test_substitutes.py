"""Asking for workers or programs costs nobody a point: a notice stands in the cell, and the cell goes on."""

import pytest

from autograder.box.box import Box

WORKERS = {
    "a pool": "import multiprocessing\nwith multiprocessing.Pool(4) as pool: found = pool.map(abs, [-1, -2])",
    "a pool by name": "from multiprocessing import Pool\nwith Pool() as p: found = p.starmap(pow, [(1, 1), (2, 1)])",
    "torch's pool": "import torch.multiprocessing as mp\nwith mp.Pool(10_000) as pool: found = pool.map(abs, [-1, -2])",
    "a context": "import multiprocessing as m\nwith m.get_context('spawn').Pool(2) as p: found = p.map(abs, [-1, -2])",
    "a process": """
import multiprocessing
multiprocessing.set_start_method("fork")
queue = multiprocessing.Queue()
worker = multiprocessing.Process(target=queue.put, args=([1, 2],))
worker.start(); worker.join(); worker.close()
found = queue.get()""",
    "a process of one's own": """
from multiprocessing import Process, Pipe
class Worker(Process):
    def run(self): theirs.send([1, 2])
ours, theirs = Pipe()
Worker().start()
found = ours.recv()""",
    "an executor": """
from concurrent.futures import ProcessPoolExecutor
with ProcessPoolExecutor(2) as pool: found = list(pool.map(abs, [-1, -2]))""",
    "a data loader": """
from torch.utils.data import DataLoader
found = [int(x) for x in DataLoader([1, 2], num_workers=2, persistent_workers=True)]""",
}


@pytest.mark.parametrize("way", WORKERS)
def test_workers_are_threads(kept_box: Box, way: str) -> None:
    result = kept_box.run_cell(f"{WORKERS[way]}\nfound")
    assert result.ok, result.raised
    notice, value = result.outputs
    assert notice["text"].startswith("[katze] `")
    assert notice["text"].endswith(": a notebook is graded in one process.\n")
    assert value["data"]["text/plain"] == "[1, 2]"


PROGRAMS = {
    "run": ("import subprocess; subprocess.run(['pip', 'install', 'a b'], check=True).returncode", "0"),
    "output": ("import subprocess; subprocess.run(['ls'], capture_output=True).stdout", "b''"),
    "text": ("import subprocess; subprocess.check_output(['ls'], text=True)", "''"),
    "getoutput": ("import subprocess; subprocess.getstatusoutput('ls')", "(0, '')"),
    "call": ("import subprocess; subprocess.check_call('true', shell=True)", "0"),
    "popen": (
        "from subprocess import PIPE, Popen\n"
        "with Popen('cat', 0, None, PIPE, PIPE, text=True) as p: p.stdin.write('a')\np.wait()",
        "0",
    ),
    "communicate": ("import subprocess as s; s.Popen(['cat'], stdout=s.PIPE).communicate(b'a')", "(b'', None)"),
    "os.system": ("import os; os.system('pip install katze')", "0"),
    "os.popen": ("import os; os.popen('ls').read()", "''"),
    "a magic": ("!ls\n0", "0"),
}


@pytest.mark.parametrize("way", PROGRAMS)
def test_a_program_is_left_out_and_counts_as_one_that_worked(kept_box: Box, way: str) -> None:
    source, value = PROGRAMS[way]
    result = kept_box.run_cell(source)
    assert result.ok, result.raised
    notice, shown = result.outputs
    assert notice["text"].endswith(" was left out: no other programs run while a notebook is graded.\n")
    assert shown["data"]["text/plain"] == value


@pytest.mark.parametrize("source", ["subprocess.run()", "subprocess.run(['ls'], no_such=1)", "subprocess.Popen(3)"])
def test_what_was_wrong_before_is_wrong_now_or_harmless(kept_box: Box, source: str) -> None:
    assert kept_box.run_cell(f"import subprocess; {source}; None").raised is not None or source.endswith("(3)")
