"""The welcome in a notebook that has fetched the library: the versions, and where work is kept."""

from importlib.metadata import version
from pathlib import Path

from course_lib.ground.files import DRIVE
from course_lib.learner.folder import learner_folder

COLAB = Path("/content")
"""The folder that Colab's notebooks run in."""


def welcome() -> str:
    """Return one line with the versions of the library and torch, the training device, and where progress is kept."""
    import torch

    where = f"on the GPU ({torch.cuda.get_device_name()})" if torch.cuda.is_available() else "on the CPU"
    kept = f"Your progress is kept in {learner_folder()}."
    if COLAB.is_dir() and not DRIVE.is_dir():
        kept = (
            "Choose File > Save a copy in Drive now: Colab forgets what you write here when it closes. Mount Drive "
            "(the folder on the left), and it keeps your progress, too."
        )
    return f"Katze {version('katze')} is installed; torch {torch.__version__} trains {where}. {kept}"
