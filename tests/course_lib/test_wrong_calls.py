"""A hundred calls that a user might get wrong, each with the sentence that it gets."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from course_lib.attention import attention
from course_lib.blocks import BlockConfig
from course_lib.configurations import RotaryConfig
from course_lib.decoding.generation_config import GenerationConfig
from course_lib.decoding.state import begin_decoding
from course_lib.decoding.translator import Translator
from course_lib.evaluation.metrics import evaluate_texts
from course_lib.ground.tables import Table
from course_lib.ground.timing import milliseconds
from course_lib.masking import mask_scores
from course_lib.models import BERT, GPT, BERTConfig, GPTConfig, Transformer, TransformerConfig
from course_lib.multihead import CrossAttention, MultiHeadAttention
from course_lib.objectives.heads import GPTClassifier, MultipleChoice, SequenceClassifier, TokenClassifier, best_spans
from course_lib.objectives.labelled_data import LabelledText, collate_labelled
from course_lib.objectives.losses import cross_entropy, language_model_loss, smoothed_cross_entropy
from course_lib.objectives.pretraining import MaskedTokens
from course_lib.positions import LearnedPositions, shift_matrix, sinusoidal_encoding
from course_lib.recurrent import RecurrentConfig, RecurrentEncoder
from course_lib.text.batches import TextBatch, Windows, examples, pad, translation_data
from course_lib.text.byte_pairs import ByteLevelVocabulary
from course_lib.text.downloads import multi30k
from course_lib.text.fast_subwords import SubwordVocabulary
from course_lib.text.packing import PackedTexts
from course_lib.text.shape_buckets import shared_vocabulary_data
from course_lib.text.special_tokens import SpecialTokens
from course_lib.text.texts import SentencePair
from course_lib.text.timed_merges import vocabulary_of, word_counts
from course_lib.text.tokenization import SPECIAL, CharacterVocabulary, JoinedPair, WordVocabulary, join_pair
from course_lib.training.checkpoints import Checkpoints, average_weights
from course_lib.training.distributed import join_processes
from course_lib.training.loop import TrainingConfig, Validation, evaluate, train
from course_lib.training.lora import add_lora, lora_state, merge_lora
from course_lib.training.schedules import (
    constant_schedule,
    cosine_schedule,
    inverse_root_schedule,
    linear_schedule,
    paper_schedule,
)

SIZES = GPTConfig(11, 8, 8, 2, 1, 12, end_id=2, padding_id=0)
ONCE = TrainingConfig(1, constant_schedule(0.1))
TWO_LANGUAGES = TransformerConfig(11, 11, 8, 2, 12, 1, 1)
READER = BERTConfig(11, 8, 8, 2, 1, 12)
CONFIG = TrainingConfig(3, constant_schedule(0.1))
gpt, transformer, bert = GPT(SIZES).eval(), Transformer(TWO_LANGUAGES).eval(), BERT(READER).eval()
endless = GPT(replace(SIZES, end_id=None))
pieces = SubwordVocabulary.train_bpe(["the cat danced"], 30)
translator = Translator(transformer, pieces, pieces)
DANCE, NO_SOURCE = SentencePair("the cat danced", "die Katze tanzte"), SentencePair(" ", "die Katze")
IDS, HALVES = torch.tensor([[4, 5, 6]]), torch.ones(1, 3)
WORDS, MASK = torch.randn(1, 3, 8), torch.ones(1, 3, dtype=torch.bool)


class Streamed:
    """A streamer that lets everything pass."""

    def put(self, value: torch.Tensor) -> None:
        pass

    def end(self) -> None:
        pass


Call = Callable[[], object]
CALLS: list[tuple[Call, type[Exception], str]] = [
    # sizes
    (lambda: replace(SIZES, layers=0), ValueError, "layers must be at least 1, not 0"),
    (lambda: replace(SIZES, layers=2.0), TypeError, "layers must be a whole number .an int., not 2.0"),
    (lambda: replace(SIZES, layers=True), TypeError, "layers must be a whole number"),
    (lambda: replace(SIZES, vocab_size=0), ValueError, "vocab_size must be at least 1, not 0"),
    (lambda: replace(SIZES, vocab_size="11"), TypeError, "vocab_size must be a whole number"),
    (lambda: replace(SIZES, context_length=-1), ValueError, "context_length must be at least 1, not -1"),
    (lambda: replace(SIZES, d_model=8.0), TypeError, "d_model must be a whole number"),
    (lambda: replace(SIZES, heads=3), ValueError, "d_model must be a multiple of the number of heads, not 8 for 3"),
    (lambda: replace(SIZES, heads=0), ValueError, "heads must be at least 1, not 0"),
    (lambda: replace(SIZES, d_ff=0), ValueError, "d_ff must be at least 1, not 0"),
    (lambda: replace(SIZES, dropout=1.0), ValueError, "dropout must be at least 0 and below 1, not 1.0"),
    (lambda: replace(SIZES, dropout=-0.1), ValueError, "dropout must be at least 0 and below 1, not -0.1"),
    (lambda: replace(SIZES, attention_dropout=math.nan), ValueError, "attention_dropout must be at least 0"),
    (lambda: replace(SIZES, norm_epsilon=-1), ValueError, "norm_epsilon must be at least 0 and finite, not -1"),
    (lambda: replace(SIZES, norm_epsilon=math.nan), ValueError, "norm_epsilon must be at least 0 and finite, not nan"),
    (lambda: replace(SIZES, activation="tanh"), ValueError, "activation must be one of relu, gelu"),
    (lambda: replace(SIZES, end_id=11), ValueError, "end_id must be from 0 to 10"),
    (lambda: replace(SIZES, padding_id=-1), ValueError, "padding_id must be from 0 to 10"),
    (lambda: replace(TWO_LANGUAGES, encoder_layers=0), ValueError, "encoder_layers must be at least 1, not 0"),
    (lambda: replace(TWO_LANGUAGES, decoder_layers=1.5), TypeError, "decoder_layers must be a whole number"),
    (lambda: replace(TWO_LANGUAGES, target_vocab_size=0), ValueError, "target_vocab_size must be at least 1"),
    (
        lambda: replace(TWO_LANGUAGES, target_vocab_size=13, padding_id=12),
        ValueError,
        "padding_id must be from 0 to 10",
    ),
    (lambda: replace(TWO_LANGUAGES, start_id=11), ValueError, "start_id must be from 0 to 10"),
    (lambda: replace(TWO_LANGUAGES, end_id=11), ValueError, "end_id must be from 0 to 10, .* last, not 11"),
    (
        lambda: replace(TWO_LANGUAGES, shared_embeddings=True, target_vocab_size=12),
        ValueError,
        "shared embeddings need one vocabulary",
    ),
    (lambda: replace(READER, segments=0), ValueError, "segments must be at least 1, not 0"),
    (lambda: replace(READER, layers=0), ValueError, "layers must be at least 1, not 0"),
    (lambda: replace(SIZES, key_value_heads=3), ValueError, "heads must be a multiple of key_value_heads, not 2 for 3"),
    (lambda: replace(SIZES, key_value_heads=0), ValueError, "key_value_heads must be at least 1, not 0"),
    (lambda: replace(SIZES, d_head=0), ValueError, "d_head must be at least 1, not 0"),
    (lambda: replace(SIZES, norm="batch"), ValueError, "norm must be one of layer, rms, not 'batch'"),
    (lambda: replace(SIZES, heads=8, rotary=RotaryConfig()), ValueError, "d_head must be even, not 1"),
    (lambda: replace(SIZES, window=0), ValueError, "window must be at least 1, not 0"),
    (lambda: replace(SIZES, window=2, windowed=(1,)), ValueError, r"windowed must name blocks from 0 to 0, not \(1,\)"),
    (lambda: RotaryConfig(extension="longrope"), ValueError, "extension must be one of linear, llama3, yarn"),
    (lambda: RotaryConfig(extension="yarn"), ValueError, "trained_context must be at least 1, not 0"),
    (lambda: RotaryConfig(base=1.0), ValueError, "base must be above 1 and finite, not 1.0"),
    (lambda: RotaryConfig(factor=math.nan), ValueError, "factor must be at least 1 and finite, not nan"),
    (lambda: RotaryConfig(few=4.0, many=4.0), ValueError, "few must be above 0 and below many, not 4.0 with many=4.0"),
    (lambda: BlockConfig(8, 2, 12, norm_epsilon=math.inf), ValueError, "norm_epsilon must be at least 0 and finite"),
    (lambda: MultiHeadAttention(10, 3), ValueError, "not 10 for 3 heads"),
    (lambda: RecurrentEncoder(RecurrentConfig(11, 15)), ValueError, "an even d_model, not 15"),
    (lambda: CrossAttention(8.0, 2), TypeError, "d_model must be a whole number"),  # type: ignore[arg-type]
    (lambda: shift_matrix(1, 7), ValueError, "sinusoidal positions need an even d_model, not 7"),
    (lambda: sinusoidal_encoding(4, 7), ValueError, "sinusoidal positions need an even d_model, not 7"),
    # what a model reads
    (lambda: gpt(IDS, documents=IDS[:, :2]), ValueError, r"documents must be \[1, 3\] as ids are, not \[1, 2\]"),
    (lambda: gpt(IDS, MASK, documents=IDS), ValueError, "give documents or mask and cache, not both"),
    (lambda: gpt([[4, 5]]), TypeError, r"ids must be a tensor \[batch, tokens\], not a list; write torch.tensor"),
    (lambda: gpt(HALVES), TypeError, r"ids must be whole numbers \(torch.long\), not torch.float32"),
    (lambda: gpt(IDS[0]), ValueError, r"ids must be \[batch, tokens\], not \[3\]"),
    (lambda: gpt(IDS[:, :0]), ValueError, r"ids has no tokens: \[1, 0\]"),
    (lambda: gpt(IDS + 7), ValueError, "ids must be from 0 to 10, the vocabulary's last, but there is a 13"),
    (lambda: gpt(IDS - 9), ValueError, "there is a -5"),
    (lambda: gpt(IDS.repeat(1, 3)), ValueError, "9 tokens are more than the context of 8"),
    (lambda: gpt(IDS, MASK.long()), TypeError, "mask must be boolean .True = a token, False = padding.*mask.bool"),
    (lambda: gpt(IDS, MASK[:, :2]), ValueError, r"mask must be \[1, 3\] as ids are, not \[1, 2\]"),
    (lambda: gpt.kv_cache(1, 9), ValueError, "9 tokens are more than the context of 8"),
    (lambda: gpt.kv_cache(1, 0), ValueError, "a cache needs room for at least one token, not for 0"),
    (lambda: gpt(IDS, kv_cache=gpt.kv_cache(2, 8)), ValueError, "the cache holds 2 texts, but 1 go on"),
    (lambda: gpt(IDS, kv_cache=gpt.kv_cache(1, 2)), ValueError, "the cache has room for 2 tokens, not 3"),
    (lambda: transformer(IDS + 7, IDS), ValueError, "source must be from 0 to 10"),
    (lambda: transformer(IDS, IDS + 7), ValueError, "target must be from 0 to 10"),
    (lambda: transformer(IDS, IDS.repeat(2, 1)), ValueError, "2 targets need as many sources, not 1"),
    (lambda: transformer([[4]], IDS), TypeError, "source must be a tensor"),
    (lambda: bert(IDS, MASK), TypeError, "takes 2 positional arguments but 3 were given"),
    (lambda: bert(IDS, mask=MASK.long()), TypeError, "mask must be boolean"),
    (lambda: bert(IDS, segments=IDS), ValueError, "segments must be from 0 to 1"),
    (lambda: bert(IDS, segments=IDS[:, :2] * 0), ValueError, r"segments must be \[1, 3\] as ids are"),
    (lambda: bert(IDS, mask=MASK[:, :2]), ValueError, r"mask must be \[1, 3\] as ids are, not \[1, 2\]"),
    (lambda: bert(IDS + 9), ValueError, "ids must be from 0 to 10, the vocabulary's last, but there is a 15"),
    (lambda: bert(IDS, segments=IDS * 0 - 1), ValueError, "segments must be from 0 to 1, .* but there is a -1"),
    (lambda: bert([4, 5]), TypeError, "ids must be a tensor"),
    (lambda: bert(IDS.repeat(1, 3)), ValueError, "9 .*8"),
    (lambda: RecurrentEncoder(RecurrentConfig(11, 8))(IDS + 9), ValueError, "ids must be from 0 to 10"),
    (lambda: RecurrentEncoder(RecurrentConfig(11, 8))(IDS, mask=IDS > 4), ValueError, "padding must come after"),
    (lambda: RecurrentEncoder(RecurrentConfig(11, 8))(IDS, mask=~MASK), ValueError, "a sequence has no tokens"),
    (lambda: RecurrentConfig(11, 8, layers=0), ValueError, "layers must be at least 1"),
    (lambda: LearnedPositions(8, 4)(torch.randn(1, 5, 8)), ValueError, "longer than the 4 learned positions"),
    (lambda: GPTClassifier(gpt, 2)(IDS + 9), ValueError, "ids must be from 0 to 10"),
    (lambda: SequenceClassifier(bert, 1), ValueError, "a classifier needs at least 2 classes, not 1"),
    (lambda: TokenClassifier(bert, 0), ValueError, "a classifier needs at least 2 classes, not 0"),
    (lambda: MultipleChoice(bert)(IDS), ValueError, r"ids must be \[batch, choices, tokens\], not \[1, 3\]"),
    (lambda: SequenceClassifier(bert, 2, pooling="cls"), ValueError, "pooling must be one of pooled, mean, not 'cls'"),  # type: ignore[arg-type]
    (lambda: best_spans(torch.randn(1, 2, 3), 0), ValueError, "a span has at least one token, not 0"),
    # attention
    (lambda: attention(IDS, IDS, IDS), TypeError, r"queries must be floating-point.*write queries.float\(\)"),
    (lambda: attention(WORDS, WORDS, WORDS.long()), TypeError, "values must be floating-point"),
    (lambda: attention(WORDS, WORDS[..., :4], WORDS), ValueError, "the same length d_head, not 8 and 4"),
    (lambda: attention(WORDS, WORDS, WORDS[:, :2]), ValueError, "there are 3 keys and 2 values"),
    (lambda: attention(WORDS, WORDS, WORDS, HALVES), TypeError, "boolean .True = may attend.*== 0 for an additive"),
    (lambda: mask_scores(torch.randn(2, 3), MASK[0]), ValueError, r"mask must be \[2, 3\] \(queries, keys\)"),
    (lambda: MultiHeadAttention(8, 2)(WORDS, mask=MASK.float()), TypeError, "mask must be boolean"),
    (lambda: MultiHeadAttention(8, 2)(WORDS, WORDS[:, :2], is_causal=True), ValueError, "pass a causal mask instead"),
    # decoding
    (lambda: translator.translate("the cat"), TypeError, "give a list of texts, not one string"),
    (lambda: translator.translate([""]), ValueError, "a sentence without tokens"),
    (lambda: translator.translate(["the cat"], 0), ValueError, "batch_size must be at least 1, not 0"),
    (lambda: translator.translate(["the cat"], beams=0), ValueError, "beams must be at least 1"),
    (lambda: gpt.generate(IDS), TypeError, "missing 1 required positional argument: 'max_new_tokens'"),
    (lambda: gpt.generate([[4, 5]], max_new_tokens=2), TypeError, "input_ids must be a tensor .* not a list"),  # type: ignore[arg-type]
    (lambda: gpt.generate(IDS, max_new_tokens=0), ValueError, "max_new_tokens must be at least 1, not 0"),
    (lambda: gpt.generate(IDS + 9, max_new_tokens=2), ValueError, "the prompt must be from 0 to 10"),
    (lambda: gpt.generate(IDS, HALVES, max_new_tokens=2), TypeError, "attention_mask must be 1 .or True. at tokens"),
    (lambda: gpt.generate(IDS, 2 * IDS, max_new_tokens=2), ValueError, "must be 1 at tokens and 0 at padding, and has"),
    (lambda: gpt.generate(IDS, MASK[:, :2], max_new_tokens=2), ValueError, r"must be \[1, 3\] as input_ids are"),
    (lambda: gpt.generate(IDS, ~MASK, max_new_tokens=2), ValueError, "one of the inputs is all padding"),
    (lambda: gpt.generate(IDS, max_new_tokens=7), ValueError, "in the context of 8; .* past_context=True"),
    (lambda: endless.generate(IDS, max_new_tokens=2, num_beams=2), ValueError, "give it an end_id"),
    (lambda: gpt.generate(IDS, max_new_tokens=2, max_length=3), TypeError, "unexpected keyword argument 'max_length'"),
    (lambda: gpt.generate(IDS, max_new_tokens=2, compiled=True, use_cache=False), ValueError, "keeps all keys"),
    (lambda: gpt.generate(IDS, max_new_tokens=2, compiled=True, past_context=True), ValueError, "keeps all keys"),
    (lambda: begin_decoding(nn.Linear(2, 2), IDS, 3), TypeError, "cannot write with a Linear: it has no begin"),
    (lambda: gpt.generate(IDS, max_new_tokens=2, num_beams=0), ValueError, "num_beams must be at least 1, not 0"),
    (lambda: gpt.generate(IDS, max_new_tokens=2, temperature=0), ValueError, "temperature must be above 0"),
    (lambda: transformer.generate(IDS - 9, max_new_tokens=2), ValueError, "there is a -5"),
    (lambda: gpt.generate(IDS, max_new_tokens=5.0), TypeError, "max_new_tokens must be a whole number"),
    (lambda: GenerationConfig(2, num_beams=2.0), TypeError, "num_beams must be a whole number"),  # type: ignore[arg-type]
    (lambda: GenerationConfig(2, length_penalty=math.nan), ValueError, "length_penalty must be at least 0 and finite"),
    (lambda: GenerationConfig(2, length_formula="mean"), ValueError, "must be one of wu, length, not 'mean'"),  # type: ignore[arg-type]
    (lambda: GenerationConfig(2, early_stopping="always"), ValueError, "True or 'never', not 'always'"),  # type: ignore[arg-type]
    (lambda: GenerationConfig(2, temperature=math.nan), ValueError, "temperature must be above 0, not nan"),
    (lambda: GenerationConfig(2, top_k=0), ValueError, "top_k must be at least 1, not 0"),
    (lambda: GenerationConfig(2, top_k=1.5), TypeError, "top_k must be a whole number"),  # type: ignore[arg-type]
    (lambda: GenerationConfig(2, top_p=0.0), ValueError, "top_p must be above 0 and at most 1, not 0.0"),
    (lambda: gpt.generate(IDS, max_new_tokens=2, min_p=2), ValueError, "min_p must be at least 0 and at most 1"),
    (lambda: gpt.generate(IDS, max_new_tokens=2, do_sample=False, top_k=3), ValueError, "are for sampling"),
    (lambda: gpt.generate(IDS, max_new_tokens=2, num_beams=3, top_k=3), ValueError, "beam search draws nothing"),
    (lambda: gpt.generate(IDS, max_new_tokens=2, repetition_penalty=0), ValueError, "must be above 0, not 0; 1"),
    (lambda: gpt.generate(IDS, max_new_tokens=2, min_new_tokens=3), ValueError, "min_new_tokens=3 is above max_new"),
    (lambda: gpt.generate(IDS, max_new_tokens=2, eos_token_id=11), ValueError, "eos_token_id must be from 0 to 10"),
    (
        lambda: gpt.generate(IDS, max_new_tokens=2, eos_token_id=[2, 99]),
        ValueError,
        "eos_token_id must be from 0 to 10",
    ),
    (lambda: gpt.generate(IDS, max_new_tokens=2, num_return_sequences=2), ValueError, "draw them with do_sample=True"),
    (lambda: gpt.generate(IDS, max_new_tokens=2, no_repeat_ngram_size=-1), ValueError, "must be at least 0, not -1"),
    (lambda: replace(SIZES, end_id=(2, 11)), ValueError, "end_id must be from 0 to 10"),
    (lambda: TrainingConfig(10, 3e-4), TypeError, r"constant_schedule\(0.0003\), say, instead of 0.0003"),  # type: ignore[arg-type]
    (lambda: TrainingConfig(10, "cosine"), TypeError, "schedule must say the learning rate of each step"),  # type: ignore[arg-type]
    (lambda: TrainingConfig(10, [3e-4] * 10), TypeError, "schedule must say the learning rate of each step"),  # type: ignore[arg-type]
    (
        lambda: train(gpt, DataLoader(TensorDataset(IDS)), lambda _model, _batch: IDS.sum(), ONCE, "cpu"),  # type: ignore[type-var, arg-type]
        *(TypeError, "takes no DataLoader: give it data with plan"),
    ),
    (lambda: train(gpt, [IDS], lambda _model, _batch: IDS.sum(), ONCE, "cpu"), TypeError, "takes no list: give it"),  # type: ignore[type-var, arg-type]
    (lambda: train(gpt, IDS, lambda _model, _batch: IDS.sum(), ONCE, "cpu"), TypeError, "takes no Tensor: give it"),  # type: ignore[type-var, arg-type]
    (
        lambda: gpt.generate(IDS, max_new_tokens=2, stop_strings=["."]),
        ValueError,
        "give the tokenizer as well, or give its ids",
    ),
    (lambda: gpt.generate(IDS, max_new_tokens=2, stop_strings=[5]), TypeError, "a list of texts and of lists of ids"),
    (
        lambda: gpt.generate(IDS, max_new_tokens=2, num_beams=2, streamer=Streamed()),
        ValueError,
        "there is nothing to stream yet",
    ),
    (
        lambda: transformer.generate(IDS * 0, MASK, max_new_tokens=2),
        ValueError,
        "attention_mask must be 0 wherever input_ids is padding, 0",
    ),
    # text
    (lambda: SubwordVocabulary.train_bpe("the cat", 30), TypeError, "give a list of texts, not one string"),
    (lambda: SubwordVocabulary.train_wordpiece("the cat", 30), TypeError, "give a list of texts, not one string"),
    (lambda: SubwordVocabulary.train_bpe([], 30), ValueError, "the texts have no words"),
    (lambda: SubwordVocabulary.train_bpe(["the cat"], 0), ValueError, "size must be at least 1, not 0"),
    (lambda: SubwordVocabulary.train_bpe(["the \ud83d cat"], 30), ValueError, "half a character"),
    (lambda: SubwordVocabulary.train_byte_bpe("the cat", 300), TypeError, "give a list of texts, not one string"),
    (lambda: SubwordVocabulary.train_byte_bpe(["the cat"], 0), ValueError, "size must be at least 1, not 0"),
    (
        lambda: SubwordVocabulary.train_byte_bpe(["a"], 300, special="<a>"),
        TypeError,
        "not one string: put it in a list",
    ),
    (lambda: pieces.encode("<s>", allowed_special="<s>"), TypeError, "give a list of texts, not one string"),
    (lambda: pieces.encode("<s>", allowed_special=["[CLS]"]), ValueError, "not a special token of this .*, which has"),
    (lambda: pieces.encode_stream(["the cat"]), ValueError, "only a vocabulary that cuts words as GPT-2 or GPT-4"),
    (lambda: ByteLevelVocabulary.learn("the cat", 3), TypeError, "give a list of texts, not one string"),
    (lambda: ByteLevelVocabulary.learn(["the cat"], -1), ValueError, "merges must be at least 0, not -1"),
    (lambda: ByteLevelVocabulary.learn(["the \ud83d cat"], 3), ValueError, "half a character"),
    (lambda: ByteLevelVocabulary(()).encode("<|endoftext|>"), ValueError, "add it to allowed_special to have it"),
    (lambda: ByteLevelVocabulary(()).encode("the \ud83d cat"), ValueError, "half a character"),
    (lambda: ByteLevelVocabulary(()).encode_stream("the cat"), TypeError, "give a list of texts, not one string"),
    (lambda: list(ByteLevelVocabulary(()).encode_stream([b"the"])), TypeError, "not in bytes; open a file as text"),  # type: ignore[list-item]
    (lambda: pieces.encode("a \ud83d cat"), ValueError, r"half a character, '\\ud83d', at position 2"),
    (lambda: pieces.encode_all("the cat"), TypeError, "give a list of texts, not one string"),
    (lambda: pieces.decode([99]), ValueError, "id 99 is outside the vocabulary"),
    (lambda: pieces.id("dog"), ValueError, "there is no token 'dog'"),
    (lambda: pad([]), ValueError, "a batch needs at least one sequence, got none"),
    (lambda: Windows(torch.arange(4), 4, 1), ValueError, "too short for windows of 4: expected at least 5"),
    (lambda: Windows([1, 2, 3], 2, 1), TypeError, r"a tensor \[text\], not a list; torch.from_numpy makes"),  # type: ignore[arg-type]
    (lambda: Windows(IDS.numpy(), 2, 1), TypeError, r"a tensor \[text\], not a ndarray"),
    (lambda: Windows(IDS, 2, 1), TypeError, r"whole numbers, \[text\], not torch.int64 \["),
    (lambda: Windows(HALVES.flatten(), 2, 1), TypeError, r"whole numbers, \[text\], not torch.float32 \["),
    # metrics
    (lambda: evaluate_texts("the cat", ["the cat"]), TypeError, "put it in a list"),  # type: ignore[arg-type]
    (lambda: evaluate_texts([], []), ValueError, "no hypotheses"),
    (lambda: evaluate_texts(["a", "b", "c"], ["a", "b"]), ValueError, "3 hypotheses and references for 2"),
    (lambda: evaluate_texts(["a"], ["a"], "bleu"), TypeError, r"metrics must be .*, not one string: write \['bleu'\]"),
    (lambda: evaluate_texts(["a", "b"], ["a", " "]), ValueError, "a reference of hypothesis 1 has no words"),
    (lambda: evaluate_texts(["a"], [[]]), ValueError, "hypothesis 0 has no reference"),
    (lambda: evaluate_texts(["a"], ["a"], ["blue"]), ValueError, "there is no metric 'blue'; there are bleu, chrf"),
    (lambda: evaluate_texts(["a"], ["a"], []), ValueError, "at least one metric"),
    (lambda: evaluate_texts(["a", "b"], [["a"], ["b", "c"]], ["wer"]), ValueError, "WER takes one .* 1 has 2"),
    # data for training
    (lambda: PackedTexts([], 4, 1), ValueError, "nothing to train on: the data is empty"),
    (lambda: PackedTexts([IDS[0]], 4, 0), ValueError, "batch_size must be at least 1, not 0"),
    (lambda: PackedTexts([IDS[0]], 1, 1), ValueError, "text 0 has 3 tokens, but a row of 1 takes texts of 2 to 2"),
    (
        lambda: PackedTexts([IDS[0], IDS[0, :1]], 4, 1),
        ValueError,
        "text 1 has 1 tokens, but a row of 4 takes texts of 2",
    ),
    (lambda: PackedTexts([IDS[0]], 4, 1).batch([]), ValueError, "a batch needs at least one text, got none"),
    (lambda: LabelledText((), IDS), ValueError, "at least one input, and each needs at least one token"),
    (lambda: LabelledText((JoinedPair([], []),), IDS), ValueError, "and each needs at least one token"),
    (lambda: collate_labelled([]), ValueError, "at least one example, got none"),
    (lambda: MaskedTokens(11, 3, (), 0.0), ValueError, "above 0 and at most 1"),
    (lambda: MaskedTokens(11, 3, (), 1.5), ValueError, "above 0 and at most 1"),
    (lambda: Windows(IDS[0], 0, 4), ValueError, "at least 1, got 0 and 4"),
    (lambda: Windows(IDS[0], 2, 1).batch([]), ValueError, "at least one window, got none"),
    (lambda: examples([NO_SOURCE], pieces, pieces), ValueError, "no words: ' ', translated as 'die Katze'"),
    (lambda: translation_data([], pieces, pieces, 9), ValueError, "the data is empty"),
    (lambda: translation_data([DANCE], pieces, pieces, 3), ValueError, r"tokens, more than a batch may have \(3\)"),
    (lambda: shared_vocabulary_data([], pieces, 9), ValueError, "the data is empty"),
    (lambda: shared_vocabulary_data([NO_SOURCE], pieces, 9), ValueError, "a source has no words: ' '"),
    (lambda: shared_vocabulary_data([DANCE], pieces, 3), ValueError, r"may have \(3\); raise max_tokens, or leave"),
    (lambda: multi30k("test"), ValueError, "has the parts train, val, test_2016_flickr, not 'test'"),  # type: ignore[arg-type]
    (lambda: ByteLevelVocabulary((), pattern="gpt3"), ValueError, "pattern must be one of gpt2, gpt4, not 'gpt3'"),  # type: ignore[arg-type]
    (lambda: ByteLevelVocabulary(((b"ab", b"c"),)), ValueError, "merged from b'ab', which no earlier pair"),
    (lambda: ByteLevelVocabulary((), ("<a>", "<a>")), ValueError, "each special token once"),
    (lambda: ByteLevelVocabulary(((b"a", b"b"),), ("ab",)), ValueError, "'ab' cannot be a special token"),
    (lambda: ByteLevelVocabulary(()).decode([257]), ValueError, "id 257 is outside the vocabulary: expected 0 to 256"),
    (lambda: ByteLevelVocabulary.learn(["", " \n"], 5), ValueError, "the texts have no words"),
    (lambda: ByteLevelVocabulary.learn(["<|endoftext|>" * 2], 5), ValueError, "the texts have no words"),
    (lambda: ByteLevelVocabulary.learn(["a"], 5, ("",)), ValueError, "none of them is empty"),
    (lambda: ByteLevelVocabulary.learn(["a"], 5, ties="first"), ValueError, "ties must be one of smallest, largest"),  # type: ignore[arg-type]
    (lambda: SubwordVocabulary.train_byte_bpe([" ", ""], 300), ValueError, "the texts have no words"),
    (lambda: SubwordVocabulary.train_byte_bpe(["<|endoftext|>"], 300), ValueError, "the texts have no words"),
    (lambda: SubwordVocabulary.train_byte_bpe(["a"], 300, special=[""]), ValueError, "none of them is empty"),
    (lambda: pieces.encode_pair("a", "b"), ValueError, r"there is no token '\[CLS\]'"),
    (lambda: SpecialTokens.choose({"<a>": 7}, ["<a>"], ["<a>"]).split("<a>"), ValueError, "special token '<a>'"),
    (lambda: vocabulary_of(word_counts(["ab"]), [("abc", "a")]), ValueError, "is not among the pieces"),
    (lambda: word_counts(["", " "]), ValueError, "the texts have no words"),
    (lambda: WordVocabulary(("die", "Katze")), ValueError, "must begin with <pad>"),
    (lambda: WordVocabulary((*SPECIAL, "die", "die")), ValueError, "'die' is there more than once"),
    (lambda: WordVocabulary(SPECIAL).decode([0, 4]), ValueError, "id 4 is outside the vocabulary: expected 0 to 3"),
    (lambda: WordVocabulary(SPECIAL).decode([-1]), ValueError, "id -1 is outside the vocabulary: expected 0 to 3"),
    (lambda: CharacterVocabulary("Katze").encode("Kater"), ValueError, "holds 'r', which is not among the 5 known"),
    (lambda: CharacterVocabulary("Katze").decode([5]), ValueError, "id 5 is outside"),
    (lambda: CharacterVocabulary("aba"), ValueError, "each character once"),
    (lambda: join_pair([5], [6], cls_id=1, sep_id=2, max_length=2), ValueError, "room for 3 special tokens, got 2"),
    # what is measured and shown
    (lambda: milliseconds(lambda: None, runs=0), ValueError, "runs must be at least 1, not 0"),
    (lambda: Table(("a", "b"), [("only one",)]), ValueError, "a row of 1 cells does not fit a header of 2"),
    # training
    (lambda: constant_schedule(-0.1), ValueError, "rate must be at least 0 and finite, not -0.1"),
    (lambda: constant_schedule(0.1)(0), ValueError, "count from 1: there is no step 0"),
    (lambda: paper_schedule(0), ValueError, "d_model must be at least 1, not 0"),
    (lambda: paper_schedule(8)(0), ValueError, "count from 1: there is no step 0"),
    (lambda: inverse_root_schedule(math.inf, 3), ValueError, "peak must be at least 0 and finite"),
    (lambda: inverse_root_schedule(0.1, 0), ValueError, "the warm-up must have at least 1 step"),
    (lambda: paper_schedule(8, 0), ValueError, "the warm-up must have at least 1 step, got 0"),
    (lambda: cosine_schedule(0.1, 9, 3), ValueError, "at most the 3 steps of the training, got 9"),
    (lambda: linear_schedule(0.1, 9, 3), ValueError, "at most the 3 steps of the training, got 9"),
    (lambda: cosine_schedule(0.1, 1, 3, least=-1), ValueError, "least must be at least 0 and finite"),
    (lambda: replace(CONFIG, steps=0), ValueError, "steps must be at least 1, not 0"),
    (lambda: replace(CONFIG, steps=2.5), TypeError, "steps must be a whole number"),
    (lambda: replace(CONFIG, accumulate=0), ValueError, "accumulate must be at least 1, not 0"),
    (lambda: replace(CONFIG, clip=math.nan), ValueError, "clip must be above 0, got nan"),
    (lambda: replace(CONFIG, weight_decay=-1.0), ValueError, "weight_decay must be at least 0 and finite"),
    (lambda: replace(CONFIG, betas=(0.9, 1.0)), ValueError, r"betas\[1\] must be at least 0 and below 1, not 1.0"),
    (lambda: replace(CONFIG, precision="half"), ValueError, "precision must be one of auto, fp32, bf16, fp16"),
    (lambda: replace(CONFIG, graphs=True, recompute=True), ValueError, "choose graphs or recompute"),
    (lambda: replace(CONFIG, optimizer="muon", precision="fp16"), ValueError, "choose precision 'bf16' or 'fp32'"),
    (lambda: average_weights([]), ValueError, "no checkpoints to average"),
    (
        lambda: train(gpt, Windows(IDS[0], 2, 1), lambda *_: HALVES.sum(), CONFIG, "cpu", workers=-1),
        ValueError,
        "workers must be at least 0, not -1",
    ),
    (lambda: Validation([], every=1, patience=0), ValueError, "every and patience must be at least 1"),  # type: ignore[arg-type]
    (lambda: Validation([], every=0), ValueError, "every and patience must be at least 1"),  # type: ignore[arg-type]
    (lambda: Checkpoints(Path("none"), keep=0), ValueError, "every and keep must be at least 1"),
    (lambda: Checkpoints(Path("none"), every=0), ValueError, "every and keep must be at least 1"),
    (lambda: add_lora(gpt, targets="W_o"), TypeError, "put it in a list"),
    (lambda: add_lora(gpt, targets=[]), ValueError, "nothing in targets; the model's linear layers are W_1, W_2, W_o"),
    (lambda: add_lora(gpt, targets=["W_q"]), ValueError, "no linear layer 'W_q'; the model's linear layers are W_1"),
    (lambda: add_lora(gpt, 0), ValueError, "rank must be at least 1, not 0"),
    (lambda: add_lora(gpt, alpha=math.nan), ValueError, "alpha must be at least 0 and finite, not nan"),
    (lambda: add_lora(gpt, dropout=1.0), ValueError, "dropout must be at least 0 and below 1"),
    (lambda: merge_lora(gpt), ValueError, "no adapted layers: add_lora.model. adds them"),
    (lambda: lora_state(gpt), ValueError, "no adapted layers"),
    (lambda: cross_entropy(torch.randn(2, 3), torch.tensor([0, 7])), ValueError, "7"),
    (lambda: smoothed_cross_entropy(WORDS, IDS, -0.1), ValueError, "from 0 to 1, got -0.1"),
    (lambda: smoothed_cross_entropy(WORDS, IDS, 1.1), ValueError, "from 0 to 1, got 1.1"),
    (lambda: smoothed_cross_entropy(WORDS, IDS, 0.9, "others"), ValueError, "from 0 to 0.875, got 0.9"),
    (lambda: smoothed_cross_entropy(WORDS[:, :0], IDS[:, :0]), ValueError, "a text of one token has no next one"),
    (lambda: language_model_loss(gpt, TextBatch(IDS[:, :1])), ValueError, "no tokens|nothing to predict"),
    # published weights
    (lambda: GPT.from_pretrained("gpt2", dtype="float16"), TypeError, "dtype must be one of .*, not 'float16'"),  # type: ignore[arg-type]
    (lambda: GPT.from_pretrained("gpt2", dtype=torch.int8), ValueError, "dtype must be one of .*, not torch.int8"),
    (lambda: GPT.from_pretrained("gpt2", device="gpu"), ValueError, "there is no device 'gpu'; choose 'cpu', 'cuda'"),
    (lambda: GPT.from_pretrained("./gpt2"), FileNotFoundError, "there is no folder ./gpt2"),
]


def test_there_are_a_hundred() -> None:
    assert len(CALLS) >= 100


@pytest.mark.parametrize(("call", "error", "sentence"), CALLS, ids=[f"{i}: {c[2][:40]}" for i, c in enumerate(CALLS)])
def test_a_wrong_call_is_told_what_is_wrong(call: Call, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        call()


def test_a_gpu_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    for use in (
        join_processes,
        lambda device: GPT.from_pretrained("gpt2", device=device),
        lambda device: evaluate(gpt, Windows(torch.arange(9), 4, 1), lambda *_: HALVES.sum(), device),
    ):
        with pytest.raises(ValueError, match="torch finds 0 GPUs here, so there is no cuda; choose 'cpu'"):
            use("cuda")
