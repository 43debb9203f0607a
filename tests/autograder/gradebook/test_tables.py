"""The tables as statements name them, and as they are in a gradebook."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import TableClause, inspect

from autograder.gradebook import tables
from autograder.gradebook.file import GradebookFile

NAMED = [one for one in (*vars(tables).values(), *tables.CELL_TABLES.values()) if isinstance(one, TableClause)]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GradebookFile]:
    path = tmp_path_factory.mktemp("course") / "gradebook.db"
    with GradebookFile(path) as file:
        file.prepare()
        yield file


@pytest.mark.parametrize("table", NAMED, ids=lambda table: table.name)
def test_each_column_is_in_the_gradebook_and_all_of_ours_are_named(file: GradebookFile, table: TableClause) -> None:
    with file.begin() as connection:
        found = [column["name"] for column in inspect(connection).get_columns(table.name)]
    named = [column.name for column in table.c]
    assert named == found if table.name.startswith("katze_") else set(named) <= set(found)
