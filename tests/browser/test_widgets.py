"""Every widget in a real browser: each control is reached and moved by the keyboard alone, and the picture changes.

A widget is tried on a page of its own, in light and dark, wide and narrow, without scripts, and next to all the others.
Its script may not fail, and axe-core may find nothing serious.
"""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import Page

from course_lib import show
from course_lib.positions import sinusoidal_encoding
from course_lib.show.interactive import SCRIPTS, widget_names
from course_lib.text.subwords import learn_merges
from tests.browser.accessibility import faults
from tests.browser.conftest import Visit
from tests.browser.keyboard import CONTROLS, control, move, page_of, picture, reached_by_tab

STEPS = [
    show.Written(["<s>"], [("die", 0.9), ("der", 0.06)], [0.8, 0.1, 0.1]),
    show.Written(["<s>", "die"], [("Katze", 0.7), ("<b>", 0.2)], [0.05, 0.92, 0.03]),
    show.Written(["<s>", "die", "Katze"], [("tanzte", 0.7), ("schlief", 0.2)], [0.0, 0.1, 0.9]),
]


def cut(text: str, merges: list[tuple[str, str]]) -> list[str]:
    return [f"▁{text[: len(merges)]}", *text[len(merges) :]]


LESSONS: Mapping[str, Callable[[], object]] = {
    "attention_stepper": show.attention_stepper,
    "block_walk": show.block_walk,
    "clocks": lambda: show.clocks(sinusoidal_encoding(60, 8), [0, 3], alt="clocks", title="clocks", shift=4),
    "covered": lambda: show.covered(
        ["the", "cat", "slept"], [[("the", 0.9)], [("dog", 0.6), ("cat", 0.3)], [("sat", 1)]]
    ),
    "cutting": lambda: show.cutting(cut, "cat", [("▁", "c"), ("▁c", "a")], (0, 2), title="cat", alt="cuts"),
    "mask_painter": lambda: show.mask_painter(
        ["<s>", "die", "Katze"], torch.eye(3)[:, :2] - 1, torch.tensor([2.0, 0.0])
    ),
    "neighbours": lambda: show.neighbours(
        ["train", "station", "radio"], torch.tensor([[2.3, 0.3], [0.6, 0.5], [0.1, 1.2]]), 1
    ),
    "prompts": lambda: show.prompts(lambda text: f"{text} saw {len(text)} mice", ["the cat", "a dog"]),
    "query_explorer": show.query_explorer,
    "questionnaire": lambda: show.questionnaire("grades", ["Is it good?\nA: yes", "Really?"], ["no", "yes"]),
    "softmax_gradient": show.softmax_gradient,
    "writing": lambda: show.writing(["the", "cat", "danced"], STEPS, alt="three steps"),
}
"""How a lesson shows its widgets."""

PLAYING = [name for name in LESSONS if "player(" in (SCRIPTS / f"{name}.js").read_text(encoding="utf-8")]
"""Those that run by themselves when asked to."""


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


EXPLORERS: Mapping[str, Callable[[], object]] = {
    "heads": heads,
    "merging": lambda: show.merging("play playing played stay"),
    "sampling": lambda: show.sampling(["tanzte", "schlief", "sang", "lief"], torch.tensor([0.5, 0.25, 0.15, 0.1])),
    "schedules": show.schedules,
    "searching": lambda: show.searching(BRANCHES, "the cat danced"),
    "translating": translating,
}
"""Those that look into models, each with little data."""

