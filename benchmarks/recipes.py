"""What the benchmarks of whole trainings share: their options, and one report however many processes train."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import torch

from benchmarks.table import Row, report


def options(description: str | None, folder: str, steps: int, less: str, less_means: str) -> argparse.Namespace:
    """The command line's.

    Args:
        description: the benchmark's own, of which the first line is shown.
        folder: where checkpoints go unless someone says otherwise.
        steps: how many unless someone says otherwise.
        less: the name of the option that takes only a part of the data.
        less_means: what it does.
    """
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    parser.add_argument("--folder", type=Path, default=Path(folder), help="for checkpoints and what the model writes")
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument(f"--{less}", type=int, help=less_means)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compile", action="store_true", help="let torch compile the model first")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--json", type=Path, metavar="FILE")
    return parser.parse_args()


def report_once(title: str, rows: list[Row], json: Path | None) -> None:
    """Report, in the first of the processes that share the work."""
    if os.environ.get("RANK", "0") == "0":
        report(title, rows, json)
