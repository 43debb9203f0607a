"""Which packages a box holds."""

from __future__ import annotations

from pathlib import Path

from autograder.box.confinement import packages
from autograder.box.confinement.grants import package_folders
from course_lib import exercises


def install(folder: Path, name: str, *needs: str, record: str = "") -> None:
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    lines = [f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0", *(f"Requires-Dist: {need}" for need in needs)]
    (info / "METADATA").write_text("\n".join(lines))
    if record:
        (info / "RECORD").write_text(record)


def test_a_package_brings_what_it_needs_and_not_what_its_extras_need(tmp_path: Path) -> None:
    install(tmp_path, "One_Package", "two>=1; python_version > '3'", 'three; extra == "all"', "missing")
    install(tmp_path, "two", "one-package", record="two/a.py,,\ntwo.libs/b.so,,\n../../bin/two,,\ntwo_extra.py,,\n")
    install(tmp_path, "three")
    assert packages.closure(["one.package"], [str(tmp_path)]) == {"one-package", "two"}
    entries = packages.entries_of(["one-package"], [str(tmp_path)])
    assert entries == {"one-package", "one_package", "two", "two.libs", "two_extra.py"}
    assert packages.entries_of(["nowhere"], [str(tmp_path)]) == frozenset()


def test_the_names_of_modules_are_those_that_can_be_imported() -> None:
    found = packages.module_names(
        {"a", "b.py", "c.cpython-311.so", "d.libs", "e-1.0.dist-info", "f.pth", "math", "g-h"}
    )
    assert found == {"a", "b", "c", "d"}


def test_no_box_holds_what_does_an_exercise_s_work_unless_its_lesson_shows_it() -> None:
    ready_made = {"tokenizers", "transformers", "sacrebleu", "nltk", "rouge-score", "jiwer", "rapidfuzz"}
    ready_made |= {"scikit-learn", "scipy", "torchmetrics", "sentencepiece", "tiktoken"}
    assert not packages.closure(packages.BASE, package_folders()) & ready_made
    assert {"torch", "numpy", "ipython"} <= packages.closure(packages.BASE, package_folders())
    for shown in exercises.PACKAGES.values():
        assert not packages.closure(shown, package_folders()) & {"transformers", "scikit-learn", "torchmetrics"}
