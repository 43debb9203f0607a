"""Boxes for code that was written for no box: every installed package is there, nothing stands in for others, and the
files that lay beside a notebook are there as well.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.box.confinement.levels import Level
from autograder.box.confinement.selftest import self_test
from autograder.box.fork_server.client import ForkServer


@pytest.fixture(scope="module")
def fork_server(processes: None) -> Iterator[ForkServer]:
    if self_test():
        pytest.skip("no boxes at level L2 here")
    with ForkServer(level=Level.L2, trains=False, stand_ins=False) as fork_server:
        yield fork_server


def test_every_installed_package_is_there_and_no_other(fork_server: ForkServer) -> None:
    assert importlib.util.find_spec("mistune")
    with fork_server.open_box() as box:
        assert box.run_cell("import mistune, nbformat\nassert mistune.html('*a*').strip() == '<p><em>a</em></p>'").ok
        missing = box.run_cell("import no_such_package")
        common = box.run_cell("import tensorflow")
        ours = box.run_cell("import autograder.grading")
    assert [one.raised and one.raised.type_name for one in (missing, ours)] == ["ModuleNotFoundError"] * 2
    if importlib.util.find_spec("tensorflow") is None:
        assert common.raised is not None
        assert common.raised.type_name == "ModuleNotFoundError"


def test_a_box_has_its_own_copy_of_the_files(fork_server: ForkServer, tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "data.txt").write_text("forty-two")
    with fork_server.open_box(files=tmp_path) as box:
        assert box.run_cell("assert open('more/data.txt').read() == 'forty-two'").ok
        assert box.run_cell("open('more/data.txt', 'w').write('changed')").ok
    with fork_server.open_box(files=tmp_path) as box:
        assert box.run_cell("assert open('more/data.txt').read() == 'forty-two'").ok
        assert not box.run_cell(f"open({str(tmp_path / 'more' / 'data.txt')!r})").ok
    assert (tmp_path / "more" / "data.txt").read_text() == "forty-two"
