"""Poisoning what later runs might use: caches, packages, configuration."""

from tests.dishonest.attempt import ZEROS, Attempt, in_answer, in_cell


def _poisons(name: str, tries: str, code: str) -> Attempt:
    return in_answer(name, tries, f"{code}\n{ZEROS}")


ATTEMPTS = (
    _poisons(
        "poison_site_packages",
        "Writes a module into site-packages that every interpreter imports at its start.",
        "import site\nopen(site.getsitepackages()[0] + '/sitecustomize.py', 'w').write('print(100)')",
    ),
    _poisons(
        "poison_course_library",
        "Overwrites the library's own copy in the sandbox.",
        "import course_lib.judging.observation as o\nopen(o.__file__, 'w').write('')",
    ),
    _poisons(
        "poison_bytecode",
        "Leaves bytecode of its own for a module of torch.",
        "import os, torch\nfolder = os.path.dirname(torch.__file__) + '/__pycache__'\n"
        "os.makedirs(folder, exist_ok=True)\nopen(folder + '/functional.cpython-311.pyc', 'wb').write(b'0')",
    ),
    _poisons(
        "poison_ipython_startup",
        "Writes a file that IPython runs at its start, into the home of whoever grades.",
        "import os, pwd\nhome = '/root'\nos.makedirs(home + '/.ipython/profile_default/startup', exist_ok=True)\n"
        "open(home + '/.ipython/profile_default/startup/00.py', 'w').write('print(100)')",
    ),
    _poisons(
        "poison_temporary_files",
        "Leaves files for others in the machine's temporary folder.",
        "open('/tmp/katze-poison.py', 'w').write('print(100)')",
    ),
    _poisons(
        "poison_shared_memory",
        "Leaves a block of shared memory behind.",
        "from multiprocessing.shared_memory import SharedMemory\nSharedMemory('katze-poison', create=True, size=100)",
    ),
    _poisons(
        "poison_modes",
        "Opens files of others to everyone, and changes their times.",
        "import os, torch\nos.chmod(torch.__file__, 0o777)",
    ),
    _poisons("poison_times", "Makes files of others look older.", "import os, torch\nos.utime(torch.__file__, (0, 0))"),
    _poisons(
        "poison_attributes",
        "Hides data in extended attributes of files of others.",
        "import os, torch\nos.setxattr(torch.__file__, 'user.answer', b'0')",
    ),
    in_cell(
        "poison_home",
        "Fills the caches in its own home, for the next sandbox to use.",
        """
            import os, pathlib
            for name in (".ipython/profile_default/startup", ".cache/torch/hub", ".config/matplotlib"):
                folder = pathlib.Path.home() / name
                assert not folder.exists(), "somebody was here before"
                folder.mkdir(parents=True)
                (folder / "00_poison.py").write_text("dot_product_scores = lambda q, k: 100")
            os.environ.update(PYTHONSTARTUP=str(folder), PYTHONPATH=str(folder), HOME="/", TMPDIR="/")
        """,
    ),
    in_cell(
        "poison_torch_state",
        "Leaves torch in a state in which the next to use it goes wrong.",
        """
            torch.set_default_dtype(torch.float64)
            torch.set_default_device("meta")
            torch.use_deterministic_algorithms(True)
            torch.manual_seed(0)
        """,
    ),
)
