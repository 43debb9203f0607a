"""`katze doctor`."""

from __future__ import annotations

import argparse

from autograder.commands.adding import Commands, add_json, add_level, add_scheduler
from autograder.commands.statuses import DONE, FAILED
from autograder.commands.writing import tell
from autograder.errors import of_extra


def add(commands: Commands) -> None:
    doctor = commands.add(
        "doctor",
        _run,
        "say which boxes this machine offers, and what would make stronger ones",
        "katze doctor --json",
        slow="trying what this machine offers",
    )
    add_scheduler(doctor)
    add_level(doctor)
    add_json(doctor)


def _run(options: argparse.Namespace) -> int:
    if options.scheduler is not None:
        return _run_on_cluster(options)
    from autograder.doctor import examine, print_diagnosis

    diagnosis = examine(options.course)
    tell(options, diagnosis.record(), lambda: print_diagnosis(diagnosis))
    return DONE if diagnosis.is_well else FAILED


def _run_on_cluster(options: argparse.Namespace) -> int:
    from dataclasses import asdict

    with of_extra("--scheduler", "cluster"):
        from autograder.cluster.table import examine_cluster, print_workers
    from autograder.console import output_console

    level = options.min_level or ""
    workers = examine_cluster(options.scheduler, 1, level, options.scheduler_wait, options.trust_scheduler)
    tell(options, list(map(asdict, workers)), lambda: print_workers(workers, output_console()))
    return FAILED if any(one.refused for one in workers) else DONE
