"""Published heads in ours, and models without what ours have: the same answers as the `transformers` library gives.

Tests `from_pretrained.py` and `families.py`, too.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor
from torch.testing import assert_close

from course_lib.bags import BagOfEmbeddings, BagOfEmbeddingsConfig
from course_lib.models import BERT, GPT, BERTConfig
from course_lib.objectives.heads import (
    GPTClassifier,
    MaskedLanguageModel,
    MultipleChoice,
    NextSentencePredictor,
    QuestionAnswering,
    SequenceClassifier,
    TokenClassifier,
)
from tests.course_lib.published.theirs import IDS, MASK, SEGMENTS, SMALL_BERT, SMALL_GPT, bert, published

DISTILBERT = {
    "vocab_size": 61,
    "dim": 24,
    "n_layers": 3,
    "n_heads": 4,
    "hidden_dim": 40,
    "max_position_embeddings": 32,
}
ROBERTA = SMALL_BERT | {"max_position_embeddings": 34, "type_vocab_size": 1, "pad_token_id": 1}
LLAMA = {
    "vocab_size": 61,
    "hidden_size": 24,
    "intermediate_size": 40,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
}
SMALL: dict[str, dict[str, Any]] = {
    "Bert": SMALL_BERT,
    "Roberta": ROBERTA,
    "XLMRoberta": ROBERTA | {"pad_token_id": 4},
    "DistilBert": DISTILBERT,
    "GPT2": SMALL_GPT | {"pad_token_id": 1, "eos_token_id": 2},
    "Llama": LLAMA | {"pad_token_id": 1, "eos_token_id": 2},
    "Qwen3": LLAMA | {"pad_token_id": 1, "eos_token_id": 2, "head_dim": 8},
}
SEQUENCE, TOKENS, ANSWERS = "SequenceClassification", "TokenClassification", "QuestionAnswering"
CHOICE, MASKED, NEXT = "MultipleChoice", "MaskedLM", "NextSentencePrediction"
OURS: dict[str, Any] = {
    SEQUENCE: SequenceClassifier,
    TOKENS: TokenClassifier,
    ANSWERS: QuestionAnswering,
    CHOICE: MultipleChoice,
    MASKED: MaskedLanguageModel,
    NEXT: NextSentencePredictor,
}
READERS = [
    *(("Bert", head) for head in OURS),
    *((family, head) for family in ("Roberta", "DistilBert") for head in (SEQUENCE, TOKENS, ANSWERS, CHOICE, MASKED)),
    *(("XLMRoberta", head) for head in (SEQUENCE, MASKED)),
]


def saved(family: str, head: str, folder: Path) -> Any:
    """A small model of theirs with this head, without padding ids among `IDS` where they count for positions."""
    classes = {"num_labels": 3} if head in (SEQUENCE, TOKENS) else {}
    config = getattr(transformers, f"{family}Config")(**SMALL[family], **classes)
    return published(getattr(transformers, f"{family}For{head}")(config), folder)


def both(family: str, head: str, theirs: Any, ours: Any) -> tuple[Tensor, Tensor]:
    """What both answer for the same texts, padding left out."""
    ids = IDS.masked_fill(~MASK, theirs.config.pad_token_id or 0)
    segments = SEGMENTS if family == "Bert" else None
    told: dict[str, Any] = {} if segments is None else {"token_type_ids": segments}
    if head == CHOICE:
        wide = ids.unsqueeze(1).repeat(1, 3, 1)
        wide[:, 1, 2], wide[:, 2, 3] = 7, 8
        masks = MASK.unsqueeze(1).repeat(1, 3, 1)
        many = {name: value.unsqueeze(1).repeat(1, 3, 1) for name, value in told.items()}
        expected = theirs(input_ids=wide, attention_mask=masks.long(), **many).logits
        return ours(wide, segments=many.get("token_type_ids"), mask=masks), expected
    read = theirs(input_ids=ids, attention_mask=MASK.long(), **told)
    found = ours(ids, segments=segments, mask=MASK)
    if head == ANSWERS:
        return found.transpose(1, 2)[MASK], torch.stack([read.start_logits, read.end_logits], dim=2)[MASK]
    return (found[MASK], read.logits[MASK]) if head in (TOKENS, MASKED) else (found, read.logits)


@pytest.mark.parametrize(("family", "head"), READERS, ids=lambda value: str(value))
def test_a_published_head_answers_alike(family: str, head: str, tmp_path: Path) -> None:
    theirs = saved(family, head, tmp_path)
    ours = OURS[head].from_pretrained(tmp_path)
    found, expected = both(family, head, theirs, ours)
    assert not ours.training
    assert_close(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("family", ["GPT2", "Llama", "Qwen3"])
def test_so_does_a_classifier_on_a_decoder(family: str, tmp_path: Path) -> None:
    theirs = saved(family, SEQUENCE, tmp_path / "theirs")
    ours = GPTClassifier.from_pretrained(tmp_path / "theirs")
    found, expected = both(family, SEQUENCE, theirs, ours)
    assert_close(found, expected, rtol=0, atol=1e-5)
    ours.save_pretrained(tmp_path / "ours")
    again = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path / "ours")
    assert_close(both(family, SEQUENCE, again, ours)[1], expected, rtol=0, atol=1e-5)
    ours.output.bias += 1
    with pytest.raises(ValueError, match=r"no place for output.bias: .* it must be zeros"):
        ours.save_pretrained(tmp_path / "new")


@pytest.mark.parametrize("head", OURS)
def test_a_saved_head_comes_back_here_and_in_their_library(head: str, tmp_path: Path) -> None:
    saved("Bert", head, tmp_path / "theirs")
    ours = OURS[head].from_pretrained(tmp_path / "theirs")
    ours.save_pretrained(tmp_path / "ours")
    again = OURS[head].from_pretrained(tmp_path / "ours")
    assert all(torch.equal(again.state_dict()[name], tensor) for name, tensor in ours.state_dict().items())
    theirs = getattr(transformers, f"BertFor{head}").from_pretrained(tmp_path / "ours").eval()
    found, expected = both("Bert", head, theirs, ours)
    assert_close(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("family", ["Roberta", "XLMRoberta", "DistilBert"])
def test_a_relative_of_bert_is_a_bert(family: str, tmp_path: Path) -> None:
    config = getattr(transformers, f"{family}Config")(**SMALL[family])
    theirs = published(getattr(transformers, f"{family}Model")(config), tmp_path / "theirs")
    if family == "DistilBert":
        with pytest.warns(UserWarning, match="has no pooler: this one is new"):
            ours = BERT.from_pretrained(tmp_path / "theirs")
    else:
        ours = BERT.from_pretrained(tmp_path / "theirs")
    ids = IDS.masked_fill(~MASK, theirs.config.pad_token_id or 0)
    expected = theirs(ids, attention_mask=MASK.long()).last_hidden_state
    assert ours.config.context_length == 32 - (3 if family == "XLMRoberta" else 0)
    assert_close(ours(ids, mask=MASK).states[MASK], expected[MASK], rtol=0, atol=1e-5)
    ours.save_pretrained(tmp_path / "ours")
    assert torch.equal(BERT.from_pretrained(tmp_path / "ours")(ids, mask=MASK).states, ours(ids, mask=MASK).states)


@pytest.mark.parametrize("head", [TOKENS, ANSWERS, MASKED])
def test_a_pooler_that_was_not_published_is_new_and_said_to_be(head: str, tmp_path: Path) -> None:
    saved("Bert", head, tmp_path)
    with pytest.warns(UserWarning, match="has no pooler: this one is new"):
        ours = BERT.from_pretrained(tmp_path)
    assert 0.01 < ours.pooler.weight.std() < 0.03


@pytest.mark.parametrize("head", [SEQUENCE, TOKENS, ANSWERS, CHOICE, MASKED, NEXT])
def test_a_head_that_was_not_published_is_refused(head: str, tmp_path: Path) -> None:
    (transformers.BertModel(transformers.BertConfig(**SMALL_BERT))).save_pretrained(tmp_path)
    said = f"published without the head of a {OURS[head].__name__} .* put a new one on BERT.from_pretrained"
    with pytest.raises(ValueError, match=said):
        OURS[head].from_pretrained(tmp_path)


@pytest.mark.parametrize("family", ["GPT2", "Llama", "Qwen3"])
def test_a_decoder_without_an_output_has_its_embedding_as_one(family: str, tmp_path: Path) -> None:
    config = getattr(transformers, f"{family}Config")(**SMALL[family], tie_word_embeddings=False)
    theirs = published(getattr(transformers, f"{family}Model")(config), tmp_path)
    ours = GPT.from_pretrained(tmp_path)
    assert ours.config.tied_output
    assert ours.output.weight is ours.embedding.weight
    assert_close(ours.states(IDS), theirs(IDS).last_hidden_state, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    "make",
    [
        lambda: SequenceClassifier(BERT(BERTConfig(61, 32, 24, 4, 1, 40)), 3, pooling="mean"),
        lambda: SequenceClassifier(BagOfEmbeddings(BagOfEmbeddingsConfig(61, 24)), 3),
        lambda: TokenClassifier(BERT(BERTConfig(61, 32, 24, 4, 1, 40, pooler_activation="relu")), 3),
    ],
    ids=["a mean", "a bag", "relu"],
)
def test_what_no_published_model_has_is_not_saved_as_one(make: Callable[[], Any], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no published architecture has this"):
        make().save_pretrained(tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_head_of_another_architecture_is_refused(tmp_path: Path) -> None:
    bert(tmp_path)
    with pytest.raises(ValueError, match="holds a model of type 'bert', not of 'gpt2' or 'llama' or"):
        GPTClassifier.from_pretrained(tmp_path)
