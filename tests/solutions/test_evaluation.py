"""Lesson 10, run."""

from __future__ import annotations

import re

from nbformat import NotebookNode

from course_lib.evaluation.thesaurus import lesson_thesaurus
from tests.solutions.executing import ExecutedLesson


class TestEvaluation(ExecutedLesson):
    lesson = "10_evaluation"
    pictures = 11

    def test_both_translations_get_the_scores_of_the_first_page(self, output: str) -> None:
        assert re.findall(r"penalty [\d.]+; BLEU (\d+)", output) == ["71", "0"]
        assert "Felix's words: 3." in output
        assert "8 of 8 words are in the reference" in output

    def test_the_library_agrees(self, output: str) -> None:
        found = re.findall(r"yours ([\d.]+), sacrebleu's ([\d.]+)", output)
        assert len(found) == 2
        assert all(ours == theirs for ours, theirs in found)

    def test_an_always_silent_tagger_is_half_right(self, output: str) -> None:
        assert "saying Other always: 50 %" in output

    def test_the_tagger_of_lesson_09_gets_surer_at_the_cost_of_recall(self, output: str) -> None:
        rows = {
            name: [float(share) for share in re.findall(r"([\d.]+) ?%", line)]
            for name, line in re.findall(r"^(fine-tuned|from nothing) (.*)$", output, flags=re.M)
        }
        assert all(len(row) == 8 for row in rows.values())
        assert rows["fine-tuned"][0] > 97 > rows["from nothing"][0] > 91
        precision, recall, f1 = rows["from nothing"][2:5]
        assert 50 < precision < 65
        assert recall > 40
        assert f1 + 20 < rows["fine-tuned"][4]
        surely = {what: float(share) for what, share in re.findall(r"^(\w+) from 70 % on: ([\d.]+) %", output, re.M)}
        assert surely["precision"] > 97
        assert surely["recall"] < recall - 15

    def test_being_too_short_costs_more_than_being_too_long(self, output: str) -> None:
        assert "costs more: too few." in output

    def test_the_way_through_the_table_is_the_one_that_the_figure_is_said_to_show(self, output: str) -> None:
        assert "[so deleted] [the becomes a] cat did [not inserted] dance" in output

    def test_moved_words_are_four_errors_in_five(self, output: str) -> None:
        assert "two words moved to the front: 80 %" in output

    def test_every_metric_prefers_felix_and_every_rater_minka(self, output: str) -> None:
        assert "11 of 11 metrics prefer Felix" in output
        assert "Felix is ahead in: 11 metrics" in output
        grades = re.findall(r"gives Felix ([\d.]+) and Minka ([\d.]+)", output)
        assert len(grades) == 2
        assert all(float(felix) + 1 < float(minka) for felix, minka in grades)

    def test_rouge_by_hand_is_the_librarys(self, output: str) -> None:
        assert "Felix: precision 1.000, recall 0.900, F1 0.947" in output
        assert "Minka: precision 0.600, recall 0.600, F1 0.600" in output
        assert "the library: 0.947, 0.600" in output

    def test_felix_is_not_ahead_by_luck(self, output: str) -> None:
        (share,) = re.findall(r"Felix is ahead in: ([\d.]+) % of the samples", output)
        assert float(share) > 99
        assert re.search(r"lie between [1-9]\d* and \d+ points", output)

    def test_synonyms_lift_minka_by_one_good_find_and_one_accident(self, output: str) -> None:
        assert "Felix: 91.7 without synonyms, 91.7 with them" in output
        assert "Minka: 57.2 without synonyms, 61.4 with them" in output
        assert re.findall(r"→ \d+  .*\((.*)\)", output) == ["small = little", "give = feed, give = leave"]
        assert "METEOR prefers Felix in 2 of 2 versions" in output
        assert "synonym(wordnet-3.0-table)" in output

    def test_the_dictionary_of_single_words_knows_no_other_pair_that_the_prose_names(self) -> None:
        synonyms = lesson_thesaurus().synonyms
        assert "healthy" not in synonyms("recovered")
        assert not {"last", "night"} & (synonyms("yesterday") | synonyms("evening"))
        assert "before" not in synonyms("after")

    def test_your_blocks_translate_as_the_librarys(self, output: str) -> None:
        (apart,) = re.findall(r"difference between the library's scores and those of your blocks: ([\d.]+)", output)
        assert float(apart) < 1e-4

    def test_the_translator_is_lost_on_captions_by_hand_and_more_so_with_beams(self, output: str) -> None:
        pattern = r"^(by \w+, [\w ]+?) +BLEU +([\d.]+) .* in a translation +([\d.]+)$"
        scores = {name: (float(bleu), float(length)) for name, bleu, length in re.findall(pattern, output, re.M)}
        assert scores["by rule, greedy"][0] > 98.5
        assert scores["by hand, two beams"][0] < scores["by hand, greedy"][0] < 20
        assert scores["by hand, two beams"][1] < scores["by hand, greedy"][1]
        assert "reference  Die Katze tanzte gestern Abend nicht auf dem Tisch." in output
        assert "greedy     Die Katze fegt auf" in output

    def test_sixty_captions_would_have_proved_what_all_do_not(self, output: str) -> None:
        found = {
            int(captions): (float(low), float(high))
            for captions, low, high in re.findall(
                r"(\d+) captions, greedy is ahead in: .*\n.* lie between ([+-][\d.]+) and ([+-][\d.]+) points", output
            )
        }
        assert found[60][0] > 0
        assert found[97][0] < 0 < found[97][1]

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
