"""Reading what is none of a student's business: files, other processes, other submissions, the gradebook."""

from __future__ import annotations

from textwrap import dedent

from tests.dishonest.attempt import Attempt, in_answer


def _reads(name: str, tries: str, code: str) -> Attempt:
    """An attempt that raises where it is refused, and would return what it found."""
    return in_answer(name, tries, f"{dedent(code).strip()}\ndef dot_product_scores(q, k):\n    return spoils")


ATTEMPTS = (
    _reads(
        "read_secret",
        "Looks for the course's secret, from which hidden inputs follow.",
        "import glob\n[spoils] = [open(f, 'rb').read() for p in ('.', '..', '../..', '/**') "
        "for f in glob.glob(f'{p}/.katze/secret')]",
    ),
    _reads(
        "read_gradebook",
        "Opens the gradebook and gives itself full marks.",
        """import os, sqlite3
folder = os.getcwd()
while folder != "/":
    folder = os.path.dirname(folder)
    with sqlite3.connect(f"{folder}/gradebook.db") as book:
        book.execute("UPDATE grade SET manual_score = 100")
spoils = 1""",
    ),
    _reads(
        "read_neighbour",
        "Reads the submission of the student who sits next to it.",
        "spoils = open('../../ada_reference/01_attention/01_attention.ipynb').read()",
    ),
    _reads(
        "read_processes",
        "Lists all processes with their command lines.",
        "import glob, os\nspoils = [open(f'/proc/{p}/cmdline').read() for p in os.listdir('/proc') if p.isdigit()]",
    ),
    _reads(
        "read_grader",
        "Reads the source of the grader.",
        "import pathlib, autograder\n"
        "spoils = pathlib.Path(autograder.__path__[0], 'grading', 'submission.py').read_text()",
    ),
    _reads(
        "read_by_torch",
        "Lets torch, numpy and matplotlib open files that it must not open itself.",
        "import numpy\nspoils = torch.from_file('/etc/passwd', size=1, dtype=torch.uint8), numpy.memmap('/etc/passwd')",
    ),
    _reads("read_kernel_log", "Reads the machine's log.", "spoils = open('/dev/kmsg').read()"),
)
