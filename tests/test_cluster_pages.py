"""The pages on clusters: their configuration is read by the libraries that it is for, their commands by ours."""

from __future__ import annotations

import ast
import re
import shlex
import signal
import subprocess
from pathlib import Path
from typing import Any

import dask
import pytest
import yaml

from autograder.cli import main

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = ("cluster", "slurm", "kubernetes")


def page(name: str) -> str:
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


@pytest.fixture
def slurm_cluster() -> Any:
    """`SLURMCluster`, whose module takes Ctrl-C for itself as soon as it is imported: here it is given back."""
    before = signal.getsignal(signal.SIGINT)
    from dask_jobqueue import SLURMCluster

    signal.signal(signal.SIGINT, before)
    return SLURMCluster


def test_dask_jobqueue_writes_a_job_of_the_workers_described(slurm_cluster: Any) -> None:
    settings = yaml.safe_load((DOCS / "cluster" / "jobqueue.yaml").read_text())
    known = dask.config.get("jobqueue.slurm")
    described = settings["jobqueue"]["slurm"]
    assert {name.replace("_", "-") for name in described} <= {name.replace("_", "-") for name in known}
    whole = {f"jobqueue.slurm.{name}": value for name, value in described.items()}
    with dask.config.set(whole), slurm_cluster(scheduler_options={"dashboard": False}) as cluster:
        script = cluster.job_script()
    for line in ("-A teaching", "-p short", "-t 02:00:00", "--cpus-per-task=8"):
        assert f"#SBATCH {line}\n" in script
    assert "export OMP_NUM_THREADS=1\n" in script
    [worker] = [line for line in script.splitlines() if "distributed.cli.dask_worker" in line]
    assert worker.startswith("/shared/katze/.venv/bin/python -m distributed.cli.dask_worker")
    for option in ("--nthreads 1", "--nworkers 8", "--local-directory /tmp"):
        assert option in worker
    ast.parse((DOCS / "cluster" / "slurm.py").read_text())


def test_what_is_set_is_known_to_dask() -> None:
    settings = yaml.safe_load((DOCS / "cluster" / "jobqueue.yaml").read_text())
    names = set(paths(settings["distributed"], "distributed"))
    assert {name for name in names if dask.config.get(name, default=names) is names} == set()


def paths(settings: Any, name: str) -> list[str]:
    if not isinstance(settings, dict):
        return [name]
    return [path for key, value in settings.items() for path in paths(value, f"{name}.{key}")]


def test_the_operator_finds_what_it_asks_for() -> None:
    cluster = yaml.safe_load((DOCS / "cluster" / "kubernetes.yaml").read_text())
    assert (cluster["apiVersion"], cluster["kind"]) == ("kubernetes.dask.org/v1", "DaskCluster")
    name, spec = cluster["metadata"]["name"], cluster["spec"]
    assert spec.keys() == {"idleTimeout", "worker", "scheduler"}
    service = spec["scheduler"]["service"]
    assert service["selector"] == {"dask.org/cluster-name": name, "dask.org/component": "scheduler"}
    for role in ("worker", "scheduler"):
        pod = spec[role]["spec"]
        [container] = pod["containers"]
        assert container["name"] == role
        assert container["args"][:2] == ["dask", role]
        mounted = {mount["name"] for mount in container.get("volumeMounts", [])}
        assert mounted == {volume["name"] for volume in pod.get("volumes", [])}
        assert pod["automountServiceAccountToken"] is False
    assert isinstance(spec["worker"]["replicas"], int)
    [scheduler] = spec["scheduler"]["spec"]["containers"]
    ports = {port["name"]: port["containerPort"] for port in scheduler["ports"]}
    assert {port["targetPort"]: port["port"] for port in service["ports"]} == ports


@pytest.mark.parametrize("name", PAGES)
def test_what_the_pages_link_to_is_there(name: str) -> None:
    for target in re.findall(r"\]\((?!http)([^)#]+)", page(name)):
        assert (DOCS / target).exists(), target


@pytest.mark.parametrize("name", PAGES)
def test_each_says_what_was_not_tried(name: str) -> None:
    assert "Not tried:" in " ".join(page(name).partition("## What was tried")[2].split())


@pytest.mark.parametrize("name", PAGES)
def test_their_commands_of_ours_are_right(name: str) -> None:
    commands = {line.partition("#")[0].strip() for line in page(name).splitlines() if line.startswith("    katze ")}
    for command in commands:
        with pytest.raises(SystemExit) as ended:
            main([*shlex.split(command)[1:], "--help"])
        assert ended.value.code == 0


def test_the_two_commands_make_certificates_and_tell_dask(tmp_path: Path) -> None:
    make, tell = (
        line.strip() for line in page("cluster").splitlines() if line.startswith(("    openssl", "    for who"))
    )
    shown = subprocess.run(
        ["bash", "-c", f"{make.replace('rsa:3072', 'rsa:2048')} 2>/dev/null; {tell}; env"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    environment = dict(line.partition("=")[::2] for line in shown.stdout.splitlines())
    settings = dask.config.collect_env({name: value for name, value in environment.items() if name.startswith("DASK")})
    comm = settings["distributed"]["comm"]
    crt, key = str(tmp_path / "cluster.crt"), str(tmp_path / "cluster.key")
    whole = {"cert": crt, "key": key}
    assert comm["require_encryption"] is True
    assert comm["tls"] == {"ca_file": crt, **dict.fromkeys(("scheduler", "worker", "client"), whole)}
    assert "PRIVATE KEY" in Path(key).read_text()
