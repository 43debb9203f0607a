"""The pages on clusters: their configuration is read by the libraries that it is for, their commands by ours."""

import ast
import functools
import re
import signal
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import dask
import jsonschema
import kubernetes_validate
import pytest
import yaml
from kubernetes_validate.utils import all_versions

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
KUBERNETES = DOCS / "cluster" / "kubernetes.yaml"
ROLES = ("scheduler", "worker")
CHART = "operator/deployment/helm/dask-kubernetes-operator"
"""Where the operator's package has the schemas of its resources."""


def page(name: str) -> str:
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


def described(right: str = "\n", wrong: str = "\n") -> list[Any]:
    """The cluster and the network policy of the file, with something in it replaced."""
    text = KUBERNETES.read_text()
    assert right in text
    return list(yaml.safe_load_all(text.replace(right, wrong)))


@pytest.fixture
def slurm_cluster() -> Any:
    """`SLURMCluster`, whose module takes Ctrl-C for itself as soon as it is imported: here it is given back."""
    before = signal.getsignal(signal.SIGINT)
    from dask_jobqueue import SLURMCluster

    signal.signal(signal.SIGINT, before)
    return SLURMCluster


@pytest.mark.usefixtures("processes")
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


@pytest.mark.usefixtures("processes")
def test_what_is_set_is_known_to_dask() -> None:
    from distributed.config import defaults

    settings = yaml.safe_load((DOCS / "cluster" / "jobqueue.yaml").read_text())
    cluster, _ = described()
    [scheduler] = cluster["spec"]["scheduler"]["spec"]["containers"]
    by_variables = dask.config.collect_env({variable["name"]: variable["value"] for variable in scheduler["env"]})
    names = {path for tree in (settings, by_variables) for path in paths(tree["distributed"], "distributed")}
    assert {name for name in names if dask.config.get(name, default=names, config=defaults) is names} == set()


def paths(settings: Any, name: str) -> list[str]:
    if not isinstance(settings, dict):
        return [name]
    return [path for key, value in settings.items() for path in paths(value, f"{name}.{key}")]


@functools.cache
def definition(kind: str) -> dict[str, Any]:
    """The operator's schema of a resource, with what Kubernetes adds to each, and nothing else allowed."""
    crd = yaml.safe_load((files("dask_kubernetes") / CHART / "crds" / f"{kind.lower()}.yaml").read_text())["spec"]
    [version] = crd["versions"]
    schema = version["schema"]["openAPIV3Schema"]
    metadata = {"properties": dict.fromkeys(("name", "namespace", "labels", "annotations"), {})}
    added = {"apiVersion": {"const": f"{crd['group']}/{version['name']}"}, "kind": {}, "metadata": metadata}
    return closed(schema | {"properties": added | schema["properties"]})


