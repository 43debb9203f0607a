"""Print a script that lets a shell complete katze's commands."""

import argparse

EXAMPLE = 'eval "$(katze completion bash)"'
COURSE = JSON = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help='then: eval "$(katze completion bash)"')


def run(options: argparse.Namespace) -> None:
    from argcomplete.shell_integration import shellcode

    print(shellcode(["katze"], shell=options.shell))
