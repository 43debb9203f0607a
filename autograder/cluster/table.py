"""`katze doctor --scheduler ADDRESS`: examines a cluster's workers, and shows which of them may grade."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from autograder.cluster.connecting import connected
from autograder.cluster.examining import ExaminedWorker, examine_oneself, refusal
from autograder.cluster.pool import examine_workers

_SHOWN = ("Katze", "Python", "torch", "dask")


def examine_cluster(address: str, min_level: str, patience: float, trusted: bool) -> list[ExaminedWorker]:
    """Ask all workers what they would grade with, and compare that with this machine.

    Args:
        address: the scheduler's address, or "local".
        min_level: the weakest acceptable sandbox level; empty for grading's default.
        patience: how long to wait for the scheduler, and then for a worker, in seconds.
        trusted: whether a connection to another machine may be unencrypted.

    Raises:
        BadInput: the scheduler does not answer, or the connection would be unencrypted without being trusted.
    """
    with connected(address, patience=patience, trusted=trusted) as client:
        here = examine_oneself(level="L0")  # the client opens no sandbox
        return examine_workers(client, here, min_level, "")


def print_workers(workers: Sequence[ExaminedWorker], console: Console) -> None:
    """Print a table of the workers, and a line about each one that is refused."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for title in ("", "worker", "machine", "boxes", *_SHOWN):
        table.add_column(title, no_wrap=True)
    for worker in workers:
        versions = (worker.examined.versions.get(name, "–") for name in _SHOWN)
        mark = "[red]✗[/]" if worker.refused else "[green]✓[/]"
        shown = (worker.name or worker.address, worker.examined.host or "–", worker.examined.level or "–", *versions)
        table.add_row(mark, *map(escape, shown))
    console.print(table)
    for worker in workers:
        if worker.refused:
            console.print(
                refusal(worker.name, worker.address, worker.refused), highlight=False, markup=False, soft_wrap=True
            )
    able = sum(not worker.refused for worker in workers)
    console.print(f"{able} of {len(workers)} workers can grade.", highlight=False)
