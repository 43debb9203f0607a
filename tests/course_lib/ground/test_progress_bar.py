"""A bar in a notebook's page: the line of the loss below it, and that it takes nothing else with it when it goes."""

import os
import re
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.site.executed import execute_notebook
from course_lib.ground.progress_bar import NotebookBar

CELL = """
import io, time
from course_lib.text.downloads import DownloadError, PublishedFile, fetch

print("printed before")
try:
    fetch(PublishedFile("set/file.txt", "http://127.0.0.1:9/file.txt", 5, "0" * 64))
except DownloadError as error:
    print("cannot fetch" in str(error))
time.sleep(0.5)
print("printed after")
"""


@pytest.mark.usefixtures("processes")
def test_a_bar_leaves_what_the_cell_has_printed(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("KATZE_DATA", "KATZE_OFFLINE")}
    environment["KATZE_CACHE"] = str(tmp_path)
    (cell,) = execute_notebook(new_notebook(cells=[new_code_cell(CELL)]), tmp_path, environment).cells
    printed = "".join(output.text for output in cell.outputs if output.output_type == "stream")
    assert printed.splitlines() == ["printed before", "True", "printed after"]
    pages = [output.data for output in cell.outputs if output.output_type == "display_data"]
    assert [page["text/html"] for page in pages] == [""], "the bar is gone, and no widget is left in its place"


def test_the_line_of_a_resumed_run_begins_where_it_was_resumed() -> None:
    bar = NotebookBar("cats", 6, 8, losses=[2.0, 1.0])
    assert 'points="120.0,0.0 150.0,24.0"' in bar._repr_mimebundle_()["text/html"]


def test_a_long_run_is_a_line_of_means_and_no_number_is_no_line() -> None:
    bar = NotebookBar("cats", 1200, 2400, losses=[2.0, 0.0] * 600)
    (points,) = re.findall('points="([^"]+)"', bar._repr_mimebundle_()["text/html"])
    assert len(points.split()) == 60
    assert points.startswith("0.0,0.0 2.0,0.0")
    assert "<svg" not in NotebookBar("cats", 3, 9, losses=[1.0, float("nan")])._repr_mimebundle_()["text/html"]
