"""Loading and saving: the family that fits, the dtype and the device that are asked for, every bit back again.

Tests `families.py` and `own.py`, too.
"""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.testing import assert_close

from course_lib.configurations import RotaryConfig
from course_lib.models import BERT, GPT, BERTConfig, GPTConfig, Transformer, TransformerConfig
from course_lib.published import hub
from course_lib.published.from_pretrained import DTYPES
from tests.course_lib.published.theirs import IDS, MASK, SEGMENTS, edit_config, gpt2

SIZES = GPTConfig(61, 32, 24, 4, 2, 40, activation="gelu_tanh", end_id=2, padding_id=1)
READER = BERTConfig(61, 32, 24, 4, 2, 40, segments=3)
BASE = TransformerConfig(61, 61, 24, 4, 40, 2, 1, shared_embeddings=True, padding_id=60, start_id=60, end_id=0)
LIKE_MARIAN = dataclasses.replace(BASE, output_bias=True, activation="silu")

MODELS = {
    "GPT-2": (GPT, SIZES, "gpt2"),
    "GPT-2 with an output of its own": (GPT, dataclasses.replace(SIZES, tied_output=False), "gpt2"),
    "GPT-2 whose texts have no end": (GPT, dataclasses.replace(SIZES, end_id=None, padding_id=None), "gpt2"),
    "post-norm": (GPT, dataclasses.replace(SIZES, norm_first=False), "katze-gpt"),
    "the end as padding": (GPT, dataclasses.replace(SIZES, padding_id=2), "katze-gpt"),
    "BERT": (BERT, READER, "bert"),
    "Marian": (Transformer, LIKE_MARIAN, "marian"),
    "the paper's": (Transformer, BASE, "katze-transformer"),
    "two languages": (Transformer, TransformerConfig(61, 70, 24, 4, 40, 1, 2), "katze-transformer"),
    "pre-norm": (Transformer, dataclasses.replace(LIKE_MARIAN, norm_first=True), "katze-transformer"),
}


def made(model: type[nn.Module], config: Any) -> Any:
    """A model whose parameters are all random, none of them left at 0 or 1."""
    whole = model(config).eval()
    generator = torch.Generator().manual_seed(0)
    for parameter in whole.parameters():
        parameter += 0.1 * torch.randn(parameter.shape, generator=generator)
    return whole


def computed(model: Any, ids: Tensor = IDS) -> Tensor:
    if isinstance(model, BERT):
        return model(ids).states
    return model(ids, ids) if isinstance(model, Transformer) else model(ids)


def settings(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "config.json").read_text())
    return found


@pytest.mark.parametrize(("model", "config", "model_type"), MODELS.values(), ids=MODELS)
class TestEveryModelComesBack:
    def test_bit_for_bit(self, model: type[nn.Module], config: Any, model_type: str, tmp_path: Path) -> None:
        ours = made(model, config)
        ours.save_pretrained(tmp_path)
        again = model.from_pretrained(tmp_path)
        assert settings(tmp_path)["model_type"] == model_type
        assert again.config == config
        assert again.state_dict().keys() == ours.state_dict().keys()
        assert all(torch.equal(again.state_dict()[name], tensor) for name, tensor in ours.state_dict().items())
        assert torch.equal(computed(again), computed(ours))
        assert not again.training
        assert len(list(again.parameters())) == len(list(ours.parameters())), "what was tied is tied"
        numbers = sum(tensor.numel() for tensor in load_file(tmp_path / "model.safetensors").values())
        assert numbers == sum(parameter.numel() for parameter in ours.parameters())

    def test_in_its_dtype(self, model: type[nn.Module], config: Any, model_type: str, tmp_path: Path) -> None:
        for dtype in DTYPES:
            ours = made(model, config).to(dtype)
            ours.save_pretrained(tmp_path / str(dtype))
            assert {tensor.dtype for tensor in load_file(tmp_path / str(dtype) / "model.safetensors").values()} == {
                dtype
            }
            again = model.from_pretrained(tmp_path / str(dtype), dtype=dtype)
            assert all(torch.equal(again.state_dict()[name], tensor) for name, tensor in ours.state_dict().items())
            assert {tensor.dtype for tensor in (*again.parameters(), *again.buffers())} == {dtype}
            assert torch.equal(computed(again), computed(ours))


class TestTheirLibraryReadsThemToo:
    def test_gpt2(self, tmp_path: Path) -> None:
        for tied in (True, False):
            ours = made(GPT, dataclasses.replace(SIZES, tied_output=tied))
            ours.save_pretrained(tmp_path)
            theirs = transformers.AutoModelForCausalLM.from_pretrained(tmp_path)
            assert isinstance(theirs, transformers.GPT2LMHeadModel)
            assert_close(computed(ours), theirs(IDS).logits, rtol=0, atol=1e-4)

    def test_bert(self, tmp_path: Path) -> None:
        ours = made(BERT, READER)
        ours.save_pretrained(tmp_path)
        theirs = transformers.AutoModel.from_pretrained(tmp_path)
        expected, found = theirs(IDS, MASK.long(), SEGMENTS), ours(IDS, segments=SEGMENTS, mask=MASK)
        assert_close(found.states[MASK], expected.last_hidden_state[MASK], rtol=0, atol=1e-4)
        assert_close(found.pooled, expected.pooler_output, rtol=0, atol=1e-4)

    def test_marian(self, tmp_path: Path) -> None:
        ours = made(Transformer, LIKE_MARIAN)
        ours.save_pretrained(tmp_path)
        theirs = transformers.AutoModelForSeq2SeqLM.from_pretrained(tmp_path)
        expected = theirs(IDS, decoder_input_ids=IDS).logits
        assert_close(computed(ours), expected, rtol=0, atol=1e-4)

    def test_a_model_of_theirs_comes_back_to_them(self, tmp_path: Path) -> None:
        theirs = gpt2(tmp_path / "theirs")
        GPT.from_pretrained(tmp_path / "theirs").save_pretrained(tmp_path / "ours")
        again = transformers.GPT2LMHeadModel.from_pretrained(tmp_path / "ours").state_dict()
        assert all(torch.equal(again[name], tensor) for name, tensor in theirs.state_dict().items())

    def test_in_half_precision(self, tmp_path: Path) -> None:
        made(GPT, SIZES).to(torch.bfloat16).save_pretrained(tmp_path)
        assert transformers.AutoModelForCausalLM.from_pretrained(tmp_path).dtype == torch.bfloat16


