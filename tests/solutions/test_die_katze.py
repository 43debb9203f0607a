"""Lesson 11, run in its short form."""

import re

import pytest
from nbformat import NotebookNode

from tests.solutions.executing import ExecutedLesson, numbers, table


class TestDieKatze(ExecutedLesson):
    lesson = "11_die_katze"
    pictures = 8

    def test_sorting_removes_the_padding(self, output: str) -> None:
        come, length, tokens = (float(share) for share in re.findall(r"([\d.]+)% padding", output))
        assert come > 4 * max(length, tokens)

    def test_a_token_pulls_as_hard_in_a_small_batch(self, output: str) -> None:
        pulls = re.findall(r"gradient of a token: ([\d.]+) in the large batch, ([\d.]+) in the small one", output)
        assert pulls == [("0.0100", "0.0100"), ("0.0056", "0.0500")]

    def test_each_figure_of_it_says_whose_classes_have_learned(self, solved: NotebookNode, output: str) -> None:
        assert output.count("Your transformer: all pieces are borrowed from the course, until yours have passed.") == 1
        pages = "".join(
            one["data"].get("text/html", "")
            for cell in solved.cells
            for one in cell.get("outputs", ())
            if "data" in one
        )
        assert len(re.findall(r'alt="[^"]*the course&#x27;s classes', pages)) == 2
        assert "after fine-tuning (the course's classes):" in output

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
            "subwords.most_frequent_pair, subwords.merge: the course's own",
            "step-00000090.pt step-00000100.pt tokenizer.json",
            "has 200 losses",
        ):
            assert said in output
        assert re.search(r"We learned \d+ merges from [\d,]+ different words", output)

    def test_the_loss_begins_at_knowing_nothing_and_falls(self, output: str) -> None:
        said = (r"ln 1,000 =", "loss at the first step:", "loss at the last step:")
        nothing, first, last = (numbers(rf"{one} ([\d.]+)", output)[0] for one in said)
        assert 0 <= first - nothing < 1.5
        assert last < nothing / 2

    def test_ones_own_classes_learn_as_fast(self, output: str) -> None:
        line = (
            r"losses: the library's in pre-norm ([\d.]+), .* post-norm ([\d.]+), the course's classes in .* ([\d.]+)$"
        )
        above, librarys, own = numbers(line, output)
        assert abs(librarys - own) < 0.1
        assert own > above

    def test_waiting_pays_with_a_hundred_captions_and_not_with_all(self, output: str) -> None:
        seen = table(r"^(.*): with a patience of 3, the run stops after (\d+) of 10", output)
        assert seen["100 captions"][0] < 8
        assert seen["scenes"] == seen["1,100 captions"] == [10]

    def test_fine_tuning_trebles_one_score_doubles_another_and_halves_the_third(self, output: str) -> None:
        line = r"^(by rule|everyday|by hand): BLEU ([\d.]+), lower-cased .* (\d+) of \d+ word"
        found = [(name, float(bleu), int(right)) for name, bleu, right in re.findall(line, output, re.M)]
        before, after = ({name: score for name, *score in part} for part in (found[:3], found[3:]))
        assert before["by rule"][0] > 98
        assert before["by hand"][0] < 20
        assert before["by hand"][1] == 0
        assert after["everyday"][0] > 2.5 * before["everyday"][0]
        assert after["by hand"][0] > 1.7 * before["by hand"][0]
        assert after["by rule"][0] < before["by rule"][0] / 2

    def test_ones_own_bleu_is_the_librarys(self, output: str) -> None:
        theirs = re.findall(r"^(?:by rule|everyday|by hand): BLEU ([\d.]+), lower-cased", output, re.M)[3:]
        ours = re.findall(r"^(?:by rule|everyday|by hand): BLEU ([\d.]+), and 95% of the samples", output, re.M)
        assert ours == theirs
        for score, low, high in re.findall(r"BLEU ([\d.]+), and .* between ([\d.]+) and ([\d.]+)", output):
            assert float(low) <= float(score) <= float(high)

    def test_the_cat_learns_her_table_s_article(self, output: str) -> None:
        (said,) = re.findall(r"^The cat is dancing on the table\.\n((?: {4}.*\n){3})", output, re.M)
        assert "3,000 steps: Die Katze tanzt auf der Tisch." in said
        assert "fine-tuned: Die Katze tanzt auf dem Tisch." in said
        assert "3,000 steps: Zwei Kinder bauen im Garten ein Zelt auf." in output

    def test_the_beam_finds_shorter_sentences(self, output: str) -> None:
        long, short = re.findall(r"(?:greedy|5 beams): BLEU [\d.]+ on 50 .* ([\d.]+) words", output)
        assert float(long) > float(short)

    def test_every_kind_of_error_occurs(self, output: str) -> None:
        (counts,) = re.findall(r"^everyday: (\d+ right, .*)$", output, re.M)
        assert min(int(number) for number in re.findall(r"\d+", counts)) > 0
        assert numbers(r"^everyday: .* (\d+) short, \d+ word$", output)[0] > 50
