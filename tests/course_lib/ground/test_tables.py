"""Tables for a terminal and for a notebook."""

from bs4 import BeautifulSoup

from course_lib.ground.tables import Table

TABLE = Table(("metric", "corpus"), [("BLEU", "7.5"), ("a longer name", "100.0")], ("a note",))


def test_in_a_terminal_the_first_column_is_aligned_left_and_the_others_right() -> None:
    assert str(TABLE).splitlines() == [
        "metric         corpus",
        "-------------  ------",
        "BLEU              7.5",
        "a longer name   100.0",
        "a note",
    ]


def test_in_a_notebook_it_has_the_same_cells() -> None:
    page = BeautifulSoup(TABLE._repr_html_(), "html.parser")
    rows = [[cell.text for cell in row.find_all(["th", "td"])] for row in page.find_all("tr")]
    assert rows == [["metric", "corpus"], ["BLEU", "7.5"], ["a longer name", "100.0"]]
    assert page.find("small").text == "a note"


def test_whatever_stands_in_a_cell_is_text() -> None:
    html = Table(("<b>",), [("<script>alert(1)</script>",)], ("<i>",))._repr_html_()
    page = BeautifulSoup(html, "html.parser")
    assert page.find(["b", "script", "i"]) is None
    assert page.find("td").text == "<script>alert(1)</script>"
