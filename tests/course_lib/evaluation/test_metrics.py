"""The front of the metric libraries: right calls, one scale, signatures, and refusals."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import jiwer
import pytest
import sacrebleu
from bs4 import BeautifulSoup
from nltk.corpus.reader.wordnet import WordNetCorpusReader
from nltk.corpus.util import LazyCorpusLoader
from nltk.translate.meteor_score import meteor_score
from rouge_score.rouge_scorer import RougeScorer

from course_lib.evaluation import metrics
from course_lib.evaluation.metrics import METRICS, bleu, evaluate_texts
from course_lib.evaluation.thesaurus import Thesaurus

HYPOTHESES = ["the cat danced happily on the old table", "my dog slept", "a bird sings in the tree"]
REFERENCES = ["the cat danced on the table", "my dog was sleeping", "a bird sang in the tree"]


@pytest.mark.parametrize("name", METRICS)
def test_a_perfect_answer_is_perfect(name: str) -> None:
    (score,) = evaluate_texts(REFERENCES, REFERENCES, [name]).scores
    best = 0.0 if score.lower_is_better else 100.0
    tolerance = 1.0  # METEOR counts one chunk against even a perfect answer
    assert score.corpus == pytest.approx(best, abs=tolerance)
    assert score.sentences == pytest.approx([best] * 3, abs=tolerance)


class TestEqualToTheLibraries:
    def test_bleu(self) -> None:
        score = evaluate_texts(HYPOTHESES, REFERENCES, ["bleu"])["BLEU"]
        assert score.corpus == sacrebleu.corpus_bleu(HYPOTHESES, [REFERENCES]).score
        assert score.sentences[0] == sacrebleu.sentence_bleu(HYPOTHESES[0], [REFERENCES[0]]).score

    def test_bleu_of_several_references_not_the_same_number_for_each(self) -> None:
        references = [[REFERENCES[0], HYPOTHESES[0]], [REFERENCES[1]], [REFERENCES[2], "birds sing"]]
        score = evaluate_texts(HYPOTHESES, references, ["bleu"])["BLEU"]
        streams = [REFERENCES, [HYPOTHESES[0], None, "birds sing"]]
        assert score.corpus == sacrebleu.corpus_bleu(HYPOTHESES, streams).score
        assert score.sentences[0] == pytest.approx(100.0)
        assert score.signature.count("nrefs:var") == 2  # the corpus's, and the sentences'

    @pytest.mark.parametrize(
        ("references", "told"), [([["a"], ["b", "c"]], "var"), ([["a", "b"], ["c"]], "var"), ([["a", "b"]] * 2, "2")]
    )
    def test_signatures_count_the_references_of_all_sentences(self, references: list[list[str]], told: str) -> None:
        report = evaluate_texts(["a", "b"], references, ["bleu", "chrf", "chrf++", "ter"])
        for score in report.scores:
            assert set(re.findall(r"nrefs:(\w+)", score.signature)) == {told}

    def test_chrf_and_ter(self) -> None:
        report = evaluate_texts(HYPOTHESES, REFERENCES, ["chrf", "chrf++", "ter"])
        assert report["chrF"].corpus == sacrebleu.corpus_chrf(HYPOTHESES, [REFERENCES]).score
        assert report["chrF++"].corpus == sacrebleu.corpus_chrf(HYPOTHESES, [REFERENCES], word_order=2).score
        assert report["TER"].corpus == sacrebleu.corpus_ter(HYPOTHESES, [REFERENCES]).score

    @pytest.mark.parametrize("kind", ["rouge1", "rouge2", "rougeL"])
    def test_rouge(self, kind: str) -> None:
        (score,) = evaluate_texts(HYPOTHESES, REFERENCES, [kind]).scores
        scorer = RougeScorer([kind])
        theirs = [100 * scorer.score(*pair)[kind].fmeasure for pair in zip(REFERENCES, HYPOTHESES, strict=True)]
        assert score.sentences == pytest.approx(theirs)
        assert score.corpus == pytest.approx(sum(theirs) / 3)

    def test_error_rates(self) -> None:
        report = evaluate_texts(HYPOTHESES, REFERENCES, ["wer", "cer"])
        assert report["WER"].corpus == pytest.approx(100 * jiwer.wer(REFERENCES, HYPOTHESES))
        assert report["CER"].corpus == pytest.approx(100 * jiwer.cer(REFERENCES, HYPOTHESES))
        assert report["WER"].sentences[1] == pytest.approx(50.0)  # "was" is missing, and "sleeping" was "slept"


def test_a_corpus_is_not_the_mean_of_its_sentences() -> None:
    score = evaluate_texts(HYPOTHESES, REFERENCES, ["wer"])["WER"]
    assert score.corpus == pytest.approx(100 * 5 / 16)
    assert score.mean == pytest.approx(100 * (2 / 6 + 2 / 4 + 1 / 6) / 3)


def test_rouge_reads_german_words_whole() -> None:
    pair = ["das schöne Mädchen"], ["das große Männchen"]
    ours = evaluate_texts(*pair, ["rouge1"])["ROUGE-1"].corpus
    ascii_only = RougeScorer(["rouge1"]).score(pair[1][0], pair[0][0])["rouge1"].fmeasure
    assert ours == pytest.approx(100 / 3)
    assert ascii_only > 0.35  # it finds "m", "dchen" and "nnchen", "gro" and "e"


class TestMeteor:
    def test_matches_stems_without_any_download(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(metrics, "_wordnet", lambda: None)
        score = evaluate_texts(["the dogs"], ["the dog"], ["meteor"])["METEOR"]
        assert score.corpus == pytest.approx(100 * (1 - 0.5 * (1 / 2) ** 3))
        assert "stages:exact,stem(porter)|" in score.signature

    def test_matches_synonyms_where_wordnet_is(self, monkeypatch: pytest.MonkeyPatch) -> None:
        installed = SimpleNamespace(ensure_loaded=lambda: None, synsets=Synonyms().synsets)
        monkeypatch.setattr("nltk.corpus.wordnet", installed)
        score = evaluate_texts(["the hound"], ["the dog"], ["meteor"])["METEOR"]
        assert score.corpus == pytest.approx(100 * (1 - 0.5 * (1 / 2) ** 3))
        assert "stages:exact,stem(porter),synonym(wordnet)|" in score.signature

    def test_synonyms_are_those_of_words_and_not_of_their_stems(self) -> None:
        """*little* is *littl* by then, which no dictionary has, and *waiter* has another stem than its synonym."""
        synonyms = {"small": {"little"}, "waiters": {"servers"}}
        thesaurus = Thesaurus("two", lambda word: synonyms.get(word, set()))
        judge = partial(metrics.meteor, synonyms=thesaurus)
        score = evaluate_texts(["small waiters"], ["little server"], [judge])["METEOR"]
        assert score.corpus == pytest.approx(100 * (1 - 0.5 * (1 / 2) ** 3))
        assert "synonym(two)" in score.signature

    def test_without_a_thesaurus_a_synonym_is_another_word(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(metrics, "_wordnet", lambda: pytest.fail("it was not asked for"))
        score = evaluate_texts(["small"], ["little"], [partial(metrics.meteor, synonyms=None)])["METEOR"]
        assert score.corpus == 0
        assert "stages:exact,stem(porter)|" in score.signature

    def test_wordnet_is_used_just_where_its_data_is_found(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setattr("nltk.data.path", [str(tmp_path)])
        absent = LazyCorpusLoader("wordnet", WordNetCorpusReader, None)
        monkeypatch.setattr("nltk.corpus.wordnet", absent)
        assert metrics._wordnet() is None
        monkeypatch.setattr("nltk.corpus.wordnet", SimpleNamespace(ensure_loaded=lambda: None))
        assert metrics._wordnet() is not None

    def test_takes_the_best_of_several_references(self) -> None:
        score = evaluate_texts(["the cat danced"], [["a dog slept", "the cat danced"]], ["meteor"])["METEOR"]
        words = ["the", "cat", "danced"]
        assert score.corpus == pytest.approx(100 * meteor_score([words], words))


class Synonyms:
    """A WordNet of one pair of words."""

    def synsets(self, word: str) -> list[Synonyms]:
        return [self] if word == "hound" else []

    def lemmas(self) -> list[Synonyms]:
        return [self]

    def name(self) -> str:
        return "dog"


class TestReport:
    def test_is_a_table_with_the_signatures_below(self) -> None:
        report = evaluate_texts(HYPOTHESES, REFERENCES, ["bleu", "wer"])
        lines = str(report).splitlines()
        assert lines[0].split("  ")[0] == "metric, in percent"
        assert lines[2].split() == ["BLEU", "↑", f"{report['BLEU'].corpus:.2f}", f"{report['BLEU'].mean:.2f}"]
        assert lines[3].split() == ["WER", "↓", "31.25", "33.33"]
        assert lines[4].startswith("BLEU: sacrebleu|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.")
        assert lines[5].startswith("WER: jiwer:4.")

    def test_shows_the_same_in_a_notebook(self) -> None:
        report = evaluate_texts(HYPOTHESES, REFERENCES, ["wer"])
        cells = BeautifulSoup(report._repr_html_(), "html.parser").find_all("td")
        assert [cell.text for cell in cells] == ["WER ↓", "31.25", "33.33"]

    def test_an_options_effect_shows_in_the_signature(self) -> None:
        lower = partial(bleu, lowercase=True)
        upper = [text.upper() for text in REFERENCES]
        assert evaluate_texts(upper, REFERENCES, ["bleu"])["BLEU"].corpus == 0.0
        score = evaluate_texts(upper, REFERENCES, [lower])["BLEU"]
        assert score.corpus == pytest.approx(100.0)
        assert "case:lc" in score.signature

    def test_a_score_that_was_not_computed_is_a_key_error(self) -> None:
        with pytest.raises(KeyError, match="'TER' was not computed; there are BLEU, chrF"):
            evaluate_texts(HYPOTHESES, REFERENCES)["TER"]
