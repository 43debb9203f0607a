"""`katze completion`."""

from __future__ import annotations

import argparse

from argcomplete.shell_integration import shellcode

from autograder.commands.adding import Commands
from autograder.commands.statuses import DONE


def add(commands: Commands) -> None:
    completion = commands.add(
        "completion",
        _run,
        "print what makes a shell complete katze's commands",
        'eval "$(katze completion bash)"',
        course=False,
    )
    completion.add_argument("shell", choices=("bash", "zsh", "fish"), help='then: eval "$(katze completion bash)"')


def _run(options: argparse.Namespace) -> int:
    print(shellcode(["katze"], shell=options.shell))
    return DONE
