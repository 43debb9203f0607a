"""Lesson 10, run."""

import re

import pytest
from nbformat import NotebookNode

from course_lib.evaluation.thesaurus import lesson_thesaurus
from tests.solutions.executing import ExecutedLesson, numbers, table


class TestEvaluation(ExecutedLesson):
    lesson = "10_evaluation"
    pictures = 12
    prints = (
        "Felix's words: 3.",
        "8 of 8 words are in the reference",
        "always saying Other: 50%",
        "costs more: too few.",
        "[so deleted] [the becomes a] cat did [not inserted] dance",
        "two words moved to the front: 80%",
        "11 of 11 metrics prefer Felix",
        "Felix is ahead in: 11 metrics",
        "Felix: precision 1.000, recall 0.900, F1 0.947",
        "Minka: precision 0.600, recall 0.600, F1 0.600",
        "the library: 0.947, 0.600",
        "Felix: 91.7 without synonyms, 91.7 with them",
        "Minka: 57.2 without synonyms, 61.4 with them",
        "METEOR prefers Felix in 2 of 2 versions",
        "synonym(wordnet-3.0-table)",
        "reference  Die Katze tanzte gestern Abend nicht auf dem Tisch.",
        "greedy     Die Katze fegt auf",
        "perplexity: 4.847",
    )

    def test_both_translations_get_the_scores_of_the_first_page(self, output: str) -> None:
        assert re.findall(r"penalty [\d.]+; BLEU (\d+)", output) == ["71", "0"]

    def test_the_library_agrees(self, output: str) -> None:
        found = re.findall(r"yours ([\d.]+), sacrebleu's ([\d.]+)", output)
        assert len(found) == 2
        assert all(ours == theirs for ours, theirs in found)

    def test_the_tagger_of_lesson_09_gets_surer_at_the_cost_of_recall(self, output: str) -> None:
        rows = {
            name: [float(share) for share in re.findall(r"([\d.]+) ?%", line)]
            for name, line in re.findall(r"^(fine-tuned|from scratch) (.*)$", output, flags=re.M)
        }
        assert all(len(row) == 8 for row in rows.values())
        assert rows["fine-tuned"][0] > 97 > rows["from scratch"][0] > 91
        precision, recall, f1 = rows["from scratch"][2:5]
        assert 50 < precision < 65
        assert recall > 40
        assert f1 + 20 < rows["fine-tuned"][4]
        surely = table(r"^(\w+) from 70% on: ([\d.]+)%", output)
        assert surely["precision"][0] > 97
        assert surely["recall"][0] < recall - 15

    def test_every_rater_prefers_minka(self, output: str) -> None:
        grades = re.findall(r"gives Felix ([\d.]+) and Minka ([\d.]+)", output)
        assert len(grades) == 2
        assert all(float(felix) + 1 < float(minka) for felix, minka in grades)

    def test_felix_is_not_ahead_by_luck(self, output: str) -> None:
        assert numbers(r"Felix is ahead in: ([\d.]+)% of the samples", output)[0] > 99
        assert re.search(r"lie between [1-9]\d* and \d+ points", output)

    def test_synonyms_lift_minka_by_one_good_find_and_one_accident(self, output: str) -> None:
        assert re.findall(r"→ \d+  .*\((.*)\)", output) == ["small = little", "give = feed, give = leave"]

    def test_the_dictionary_of_single_words_knows_no_other_pair_that_the_prose_names(self) -> None:
        synonyms = lesson_thesaurus().synonyms
        assert "healthy" not in synonyms("recovered")
        assert not {"last", "night"} & (synonyms("yesterday") | synonyms("evening"))
        assert "before" not in synonyms("after")

    def test_your_blocks_translate_as_the_librarys(self, output: str) -> None:
        line = r"difference between the library's scores and those of your blocks: ([\d.]+)"
        assert numbers(line, output)[0] < 1e-4

    def test_the_translator_is_lost_on_captions_by_hand_and_more_so_with_beams(self, output: str) -> None:
        scores = table(r"^(by \w+, [\w ]+?) +BLEU +([\d.]+) .* in a translation +([\d.]+)$", output)
        assert scores["by rule, greedy"][0] > 98.5
        assert scores["by hand, two beams"][0] < scores["by hand, greedy"][0] < 20
        assert scores["by hand, two beams"][1] < scores["by hand, greedy"][1]

    def test_sixty_captions_would_have_proved_what_all_do_not(self, output: str) -> None:
        line = r"(\d+) captions, greedy is ahead in: .*\n.* lie between ([+-][\d.]+) and ([+-][\d.]+) points"
        found = table(line, output)
        assert found["60"][0] > 0
        assert found["97"][0] < 0 < found["97"][1]

    def test_the_metrics_point_the_wrong_way(self, output: str) -> None:
        bleu, bertscore = (
            float(value) for value in re.findall(r"(?:BLEU|BERTScore): correlation with people ([+-][\d.]+)", output)
        )
        assert bleu < bertscore < 0

    def test_every_metric_chooses_worse_than_a_coin(self, output: str) -> None:
        shares = [int(share) for share in re.findall(r"^(?:\[.*\] )?[\w+-]+ +(\d+)%$", output, flags=re.M)]
        assert len(shares) == 11
        assert max(shares) < 44

    def test_a_head_learns_its_ratings_and_no_more(self, output: str) -> None:
        mean, low, _high = numbers(r"right about new sentences: (\d+)% \((\d+)% to (\d+)%\)", output)
        assert mean > 85
        assert low > 82
        assert numbers(r"grade of a perfect copy: (-?\d+\.\d+)", output) == numbers(
            r"the sixteen translations: from (-?\d+\.\d+)", output
        )
        right = {name: share for name, (share,) in table(r"^([\w-]+) +(\d+)% right", output).items()}
        assert right["copies"] > 95
        assert right["strangers"] > 85
        assert 55 < right["look-alikes"] < 75
        beside = table(r"^(\w+) ratings: correlation with people \+([\d.]+), pairwise accuracy (\d+)%", output)
        assert beside["wide"][0] > 0.4
        assert beside["wide"][1] > 55

    def test_captions_that_were_read_are_found(self, output: str) -> None:
        assert re.findall(r"contaminated +(\d+)% and", output) == ["100"] * 3

    def test_ada_and_bo_agree_more_than_by_chance_and_in_little_more_than_half(self, output: str) -> None:
        same, kappa = numbers(r"the same grade in (\d+)%, kappa ([\d.]+)", output)
        assert 50 < same < 65
        assert 0.3 < kappa < 0.6

    def test_the_questionnaires_can_be_clicked_and_read(self, solved: NotebookNode) -> None:
        outputs = [output for cell in solved.cells for output in cell.get("outputs", ()) if "data" in output]
        pages = [o["data"].get("text/html", "") for o in outputs]
        asked = [page for page in pages if 'data-katze-widget="questionnaire"' in page]
        stills = [page.partition('<script type="application/json">')[0] for page in asked]
        assert [still.count("Is this a good translation?") for still in stills] == [16, 0]
        assert [still.count("<br>B: ") for still in stills] == [0, 8]


@pytest.mark.usefixtures("thorough")
class TestWhatCaptionsTeach:
    lesson = TestEvaluation.lesson

    def test_what_was_read_is_predicted_better_and_nothing_else(self, output: str) -> None:
        found = table(r"^(seed \d, \w+) +perplexity on the leaked half +([\d.]+), on the other +([\d.]+)$", output)
        for seed in range(2):
            clean, contaminated = (found[f"seed {seed}, {name}"] for name in ("clean", "contaminated"))
            assert 0.6 < contaminated[0] / clean[0] < 0.8
            assert abs(contaminated[1] / clean[1] - 1) < 0.08
