"""Connects to a cluster by its address, or starts one on this machine."""

import contextlib
import ipaddress
import logging
import re
import signal
import warnings
from collections.abc import Iterator
from typing import Any

from autograder.cluster.plain_reads import reading_plain_data
from autograder.errors import BadInput, lacks_extra

logger = logging.getLogger(__name__)

LOCAL = "local"
"""The address that asks for a new cluster on this machine."""

PATIENCE_SECONDS = 10.0
"""How long to wait for a scheduler, and then for its first worker."""

KEPT_MESSAGES = 10
"""How many of their last messages client and scheduler keep, each with a submission in it; Dask's default is 1,000."""

_UNWATCHED = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1 s",
    "distributed.admin.low-level-log-length": KEPT_MESSAGES,
}
"""Dask settings for this process and a cluster that it starts: measuring for a dashboard, which nobody looks at, would
slow down the grading.
"""

_ADDRESS = re.compile(r"(?:(tcp|tls|ws|wss)://)?(\[[0-9a-fA-F:.]+\]|[\w.-]+):(\d{1,5})")
_ENCRYPTED = ("tls", "wss")

_NEEDED = ("--scheduler needs Dask", "cluster")


@contextlib.contextmanager
def connected(
    address: str, workers: int = 1, patience: float = PATIENCE_SECONDS, trusted: bool = False
) -> Iterator[Any]:
    """Connect a client to a cluster with at least one worker. It reads only plain data from there.

    Args:
        address: the scheduler's address, such as "tcp://10.0.0.1:8786", or "local".
        workers: the number of workers of a local cluster.
        patience: how long to wait for the scheduler, and then for a worker, in seconds.
        trusted: whether a connection to another machine may be unencrypted.

    Yields:
        The client (`distributed.Client`).

    Raises:
        BadInput: Dask is not installed, the address is invalid or not trusted, nothing answers, or there is no worker.
    """
    check_address(address, trusted)
    try:
        import dask
        from distributed import Client
    except ImportError as error:
        raise lacks_extra(*_NEEDED) from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # our own messages say what goes wrong
    with contextlib.ExitStack() as resources:
        resources.enter_context(dask.config.set(_UNWATCHED))
        if address == LOCAL:  # its scheduler runs in this process, where nobody else can reach it
            target = resources.enter_context(_local(workers))
        else:
            resources.enter_context(reading_plain_data())
            target = address
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about other versions: `examining.py` compares them
                client = Client(
                    target, timeout=patience, set_as_default=False, direct_to_workers=True if address == LOCAL else None
                )
        except (OSError, TimeoutError) as error:
            if isinstance(error, FileNotFoundError) or "certificate" in str(error).lower():
                raise BadInput(f"no connection to {address}: {error}; see docs/cluster.md on certificates") from error
            raise BadInput(
                f"no scheduler answers at {address} within {patience:g} s; check the address, and that `dask "
                "scheduler` is running there"
            ) from error
        except (TypeError, ValueError, RuntimeError) as error:
            raise BadInput(f"no connection to {address}: {error}; see docs/cluster.md") from error
        logger.info("connected to the scheduler at %s", address)
        resources.callback(_close, client)
        try:
            client.wait_for_workers(workers if address == LOCAL else 1, timeout=max(patience, 60 * (address == LOCAL)))
        except TimeoutError as error:
            raise BadInput(
                f"the scheduler at {address} has no worker; start some, such as with `dask worker {address}`"
            ) from error
        yield client


def check_address(address: str, trusted: bool = False) -> None:
    """Refuse an invalid address, and an unencrypted connection that is not trusted.

    Args:
        address: a scheduler's address, or "local".
        trusted: whether a connection to another machine may be unencrypted.

    Raises:
        BadInput: it is neither "local" nor an address with a port, or the connection would be unencrypted without
            being trusted.
    """
    if address == LOCAL:
        return
    match = _ADDRESS.fullmatch(address)
    if match is None or not 0 < int(match[3]) < 1 << 16:
        raise BadInput(
            f"{address!r} is not a scheduler's address; write one such as tcp://10.0.0.1:8786 or tls://10.0.0.1:8786, "
            "or `local`"
        )
    if match[1] not in _ENCRYPTED and not _is_here(match[2]) and not trusted:
        raise BadInput(
            f"the connection to {address} is not encrypted: anyone in between can read the course's secret and send "
            "grades; use certificates and tls:// (docs/cluster.md), or give --trust-scheduler if nobody else can "
            "reach it"
        )


def _is_here(host: str) -> bool:
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    return host == "localhost"


@contextlib.contextmanager
def _local(workers: int) -> Iterator[Any]:
    """Start a cluster of processes on this machine that nobody else can use."""
    from distributed import LocalCluster
    from distributed.security import Security

    try:
        security = Security.temporary()
    except ImportError as error:
        raise lacks_extra(*_NEEDED) from error
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends Ctrl-C to all processes of a command
    try:
        cluster = LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit=0,  # workers limit themselves
            security=security,
            silence_logs=logging.CRITICAL,
        )
    finally:
        signal.signal(signal.SIGINT, before)
    with cluster:
        yield cluster


def _close(client: Any) -> None:
    with contextlib.suppress(Exception):  # the connection may be gone
        client.close(timeout=2)
