"""What a notebook gives is found, and only as much of it as is needed."""

import ast
from pathlib import Path

from autograder.course.notebook_definitions import answered_cells, needed_of_notebook

NOTEBOOK = Path(__file__).parents[3] / "notebooks" / "08_subwords" / "08_subwords.ipynb"


def given(code: str) -> str:
    return "\n".join(map(ast.unparse, needed_of_notebook(NOTEBOOK, code)))


def test_imports_and_constants_are_given_where_they_are_mentioned() -> None:
    assert given("def plain(tokens): return ''.join(tokens).replace(MARK, ' ')") == "MARK = '▁'"
    assert given("counts = Counter()") == "from collections import Counter"
    assert given("x = 1") == ""


def test_a_table_that_is_written_out_is_given_and_what_is_computed_is_not() -> None:
    lesson = NOTEBOOK.parents[1] / "06_decoding" / "06_decoding.ipynb"
    (table,) = needed_of_notebook(lesson, "TREE[()]")
    assert isinstance(table, ast.Assign)
    assert ast.literal_eval(table.value)[()] == {"die": 0.6, "eine": 0.4}
    assert needed_of_notebook(lesson, "VOCABULARY[0]") == []


def test_answers_in_a_copy_are_found(tmp_path: Path) -> None:
    copy, fresh = tmp_path / "copy.ipynb", NOTEBOOK.read_bytes()
    for content, answered in (
        (fresh, []),
        (fresh.replace(b"def wordpiece(word, tokens)", b"def wordpiece(w, t)"), ["subwords-wordpiece-answer"]),
        (b"not a notebook", []),
    ):
        copy.write_bytes(content)
        assert answered_cells(copy, fresh) == answered
