"""A widget stands alone, holds any data harmlessly, and is drawn anew from a stranger's file without their script."""

import base64
import hashlib
import json
import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from course_lib.ground.style_sheet import style_sheet
from course_lib.show import attention_stepper
from course_lib.show.interactive import (
    DATA_CHARACTERS,
    SCRIPTS,
    Interactive,
    interactive,
    redrawn,
    script,
    script_hash,
    widget_names,
)

HOSTILE = "</script><script>alert(1)</script><!-- & \u2028 \"'"


def widget(data: object = "cat", still: str = "<p>a cat</p>", alt: str = "a cat") -> str:
    return Interactive("attention_stepper", data, still, alt, "a cat, in words").html()


def data_of(html: str) -> object:
    found = BeautifulSoup(html, "html.parser").find("script", type="application/json")
    return json.loads(found.text)


def gone(_stranger: str) -> str:
    return ""


def test_no_data_ends_its_script() -> None:
    html = widget({"text": HOSTILE})
    soup = BeautifulSoup(html, "html.parser")
    assert len(soup.find_all("script")) == 2
    assert data_of(html) == {"text": HOSTILE}


def test_the_alternative_text_is_escaped() -> None:
    group = BeautifulSoup(widget(alt=HOSTILE), "html.parser").find("div", class_="katze-widget")
    assert group["aria-label"] == HOSTILE
    assert group["role"] == "group"


def test_the_still_and_the_words_are_there_without_a_script(capsys: pytest.CaptureFixture[str]) -> None:
    still = BeautifulSoup(widget(), "html.parser").find("div", class_="katze-still")
    assert still.text == "a cat"
    interactive("attention_stepper", 1, still="<p>a cat</p>", alt="a cat", text="a cat, in words")
    assert capsys.readouterr().out.strip() == "a cat, in words"


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_number_that_json_does_not_have_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        widget(value)


@pytest.mark.parametrize("path", sorted(SCRIPTS.glob("*.js")), ids=lambda path: path.stem)
def test_a_script_makes_no_markup_of_data_and_asks_nobody(path: Path) -> None:
    code = path.read_text(encoding="utf-8")
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|Function\(|fetch\(|import|XMLHttp|</"
    assert re.findall(forbidden, code) == []
    assert re.findall(r"https?://[^\"]*", code) in ([], ["http://www.w3.org/2000/svg"])


def test_what_every_widget_carries_is_small() -> None:
    assert len((SCRIPTS / "base.js").read_bytes()) < 12_500
    style = style_sheet("widget").removeprefix("<style>").removesuffix("</style>")
    assert len(style.encode()) < 6_000
    assert "<" not in style


def test_every_widget_has_one_function_that_draws_it() -> None:
    assert "attention_stepper" in widget_names()
    for name in widget_names():
        assert len(re.findall(r"^function draw\(", script(name), re.M)) == 1
    assert "base" not in widget_names()


def test_there_is_no_widget_of_another_name() -> None:
    with pytest.raises(FileNotFoundError):
        script("cat")


def test_a_saved_widget_is_drawn_anew() -> None:
    html = attention_stepper()._repr_mimebundle_()["text/html"]
    assert redrawn(html, lambda still: still) == html
    assert data_of(redrawn(html, gone) or "") == data_of(html)


def test_only_the_name_the_data_and_the_alternative_text_are_taken_over() -> None:
    evil = widget({"cat": HOSTILE}, "<p onclick='alert(1)'>cat</p>", "a <cat>").replace(
        "<script>(function", "<script>alert(1);(function"
    )
    assert "alert(1);" in evil
    assert redrawn(evil + "<script>alert(2)</script>", gone) == widget({"cat": HOSTILE}, "", "a <cat>")


@pytest.mark.parametrize(
    "fragment",
    [
        "",
        "<p>a cat</p>",
        widget().replace('"attention_stepper"', '"cat"'),
        widget().replace('"attention_stepper"', '"base"'),
        widget().replace('"attention_stepper"', '"../base"'),
        "<script>alert(1)</script>" + widget(),
        widget().replace('role="group"', 'role="group" onclick="alert(1)"'),
        widget().replace('>"cat"<', ">cat<"),
        widget().replace('>"cat"<', ">NaN<"),
        widget().replace('>"cat"<', ">1e999<"),
        widget().replace('>"cat"<', f">{'[' * 50_000}<"),
        widget("c" * DATA_CHARACTERS),
        widget().replace("<style>", "<style></style><script>alert(1)</script><style>"),
    ],
)
def test_what_is_no_widget_of_ours_is_not_drawn(fragment: str) -> None:
    assert redrawn(fragment, gone) is None


def test_the_hash_is_that_of_the_script() -> None:
    digest = base64.b64encode(hashlib.sha256(script("attention_stepper").encode()).digest()).decode()
    assert script_hash("attention_stepper") == f"'sha256-{digest}'"
    assert f"<script>{script('attention_stepper')}</script>" in widget()
