"""The labeled reviews: complete, balanced, and none of them twice."""

import hashlib
from collections import Counter

from course_lib.text.reviews import SENTENCES, read_reviews


def test_the_sentences_are_those_that_the_documentation_names() -> None:
    digest = hashlib.sha256(SENTENCES.read_bytes()).hexdigest()
    documented = (SENTENCES.parents[3] / "docs" / "data.md").read_text(encoding="utf-8")
    assert digest in documented
    assert f"| {SENTENCES.stat().st_size:,} |" in documented


def test_each_site_has_as_much_praise_as_complaint() -> None:
    lines = [line.split("\t") for line in SENTENCES.read_text(encoding="utf-8").splitlines()]
    counted = Counter((site, label) for site, label, _text in lines)
    assert counted == {(site, label): 500 for site in ("amazon", "imdb", "yelp") for label in "01"}
    assert all(text.strip() == text != "" for _site, _label, text in lines)


def test_no_sentence_is_there_twice() -> None:
    reviews = read_reviews()
    assert len(reviews) == len({review.text for review in reviews}) == 2982
    assert reviews[1].text == "Good case, Excellent value."
    assert reviews[1].positive
    assert not reviews[0].positive


def test_the_licence_lies_beside_the_sentences() -> None:
    licence = (SENTENCES.parent / "LICENSE.txt").read_text(encoding="utf-8")
    assert "Kotzias" in licence
    assert "Section 3 – License Conditions" in licence
