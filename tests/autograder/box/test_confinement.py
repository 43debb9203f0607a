"""What a cell must not be able to do, tried one by one: at L2, at L3 where it works, at L4 where it is prepared.

Tests `landlock.py`.
"""

import contextlib
import fcntl
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

import course_lib
from autograder.box.box import Box
from autograder.box.confinement.levels import Level
from autograder.box.endings import BoxLost
from autograder.box.fork_server.client import ForkServer
from tests.autograder.box.conftest import raised, value
from tests.boxes import ServerOf

pytestmark = pytest.mark.usefixtures("processes")


REPOSITORY = Path(course_lib.__file__).parents[1]
GIT = REPOSITORY / ".git"  # in a worktree, a file that names the folder
HEAD = (Path(GIT.read_text().removeprefix("gitdir:").strip()) if GIT.is_file() else GIT) / "HEAD"
REFUSED = {"PermissionError", "FileNotFoundError", "ModuleNotFoundError"}  # forbidden, or at L3 not there


@pytest.fixture(scope="module", params=[Level.L2, Level.L3, Level.L4], ids=lambda level: level.name)
def fork_server(server_of: ServerOf, request: pytest.FixtureRequest) -> ForkServer:
    return server_of(request.param)


def refused(box: Box, source: str) -> bool:
    """Whether a cell was stopped by the system (and not by a slip of its own)."""
    found = raised(box, source)
    # 18 is what Landlock answers to links and renames across folders, 30 what a read-only file system does
    assert found.type_name in REFUSED or found.message.startswith(("[Errno 18]", "[Errno 30]")), found
    return True


def test_no_file_outside_can_be_read(kept_box: Box) -> None:
    own = [f"/proc/self/{name}" for name in ("environ", "maps", "mem")]
    course = [REPOSITORY / "course_lib/attention.py", REPOSITORY / "course_lib/exercises/attention/scores.py"]
    machine = ["/etc/passwd", "/etc/hostname", f"/proc/{os.getpid()}/environ", Path(sys.prefix) / "pyvenv.cfg"]
    for path in map(str, (*course, REPOSITORY / "pyproject.toml", HEAD, *machine, *own)):
        assert Path(path).exists()
        assert refused(kept_box, f"open({path!r}, 'rb').read()")
        assert refused(kept_box, f"import os; os.open({path!r}, os.O_RDONLY)")
        assert refused(kept_box, f"import os; os.open({path!r}, os.O_RDWR)")


def test_no_folder_outside_can_be_listed(kept_box: Box) -> None:
    for folder in (REPOSITORY, Path("/"), Path("/tmp"), Path("/proc"), Path.home()):
        assert refused(kept_box, f"import os; os.listdir({str(folder)!r})")


