"""Whatever page names a command or links to a file, there is one."""

import re
import shlex
from pathlib import Path

import pytest

from autograder.cli import make_parser

ROOT = Path(__file__).parents[1]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *(path for found in ("*/README.md", "docs/**/*.md", "solutions/*/*.md") for path in ROOT.glob(found)),
]
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
every_page = pytest.mark.parametrize("path", sorted(PAGES), ids=lambda path: str(path.relative_to(ROOT)))


def typed(page: str) -> list[str]:
    """The commands that stand on lines of their own, without what follows them there."""
    lines = re.findall(r"^ {4}(?:\.venv/bin/)?((?:katze|make) [a-z].*)$", page.replace("\\\n", ""), re.M)
    return [re.split(r"#|&&| > ", line)[0].strip() for line in lines]


@every_page
def test_its_commands_are_understood(path: Path) -> None:
    parser, _ = make_parser()
    for command in typed(path.read_text(encoding="utf-8")):
        program, *arguments = shlex.split(command)
        if program == "make":
            assert {word for word in arguments if "=" not in word} <= TARGETS, command
        else:
            parser.parse_args(arguments)


@every_page
def test_options_that_its_sentences_name_exist(path: Path) -> None:
    known = make_parser()[1]
    for named in re.findall(r"`katze ([a-z][^`]*)`", path.read_text(encoding="utf-8")):
        command, *words = named.split()
        options = {word.partition("=")[0] for word in words if word.startswith("--")}
        assert options <= known[command].parser._option_string_actions.keys(), named


@every_page
def test_the_files_that_it_links_to_exist(path: Path) -> None:
    for target in re.findall(r"\]\((?!\w+:|#)([^)#]+)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target
