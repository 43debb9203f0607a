"""A scheduler and workers as an instructor starts them: processes of their own."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


@contextmanager
def process(*arguments: str, tells: str, **environment: str) -> Iterator[str]:
    """A process of Dask's, until the end of the block; the first word of what it says that has `tells` in it."""
    command = [sys.executable, "-m", *arguments]
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=env) as started:
        try:
            assert started.stderr is not None
            for line in started.stderr:
                if tells in line:
                    break
            yield next((word for word in line.split() if "://" in word), "")
        finally:
            started.kill()


@contextmanager
def scheduler() -> Iterator[str]:
    options = "--host 127.0.0.1 --port 0 --no-dashboard".split()
    with process("distributed.cli.dask_scheduler", *options, tells="Scheduler at:") as address:
        yield address


@contextmanager
def worker(address: str, name: str, folder: Path, patch: str = "") -> Iterator[str]:
    """A worker in whose Python something is other than here."""
    place = folder / name
    place.mkdir()
    (place / "sitecustomize.py").write_text(patch)
    options = [f"--name={name}", "--nthreads=1", "--no-dashboard", "--no-nanny", f"--local-directory={place}"]
    with process(
        "distributed.cli.dask_worker",
        address,
        *options,
        tells="Registered to:",
        PYTHONPATH=f"{place}{os.pathsep}{ROOT}",
    ) as registered:
        yield registered
