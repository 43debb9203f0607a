"""Every control of the widgets that look into models is moved by the keyboard, and the picture changes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Page

from course_lib import show
from course_lib.show.interactive import Interactive
from course_lib.text.subwords import learn_merges
from tests.browser.accessibility import faults
from tests.browser.conftest import Visit
from tests.browser.keyboard import CONTROLS, control, page_of, picture, reached_by_tab


def translating() -> None:
    """Two sentences, one of them long, by a model of two layers and two heads."""
    pairs = {"the cat danced": "die Katze tanzte", "the old and tired dogs invited a bear": "die alten luden ein"}
    torch.manual_seed(0)
    show.translating(
        [
            show.TranslationAttention(
                source.split(),
                [*target.split(), "<e>"],
                [[(word, 0.75), ("oder", 0.25)] for word in [*target.split(), "<e>"]],
                torch.rand(2, 2, len(target.split()) + 1, len(source.split())).softmax(dim=-1),
            )
            for source, target in pairs.items()
        ]
    )


BRANCHES = {
    (): {"die": 0.6, "eine": 0.4},
    ("die",): {"Katze": 0.5, "Mieze": 0.3, "Königin": 0.2},
    ("eine",): {"Katze": 0.9, "Maus": 0.1},
    ("eine", "Katze"): {"tanzte": 0.9, "<e>": 0.1},
    ("eine", "Katze", "tanzte"): {"<e>": 1.0},
    ("die", "Katze"): {"hat": 0.5, "tanzte": 0.4, "<e>": 0.1},
    ("die", "Katze", "hat"): {"getanzt": 0.6, "gerade": 0.4},
    ("die", "Katze", "tanzte"): {"<e>": 0.9, "dort": 0.1},
    ("die", "Katze", "hat", "getanzt"): {"<e>": 1.0},
}
"""After *die Mieze* and *die Königin* nothing was computed."""


def heads() -> None:
    """Two texts, the first of them long, by a model of two layers and two heads."""
    torch.manual_seed(0)
    texts = [text.split() for text in ("[CLS] the small cat chased the mouse in the kitchen . [SEP]", "the cat danced")]
    show.heads(
        [show.TextAttention(words, torch.randn(2, 2, len(words), len(words)).softmax(dim=-1)) for words in texts]
    )


WIDGETS: Mapping[str, Callable[[], None]] = {
    "heads": heads,
    "merging": lambda: show.merging("play playing played stay"),
    "sampling": lambda: show.sampling(["tanzte", "schlief", "sang", "lief"], torch.tensor([0.5, 0.25, 0.15, 0.1])),
    "schedules": show.schedules,
    "searching": lambda: show.searching(BRANCHES, "the cat danced"),
    "translating": translating,
}
"""Each with little data."""

MOVES: Mapping[str, Mapping[str, str]] = {
    "heads": {
        "layer": "ArrowDown",
        "head": "ArrowDown",
        "small": "Space",
        "cell": "ArrowUp ArrowDown Enter",
        "text": "ArrowDown",
    },
    "merging": {
        "one step on": "Enter",
        "pairs joined": "ArrowRight",
        "one step back": "Space",
        "your text": "x",
        "Play": "Enter",
    },
    "sampling": {
        "temperature": "ArrowRight",
        "top-k": "ArrowLeft",
        "nucleus p": "ArrowLeft ArrowLeft ArrowLeft ArrowLeft ArrowLeft",
        "draw twenty words": "Enter",
    },
    "schedules": {
        "d_model": "ArrowUp",
        "warm-up, in steps": "ArrowRight",
        "look at step": "ArrowLeft",
        "peak of the cosine": "ArrowRight",
        "give both the same peak": "Enter",
    },
    "searching": {
        "one step on": "Enter",
        "step": "ArrowRight",
        "one step back": "Space",
        "die Mieze -1.71": "Enter",
        "die Katze -1.20": "Space",
        "let the search decide again": "Enter",
        "length penalty, alpha = 0.6": "Space",
        "beams": "ArrowRight",
        "Play": "Enter",
    },
    "translating": {
        "one step on": "Enter",
        "German word": "ArrowRight",
        "one step back": "Space",
        "layer": "ArrowUp",
        "head": "ArrowDown",
        "take the last word away": "Enter",
        "danced": "Enter",
        "English": "x",
        "Play": "Enter",
    },
}
"""Every control of a widget, in an order in which each changes something, and the keys that do."""


@pytest.fixture
def widget(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Interactive:
    shown: list[Interactive] = []
    monkeypatch.setattr(sys.modules["course_lib.show.interactive"], "display", shown.append)
    WIDGETS[request.param]()
    return shown[0]


@pytest.fixture
def opened(visit: Visit, widget: Interactive, tmp_path: Path) -> Callable[..., Page]:
    path = page_of(widget, tmp_path / "page.html")
    return lambda **how: visit(path, **how)


every_widget = pytest.mark.parametrize("widget", WIDGETS, indirect=True)


@pytest.mark.parametrize(("widget", "moves"), MOVES.items(), indirect=["widget"], ids=MOVES)
def test_every_control_changes_the_picture(opened: Callable[..., Page], moves: Mapping[str, str]) -> None:
    page = opened()
    assert page.locator(CONTROLS).count() <= len(moves)
    for name, keys in moves.items():
        before = picture(page)
        control(page, name).focus(timeout=5_000)
        for key in keys.split():
            page.keyboard.press(key)
        assert picture(page) != before, name


@every_widget
def test_tab_reaches_every_control(opened: Callable[..., Page]) -> None:
    page = opened()
    assert reached_by_tab(page) == page.locator(f"{CONTROLS}:not(:disabled)").count()


@every_widget
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_nothing_keeps_anybody_out(opened: Callable[..., Page], width: int, dark: bool) -> None:
    page = opened(width=width, dark=dark)
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@every_widget
def test_a_still_picture_remains_without_scripts(opened: Callable[..., Page], widget: Interactive) -> None:
    page = opened(scripts=False)
    assert page.locator(".katze-still").inner_text().strip()
    assert page.get_by_role("group", name=widget.alt).count() == 1


@pytest.mark.parametrize("widget", ["translating"], indirect=True)
def test_a_sentence_is_typed_and_its_translation_grows_by_itself(opened: Callable[..., Page]) -> None:
    page = opened()
    german = page.locator("[lang=de] .katze-chip")
    field = control(page, "English")
    field.fill("")
    field.press_sequentially("The old and tired dogs invited a bear.")
    assert german.all_inner_texts() == ["die"]
    control(page, "Play").press("Enter")
    page.locator("[lang=de]").filter(has_text="die alten luden ein <e>".replace(" ", "")).wait_for()
    assert page.locator(".katze-matrix tr").count() == 6
    field.fill("a cat")
    assert "no translation that begins so" in page.locator(".katze-say").inner_text()


@pytest.mark.parametrize("widget", ["searching"], indirect=True)
def test_more_beams_find_more_and_a_branch_is_taken_by_hand(opened: Callable[..., Page]) -> None:
    page = opened()
    said, beams, step = page.locator(".katze-say"), control(page, "beams"), control(page, "step")
    beams.press("ArrowLeft")
    step.press("End")
    assert said.inner_text().startswith("Found: die Katze hat getanzt <e>, score -2.41.")
    beams.press("ArrowRight")
    step.press("End")
    assert said.inner_text().startswith("Found: eine Katze tanzte <e>, score -1.13. Greedy: die Katze hat getanzt <e>,")
    step.press("Home")
    step.press("ArrowRight")
    step.press("ArrowRight")
    control(page, "die Mieze -1.71").press("Enter")
    assert control(page, "die Mieze -1.71").get_attribute("aria-pressed") == "true"
    step.press("End")
    assert "What may follow was not computed" in said.inner_text()


@pytest.mark.parametrize("widget", ["searching"], indirect=True)
def test_a_search_ends_by_itself_when_played(opened: Callable[..., Page]) -> None:
    page = opened()
    control(page, "Play").press("Enter")
    page.locator(".katze-say", has_text="Found: eine Katze tanzte <e>").wait_for()
    assert control(page, "Play").count() == 1


@pytest.mark.parametrize("widget", ["merging"], indirect=True)
def test_pairs_are_joined_in_a_text_of_ones_own(opened: Callable[..., Page]) -> None:
    page = opened()
    field, steps = control(page, "your text"), control(page, "pairs joined")
    chips = page.locator(".katze-chip")
    field.fill("aaaa <b> ba")
    assert chips.all_inner_texts() == [*"▁aaaa", *"▁<b>", *"▁ba"]
    assert "Next: a + a, which stand side by side 3 times, more often" in page.locator(".katze-say").inner_text()
    steps.press("ArrowRight")
    assert chips.all_inner_texts() == ["▁", "aa", "aa", *"▁<b>", *"▁ba"]
    assert "as often as" in page.locator(".katze-say").inner_text()
    steps.press("End")
    assert chips.all_inner_texts() == ["▁aaaa", "▁<b>", "▁ba"]
    assert "nothing left to join" in page.locator(".katze-say").inner_text()
    field.fill("")
    assert chips.count() == 0


@pytest.mark.parametrize("widget", ["merging"], indirect=True)
def test_the_script_learns_the_pairs_that_the_library_learns(opened: Callable[..., Page]) -> None:
    text = "play play play playing playing played stay stay staying staying stayed say saying"
    words = {tuple("▁" + word): text.split().count(word) for word in text.split()}
    characters = sorted({character for word in words for character in word})
    merges = learn_merges(words, {character: i for i, character in enumerate(characters)}, 80)
    page = opened()
    control(page, "your text").fill(text)
    on, marked = control(page, "one step on"), page.locator(".katze-chip.marked")
    for left, right in merges:
        on.press("Enter")
        assert set(marked.all_inner_texts()) == {left + right}
    assert control(page, "pairs joined").get_attribute("max") == str(len(merges))


@pytest.mark.parametrize("widget", ["heads"], indirect=True)
def test_a_word_is_pointed_at(opened: Callable[..., Page]) -> None:
    page = opened()
    said = page.locator(".katze-say")
    assert said.inner_text().startswith("From “the” layer 1, the mean of its heads, looks at")
    page.get_by_role("rowheader", name="kitchen").locator("+ td").hover()
    assert said.inner_text().startswith("From “kitchen”")
    page.get_by_role("rowheader", name="small").locator("+ td").click()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert said.inner_text().startswith("From “the”")


@pytest.mark.parametrize("widget", ["sampling"], indirect=True)
def test_top_k_comes_before_the_nucleus(opened: Callable[..., Page]) -> None:
    page = opened()
    drawn_from = page.locator(".katze-bars").last.locator("li > :last-child")
    assert drawn_from.all_inner_texts() == ["0.500", "0.250", "0.150", "0.100"]
    control(page, "nucleus p").fill("0.65")
    assert drawn_from.all_inner_texts() == ["0.667", "0.333", "0.000", "0.000"]
    control(page, "top-k").fill("2")
    assert drawn_from.all_inner_texts() == ["1.000", "0.000", "0.000", "0.000"]  # 2/3 of what top-k leaves
    control(page, "nucleus p").fill("1")
    control(page, "temperature").fill("0.5")
    assert drawn_from.all_inner_texts() == ["0.800", "0.200", "0.000", "0.000"]
    control(page, "draw twenty words").press("Enter")
    assert set(page.locator(".katze-chip").all_inner_texts()) <= {"tanzte", "schlief"}
