"""What installed packages need."""

from pathlib import Path

from autograder.box.confinement import packages


def install(folder: Path, name: str, *needs: str) -> None:
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    lines = [f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0", *(f"Requires-Dist: {need}" for need in needs)]
    (info / "METADATA").write_text("\n".join(lines))


def test_a_package_brings_what_it_needs_and_not_what_its_extras_need(tmp_path: Path) -> None:
    install(tmp_path, "One_Package", "two>=1; python_version > '3'", 'three; extra == "all"', "missing")
    install(tmp_path, "two", "one-package")
    install(tmp_path, "three")
    assert packages.closure(["one.package"], [str(tmp_path)]) == {"one-package", "two"}
