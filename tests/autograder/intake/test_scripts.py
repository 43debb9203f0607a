"""A script that `katze learn --scripts` wrote is read without its head, whichever version wrote it."""

from __future__ import annotations

import pytest

from autograder.intake.scripts import HEAD, cells_of_script

BEFORE = HEAD.replace(
    'A cell in the text is what is below a line "# %%".',
    'Where the text speaks of a cell, it is what stands below a line "# %%".',
)


@pytest.mark.parametrize("head", [HEAD, BEFORE], ids=["now", "before"])
def test_the_head_of_any_version_is_no_part_of_the_notebook(head: str) -> None:
    script = f"# Lesson\n#\n{head}\n# %%\nx = 1\n\n# %%\nprint(check('attention.scale'))\n"
    sources = [cell["source"] for cell in cells_of_script(script)]
    assert "find_spec" not in "".join(sources)
    assert sources[-2:] == ["x = 1", "check('attention.scale')"]
