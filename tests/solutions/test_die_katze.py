"""Lesson 11, run in its short form."""

from __future__ import annotations

import re

import pytest
from nbformat import NotebookNode

from tests.solutions.executing import ExecutedLesson, numbers


class TestDieKatze(ExecutedLesson):
    lesson = "11_die_katze"
    pictures = 8

    def test_sorting_lets_out_the_air(self, output: str) -> None:
        come, length, tokens = (float(share) for share in re.findall(r"([\d.]+)% air", output))
        assert come > 4 * max(length, tokens)

    def test_a_word_pulls_as_hard_in_a_small_batch(self, output: str) -> None:
        pulls = re.findall(r"large batch pulls with ([\d.]+), one of the small with ([\d.]+)", output)
        assert pulls == [("0.0100", "0.0100"), ("0.0056", "0.0500")]

    def test_the_interrupted_run_shows_a_bar_and_the_rating_can_be_given(self, solved: NotebookNode) -> None:
        outputs = [output for cell in solved.cells for output in cell.get("outputs", ()) if "data" in output]
        pages = [output["data"].get("text/html", "") for output in outputs]
        assert any('data-katze-widget="questionnaire"' in page for page in pages)
        assert any('data-katze-widget="translating"' in page for page in pages)


@pytest.mark.usefixtures("thorough")
class TestWhatDieKatzeLearns:
    lesson = TestDieKatze.lesson

    def test_without_a_gpu_it_is_the_short_form_which_resumes(self, output: str) -> None:
        for said in (
            "There is no GPU: the short form, 200 steps",
            "subwords.learn_merges: the course's own",
            "step-00000090.pt step-00000100.pt tokenizer.json",
            "knows 200 losses",
        ):
            assert said in output
        assert re.search(r"These learned \d+ pairs from [\d,]+ different words", output)

    def test_the_loss_begins_at_knowing_nothing_and_falls(self, output: str) -> None:
        said = (r"ln 1,000 =", "loss at the first step:", "loss at the last step:")
        nothing, first, last = (numbers(rf"{one} ([\d.]+)", output)[0] for one in said)
        assert 0 <= first - nothing < 1.5
        assert last < nothing / 2

    def test_ones_own_classes_learn_as_fast(self, output: str) -> None:
        line = r"losses: the library's, as above ([\d.]+), .* post-norm ([\d.]+), your classes' ([\d.]+)"
        above, librarys, own = numbers(line, output)
        assert abs(librarys - own) < 0.2
        assert own - above > 0.4

    def test_the_two_tests_lie_eighty_points_apart(self, output: str) -> None:
        by_rule, by_hand = re.findall(r"by (?:rule|hand): BLEU ([\d.]+), lower-cased .* (\d+) of \d+ word", output)
        assert float(by_rule[0]) > 98
        assert float(by_rule[0]) - float(by_hand[0]) > 78
        assert int(by_hand[1]) == 0

    def test_ones_own_bleu_is_the_librarys(self, output: str) -> None:
        theirs = re.findall(r"by (?:rule|hand): BLEU ([\d.]+), lower-cased", output)
        ours = re.findall(r"by (?:rule|hand): BLEU ([\d.]+), and 95 of 100", output)
        assert ours == theirs
        for score, low, high in re.findall(r"BLEU ([\d.]+), and .* between ([\d.]+) and ([\d.]+)", output):
            assert float(low) <= float(score) <= float(high)

    def test_the_cat_dances_with_the_wrong_article(self, output: str) -> None:
        assert "Ein" in output
        assert re.search(r"dancing on the table\.\n.*\n *translator: Die Katze tanzt auf der Tisch\.", output)
        assert "translator: Zwei Kinder bauen im Garten ein Zelt auf." in output

    def test_the_beam_finds_shorter_nonsense(self, output: str) -> None:
        (greedy, long), (beam, short) = re.findall(r"at once: BLEU ([\d.]+) on 50 .* ([\d.]+) words", output)
        assert float(greedy) > float(beam)
        assert float(long) > float(short)

    def test_the_worst_are_mostly_short_and_one_has_its_basket_twice(self, output: str) -> None:
        assert output.count("Die Korb ist der Treppe der er Korb") >= 1
        assert numbers(r"of the worst ten: .*'short': (\d+)", output)[0] > 5
