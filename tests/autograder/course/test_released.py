"""Where released notebooks are looked for; without any, see `tests/autograder/test_preflight.py`."""

import sysconfig
from pathlib import Path

import pytest

from autograder.course.released import data_folder


@pytest.mark.parametrize("scheme", ["prefix", "user"])
def test_an_installed_package_s_are_where_pip_has_put_them(scheme: str) -> None:
    """With `pip install --user`, too, which is what pip does where it may not write."""
    name = sysconfig.get_preferred_scheme(scheme)
    assert data_folder(Path(sysconfig.get_path("purelib", name))) == Path(sysconfig.get_path("data", name))


def test_or_beside_it_where_pip_was_given_a_folder(tmp_path: Path) -> None:
    assert data_folder(tmp_path) == tmp_path
