"""Level L4: a fork server inside a docker or podman container. Its forks are sandboxes as at L2.

The image holds an interpreter and the same package versions that are installed here; the filtered library and the
sandboxes' folders are mounted. Sockets and process descriptors are passed in through a socket in that folder, because
inside and outside share a kernel; where they do not (a virtual machine), level L4 is not available.
"""

import functools
import hashlib
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.box.confinement.enclosure import Enclosure
from autograder.box.confinement.grants import package_folders
from autograder.box.confinement.packages import closure, pinned
from autograder.limits import Limits

ENGINES = ("podman", "docker")
IMAGE = "katze-box"
CONTAINERFILE = Path(__file__).with_name("Containerfile")
PACKAGES = "/packages"

_BOXES_NEED = "torch numpy matplotlib ipython matplotlib-inline safetensors jaxtyping ipywidgets".split()
_LIBRARY_NEEDS = "huggingface-hub jiwer nltk rouge-score sacrebleu tokenizers torchmetrics transformers".split()
_INSTALLED = (*_BOXES_NEED, *_LIBRARY_NEEDS)
"""Packages in the image, if they are installed here."""

_ANSWER_SECONDS = 30
_BUILD_SECONDS = 3600
_SHARED = 2 << 30  # bytes that the fork server and all its sandboxes share
_OWN = 512 << 20  # bytes of a sandbox that its limit does not count


class ContainerFailed(Exception):
    """docker or podman failed; the message is the last line of its output."""


class Container(Enclosure):
    """Runs an interpreter inside a container.

    Args:
        limits: of a sandbox.
        boxes: the largest number at once.
    """

    passes_descriptors = False

    def __init__(self, limits: Limits, boxes: int) -> None:
        self.packages = [PACKAGES]
        self._limits = limits
        self._boxes = boxes

    def command(self, root: Path, environment: Mapping[str, str], arguments: Sequence[str]) -> list[str]:
        """Return a `podman run` or `docker run` command that mounts only the folder and allows no network.

        Raises:
            ContainerFailed: neither is installed, or there is no image.
        """
        engine = find_engine()
        limits = self._limits
        memory = self._boxes * (max(limits.memory_bytes, limits.memory_ceiling_bytes) + _OWN) + _SHARED
        options = [
            f"--name={_name(root)}",
            "--interactive",  # its standard input says what to be
            "--network=none",
            "--read-only",
            "--tmpfs=/tmp:rw,noexec,nosuid,nodev,size=64m",
            "--cap-drop=all",
            "--security-opt=no-new-privileges",
            "--security-opt=label=disable",  # SELinux would forbid the socket that sandboxes are asked through
            f"--memory={memory}",
            f"--pids-limit={self._boxes * (limits.threads + 8) + 32}",
            *_ulimits(),
            f"--user={os.getuid()}:{os.getgid()}",  # files belong to the same one inside and outside
            *(["--userns=keep-id"] if engine == "podman" and os.getuid() != 0 else []),
            f"--volume={root}:{root}",
            f"--workdir={root}",
            *(f"--env={name}={value}" for name, value in environment.items()),
        ]
        return [engine, "run", "--rm", *options, image(engine), "python3", *arguments]

    def own_environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return this process's environment: docker and podman find their settings in it, and do not pass it on."""
        return dict(os.environ)

    def end(self, root: Path) -> None:
        """Remove the container, which outlives the command that started it."""
        subprocess.run([find_engine(), "rm", "--force", _name(root)], capture_output=True, check=False)


@functools.cache
def find_engine() -> str:
    """Return the first of podman and docker that is installed and works.

    Raises:
        ContainerFailed: neither works.
    """
    problems = []
    for engine in filter(shutil.which, ENGINES):
        problem = engine_problem(engine)
        if not problem:
            return engine
        problems.append(f"{engine}: {problem}")
    raise ContainerFailed("; ".join(problems) or "neither podman nor docker is installed")


def engine_problem(engine: str) -> str:
    """Return why an installed engine cannot be used; empty if it can."""
    try:
        _require(engine, "info", seconds=_ANSWER_SECONDS)
    except ContainerFailed as problem:
        return str(problem)
    return ""


def image(engine: str) -> str:
    """Return the image's name, which depends on everything it is built from."""
    parts = [CONTAINERFILE.read_text(), *_recipe().values(), _python(), engine]
    return f"{IMAGE}:{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:12]}"


def has_image(engine: str) -> bool:
    """Return whether the image has been built."""
    done = subprocess.run([engine, "image", "inspect", image(engine)], capture_output=True, check=False)
    return done.returncode == 0


def build_image(engine: str) -> None:
    """Build the image. This needs the network and some minutes, once for each set of versions.

    Raises:
        ContainerFailed: it could not be built.
    """
    with tempfile.TemporaryDirectory(prefix="katze-image-") as folder:
        shutil.copy(CONTAINERFILE, folder)
        for name, text in _recipe().items():
            Path(folder, name).write_text(text)
        indexes = [name for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL") if name in os.environ]
        options = ["--network=host", f"--tag={image(engine)}", f"--file={folder}/{CONTAINERFILE.name}"]
        options += [f"--build-arg={argument}" for argument in (f"PYTHON={_python()}", *indexes)]
        _require(engine, "build", *options, folder, seconds=_BUILD_SECONDS)


def _recipe() -> dict[str, str]:
    """Return the files that the image is built from: what is installed here, with versions."""
    needed = closure(_INSTALLED, package_folders())
    wanted = [pinned(name) for name in _INSTALLED if name in needed]
    constraints = sorted(map(pinned, needed))
    return {"requirements.txt": "\n".join(wanted) + "\n", "constraints.txt": "\n".join(constraints) + "\n"}


def _python() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def _name(root: Path) -> str:
    return f"katze-{root.name}"


def _ulimits() -> list[str]:
    """Return limits no higher than this process's own, which not every engine may raise."""
    options = []
    for name, kind, most in (("nofile", resource.RLIMIT_NOFILE, 4096), ("nproc", resource.RLIMIT_NPROC, 16384)):
        _, hard = resource.getrlimit(kind)
        count = most if hard == resource.RLIM_INFINITY else min(hard, most)
        options.append(f"--ulimit={name}={count}:{count}")
    return options


def _require(*command: str, seconds: float) -> None:
    """Run a command.

    Raises:
        ContainerFailed: it fails.
    """
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ContainerFailed(f"{command[0]} does not answer ({type(error).__name__})") from error
    if done.returncode != 0:
        said = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
        raise ContainerFailed(said[-1].strip()[:300] if said else f"{command[0]} ended with status {done.returncode}")
