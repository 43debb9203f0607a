"""Models that can be loaded by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from course_lib.models import BERT, GPT, Transformer
from course_lib.published.from_pretrained import FromPretrained


@pytest.mark.parametrize("model", [GPT, BERT, Transformer])
def test_every_model_can_be_loaded(model: type[FromPretrained], tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"has no config.json"):
        model.from_pretrained(tmp_path)
