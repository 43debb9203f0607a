"""The way to real schedulers and workers, which are processes of their own: with certificates, and of other versions.

Tests `table.py` as well.
"""

import json
import os
from collections.abc import Mapping
from contextlib import ExitStack, nullcontext, suppress
from pathlib import Path

import dask
import pytest
from distributed import LocalCluster
from distributed.security import Security

from autograder.cli import main
from autograder.cluster import connecting
from autograder.cluster.connecting import check_address, connected
from autograder.cluster.examining import Examined, why_not
from autograder.cluster.plain_reads import Unread
from autograder.cluster.worker import grade_submission, problem_at
from autograder.errors import BadInput
from tests.autograder.cluster.dask_processes import scheduler, worker

OLD_TORCH = """
import importlib.metadata
version = importlib.metadata.version
importlib.metadata.version = lambda name: "1.0.0" if name == "torch" else version(name)
"""
NO_TORCH = """
import sys
sys.modules["torch"] = None
"""
EVIL = """
import os, pickle
from autograder.cluster import worker

class Bomb(Exception):
    def __reduce__(self):
        return eval, ("__import__('os').getpid() == {CLIENT} and open({MARKER!r}, 'w')".format(**os.environ),)

async def examine_worker(*told):
    from distributed import get_worker
    get_worker().log_event("warn", {"message": pickle.dumps(Bomb())})
    return Bomb()

def grade_submission(name, task):
    if task == b"raise":
        raise Bomb
    return Bomb() if task == b"return" else [task, Bomb()]

def problem_at(name, dask_worker):
    return {name: Bomb()}

worker.examine_worker, worker.grade_submission, worker.problem_at = examine_worker, grade_submission, problem_at
"""
WITHOUT_BOXES = """
import autograder.box.confinement.selftest as selftest
selftest.self_test = lambda level=None: ["no Landlock"]
"""


@pytest.mark.usefixtures("processes")
def test_doctor_shows_all_workers_and_refuses_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ExitStack() as started:
        address = started.enter_context(scheduler())
        for name, patch in [("good", ""), ("old", OLD_TORCH), ("bare", NO_TORCH), ("weak", WITHOUT_BOXES)]:
            started.enter_context(worker(address, name, tmp_path, patch))
        assert main(["doctor", "--scheduler", address, "--scheduler-wait", "60", "--min-level", "L2"]) == 1
        told = capsys.readouterr().out
    assert "1 of 4 workers can grade." in told
    refused = {line.split()[1]: line for line in told.splitlines() if " is refused: " in line}
    assert refused.keys() == {"old", "bare", "weak"}
    assert "torch is 1.0.0 there and" in refused["old"]
    assert "torch cannot be imported there; install the same Katze there" in refused["bare"]
    assert "sandboxes at level L2 are not possible here (no Landlock)" in refused["weak"]


@pytest.mark.usefixtures("processes")
def test_a_worker_that_sends_code_runs_nothing_here(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = tmp_path / "it has run"
    monkeypatch.setenv("MARKER", str(marker))
    monkeypatch.setenv("CLIENT", str(os.getpid()))
    with scheduler() as address, worker(address, "evil", tmp_path, EVIL):
        assert main(["doctor", "--scheduler", address, "--scheduler-wait", "60", "--json"]) == 1
        [told] = json.loads(capsys.readouterr().out)
        assert (told["name"], told["refused"].partition(":")[0]) == ("evil", "it does not answer")
        with connected(address, patience=60) as client:
            with suppress(Exception):
                client.submit(grade_submission, "", b"raise").result()
            assert isinstance(client.submit(grade_submission, "", b"return").result(), Unread)
            assert client.submit(grade_submission, "", b"list").result()[0] == b"list"
            [said] = client.run(problem_at, "run", on_error="return").values()
            assert isinstance(said["run"], Unread)
    assert not marker.exists()


@pytest.mark.usefixtures("processes")
def test_a_scheduler_without_a_worker_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with scheduler() as address:
        assert main(["doctor", "--scheduler", address, "--scheduler-wait", "0.5"]) == 2
    assert f"the scheduler at {address} has no worker; start some" in capsys.readouterr().err


def certificates() -> Mapping[str, str]:
    """A certificate that signs itself, with its key, as Dask's settings."""
    made, tls = Security.temporary(), "distributed.comm.tls"
    own = {"cert": made.tls_client_cert, "key": made.tls_client_key}
    roles = {f"{tls}.{who}.{what}": one for who in ("scheduler", "worker", "client") for what, one in own.items()}
    return {"distributed.comm.require-encryption": "True", f"{tls}.ca-file": made.tls_ca_file, **roles}


@pytest.mark.usefixtures("processes")
def test_with_certificates_nobody_else_gets_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "reading_plain_data", nullcontext)  # the scheduler is in this process
    ours = {"n_workers": 1, "processes": False, "protocol": "tls://", "dashboard_address": ":0"}
    with dask.config.set(certificates()), LocalCluster(**ours, security=Security()) as cluster:
        address = cluster.scheduler_address
        assert address.startswith("tls://")
        with connected(address) as client:
            assert client.submit(sum, (1, 2)).result() == 3
        for settings, refused in ((certificates(), address), ({}, address.replace("tls://", "tcp://"))):
            said = f"no connection to {refused}|no scheduler answers at {refused}"
            with dask.config.set(settings), pytest.raises(BadInput, match=said), connected(refused, patience=2):
                pass


@pytest.mark.parametrize(
    ("address", "refused"),
    [
        ("tcp://10.0.0.1:8786", True),
        ("10.0.0.1:8786", True),
        ("ws://scheduler:8786", True),
        ("tcp://[2001:db8::1]:8786", True),
        ("tcp://localhost.example.org:8786", True),
        ("tcp://0.0.0.0:8786", True),
        ("tls://10.0.0.1:8786", False),
        ("wss://scheduler:8786", False),
        ("tcp://127.0.0.1:8786", False),
        ("[::1]:8786", False),
        ("localhost:8786", False),
        ("local", False),
    ],
)
def test_a_way_that_others_can_listen_on_is_refused_unless_it_is_trusted(address: str, refused: bool) -> None:
    with pytest.raises(BadInput, match="not encrypted.*--trust-scheduler") if refused else nullcontext():
        check_address(address)
    check_address(address, trusted=True)


@pytest.mark.parametrize(
    ("there", "said"),
    [
        ({"torch": "2.0"}, ""),
        ({"torch": "1.0"}, "torch is 1.0 there and 2.0 here; install the same versions there"),
        ({}, "torch is none there and 2.0 here; install the same versions there"),
        ({"torch": "2.0", "checks": "x"}, "Katze's grading code is different; install the same versions there"),
        ({"torch": "1.0", "checks": "x"}, "torch is 1.0 there and 2.0 here; install the same versions there"),
    ],
)
def test_what_differs_is_named(there: dict[str, str], said: str) -> None:
    assert why_not(Examined("there", there, "L2"), Examined("here", {"torch": "2.0"}, "L0")) == said
    assert why_not(Examined("there", there, "", "no sandbox"), Examined("here", {"torch": "2.0"}, "L0")) == "no sandbox"
