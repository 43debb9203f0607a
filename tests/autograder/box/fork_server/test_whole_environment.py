"""Boxes for code that was written for no sandbox: every installed package is there, nothing stands in for others, and
the files that lay beside a notebook are there as well.
"""

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.box.confinement.levels import Level
from autograder.box.fork_server.client import ForkServer
from tests.autograder.box.conftest import raised
from tests.boxes import server_at


@pytest.fixture(scope="module")
def fork_server(processes: None) -> Iterator[ForkServer]:
    with server_at(Level.L2, trains=False, stand_ins=False) as fork_server:
        yield fork_server


def test_every_installed_package_is_there_and_no_other(fork_server: ForkServer) -> None:
    assert importlib.util.find_spec("mistune")
    with fork_server.open_box() as box:
        assert box.run_cell("import mistune, nbformat\nassert mistune.html('*a*').strip() == '<p><em>a</em></p>'").ok
        for name in ("no_such_package", "autograder.grading"):
            assert raised(box, f"import {name}").type_name == "ModuleNotFoundError"


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
