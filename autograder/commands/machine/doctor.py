"""Say which sandboxes this machine offers, and how to get stronger ones."""

import argparse

from autograder.commands.shared import DONE, FAILED, add_level, add_scheduler, tell
from autograder.errors import of_extra

EXAMPLE = "katze doctor --json"
SLOW = "trying what this machine offers"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_scheduler(parser)
    add_level(parser)


def run(options: argparse.Namespace) -> int:
    if options.scheduler is not None:
        return _run_on_cluster(options)
    from autograder.doctor import examine, print_diagnosis

    diagnosis = examine(options.course)
    tell(options, diagnosis.record(), lambda console: print_diagnosis(diagnosis, console))
    return DONE if diagnosis.is_well else FAILED


def _run_on_cluster(options: argparse.Namespace) -> int:
    from dataclasses import asdict

    with of_extra("--scheduler", "cluster"):
        from autograder.cluster.table import examine_cluster, print_workers

    level = options.min_level or ""
    workers = examine_cluster(options.scheduler, level, options.scheduler_wait, options.trust_scheduler)
    tell(options, list(map(asdict, workers)), lambda console: print_workers(workers, console))
    return FAILED if any(worker.refused for worker in workers) else DONE
