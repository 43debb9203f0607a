"""Measures how long a learner waits: for a check in a notebook or a terminal, and for a notebook to work in.

    python -m benchmarks.learner [--rounds 5] [--json FILE]

A check in a notebook is timed in a kernel that has run lesson 01 with its answers, a check in a terminal from the start
of its process, and a notebook from `katze learn` until a kernel of its server answers.
"""

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import nbformat
from jupyter_client.blocking.client import BlockingKernelClient
from nbclient import NotebookClient
from nbformat import NotebookNode

from benchmarks.table import Row, arguments, report
from tests.solutions.executing import printed
from tests.solutions.filling import filled

LESSON = "01_attention"
TOKEN = "learner"
PORT = 8964
ANSWER = "def scale_scores(scores, d_head):\n    return scores / d_head**0.5\n"

_TIMED = """\
import json, time
from course_lib.exercises import of_lesson
taken = []
for _ in range({rounds}):
    for exercise in of_lesson({lesson!r}):
        began = time.perf_counter()
        check(exercise.id)._repr_mimebundle_()
        taken.append(time.perf_counter() - began)
print(json.dumps(taken))"""


def checks_in_a_notebook(rounds: int, folder: Path) -> list[float]:
    """Return the seconds that each check of the lesson takes in a kernel, drawing included."""
    notebook: NotebookNode = nbformat.from_dict(filled(LESSON))
    notebook.cells = [cell for cell in notebook.cells if "demo" not in cell.metadata.get("tags", ())]
    notebook.cells.append(nbformat.v4.new_code_cell(_TIMED.format(rounds=rounds, lesson=LESSON)))
    NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    taken: list[float] = json.loads(printed(notebook.cells[-1]))
    return taken


def checks_in_a_terminal(rounds: int, folder: Path) -> list[float]:
    """Return the seconds that `katze check` takes from start to end."""
    answer = folder / "answer.py"
    answer.write_text(ANSWER, encoding="utf-8")
    return [_seconds("check", "attention.scale", str(answer)) for _ in range(rounds)]


def notebooks_opened(rounds: int, folder: Path) -> list[float]:
    """Return the seconds from `katze learn` until a kernel answers, each time in a new folder."""
    return [_until_usable(folder / f"work-{number}") for number in range(rounds)]


def _seconds(*arguments: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "katze", *arguments], check=True, capture_output=True)
    return time.perf_counter() - began


def _until_usable(work: Path) -> float:
    runtime = work.with_name(f"{work.name}-runtime")
    options = f"--no-browser --allow-root --port={PORT} --IdentityProvider.token={TOKEN}"
    began = time.perf_counter()
    server = subprocess.Popen(
        [sys.executable, "-m", "katze", "learn", str(work), f"--lab={options}"],
        env={**os.environ, "JUPYTER_RUNTIME_DIR": str(runtime)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        while not _answers("lab"):
            time.sleep(0.05)
        kernel = json.loads(_asked("api/kernels", data=b"{}"))["id"]
        client = BlockingKernelClient(connection_file=str(runtime / f"kernel-{kernel}.json"))
        client.load_connection_file()
        client.start_channels()
        client.wait_for_ready()
        client.stop_channels()
        return time.perf_counter() - began
    finally:
        os.killpg(server.pid, signal.SIGTERM)  # the command and the server that it started
        server.wait()
        while _answers("lab"):
            time.sleep(0.05)


def _answers(path: str) -> bool:
    try:
        return bool(_asked(path))
    except OSError:
        return False


def _asked(path: str, data: bytes | None = None) -> bytes:
    request = urllib.request.Request(f"http://localhost:{PORT}/{path}", data=data)
    request.add_header("Authorization", f"token {TOKEN}")
    with urllib.request.urlopen(request) as answer:
        found: bytes = answer.read()
        return found


def main() -> None:
    """Measure and report."""
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often each is done (default: 5)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report("How long a learner waits", _measured(options.rounds, Path(folder)), options.json)


def _measured(rounds: int, folder: Path) -> Iterator[Row]:
    os.environ["KATZE_WORK"] = str(folder / "progress")
    for what, taken, most in (
        ("a check in a notebook", checks_in_a_notebook, 0.15),
        ("katze check in a terminal", checks_in_a_terminal, 4),
        ("katze learn to a notebook with a kernel", notebooks_opened, 10),
    ):
        seconds = statistics.median(taken(rounds, folder))
        yield Row.of(f"{what}, median", seconds, most, "s", more=False, goal=1)


if __name__ == "__main__":
    main()