def closed(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema, but a field that it does not list is wrong, not dropped."""
    inner = {key: closed(value) if isinstance(value, dict) else value for key, value in schema.items()}
    if "properties" not in schema or schema.get("x-kubernetes-preserve-unknown-fields"):
        return inner
    return {"additionalProperties": False} | inner


def validate(*resources: dict[str, Any]) -> None:
    for resource in resources:
        if resource["apiVersion"].startswith("kubernetes.dask.org/"):
            jsonschema.Draft202012Validator(definition(resource["kind"])).validate(resource)
        else:
            for version in set(all_versions()):
                kubernetes_validate.validate(resource, version, strict=True)


def made_by_the_operator(cluster: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What it would create for a cluster in the namespace `grading`."""
    from dask_kubernetes.operator.controller import controller
    from dask_kubernetes.operator.validation import validate_cluster_name

    name, spec = cluster["metadata"]["name"], cluster["spec"]
    validate_cluster_name(name)
    scheduler, unlabelled = spec["scheduler"], ({}, {})
    workers = controller.build_default_worker_group_spec(name, spec["worker"], *unlabelled)
    group, pod = workers["metadata"]["name"], workers["spec"]["worker"]["spec"]
    return {
        "scheduler": controller.build_scheduler_deployment_spec(name, scheduler["spec"], *unlabelled),
        "service": controller.build_scheduler_service_spec(name, scheduler["service"], *unlabelled),
        "workers": workers,
        "worker": controller.build_worker_deployment_spec(group, "grading", name, "0123456789", pod, *unlabelled),
    }


def container(deployment: dict[str, Any]) -> dict[str, Any]:
    [only] = deployment["spec"]["template"]["spec"]["containers"]
    return only


@pytest.fixture
def made() -> dict[str, dict[str, Any]]:
    cluster, _ = described()
    return made_by_the_operator(cluster)


def test_the_operator_and_kubernetes_accept_the_file_and_what_is_made_of_it(made: dict[str, dict[str, Any]]) -> None:
    cluster, policy = described()
    assert (cluster["kind"], policy["kind"]) == ("DaskCluster", "NetworkPolicy")
    validate(cluster, policy, *made.values())


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("replicas:", "replica:", "'replica' was unexpected"),
        ("runAsNonRoot:", "runAsNonroot:", "'runAsNonroot' was unexpected"),
        ("policyTypes:", "policyType:", "'policyType' was unexpected"),
        ("replicas: 8", 'replicas: "8"', "is not of type 'integer'"),
    ],
)
def test_a_mistake_in_the_file_is_refused(right: str, wrong: str, said: str) -> None:
    mistaken = described(right, wrong)
    with pytest.raises(jsonschema.ValidationError, match=said):
        validate(*mistaken)


def test_what_the_operator_makes_fits_together(made: dict[str, dict[str, Any]]) -> None:
    service, worker = made["service"], container(made["worker"])
    labels = made["scheduler"]["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= labels.items()
    ports = {port["name"]: port["containerPort"] for port in container(made["scheduler"])["ports"]}
    assert {port["targetPort"]: port["port"] for port in service["spec"]["ports"]} == ports
    assert container(made["scheduler"])["readinessProbe"]["httpGet"]["port"] in ports
    environment = {variable["name"]: variable["value"] for variable in worker["env"]}
    host = f"{service['metadata']['name']}.grading.svc.cluster.local"
    assert environment["DASK_SCHEDULER_ADDRESS"] == f"tcp://{host}:{ports['tcp-comm']}"
    assert set(re.findall(r"\$\((\w+)\)", " ".join(worker["args"]))) <= environment.keys()
    for role in ROLES:
        pod = made[role]["spec"]["template"]["spec"]
        mounted = {mount["name"] for mount in container(made[role]).get("volumeMounts", [])}
        assert mounted == {volume["name"] for volume in pod.get("volumes", [])}
        assert pod["automountServiceAccountToken"] is False


@pytest.mark.usefixtures("processes")
def test_dask_reads_the_arguments_of_its_containers(made: dict[str, dict[str, Any]]) -> None:
    from distributed.cli import dask_scheduler, dask_worker

    for role, command in (("scheduler", dask_scheduler.main), ("worker", dask_worker.main)):
        dask, name, *arguments = container(made[role])["args"]
        assert (dask, name) == ("dask", role)
        understood = command.make_context(role, arguments).params
    assert (understood["nthreads"], understood["memory_limit"], understood["scheduler"]) == (1, "0", None)


def test_the_network_policy_lets_in_the_cluster_and_the_operator(made: dict[str, dict[str, Any]]) -> None:
    _, policy = described()
    from_pods, from_operator = policy["spec"]["ingress"]
    assert from_pods == {"from": [{"podSelector": policy["spec"]["podSelector"]}]}
    selected = policy["spec"]["podSelector"]["matchLabels"].items()
    for role in ROLES:
        assert selected <= made[role]["spec"]["template"]["metadata"]["labels"].items()
    [namespace] = re.findall(r"helm install .* --namespace (\S+)", page("kubernetes"))
    selector = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    assert from_operator["from"] == [{"namespaceSelector": selector}]
    assert [port["port"] for port in from_operator["ports"]] == [p["port"] for p in made["service"]["spec"]["ports"]]


@pytest.mark.usefixtures("processes")
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
