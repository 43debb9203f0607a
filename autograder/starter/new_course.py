"""`katze init`: a course in a new folder.

Its files are in `course/` as they will be, with `.txt` after their names, so that nothing takes them for our own.
"""

from pathlib import Path

from autograder.errors import BadInput

TEMPLATE = Path(__file__).parent / "course"
_ENDING = ".txt"


def write_course(folder: Path) -> list[Path]:
    """Write the course's files.

    Args:
        folder: a new one, or an empty one.

    Returns:
        What was written, relative to it.

    Raises:
        BadInput: there is something in the folder already, or it is no folder.
    """
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise BadInput(f"{folder} is not a folder; name a new one for the course")
    if folder.is_dir() and any(folder.iterdir()):
        raise BadInput(f"{folder} is not empty; name a new folder for the course")
    written = []
    for file in sorted(path for path in TEMPLATE.rglob(f"*{_ENDING}") if path.is_file()):
        place = file.relative_to(TEMPLATE).with_suffix("")
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_bytes(file.read_bytes())
        written.append(place)
    return written
