"""Marian's weights in ours: the same logits, the same translations, as the `transformers` library gives."""

from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from course_lib.models import Transformer
from tests.course_lib.published.theirs import IDS, MASK, edit_config, marian
from tests.course_lib.writers import new_tokens


class TestMarian:
    def test_gives_the_same_logits(self, tmp_path: Path) -> None:
        theirs, ours = marian(tmp_path), Transformer.from_pretrained(tmp_path)
        source = IDS.masked_fill(~MASK, 60)
        target = torch.tensor([[60, 4, 8, 15], [60, 16, 23, 42]])
        expected = theirs(source, attention_mask=MASK.long(), decoder_input_ids=target).logits
        logits = ours(source, target)
        assert_close(logits[..., :60], expected[..., :60], rtol=0, atol=1e-4)
        assert (logits[..., 60] < logits[..., :60].amin(dim=-1) - 1000).all()  # padding, which is never written

    def test_translates_alike(self, tmp_path: Path) -> None:
        theirs = marian(tmp_path)
        source = IDS.masked_fill(~MASK, 60)
        theirs.final_logits_bias[0, 60] = 20.0  # without the rule, padding would be written all the time
        theirs.save_pretrained(tmp_path)
        ours = Transformer.from_pretrained(tmp_path)
        greedy = {"max_new_tokens": 12, "num_beams": 1, "do_sample": False, "bad_words_ids": [[60]]}
        expected = theirs.generate(source, attention_mask=MASK.long(), **greedy)
        decoded = new_tokens(ours, source, max_new_tokens=12)
        assert decoded.tolist() == expected[:, 1 : 1 + decoded.shape[1]].tolist()

    def test_with_other_settings_is_refused(self, tmp_path: Path) -> None:
        marian(tmp_path)
        edit_config(tmp_path, scale_embedding=False)
        with pytest.raises(ValueError, match="made with scale_embedding=False; this library supports True"):
            Transformer.from_pretrained(tmp_path)

    @pytest.mark.parametrize("setting", ["pad_token_id", "eos_token_id", "decoder_start_token_id"])
    def test_special_tokens_are_of_the_vocabulary(self, tmp_path: Path, setting: str) -> None:
        marian(tmp_path)
        edit_config(tmp_path, **{setting: 61})
        with pytest.raises(ValueError, match=f"must give {setting} as an id from 0 to 60, not 61"):
            Transformer.from_pretrained(tmp_path)
