"""Published metrics of generated text, computed with the libraries that papers report (S1, "evaluation").

    report = evaluate_texts(hypotheses, references, ["bleu", "chrf", "ter", "rouge1", "rougeL", "wer", "meteor"])
    print(report)                 # a table; in a notebook the report shows itself
    report["BLEU"].signature      # how exactly it was computed

Every metric gives a score for the corpus and one for each sentence, in percent, so that one table holds them all. For a
corpus, BLEU, chrF, TER and error rates first add up the sentences' counts ("micro"), which differs from the mean of the
sentences' scores ("macro"); the table shows both. The other metrics are defined only for sentences; their corpus score
is the mean.

Two scores can be compared only if their signatures are equal (Post, 2018, "A Call for Clarity in Reporting BLEU
Scores"): tokenization alone moves BLEU by more than most papers' gains.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, cast

from course_lib.evaluation.thesaurus import Thesaurus
from course_lib.ground.optional import needed_for
from course_lib.ground.tables import Table

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric as SacreMetric

# --- Texts and scores -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Texts:
    """Sentences to evaluate, each with one or more references; `paired` checks them.

    Attributes:
        hypotheses: what a model wrote; an empty sentence is allowed, and scored.
        references: one or more right sentences for each hypothesis.
    """

    hypotheses: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]

    @classmethod
    def paired(cls, hypotheses: Sequence[str], references: Sequence[str | Sequence[str]]) -> Texts:
        """Check and pair hypotheses and references.

        Args:
            hypotheses: one sentence each.
            references: a sentence, or a list of sentences, for each hypothesis.

        Raises:
            TypeError: given one string instead of a list of sentences.
            ValueError: there is nothing to evaluate, the counts differ, or a reference has no words.
        """
        if isinstance(hypotheses, str) or isinstance(references, str):
            raise TypeError("evaluate_texts takes lists of sentences, not one string: put it in a list")
        if not len(hypotheses):
            raise ValueError("there is nothing to evaluate: no hypotheses")
        if len(hypotheses) != len(references):
            raise ValueError(
                f"each hypothesis needs its references, but there are {len(hypotheses)} hypotheses "
                f"and references for {len(references)}"
            )
        several = tuple((right,) if isinstance(right, str) else tuple(right) for right in references)
        for index, right in enumerate(several):
            if not right:
                raise ValueError(f"hypothesis {index} has no reference")
            if not all(text.strip() for text in right):
                raise ValueError(f"a reference of hypothesis {index} has no words")
        return cls(tuple(hypotheses), several)

    def single_references(self, metric: str) -> list[str]:
        """Return the only reference of each hypothesis, for metrics that are not defined for several.

        Raises:
            ValueError: a hypothesis has several references.
        """
        for index, right in enumerate(self.references):
            if len(right) > 1:
                raise ValueError(
                    f"{metric} takes one reference for each hypothesis; hypothesis {index} has {len(right)}"
                )
        return [right for (right,) in self.references]


@dataclass(frozen=True)
class Score:
    """One metric's scores, in percent.

    Attributes:
        name: the metric, as papers write it.
        corpus: the score of all sentences together.
        sentences: the score of each hypothesis by itself.
        signature: how the score was computed, with versions.
        lower_is_better: whether the metric counts errors.
    """

    name: str
    corpus: float
    sentences: tuple[float, ...]
    signature: str
    lower_is_better: bool = False

    @property
    def mean(self) -> float:
        """The mean over the sentences."""
        return sum(self.sentences) / len(self.sentences)


Metric = Callable[[Texts], Score]


@dataclass(frozen=True)
class Report:
    """Several metrics of the same sentences, shown as a table in a terminal or notebook."""

    scores: tuple[Score, ...]

    def __getitem__(self, name: str) -> Score:
        """Return the score with this name, such as "BLEU".

        Raises:
            KeyError: this score was not computed.
        """
        for score in self.scores:
            if score.name == name:
                return score
        raise KeyError(f"{name!r} was not computed; there are {', '.join(score.name for score in self.scores)}")

    @property
    def table(self) -> Table:
        """A row for each metric, and their signatures below."""
        rows = [
            (f"{score.name} {'↓' if score.lower_is_better else '↑'}", f"{score.corpus:.2f}", f"{score.mean:.2f}")
            for score in self.scores
        ]
        notes = [f"{score.name}: {score.signature}" for score in self.scores]
        return Table(("metric, in percent", "corpus", "mean of sentences"), rows, notes)

    def __str__(self) -> str:
        return str(self.table)

    def _repr_html_(self) -> str:
        return self.table._repr_html_()


def evaluate_texts(
    hypotheses: Sequence[str],
    references: Sequence[str | Sequence[str]],
    metrics: Sequence[str | Metric] = ("bleu", "chrf"),
) -> Report:
    """Evaluate sentences by one or more metrics.

    Args:
        hypotheses: what a model wrote, as plain text.
        references: the right sentence, or a list of them, for each hypothesis.
        metrics: names in `METRICS`, or functions such as `partial(bleu, lowercase=True)`.

    Raises:
        TypeError: given one string instead of a list of sentences or metrics.
        ValueError: a metric is unknown, there is nothing to evaluate, the counts differ, or a reference has no words.
        ModuleNotFoundError: a metric's library is not installed.
    """
    texts = Texts.paired(hypotheses, references)
    if isinstance(metrics, str):
        raise TypeError(f"metrics must be a list of names, not one string: write [{metrics!r}]")
    if not metrics:
        raise ValueError(f"name at least one metric: {', '.join(METRICS)}")
    chosen = [_metric(metric) for metric in metrics]
    return Report(tuple(metric(texts) for metric in chosen))


def _metric(metric: str | Metric) -> Metric:
    if not isinstance(metric, str):
        return metric
    if metric not in METRICS:
        raise ValueError(f"there is no metric {metric!r}; there are {', '.join(METRICS)}")
    return METRICS[metric]


# --- n-grams and edits, by sacrebleu ---------------------------------------------------------------------------


def bleu(texts: Texts, *, lowercase: bool = False) -> Score:
    """Compute BLEU (Papineni et al., 2002): clipped n-gram precision, with a penalty for being short.

    Args:
        texts: the texts to evaluate.
        lowercase: whether to ignore case.
    """
    with needed_for("BLEU", package="sacrebleu"):
        from sacrebleu.metrics.bleu import BLEU
    corpus = BLEU(lowercase=lowercase)
    # A sentence of fewer than four words has no 4-grams: "effective order" counts only the n-grams that it has.
    sentence = BLEU(lowercase=lowercase, effective_order=True)
    return _by_sacrebleu("BLEU", texts, corpus, sentence)


def chrf(texts: Texts, *, word_order: int = 0) -> Score:
    """Compute chrF (Popović, 2015): F-score of character n-grams; with `word_order` 2 it is chrF++."""
    with needed_for("chrF", package="sacrebleu"):
        from sacrebleu.metrics.chrf import CHRF
    metric = CHRF(word_order=word_order)
    return _by_sacrebleu("chrF" + "+" * word_order, texts, metric, metric)


def ter(texts: Texts) -> Score:
    """Compute TER (Snover et al., 2006): edits over reference words; moving a block of words is one edit."""
    with needed_for("TER", package="sacrebleu"):
        from sacrebleu.metrics.ter import TER
    metric = TER()
    return _by_sacrebleu("TER", texts, metric, metric, lower_is_better=True)


def _by_sacrebleu(
    name: str, texts: Texts, corpus: SacreMetric, sentence: SacreMetric, *, lower_is_better: bool = False
) -> Score:
    most = max(len(right) for right in texts.references)
    # A stream holds one reference of each hypothesis; sacrebleu accepts None for "none here", unlike its annotations.
    streams = [[right[i] if i < len(right) else None for right in texts.references] for i in range(most)]
    pairs = zip(texts.hypotheses, texts.references, strict=True)
    sentences = tuple(sentence.sentence_score(hypothesis, right).score for hypothesis, right in pairs)
    # Comes last, since a signature reports the number of references that were scored last.
    total = corpus.corpus_score(texts.hypotheses, cast(Any, streams)).score
    signature = f"sacrebleu|{corpus.get_signature()}"
    if sentence is not corpus:
        of_sentences = sentence.get_signature()
        of_sentences.update("nrefs", corpus.get_signature().info["nrefs"])
        signature += f"; sentences: {of_sentences}"
    return Score(name, total, sentences, signature, lower_is_better)


# --- Words of the reference, by rouge-score, jiwer and nltk ----------------------------------------------------


class _UnicodeWords:
    """Lower-cased runs of letters and digits.

    rouge-score's own tokenizer keeps only a to z, and reads *Mädchen* as *m* and *dchen*; on plain English the two
    agree.
    """

    def tokenize(self, text: str) -> list[str]:
        return re.findall(r"[^\W_]+", text.lower())


def rouge(texts: Texts, *, kind: Literal["rouge1", "rouge2", "rougeL"] = "rougeL") -> Score:
    """Compute ROUGE's F1 (Lin, 2004): overlap of single words, of pairs, or the longest common subsequence.

    With several references, the best one counts.
    """
    with needed_for("ROUGE", package="rouge-score"):
        from rouge_score.rouge_scorer import RougeScorer
    scorer = RougeScorer([kind], tokenizer=_UnicodeWords())
    pairs = zip(texts.hypotheses, texts.references, strict=True)
    sentences = [100 * scorer.score_multi(right, hypothesis)[kind].fmeasure for hypothesis, right in pairs]
    signature = f"rouge-score:{version('rouge-score')}|f1|tok:unicode-words|case:lc|stem:no|corpus:mean"
    return _mean_of("ROUGE-" + kind.removeprefix("rouge"), sentences, signature)


def error_rate(texts: Texts, *, unit: Literal["words", "characters"] = "words") -> Score:
    """Compute the word or character error rate: substitutions, deletions and insertions over the reference's length.

    Raises:
        ValueError: a hypothesis has several references, for which the rate is not defined.
    """
    with needed_for("an error rate", package="jiwer"):
        import jiwer
    name = "WER" if unit == "words" else "CER"
    measure = jiwer.wer if unit == "words" else jiwer.cer
    references = texts.single_references(name)
    hypotheses = list(texts.hypotheses)
    sentences = tuple(100 * measure(*pair) for pair in zip(references, hypotheses, strict=True))
    signature = f"jiwer:{version('jiwer')}|unit:{unit}|tok:whitespace|case:mixed|punct:yes"
    return Score(name, 100 * measure(references, hypotheses), sentences, signature, lower_is_better=True)


def meteor(texts: Texts, *, synonyms: Thesaurus | Literal["installed"] | None = "installed") -> Score:
    """Compute METEOR (Lavie and Agarwal, 2007) for English: words match exactly, by stem or by synonym; order counts.

    With several references, the best one counts. The signature says which stages were used.

    Args:
        texts: the texts to evaluate.
        synonyms: a thesaurus; None to skip this stage; "installed" for all of WordNet if nltk has it
            (`nltk.download("wordnet")`), else None.

    Raises:
        ValueError: the thesaurus lacks a word.
    """
    with needed_for("METEOR", package="nltk"):
        from nltk.stem import PorterStemmer
        from nltk.translate.meteor_score import meteor_score
    stemmer = PorterStemmer()
    thesaurus = _wordnet() if synonyms == "installed" else synonyms
    hypotheses = [_words_and_marks(text) for text in texts.hypotheses]
    sentences = []
    for hypothesis, right in zip(hypotheses, texts.references, strict=True):
        alike = _SynonymsOfStems(hypothesis, thesaurus, stemmer.stem)
        references = [_words_and_marks(text) for text in right]
        sentences.append(100 * meteor_score(references, hypothesis, stemmer=stemmer, wordnet=alike))
    stages = "exact,stem(porter)" + (f",synonym({thesaurus.name})" if thesaurus else "")
    signature = (
        f"nltk:{version('nltk')}|stages:{stages}|tok:words-and-marks|case:lc|alpha:0.9|beta:3|gamma:0.5|corpus:mean"
    )
    return _mean_of("METEOR", sentences, signature)


class _SynonymsOfStems:
    """Stand-in for WordNet, which nltk asks for synonyms.

    In nltk, the stemming stage passes its leftovers on *as stems*, so the synonym stage would look up *littl*, which no
    dictionary has. This class knows the words behind the stems, and returns the stems of their synonyms.
    """

    def __init__(self, words: Iterable[str], thesaurus: Thesaurus | None, stem: Callable[[str], str]) -> None:
        """Look up the words of a hypothesis; without a thesaurus no word has synonyms."""
        self._names = defaultdict[str, set[str]](set)
        if thesaurus:
            for word in words:
                self._names[stem(word)].update(map(stem, thesaurus.synonyms(word)))

    def synsets(self, stem: str) -> list[Any]:
        """Return all synonyms in one set, which has what nltk calls."""
        lemmas = [SimpleNamespace(name=partial(str, name)) for name in self._names[stem]]
        return [SimpleNamespace(lemmas=lambda: lemmas)]


def _wordnet() -> Thesaurus | None:
    """Return WordNet if its data is on this machine, else None."""
    from nltk.corpus import wordnet

    try:
        wordnet.ensure_loaded()
    except LookupError:
        return None
    return Thesaurus("wordnet", partial(_synonyms_in, wordnet))


def _synonyms_in(wordnet: Any, word: str) -> set[str]:
    """Return all single words that share a meaning with a word, or with its base form."""
    names = {lemma.name() for synset in wordnet.synsets(word) for lemma in synset.lemmas()}
    return {name for name in names if "_" not in name}


def _words_and_marks(text: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", text)


def _mean_of(name: str, sentences: Sequence[float], signature: str) -> Score:
    return Score(name, sum(sentences) / len(sentences), tuple(sentences), signature)


METRICS: dict[str, Metric] = {
    "bleu": bleu,
    "chrf": chrf,
    "chrf++": partial(chrf, word_order=2),
    "ter": ter,
    "rouge1": partial(rouge, kind="rouge1"),
    "rouge2": partial(rouge, kind="rouge2"),
    "rougeL": partial(rouge, kind="rougeL"),
    "wer": partial(error_rate, unit="words"),
    "cer": partial(error_rate, unit="characters"),
    "meteor": meteor,
}
"""The metrics that need only texts, by name.

`course_lib.evaluation.similarity` has one that needs a model: BERTScore.
"""
