"""`docs/collecting.md` tells what `katze collect` takes, and where it stops, as it is."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from autograder.cli import make_parser
from autograder.delivery import deliver
from autograder.intake.archives import NOTEBOOK_BYTES
from autograder.limits import size
from autograder.platforms import download
from autograder.platforms.registry import PLATFORMS
from autograder.platforms.roster import ROSTER_NAME, read_roster

PAGE = (Path(__file__).parents[1] / "docs" / "collecting.md").read_text(encoding="utf-8")


def test_its_commands_are_understood() -> None:
    commands = [line.partition("#")[0].strip() for line in re.findall(r"^    (katze .*)$", PAGE, re.M)]
    assert len(commands) > 4
    for command in commands:
        parsed = make_parser()[0].parse_args(shlex.split(command)[1:])
        assert parsed.command == "collect"


def test_every_platform_has_its_row_and_its_column() -> None:
    assert set(re.findall(r"^\| `(\w+)` \|", PAGE, re.M)) == {platform.name for platform in PLATFORMS}
    assert all(f"`{platform}`" in PAGE.partition("Columns called")[2].partition("hold")[0] for platform in PLATFORMS)


def test_its_limits_are_those_that_hold() -> None:
    limits = PAGE.partition("## What is refused")[2].partition("\n## ")[0].replace("\n", " ")
    for most in (NOTEBOOK_BYTES, deliver.SUBMISSION_BYTES):
        assert f"above {size(most, decimal=True)}" in limits
    assert f"above {download.ARCHIVE_BYTES // 10**9} GB" in limits
    assert f"{deliver.FILES} files" in limits


def test_its_roster_is_read(tmp_path: Path) -> None:
    lines = re.findall(r"^    (id,.*|ada,.*|ben,.*)$", PAGE, re.M)
    roster = tmp_path / ROSTER_NAME
    roster.write_text("\n".join(lines))
    ada, ben = read_roster(roster).people
    assert (ada.id, ada.name, ada.numbers) == ("ada", "Lovelace, Ada", {"canvas": "123", "github": "ada-l"})
    assert (ben.id, ben.numbers) == ("ben", {"canvas": "124"})
