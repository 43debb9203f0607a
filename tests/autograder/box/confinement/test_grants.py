import os
import sys
import sysconfig
from pathlib import Path

import pytest

import course_lib
from autograder.box.confinement import grants, landlock

REPOSITORY = Path(course_lib.__file__).parents[2]


def test_nothing_that_leads_to_the_reference_is_granted(tmp_path: Path) -> None:
    for name in ("course_lib", "autograder", "katze-0.1.0.dist-info", "torch", "__pycache__"):
        (tmp_path / name).mkdir()
    for name in ("__editable__.katze-0.1.0.pth", "__editable___katze_finder.py", "other.pth", "six.py"):
        (tmp_path / name).touch()
    granted = {path.name for path in grants._trees([], [tmp_path]) if path.is_relative_to(tmp_path)}
    assert granted == {"torch", "six.py"}


def test_no_granted_tree_holds_the_repository_or_packages() -> None:
    packages = Path(sysconfig.get_paths()["purelib"])
    trees = [path.resolve() for path in grants._trees([], [packages])]
    for private in (REPOSITORY, REPOSITORY / "course_lib", REPOSITORY / ".git", packages, Path.home(), Path("/etc")):
        assert not [tree for tree in trees if private.resolve().is_relative_to(tree)], private


@pytest.mark.skipif(landlock.abi() < 1, reason="this kernel has no Landlock")
def test_a_file_is_granted_no_right_of_folders(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path, rights in ((tmp_path, landlock.READ_TREE), (tmp_path / "file", landlock.READ_FILE)):
        grant = landlock.grant(path, landlock.READ_TREE)
        os.close(grant.descriptor)
        assert grant.rights == rights


@pytest.mark.parametrize("prefix", ["/usr", "/usr/local"])
def test_a_python_of_the_system_s_own_grants_nothing_twice(prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "base_prefix", prefix)  # its libraries are among the system's
    folders = grants.library_folders()
    assert Path(prefix, "lib") in folders
    assert len(folders) == len(set(folders))
    descriptors = [grant.descriptor for grant in grants.open_grants([])]
    assert len(descriptors) == len(set(descriptors))