class TestLoading:
    @pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
    def test_in_another_dtype_it_is_the_same_rounded(self, dtype: torch.dtype, tmp_path: Path) -> None:
        ours = made(GPT, SIZES)
        ours.save_pretrained(tmp_path)
        again = GPT.from_pretrained(tmp_path, dtype=dtype)
        for name, tensor in ours.state_dict().items():
            assert torch.equal(again.state_dict()[name], tensor.to(dtype))
        assert again.output.weight is again.embedding.weight

    def test_on_another_device_everything_is_there(self, tmp_path: Path) -> None:
        """The device "meta" stands for a GPU."""
        for model, config in ((GPT, SIZES), (BERT, READER), (Transformer, BASE), (Transformer, LIKE_MARIAN)):
            made(model, config).save_pretrained(tmp_path)
            again = model.from_pretrained(tmp_path, device="meta")
            assert {tensor.device.type for tensor in (*again.parameters(), *again.buffers())} == {"meta"}

    def test_another_architecture(self, tmp_path: Path) -> None:
        gpt2(tmp_path)
        with pytest.raises(
            ValueError,
            match="holds a model of type 'gpt2', not of 'bert' or 'roberta' or",
        ):
            BERT.from_pretrained(tmp_path)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"rings": 3}, "was made with rings, which this version does not support"),
            ({"layers": 0}, "is wrong: layers must be at least 1, not 0"),
            ({"dropout": "0.1"}, "is wrong: "),
        ],
    )
    def test_a_configuration_of_ours_that_is_wrong(self, tmp_path: Path, change: Any, message: str) -> None:
        made(GPT, dataclasses.replace(SIZES, norm_first=False)).save_pretrained(tmp_path)
        edit_config(tmp_path, **change)
        with pytest.raises(ValueError, match=message):
            GPT.from_pretrained(tmp_path)

    @pytest.mark.parametrize(("extension", "formerly"), [("llama3", "by_turns"), ("yarn", "yarn"), (None, None)])
    def test_a_configuration_that_an_earlier_version_wrote(
        self, tmp_path: Path, extension: Any, formerly: str | None
    ) -> None:
        rotary = RotaryConfig(extension=extension, factor=2.0, trained_context=16)
        ours = made(GPT, dataclasses.replace(SIZES, norm_first=False, rotary=rotary))
        ours.save_pretrained(tmp_path)
        now = settings(tmp_path)
        old = {"d_hidden": now.pop("d_ff"), "vocabulary": now.pop("vocab_size"), "context": now.pop("context_length")}
        text = json.dumps(now | old | {"rotary": now["rotary"] | {"extension": formerly}})
        (tmp_path / "config.json").write_text(text)
        read = GPT.from_pretrained(tmp_path)
        assert read.config == ours.config
        assert torch.equal(computed(read), computed(ours))


class TestSaving:
    def test_what_fails_leaves_what_was_there(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        ours = made(GPT, SIZES)
        ours.save_pretrained(tmp_path)
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        other = made(GPT, dataclasses.replace(SIZES, layers=1))
        for broken in ("json.dumps", "safetensors.torch.save_file"):
            monkeypatch.setattr(broken, full)
            with pytest.raises(OSError, match="no space left"):
                other.save_pretrained(tmp_path)
            monkeypatch.undo()
            assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before

    def test_other_files_stay(self, tmp_path: Path) -> None:
        (tmp_path / "vocab.txt").write_text("cat\n")
        made(BERT, READER).save_pretrained(str(tmp_path))
        assert {path.name for path in tmp_path.iterdir()} == {hub.CONFIG, hub.WHOLE, "vocab.txt"}
        assert (tmp_path / "vocab.txt").read_text() == "cat\n"

    def test_weights_that_are_no_longer_tied(self, tmp_path: Path) -> None:
        ours = made(GPT, SIZES)
        ours.output.weight = nn.Parameter(ours.output.weight + 1)
        with pytest.raises(ValueError, match=r"output.weight should be tied .* as wte.weight, but differs"):
            ours.save_pretrained(tmp_path / "new")
        assert not (tmp_path / "new").exists()

    def test_the_last_family_holds_every_model(self) -> None:
        for model, config, _ in MODELS.values():
            assert model.families[-1].can_hold(config)


def full(*_: Any, **__: Any) -> None:
    raise OSError("no space left")
