"""`katze doctor`."""

from __future__ import annotations

import argparse

from autograder.commands.adding import Commands, add_json
from autograder.commands.statuses import DONE, FAILED
from autograder.commands.writing import write_json


def add(commands: Commands) -> None:
    """Add `katze doctor`."""
    doctor = commands.add(
        "doctor",
        _run,
        "say which boxes this machine offers, and what would make stronger ones",
        "katze doctor --json",
        slow="trying what this machine offers",
    )
    add_json(doctor)


def _run(options: argparse.Namespace) -> int:
    from autograder.doctor import examine, print_diagnosis

    diagnosis = examine(options.course)
    if options.json:
        write_json(options.json, diagnosis.record())
    if options.json != "-":
        print_diagnosis(diagnosis)
    return DONE if diagnosis.is_well else FAILED
