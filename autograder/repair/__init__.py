"""Repairs a submission against the release, with a receipt.

The notebook is put back into the shape of the release: the checks are the release's own, the answers are the student's,
and a short sentence reports each change, to the student as well.

A cell of the release is recognized by nbgrader's `grade_id` or by the marker in its source, which copies of a cell
keep. An answer elsewhere is recognized by the name that it defines or the text that it kept; a written answer, by its
place.

Read `cells.py` (the result), `release.py` (the release to compare with), `belonging.py` (whether the notebook belongs
to the lesson at all), `prose.py` and `matching.py` (which cell is which), and `placing.py` (building the notebook), in
that order.
"""

from autograder.repair.belonging import answers_in, is_of, require_lesson
from autograder.repair.cells import Cell, CellKind, Repaired
from autograder.repair.placing import repair
from autograder.repair.release import Release

__all__ = ["Cell", "CellKind", "Release", "Repaired", "answers_in", "is_of", "repair", "require_lesson"]
