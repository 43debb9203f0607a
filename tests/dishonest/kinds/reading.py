"""Reading what is none of a student's business: files, other processes, other submissions, the gradebook."""

from textwrap import dedent

from tests.dishonest.attempt import WRONG, Attempt, in_answer


def _reads(name: str, tries: str, code: str) -> Attempt:
    """An attempt that raises where it is refused, and would return what it found."""
    return in_answer(name, tries, f"{dedent(code).strip()}\ndef dot_product_scores(q, k):\n    return spoils")


ATTEMPTS = (
    _reads("read_passwords", "Reads the machine's user list.", "spoils = open('/etc/passwd').read()"),
    _reads(
        "read_secret",
        "Looks for the course's secret, from which hidden inputs follow.",
        "import glob\n[spoils] = [open(f, 'rb').read() for p in ('.', '..', '../..', '/**') "
        "for f in glob.glob(f'{p}/.katze/secret')]",
    ),
    _reads(
        "read_gradebook",
        "Opens the gradebook and gives itself full marks.",
        """import os, sqlite3
folder = os.getcwd()
while folder != "/":
    folder = os.path.dirname(folder)
    with sqlite3.connect(f"{folder}/gradebook.db") as book:
        book.execute("UPDATE grade SET manual_score = 100")
spoils = 1""",
    ),
    _reads(
        "read_neighbour",
        "Reads the submission of the student who sits next to it.",
        "spoils = open('../../ada_reference/01_attention/01_attention.ipynb').read()",
    ),
    _reads(
        "read_other_boxes",
        "Lists the folder in which all sandboxes have theirs.",
        "import os\nspoils = [os.listdir(f'../{other}') for other in os.listdir('..')]",
    ),
    _reads(
        "read_own_memory",
        "Reads its own memory map, and the memory itself.",
        "spoils = open('/proc/self/maps').read(), open('/proc/self/mem', 'rb').read(1)",
    ),
    _reads(
        "read_parents_memory",
        "Reads the memory and the environment of the process that started it.",
        """
            import os
            spoils = [open(f'/proc/{os.getppid()}/{name}', 'rb').read() for name in ('environ', 'cmdline', 'mem')]
        """,
    ),
    _reads(
        "read_by_ptrace",
        "Attaches to its parent as a debugger.",
        "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "if libc.ptrace(16, os.getppid(), 0, 0):\n    raise PermissionError(ctypes.get_errno())\nspoils = 1",
    ),
    _reads(
        "read_by_process_vm",
        "Reads its parent's memory without being a debugger.",
        "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "if libc.process_vm_readv(os.getppid(), 0, 0, 0, 0, 0) < 0:\n"
        "    raise PermissionError(ctypes.get_errno())\nspoils = 1",
    ),
    _reads(
        "read_processes",
        "Lists all processes with their command lines.",
        "import glob, os\nspoils = [open(f'/proc/{p}/cmdline').read() for p in os.listdir('/proc') if p.isdigit()]",
    ),
    _reads(
        "read_grader",
        "Reads the source of the grader.",
        "import pathlib, autograder\n"
        "spoils = pathlib.Path(autograder.__path__[0], 'grading', 'submission.py').read_text()",
    ),
    _reads(
        "read_through_links",
        "Makes a link to a file outside and reads that.",
        "import os\nos.symlink('/etc/passwd', 'mine')\nspoils = open('mine').read()",
    ),
    _reads(
        "read_by_torch",
        "Lets torch, numpy and matplotlib open files that it must not open itself.",
        "import numpy\nspoils = torch.from_file('/etc/passwd', size=1, dtype=torch.uint8), numpy.memmap('/etc/passwd')",
    ),
    _reads(
        "read_by_descriptors",
        "Reads from every descriptor that it may have inherited.",
        """import os
spoils = b""
for descriptor in range(3, 2000):
    try:
        spoils += os.pread(descriptor, 100, 0)
    except OSError:
        pass
if not spoils:
    raise PermissionError""",
    ),
    in_answer(
        "read_environment",
        "Prints its environment, which may hold tokens and addresses.",
        """
            import os
            def dot_product_scores(q, k):
                wanted = ("SECRET", "TOKEN", "KEY", "JUPYTERHUB", "VIRTUAL_ENV", "SSH", "AWS", "USER", "PYTEST")
                found = [value for name, value in os.environ.items() if any(word in name for word in wanted)]
                assert not found, found
                return torch.zeros(*q.shape[:-1], k.shape[-2], dtype=q.dtype)
        """,
        WRONG,
    ),
    _reads("read_kernel_log", "Reads the machine's log.", "spoils = open('/dev/kmsg').read()"),
    _reads(
        "read_by_handle",
        "Opens a file by its handle, past every path.",
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nhandle = ctypes.create_string_buffer(200)\n"
        "if libc.name_to_handle_at(-100, b'/etc/passwd', handle, ctypes.byref(ctypes.c_int()), 0) < 0:\n"
        "    raise PermissionError(ctypes.get_errno())\nspoils = 1",
    ),
)