def test_nothing_leads_to_a_file_outside(box: Box, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    assert refused(box, f"import os; os.symlink({str(secret)!r}, 'link'); open('link').read()")
    assert refused(box, f"import os; os.link({str(secret)!r}, 'hard'); open('hard').read()")
    assert refused(box, f"import os; os.rename({str(secret)!r}, 'moved')")
    assert refused(box, f"import os; os.chdir({str(tmp_path)!r}); open('secret').read()")
    assert refused(box, f"import mmap, os; mmap.mmap(os.open({str(secret)!r}, os.O_RDONLY), 0)")
    assert refused(box, f"import sqlite3, os\nos.stat({str(secret)!r})\nopen({str(secret)!r})")
    assert refused(box, f"import torch; torch.load({str(secret)!r})")
    assert secret.read_text() == "secret"


def test_nothing_outside_can_be_written_or_changed(kept_box: Box, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("victim")
    before = victim.stat()
    for source in (
        f"open({str(victim)!r}, 'w')",
        f"open({str(victim)!r}, 'a')",
        f"os.open({str(victim)!r}, os.O_RDONLY | os.O_TRUNC)",
        f"os.open({str(victim)!r}, 3 | os.O_TRUNC)",
        f"os.truncate({str(victim)!r}, 0)",
        f"os.remove({str(victim)!r})",
        f"os.chmod({str(victim)!r}, 0o777)",
        f"os.chown({str(victim)!r}, 0, 0)",
        f"os.utime({str(victim)!r}, (0, 0))",
        f"os.setxattr({str(victim)!r}, 'user.mark', b'x')",
        f"os.mkdir({str(tmp_path / 'new')!r})",
        f"open({str(tmp_path / 'new')!r}, 'w')",
        f"os.mkfifo({str(tmp_path / 'new')!r})",
        f"os.symlink('a', {str(tmp_path / 'new')!r})",
        f"open('own', 'w').close(); os.rename('own', {str(tmp_path / 'new')!r})",
        "open('/dev/shm/katze', 'w')",
        "open('/tmp/katze', 'w')",
    ):
        assert refused(kept_box, f"import os\n{source}")
    assert victim.read_text() == "victim"
    assert (victim.stat().st_mode, victim.stat().st_mtime) == (before.st_mode, before.st_mtime)
    assert list(tmp_path.iterdir()) == [victim]


def test_a_box_has_a_folder_of_its_own(box: Box) -> None:
    source = (
        "import os, tempfile, pathlib\n"
        "os.mkdir('a'); pathlib.Path('a/b').write_text('c'); os.rename('a/b', 'b'); os.remove('b'); os.rmdir('a')\n"
        "with tempfile.TemporaryFile() as file: file.write(b'x')\n"
        "open('kept', 'w').write('x')\n"
        "os.listdir(), pathlib.Path.home() == pathlib.Path.cwd() == pathlib.Path(tempfile.gettempdir())"
    )
    assert value(box, source) == "(['kept'], True)"


def test_a_box_cannot_see_another(fork_server: ForkServer, box: Box) -> None:
    with fork_server.open_box() as other:
        folder = value(other, "import os; open('answer', 'w').write('42'); os.getcwd()")
        assert refused(box, f"open({folder} + '/answer').read()")
        assert refused(box, f"import os; os.listdir({folder})")
        assert refused(box, f"import os; os.listdir(os.path.dirname({folder}))")


def test_the_folder_is_gone_afterwards(fork_server: ForkServer) -> None:
    with fork_server.open_box() as box:
        folder = (
            box.run_cell("import os; open('answer', 'w').write('42'); print(os.getcwd())").outputs[0]["text"].strip()
        )
        assert Path(folder, "answer").exists()
    assert not Path(folder).exists()


def test_a_folder_that_is_hard_to_remove_is_gone_as_well(fork_server: ForkServer) -> None:
    with fork_server.open_box() as box:
        result = box.run_cell("import os; print(os.getcwd())")
        with contextlib.suppress(BoxLost):  # where that is seen before it is done
            box.run_cell("for _ in range(3000):\n    os.mkdir('d'); os.chdir('d')\nos.mkdir('x', 0)")
    assert not Path(result.outputs[0]["text"].strip()).exists()


def test_no_network(kept_box: Box) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        for source in (
            f"socket.create_connection(('127.0.0.1', {port}), timeout=2)",
            "socket.socket()",
            "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
            "socket.socket(socket.AF_INET6)",
            "socket.socket(socket.AF_UNIX)",
            "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
            "socket.socketpair()",
        ):
            assert refused(kept_box, f"import socket\n{source}")


OTHERS = (
    "import os; os.spawnv(os.P_WAIT, '/bin/true', ['true'])",
    "import _posixsubprocess as p, os; p.fork_exec([b'true'], [b'/bin/true'], True, (), None, None, "
    "-1, -1, -1, -1, -1, -1, *os.pipe(), True, False, 0, None, None, None, -1, None, True)",
    "import os; os.fork()",
    "import os; os.forkpty()",
    "import os; os.execv('/bin/true', ['true'])",
    "import os; os.posix_spawn('/bin/true', ['true'], {})",
    "import multiprocessing.context as m; m.ForkContext().Process(target=print).start()",
    "import multiprocessing.context as m; m.SpawnContext().Process(target=print).start()",
    "import os; os.kill(os.getppid(), 0)",
    "import os; os.kill(1, 0)",
    "import os; os.kill(0, 0)",
    "import os; os.kill(-1, 0)",
    "import os; os.killpg(os.getpgid(os.getppid()), 0)",
    "import os, signal; signal.pidfd_send_signal(os.pidfd_open(os.getppid()), 0)",
    "import os, resource; resource.prlimit(os.getppid(), resource.RLIMIT_CPU)",
    "import os; os.sched_setaffinity(os.getppid(), {0})",
    "import os; os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)",
    "import os; os.memfd_create('x')",
    "import os; os.setuid(0)",
    "import os; os.chroot('.')",
    "import os; os.chmod('.', 0o777)",
    "import os; os.mkfifo('pipe')",
    "import os; os.posix_fallocate(os.open('file', os.O_RDWR | os.O_CREAT), 0, 4096)",
    "import multiprocessing.shared_memory as s; s.SharedMemory(create=True, size=10)",
)
"""What would start another process, or reach one."""


def test_no_other_process_can_be_started_or_reached(kept_box: Box) -> None:
    for source in OTHERS:
        assert refused(kept_box, source)


FORBIDDEN = (
    ("ptrace", 101, "16, parent, 0, 0"),
    ("process_vm_readv", 310, "parent, 0, 0, 0, 0, 0"),
    ("unshare", 272, "0x10000000"),
    ("mount", 165, "0, 0, 0, 0, 0"),
    ("bpf", 321, "0, 0, 0"),
    ("keyctl", 250, "0, 0, 0, 0, 0"),
    ("io_uring_setup", 425, "1, 0"),
    ("userfaultfd", 323, "0"),
    ("shmget", 29, "0, 4096, 0o1600"),
    ("semget", 64, "0, 1, 0o1600"),
    ("msgget", 68, "0, 0o1600"),
    ("personality", 135, "0"),
    ("perf_event_open", 298, "0, 0, 0, 0, 0"),
    ("sendmsg", 46, "3, 0, 0"),
    ("setsockopt of a new socket", 41, "1, 1, 0"),
    ("fork by clone", 56, "17, 0, 0, 0, 0"),
    ("vfork", 58, ""),
    ("ioctl TIOCSTI", 16, "0, 0x5412, 0"),
    ("fcntl F_SETOWN", 72, "0, 8, parent"),
    ("tgkill", 234, "parent, parent, 9"),
    ("rt_sigqueueinfo", 129, "parent, 9, 0"),
    ("name_to_handle_at", 303, "-100, b'/etc/passwd', lock, lock, 0"),
    ("prctl PR_SET_PDEATHSIG", 157, "1, 0, 0, 0, 0"),
    # what two sandboxes that run at once could tell each other by
    ("sync", 162, ""),
    ("syncfs", 306, "own"),
    ("cachestat", 451, "own, 0, 0, 0"),
    ("mincore", 27, "0, 4096, 0"),
    ("readahead", 187, "own, 0, 4096"),
    ("statfs", 137, "b'.', 0"),
    ("fstatfs", 138, "own, 0"),
    ("sysinfo", 99, "0"),
    ("inotify_init1", 294, "0"),
    ("mq_open", 240, "b'a', 66, 0o600, 0"),
    ("sched_getattr", 315, "parent, 0, 0, 0"),
    ("getpriority", 140, "0, parent"),
    ("timer_create", 222, "0, 0, 0"),
    ("rt_sigqueueinfo of itself", 129, "os.getpid(), 40, 0"),
    ("tgkill with a queued signal", 234, "os.getpid(), os.getpid(), 40"),
    ("clock_gettime of another", 228, "~parent << 3 | 2, ctypes.create_string_buffer(16)"),
    ("futex of a shared page", 202, "0, 1, 1, 0, 0, 0"),
    ("fcntl F_SETLK", 72, "own, 6, lock"),
    ("fcntl F_SETLKW", 72, "own, 7, lock"),
    ("fcntl F_GETLK", 72, "own, 5, lock"),
    ("fcntl F_OFD_SETLK", 72, "own, 37, lock"),
    ("fcntl F_SETLEASE", 72, "own, 1024, 0"),
    ("fcntl F_NOTIFY", 72, "own, 1026, 1"),
    ("fadvise64 POSIX_FADV_DONTNEED", 221, "own, 0, 0, 4"),
)
"""Calls that Python does not offer: name, number on x86-64, arguments."""

DONE_WITHOUT = (
    ("flock", 73, "own, 6", "ENOSYS"),
    ("statx", 332, "-100, b'.', 0, 0, lock", "ENOSYS"),
    ("preadv2", 327, "own, lock, 0, 0, 0, 8", "ENOSYS"),
    ("getxattr", 191, "b'.', b'user.a', 0, 0", "ENOTSUP"),
    ("lgetxattr", 192, "b'.', b'user.a', 0, 0", "ENOTSUP"),
    ("fgetxattr", 193, "own, b'user.a', 0, 0", "ENOTSUP"),
    ("listxattr", 194, "b'.', 0, 0", "ENOTSUP"),
    ("sched_getaffinity of another", 204, "parent, 8, lock", "ENOSYS"),
    ("madvise MADV_MERGEABLE", 28, "0, 4096, 12", "EINVAL"),
    ("madvise MADV_PAGEOUT", 28, "0, 4096, 21", "EINVAL"),
    # what hides its arguments, and what does not exist yet
    *((f"number {number}", number, "0, 0, 0", "ENOSYS") for number in (435, 437, 463, 500, 100_000)),
)
"""Calls that libraries find another way without: name, number on x86-64, arguments, error."""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers are those of x86-64")
def test_other_calls_are_refused_or_not_there(kept_box: Box) -> None:
    wanted = [*((*row, "EPERM") for row in FORBIDDEN), *DONE_WITHOUT]
    found = {name: called(kept_box, number, arguments or "0") for name, number, arguments, _ in wanted}
    assert found == {name: f"(-1, '{error}')" for name, _, _, error in wanted}


def called(box: Box, number: int, arguments: str) -> str:
    """What a call answers in a sandbox, with the name of the error."""
    return value(
        box,
        "import ctypes, errno, os\n"
        "libc, parent = ctypes.CDLL(None, use_errno=True), os.getppid()\n"
        "file = open('own', 'w+')\n"
        "own, lock = file.fileno(), ctypes.create_string_buffer(64)\n"
        f"answer = libc.syscall({number}, {arguments})\n"
        "answer, errno.errorcode[ctypes.get_errno()]",
    )


HONEST = (
    "import asyncio\nawait asyncio.gather(asyncio.sleep(0), asyncio.to_thread(abs, -1))",
    "import tempfile, os\nwith tempfile.NamedTemporaryFile('w') as file:\n"
    "    file.write('x'); file.flush(); os.fsync(file.fileno()); file.truncate(0)",
    "import numpy as np\na = np.memmap('map', dtype='f4', mode='w+', shape=(100,)); a[0] = 1; a.flush()\n"
    "np.ones(9).tofile('raw'); np.linalg.eigh(np.eye(300) @ np.eye(300))",
    "import torch\nfrom safetensors.torch import load_file, save_file\n"
    "save_file({'a': torch.ones(3)}, 'a.safetensors'); load_file('a.safetensors')\n"
    "torch.save(torch.ones(3), 'a.pt'); torch.load('a.pt', mmap=True)",
    "import torch\ntorch.set_num_threads(4)\na = torch.randn(900, 900, requires_grad=True)\n"
    "torch.softmax(a @ a, -1).sum().backward(); torch.linalg.svd(a[:50, :50])",
    "import queue, threading\nqueue.Queue().put(1)\ncondition = threading.Condition()\n"
    "with condition: condition.wait(0.01)\ntimer = threading.Timer(0.01, print); timer.start(); timer.join()",
    "import signal, time\nsignal.signal(signal.SIGALRM, lambda *_: None)\n"
    "signal.setitimer(signal.ITIMER_REAL, 0.01); time.sleep(0.03); signal.raise_signal(signal.SIGALRM)",
    "import platform, resource, time, uuid\nplatform.platform(), uuid.uuid4(), resource.getrusage(0)\n"
    "time.process_time(), time.thread_time(), time.monotonic()",
    "import torch\nwith torch.profiler.profile():\n    torch.ones(3) + 1",
    "import sqlite3\nsqlite3.connect(':memory:').execute('create table t(a)')",
)
"""What answers do."""


@pytest.mark.parametrize("source", HONEST)
def test_what_answers_do_needs_no_other_calls(kept_box: Box, source: str) -> None:
    result = kept_box.run_cell(source)
    assert result.raised is None, result.raised


def test_what_copies_or_locks_its_own_files_finds_another_way(box: Box) -> None:
    """Honest code goes on: there are no attributes to copy, and no locks to wait for."""
    source = (
        "import os, shutil, fcntl, errno\nopen('a', 'w').write('x'); shutil.copyfile('a', 'b')\n"
        "def error(call, *args):\n    try: call(*args)\n"
        "    except OSError as problem: return errno.errorcode[problem.errno]\n"
        "error(os.listxattr, 'a'), error(fcntl.flock, open('a'), fcntl.LOCK_EX), open('b').read()"
    )
    assert value(box, source) == "('ENOTSUP', 'ENOSYS', 'x')"


def test_limits_cannot_be_raised_and_no_privileges_are_left(kept_box: Box) -> None:
    source = "import resource as r\nr.setrlimit(r.RLIMIT_CPU, (r.RLIM_INFINITY, r.RLIM_INFINITY))"
    assert raised(kept_box, source).type_name in ("ValueError", "PermissionError")


def test_only_the_connection_and_the_event_loop_are_open(box: Box) -> None:
    source = (
        "import os\ndef is_open(fd):\n    try: os.fstat(fd)\n    except OSError: return False\n    return True\n"
        "sum(map(is_open, range(3, 5000)))"
    )
    assert value(box, source) == "4"  # the wire; epoll and the two ends of the loop's own pair


def test_the_environment_is_scrubbed(kept_box: Box) -> None:
    names = eval(value(kept_box, "import os; sorted(os.environ)"))
    assert "PATH" in names
    others = ("VIRTUAL_ENV", "PYTEST", "PYTHON", "SSH", "GIT", "JUPYTER", "AWS", "USER", "KATZE")
    inherited = [name for name in names if name.startswith(others) or "SECRET" in name or "TOKEN" in name]
    assert inherited == ["PYTHONHASHSEED"]  # ours, the same in every run


def test_boxes_draw_different_numbers_unless_seeded(fork_server: ForkServer) -> None:
    source = "import torch, numpy, random; torch.rand(1).item(), numpy.random.rand(), random.random()"

    def draw(seed: int | None) -> str:
        with fork_server.open_box(seed=seed) as box:
            return value(box, source)

    assert draw(None) != draw(None)
    assert draw(3) == draw(3) != draw(4)


def test_these_tests_could_fail() -> None:
    """The same acts outside a sandbox: whatever is refused above works here."""
    assert Path("/etc/passwd").read_text()
    assert subprocess.run(["/bin/true"], check=False).returncode == 0
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        pass
    with open(os.__file__) as file, open(os.__file__) as again:
        fcntl.flock(file, fcntl.LOCK_SH)
        with pytest.raises(BlockingIOError):
            fcntl.flock(again, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert os.statvfs(".").f_bavail
    assert time.clock_gettime(~os.getppid() << 3 | 2) >= 0
