"""Moves a trained translator to other subwords, so that it can learn on from texts with other words.

Gee et al. (2022), "Fast Vocabulary Transfer for Language Model Compression", section 3: a new subword starts as the
mean of the old ones that spell it.
"""

from dataclasses import replace

import torch

from course_lib.decoding.translator import Translator
from course_lib.models import Transformer
from course_lib.text.fast_subwords import SubwordVocabulary


def transfer_vocabulary(translator: Translator, words: SubwordVocabulary) -> Translator:
    """Return the same blocks on another vocabulary; subwords that are in both keep their vectors.

    Args:
        translator: a translator with one vocabulary of subwords, and one embedding, for both languages.
        words: the new vocabulary.

    Raises:
        ValueError: the translator has more than one vocabulary or embedding.
    """
    old, model = translator.source, translator.model
    if old != translator.target or not (model.config.shared_embeddings and model.config.tied_output):
        raise ValueError("the translator must have one vocabulary and one embedding for both languages and the output")
    assert isinstance(old, SubwordVocabulary)
    ids, known = old.tokenizer.get_vocab(), model.target_embedding.weight
    spelled = [
        [ids[piece]] if piece in ids else [part.id for part in old.tokenizer.model.tokenize(piece)]
        for piece in words.tokens(range(len(words)))
    ]
    embedding = torch.stack([known[parts].mean(dim=0) for parts in spelled]).detach()
    moved = Transformer(replace(model.config, source_vocab_size=len(words), target_vocab_size=len(words)))
    weights = model.state_dict()
    tied = ("source_embedding.weight", "target_embedding.weight", "output.weight")
    moved.load_state_dict(weights | dict.fromkeys(tied, embedding))
    return Translator(moved.eval(), words, words)