MOVES: Mapping[str, Mapping[str, str]] = {
    "heads": {
        "layer": "ArrowUp",
        "head": "ArrowUp",
        "small": "Space",
        "cell": "ArrowUp ArrowDown Enter",
        "text": "ArrowDown",
    },
    "merging": {
        "one step on": "Enter",
        "merges": "ArrowRight",
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
"""Every control of an explorer, in an order in which each changes something, and the keys that do."""


PICTURE = """() => {
    const live = document.querySelector(".katze-live").cloneNode(true);
    live.querySelectorAll("input, select, output").forEach((control) => control.remove());
    return live.innerHTML + [...document.querySelectorAll("input[readonly]")].map((line) => line.value);
}"""
"""What a widget shows beside its fields; a button may change no more than its own text."""

NAMED = """() => [...document.querySelectorAll(".katze-live :is(input, select, button)")].filter((control) =>
    !control.labels?.length && !control.textContent.trim() && !control.getAttribute("aria-label")).length"""


WIDGETS = {**LESSONS, **EXPLORERS}


@pytest.fixture
def opened(visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Page]:
    """Opens a page that holds these widgets and nothing else; the test fails as soon as a script does.

    With `frozen=True` nothing moves by itself: what plays could be back where it was before it is looked at.
    """

    def page_with(*names: str, frozen: bool = False, **how: object) -> Page:
        shown: list[Any] = []
        monkeypatch.setattr(sys.modules["course_lib.show.interactive"], "display", shown.append)
        for name in names:
            shown += [one for one in [WIDGETS[name]()] if one is not None]
        path = page_of([one._repr_mimebundle_()["text/html"] for one in shown], tmp_path / "page.html")
        page, failed = visit("about:blank", **how), list[str]()
        page.on("console", lambda message: failed.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: failed.append(str(error)))
        if frozen:
            page.add_init_script("window.setInterval = () => 1")
            page.add_init_script("navigator.clipboard.writeText = async () => {}")  # the system's takes its time
        page.goto(path.as_uri())
        assert failed == []
        page.on("pageerror", lambda error: pytest.fail(str(error)))
        return page

    return page_with


def test_every_widget_is_tried() -> None:
    assert WIDGETS.keys() == widget_names()
    assert MOVES.keys() == EXPLORERS.keys()


@pytest.mark.parametrize("name", LESSONS)
def test_every_control_changes_the_picture_by_the_keyboard_alone(name: str, opened: Callable[..., Page]) -> None:
    page = opened(name, frozen=True)
    controls = page.locator(f"{CONTROLS}:not([readonly]), .katze-live [type=radio]:not(:checked)")
    assert page.evaluate(NAMED) == 0
    assert reached_by_tab(page) == page.locator(f"{CONTROLS}:not(:disabled)").count() > 0
    left = set(range(controls.count()))
    while left:  # some have nothing to do before another one was moved
        moved = set()
        for place in left:
            controls.nth(place).focus()
            before = page.evaluate(PICTURE)
            move(controls.nth(place))
            moved |= {place} if page.evaluate(PICTURE) != before else set()
        assert moved, f"controls {left} change nothing"
        left -= moved


@pytest.mark.parametrize(("name", "moves"), MOVES.items(), ids=MOVES)
def test_every_control_of_an_explorer_changes_the_picture(
    name: str, moves: Mapping[str, str], opened: Callable[..., Page]
) -> None:
    page = opened(name, frozen=True)
    assert page.locator(CONTROLS).count() <= len(moves)
    assert reached_by_tab(page) == page.locator(f"{CONTROLS}:not(:disabled)").count()
    for label, keys in moves.items():
        before = picture(page)
        control(page, label).focus(timeout=5_000)
        for key in keys.split():
            page.keyboard.press(key)
        assert picture(page) != before, label


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_they_read_well_on_every_screen(width: int, dark: bool, opened: Callable[..., Page]) -> None:
    page = opened(*WIDGETS, width=width, dark=dark)
    assert page.locator(".katze-live").count() == len(WIDGETS)
    assert page.locator(".katze-still").count() == 0
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "nothing sticks out of the page"


def test_without_scripts_their_stills_show_them(opened: Callable[..., Page]) -> None:
    stills = opened(*WIDGETS, scripts=False).locator(".katze-still").all()
    assert len(stills) == len(WIDGETS)
    for name, still in zip(WIDGETS, stills, strict=True):
        assert still.is_visible(), name
        pictures = still.locator("img")
        assert len(still.inner_text().strip()) > 20 or len(pictures.first.get_attribute("alt") or "") > 3, name


def test_widgets_of_one_page_move_by_themselves(opened: Callable[..., Page]) -> None:
    page = opened(*LESSONS, "clocks")
    assert page.locator(".katze-live").count() == len(LESSONS) + 1
    first, second = page.locator('[data-katze-widget="clocks"]').all()
    untouched = second.inner_html()
    first.get_by_role("slider").first.press("ArrowRight")
    assert first.inner_html() != untouched
    assert second.inner_html() == untouched


def test_the_query_can_be_dragged(opened: Callable[..., Page]) -> None:
    page = opened("query_explorer")
    box = page.locator(".katze-chart").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"], box["y"] + 1)
    page.mouse.up()
    assert [each.input_value() for each in page.get_by_role("slider").all()] == ["6", "6"]
    assert "goes to “danced”" in page.locator(".katze-say").inner_text()


def test_a_longer_vector_wins_by_dot_product_alone(opened: Callable[..., Page]) -> None:
    page = opened("neighbours")
    said = page.locator(".katze-say")
    assert "“train” by dot product, and “radio” by cosine" not in said.inner_text()
    page.get_by_label("dim 0").fill("0.4")
    assert "“train” by dot product, and “radio” by cosine" in said.inner_text()
    page.get_by_label("the word to move").select_option("train")
    page.get_by_role("button", name="half as long").click()
    page.get_by_label("the word to move").select_option("station")
    assert "“radio”, by dot product and by cosine" in said.inner_text()


def test_the_past_notices_what_the_mask_lets_through(opened: Callable[..., Page]) -> None:
    page = opened("mask_painter")
    said = page.locator(".katze-say")
    page.get_by_label("exchange the last word").check()
    assert "no cheating" in said.inner_text()
    page.get_by_role("grid", name="mask").locator("td[tabindex]").nth(2).click()
    assert "the past noticed: <s>." in said.inner_text()
    page.get_by_role("button", name="only itself").click()
    assert "no cheating" in said.inner_text()
    page.get_by_label("multiplies the scores").check()
    assert "the past noticed: <s>, die" in said.inner_text()


def test_what_plays_can_be_stopped(opened: Callable[..., Page]) -> None:
    page = opened("clocks")
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("() => Number(document.querySelector('[type=range]').value) >= 2")
    page.get_by_role("button", name="Pause").click()
    assert page.get_by_role("button", name="Play").count() == 1


@pytest.mark.parametrize("name", PLAYING)
def test_what_plays_stops_at_its_end(name: str, opened: Callable[..., Page]) -> None:
    page = opened(name)
    steps, play = page.locator(".katze-player input"), page.get_by_role("button", name="Play")
    steps.press("End")
    steps.press("ArrowLeft")
    before = int(steps.input_value())
    play.click()
    page.get_by_role("button", name="Pause").wait_for(state="detached")
    assert play.count() == 1
    assert int(steps.input_value()) == before + 1 == int(steps.get_attribute("max") or 0)


def test_a_sentence_is_typed_and_its_translation_grows_by_itself(opened: Callable[..., Page]) -> None:
    page = opened("translating")
    german = page.locator("[lang=de] .katze-chip")
    field = control(page, "English")
    field.fill("")
    field.press_sequentially("The old and tired dogs invited a bear.")
    assert german.all_inner_texts() == ["die"]
    control(page, "Play").press("Enter")
    page.locator("[lang=de]").filter(has_text="die alten luden ein <e>".replace(" ", "")).wait_for()
    assert page.locator(".katze-matrix tr").count() == 6
    field.fill("a cat")
    assert "no translation that begins like this" in page.locator(".katze-say").inner_text()


def test_more_beams_find_more_and_a_branch_is_taken_by_hand(opened: Callable[..., Page]) -> None:
    page = opened("searching")
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


def test_pairs_are_merged_in_a_text_of_ones_own(opened: Callable[..., Page]) -> None:
    page = opened("merging")
    field, steps = control(page, "your text"), control(page, "merges")
    chips = page.locator(".katze-chip")
    field.fill("aaaa <b> ba")
    assert chips.all_inner_texts() == [*"▁aaaa", *"▁<b>", *"▁ba"]
    assert "Next: a + a, neighbors 3 times, more often" in page.locator(".katze-say").inner_text()
    steps.press("ArrowRight")
    assert chips.all_inner_texts() == ["▁", "aa", "aa", *"▁<b>", *"▁ba"]
    assert "as often as" in page.locator(".katze-say").inner_text()
    steps.press("End")
    assert chips.all_inner_texts() == ["▁aaaa", "▁<b>", "▁ba"]
    assert "nothing left to merge" in page.locator(".katze-say").inner_text()
    field.fill("")
    assert chips.count() == 0


def test_the_script_learns_the_pairs_that_the_library_learns(opened: Callable[..., Page]) -> None:
    text = "play play play playing playing played stay stay staying staying stayed say saying"
    words = {tuple("▁" + word): text.split().count(word) for word in text.split()}
    characters = sorted({character for word in words for character in word})
    merges = learn_merges(words, {character: i for i, character in enumerate(characters)}, 80)
    page = opened("merging")
    control(page, "your text").fill(text)
    on, marked = control(page, "one step on"), page.locator(".katze-chip.marked")
    for left, right in merges:
        on.press("Enter")
        assert set(marked.all_inner_texts()) == {left + right}
    assert control(page, "merges").get_attribute("max") == str(len(merges))


def test_a_word_is_pointed_at(opened: Callable[..., Page]) -> None:
    page = opened("heads")
    said = page.locator(".katze-say")
    assert said.inner_text().startswith("From “the” head 2 of layer 2 looks at")
    page.get_by_role("rowheader", name="kitchen").locator("+ td").hover()
    assert said.inner_text().startswith("From “kitchen”")
    page.get_by_role("rowheader", name="small").locator("+ td").click()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert said.inner_text().startswith("From “the”")


def test_top_k_comes_before_the_nucleus(opened: Callable[..., Page]) -> None:
    page = opened("sampling")
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
