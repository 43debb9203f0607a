"""A small vocabulary in GPT-2's two files."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from course_lib.text.fast_subwords import SubwordVocabulary


def write_gpt2_files(folder: Path, texts: Iterable[str], size: int) -> SubwordVocabulary:
    """Learn a vocabulary, the end of a document last, and write it as GPT-2's."""
    learned = SubwordVocabulary.train_byte_bpe(texts, size)
    learned.tokenizer.model.save(str(folder))
    ids = learned.tokenizer.get_vocab()
    (folder / "vocab.json").write_text(json.dumps(ids), encoding="utf-8")
    return learned
