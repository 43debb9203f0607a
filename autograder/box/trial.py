"""Tries in a sandbox what every lesson does, to see whether the list of system calls has everything torch needs here.

A list made with one C library and one version of torch may lack a call that another version makes. If something fails,
a second sandbox repeats it and records what it is refused (see `confinement/recorded.py`).
"""

import ast
import dataclasses

from autograder.box.box import Box
from autograder.box.confinement.system_calls import DECIDED, REFUSED
from autograder.box.endings import BoxLost
from autograder.box.fork_server.client import ForkServer
from autograder.box.protocol import CellResult

WORK = {
    "multiply matrices": "import torch\ntorch.set_num_threads(2)\na = torch.randn(600, 600)\n(a @ a).sum()",
    "differentiate": "import torch\nx = torch.randn(64, 64, requires_grad=True)\n(x @ x).relu().sum().backward()",
    "use threads": (
        "import threading\nfrom concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(4) as pool:\n    assert sum(pool.map(abs, range(100))) == 4950\n"
        "thread = threading.Thread(target=abs, args=(1,))\nthread.start()\nthread.join()"
    ),
    "draw a figure": (
        "import matplotlib.pyplot as plt\nplt.plot([1, 2], label='a')\nplt.legend()\nplt.title('b')\n"
        "plt.savefig('figure.png')\nplt.show()"
    ),
    "train": (
        "import torch\nlayer = torch.nn.Linear(4, 4)\noptimizer = torch.optim.AdamW(layer.parameters())\n"
        "layer(torch.ones(2, 4)).sum().backward()\noptimizer.step()\n"
        "torch.save(layer.state_dict(), 'layer.pt')\ntorch.load('layer.pt')"
    ),
}
"""Cells to try, by what a sandbox must be able to do."""

_RECORD = "from autograder.box.confinement.recorded import refused; refused()"


def what_fails(fork_server: ForkServer) -> list[str]:
    """Return what fails in this fork server's sandboxes, and which system calls were refused; empty if nothing fails.

    Raises:
        BoxUnavailable: no sandbox can be opened.
    """
    return [problem for name, cell in WORK.items() if (problem := _problem(fork_server, name, cell))]


def _problem(fork_server: ForkServer, name: str, cell: str) -> str:
    with fork_server.open_box() as box:
        said = _said(box, cell)
    if not said:
        return ""
    refused = _refused(fork_server, cell)
    if not refused:
        return f"a sandbox cannot {name}: {said}"
    helps = any(call not in {*REFUSED, *DECIDED} for call in refused)
    setting = 'set c.Katze.system_calls = "deny-list" in nbgrader_config.py, and ' if helps else ""
    calls = "system calls" if len(refused) > 1 else "system call"
    return f"a sandbox cannot {name}: it is refused the {calls} {', '.join(refused)}; {setting}please report it"


def _said(box: Box, cell: str) -> str:
    try:
        result = box.run_cell(cell)
    except BoxLost as ended:
        return ended.reason
    return "" if result.raised is None else f"{result.raised.type_name}: {result.raised.message}"


def _refused(fork_server: ForkServer, cell: str) -> list[str]:
    """Return the system calls that a cell is refused, as far as its sandbox survives to report them."""
    limits = dataclasses.replace(fork_server.limits, system_calls="recorded")
    try:
        with fork_server.open_box(limits=limits) as box:
            box.run_cell(cell)
            return _shown(box.run_cell(_RECORD))
    except BoxLost:
        return []


def _shown(result: CellResult) -> list[str]:
    return list(ast.literal_eval(result.outputs[-1]["data"]["text/plain"]))
