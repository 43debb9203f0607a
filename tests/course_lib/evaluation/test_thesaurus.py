"""The table of synonyms, and a WordNet of three meanings that it is made from."""

import ast
import re
from pathlib import Path

import pytest

from course_lib.evaluation.thesaurus import lesson_thesaurus, look_up, write_table

ROOT = Path(__file__).parents[3]

FILES = {
    "data.noun": "  1 a license  \n00000001 06 n 03 Vet 0 veterinarian 0 veterinary_surgeon 0 000 | for cats  \n",
    "data.verb": "00000002 41 v 02 wait 0 expect 0 001 @ 00000001 v 0000 | be patient  \n"
    "00000003 32 v 02 say 0 state 0 000 | utter  \n",
    "data.adj": "00000004 00 s 02 small 0 little(p) 0 000 | not big  \n",
    "data.adv": "",
    "noun.exc": "",
    "verb.exc": "said say\n",
    "adj.exc": "",
    "adv.exc": "",
}


@pytest.fixture
def wordnet(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    return tmp_path


def test_words_that_share_a_meaning_are_synonyms(wordnet: Path) -> None:
    found = look_up(wordnet, ["vet", "little", "Cat"])
    assert found == {"vet": {"veterinarian"}, "little": {"small"}, "cat": frozenset()}


def test_a_word_is_looked_up_in_its_base_form(wordnet: Path) -> None:
    found = look_up(wordnet, ["waited", "smaller", "said", "vets"])
    assert found == {
        "waited": {"wait", "expect"},
        "smaller": {"small", "little"},
        "said": {"say", "state"},
        "vets": {"vet", "veterinarian"},
    }


def test_a_table_keeps_its_words_and_gains_those_that_are_named(wordnet: Path, tmp_path: Path) -> None:
    table = tmp_path / "table.tsv"
    write_table(wordnet, ["waited"], table)
    write_table(wordnet, ["cat"], table)
    assert table.read_text(encoding="utf-8") == "cat\t\nwaited\texpect wait\n"
    synonyms = lesson_thesaurus(table).synonyms
    assert synonyms("Waited") == {"wait", "expect"}
    assert synonyms("cat") == synonyms(".") == frozenset()
    with pytest.raises(ValueError, match=r"no entry for 'dog': .*nltk.download\(\"wordnet\"\)"):
        synonyms("dog")


def test_without_wordnet_the_table_stays(tmp_path: Path) -> None:
    table = tmp_path / "table.tsv"
    table.write_text("cat\t\n", encoding="utf-8")
    with pytest.raises(FileNotFoundError):
        write_table(tmp_path, ["dog"], table)
    assert table.read_text(encoding="utf-8") == "cat\t\n"


def test_the_table_that_ships_has_every_word_of_the_lessons_sentences() -> None:
    lesson = (ROOT / "solutions/10_evaluation/10_evaluation.py").read_text(encoding="utf-8")
    assignments = [node for node in ast.parse(lesson).body if isinstance(node, ast.Assign)]
    (corpus,) = [ast.literal_eval(a.value) for a in assignments if ast.unparse(a.targets[0]) == "corpus"]
    words = {word for _german, *texts in corpus for text in texts for word in re.findall(r"\w+", text)}
    synonyms = lesson_thesaurus().synonyms
    assert len(words) > 60
    assert all(isinstance(synonyms(word), frozenset) for word in words)
    assert "little" in synonyms("small")
    assert "after" not in synonyms("before")
