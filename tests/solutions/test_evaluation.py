"""Lesson 10, run."""

from __future__ import annotations

import re

from nbformat import NotebookNode

from tests.solutions.executing import ExecutedLesson


class TestEvaluation(ExecutedLesson):
    lesson = "10_evaluation"
    pictures = 9

    def test_both_translations_get_the_scores_of_the_first_page(self, output: str) -> None:
        assert re.findall(r"penalty [\d.]+; BLEU (\d+)", output) == ["71", "0"]
        assert "Felix: 3 of 11 words are right in their place" in output
        assert "8 of 8 words are in the reference" in output

    def test_the_library_agrees(self, output: str) -> None:
        found = re.findall(r"yours ([\d.]+), sacrebleu's ([\d.]+)", output)
        assert len(found) == 2
        assert all(ours == theirs for ours, theirs in found)

    def test_an_always_silent_tagger_is_half_right(self, output: str) -> None:
        assert "accuracy of saying 'Other' always: 50%" in output

    def test_the_way_through_the_table_is_the_one_that_the_figure_is_said_to_show(self, output: str) -> None:
        assert "[so deleted] [the becomes a] cat did [not inserted] dance" in output

    def test_moved_words_are_four_errors_in_five(self, output: str) -> None:
        assert "for “the cat danced last night”: 80%" in output

    def test_every_metric_prefers_felix_and_every_rater_minka(self, output: str) -> None:
        assert "11 of 11 metrics prefer Felix" in output
        grades = re.findall(r"gives Felix ([\d.]+) and Minka ([\d.]+)", output)
        assert len(grades) == 2
        assert all(float(felix) + 1 < float(minka) for felix, minka in grades)

    def test_rouge_by_hand_is_the_librarys(self, output: str) -> None:
        assert "Felix: precision 1.000, recall 0.900, F1 0.947" in output
        assert "Minka: precision 0.600, recall 0.600, F1 0.600" in output
        assert "the library: 0.947, 0.600" in output

    def test_felix_is_not_ahead_by_luck(self, output: str) -> None:
        ((share,),) = [re.findall(r"ahead in BLEU in ([\d.]+)% of the samples", output)]
        assert float(share) > 99
        assert re.search(r"lie between [1-9]\d* and \d+ points", output)

    def test_the_metrics_point_the_wrong_way(self, output: str) -> None:
        bleu, bertscore = (float(value) for value in re.findall(r"correlation with people ([+-][\d.]+)", output))
        assert bleu < bertscore < 0

    def test_ada_and_bo_agree_more_than_by_chance_and_in_little_more_than_half(self, output: str) -> None:
        ((same, kappa),) = re.findall(r"the same grade in (\d+)%, kappa ([\d.]+)", output)
        assert 50 < int(same) < 65
        assert 0.3 < float(kappa) < 0.6

    def test_the_perplexity_is_that_of_the_right_words(self, output: str) -> None:
        assert "perplexity: 4.847" in output

    def test_the_questionnaires_can_be_clicked_and_read(self, solved: NotebookNode) -> None:
        outputs = [output for cell in solved.cells for output in cell.get("outputs", ()) if "data" in output]
        pages = [o["data"].get("text/html", "") for o in outputs]
        asked = [page for page in pages if 'data-katze-widget="questionnaire"' in page]
        stills = [page.partition('<script type="application/json">')[0] for page in asked]
        assert [still.count("Is this a good translation?") for still in stills] == [16, 0]
        assert [still.count("<br>B: ") for still in stills] == [0, 8]
