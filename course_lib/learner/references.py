"""Where the library does what each exercise asks for, known without the exercises: boxes hold none.

A test compares this with the exercises themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

REFERENCES = {
    "words_in_a_bag.look_up": "bags.look_up",
    "words_in_a_bag.cosine": "bags.cosine_similarities",
    "words_in_a_bag.mean_pooling": "bags.mean_pooling",
    "words_in_a_bag.same_vector": "bags.same_vector",
    "words_in_a_bag.bag_of_embeddings": "bags.BagClassifier",
    "words_in_a_bag.accuracy": "bags.logits_accuracy",
    "words_in_a_bag.majority": "bags.majority_accuracy",
    "words_in_a_bag.parameters": "bags.count_bag_parameters",
    "attention.contextual_embedding": "attention.contextual_embedding",
    "attention.scores": "attention.dot_product_scores",
    "attention.scale": "attention.scale_scores",
    "attention.weights": "attention.attention_weights",
    "attention.output": "attention.weighted_values",
    "attention.scaled_dot_product": "attention.scaled_dot_product_attention",
    "attention.dot_product_variance": "attention.dot_product_variance",
    "attention.softmax_jacobian": "attention.softmax_jacobian",
    "masking.causal_mask": "masking.causal_mask",
    "masking.masked_weights": "masking.masked_weights",
    "masking.multiplicative_weights": "masking.multiplicative_weights",
    "masking.masked_self_attention": "masking.masked_self_attention",
    "masking.padding_mask": "masking.padding_mask",
    "masking.combined_mask": "masking.combined_mask",
    "masking.attention_pooling": "masking.AttentionPooling",
    "positions.shuffled_outputs": "positions.shuffled_outputs",
    "positions.same_under_causal_mask": "positions.same_under_causal_mask",
    "positions.appended_index": "positions.appended_index",
    "positions.binary_counting": "positions.binary_counting",
    "positions.sinusoidal_encoding": "positions.sinusoidal_encoding",
    "positions.shift_matrix": "positions.shift_matrix",
    "positions.learned_positions": "positions.LearnedPositions",
    "heads_and_blocks.project": "multihead.project",
    "heads_and_blocks.split_heads": "multihead.split_heads",
    "heads_and_blocks.multi_head_attention": "multihead.multi_head_attention",
    "heads_and_blocks.layer_norm": "blocks.layer_norm",
    "heads_and_blocks.dropout": "blocks.drop",
    "heads_and_blocks.add_and_norm": "blocks.add_and_norm",
    "heads_and_blocks.feed_forward": "blocks.FeedForward",
    "heads_and_blocks.encoder_block": "blocks.PlainEncoderBlock",
    "heads_and_blocks.count_parameters": "blocks.block_parameters",
    "encoder_decoder.shift_right": "objectives.losses.shift_right",
    "encoder_decoder.negative_log_likelihood": "from_scratch.encoder_decoder.negative_log_likelihood",
    "encoder_decoder.printed_likelihood": "from_scratch.slips.printed_likelihood",
    "encoder_decoder.perplexity": "from_scratch.encoder_decoder.perplexity",
    "encoder_decoder.decoder_block": "from_scratch.encoder_decoder.DecoderBlock",
    "encoder_decoder.encode_and_decode": "from_scratch.encoder_decoder.encode_and_decode",
    "encoder_decoder.training_loop": "from_scratch.encoder_decoder.training_loop",
    "encoder_decoder.adam_update": "from_scratch.encoder_decoder.adam_update",
    "encoder_decoder.warmup_schedule": "from_scratch.encoder_decoder.warmup_schedule",
    "encoder_decoder.label_smoothing": "from_scratch.encoder_decoder.label_smoothing",
    "decoding.greedy": "from_scratch.stepwise.greedy",
    "decoding.sequence_log_probability": "from_scratch.scoring.sequence_log_probability",
    "decoding.sentence_found": "from_scratch.stepwise.sentence_found",
    "decoding.beam_search": "from_scratch.stepwise.beam_search",
    "decoding.length_penalised": "from_scratch.stepwise.length_penalised",
    "decoding.with_temperature": "from_scratch.stepwise.with_temperature",
    "decoding.top_k": "from_scratch.stepwise.top_k",
    "decoding.nucleus": "from_scratch.stepwise.nucleus",
    "decoding.cached_attention": "from_scratch.stepwise.cached_attention",
    "gpt.training_windows": "from_scratch.language_models.training_windows",
    "gpt.lm_loss": "from_scratch.language_models.lm_loss",
    "gpt.tied_logits": "from_scratch.language_models.tied_logits",
    "gpt.causal_language_model": "from_scratch.language_models.CausalLanguageModel",
    "gpt.loss_without_mask": "from_scratch.language_models.loss_without_mask",
    "gpt.generate": "from_scratch.language_models.generate",
    "gpt.fine_tuning_loss": "from_scratch.language_models.fine_tuning_loss",
    "gpt.count_parameters": "from_scratch.language_models.gpt_parameters",
    "gpt.from_gpt2": "from_scratch.language_models.from_gpt2",
    "subwords.count_pairs": "text.subwords.count_pairs",
    "subwords.most_frequent_pair": "text.subwords.most_frequent_pair",
    "subwords.merge": "text.subwords.join",
    "subwords.learn_merges": "text.subwords.learn_merges",
    "subwords.vocabulary_size": "text.subwords.vocabulary_size",
    "subwords.encode": "text.subwords.encode_pieces",
    "subwords.decode": "text.subwords.decode_pieces",
    "subwords.bits_per_byte": "text.subwords.bits_per_byte",
    "subwords.wordpiece": "text.subwords.longest_pieces",
    "bert.pair_encoding": "objectives.pretraining.encode_pairs",
    "bert.expected_counts": "objectives.pretraining.expected_counts",
    "bert.mask_words": "objectives.pretraining.mask_words",
    "bert.masked_lm_loss": "objectives.heads.label_loss",
    "bert.sentence_pairs": "objectives.pretraining.next_sentence_pairs",
    "bert.pretraining_loss": "objectives.pretraining.pretraining_loss",
    "bert.printed_probabilities": "from_scratch.slips.printed_probabilities",
    "bert.sequence_classifier": "objectives.heads.SequenceHead",
    "bert.token_classifier": "objectives.heads.WordHead",
    "bert.answer_span": "objectives.heads.best_spans",
    "bert.multiple_choice": "objectives.heads.choice_probabilities",
    "evaluation.precision_recall_f1": "from_scratch.scoring.label_scores",
    "evaluation.sequence_accuracy": "from_scratch.scoring.sequence_accuracy",
    "evaluation.clipped_ngrams": "from_scratch.scoring.clipped_ngrams",
    "evaluation.brevity_penalty": "from_scratch.scoring.brevity_penalty",
    "evaluation.bleu": "from_scratch.scoring.bleu",
    "evaluation.corpus_or_sentence": "from_scratch.scoring.micro_and_macro",
    "evaluation.edit_table": "from_scratch.scoring.edit_table",
    "evaluation.word_error_rate": "from_scratch.scoring.word_error_rate",
    "die_katze.plan_run": "from_scratch.full_run.plan_run",
    "die_katze.batches_by_tokens": "from_scratch.full_run.batches_by_tokens",
    "die_katze.trapezoid_schedule": "from_scratch.full_run.trapezoid_schedule",
    "die_katze.accumulated_loss": "from_scratch.full_run.accumulated_loss",
    "die_katze.choose_checkpoint": "from_scratch.full_run.choose_checkpoint",
    "die_katze.bootstrap_interval": "from_scratch.full_run.bootstrap_interval",
    "die_katze.sort_error": "from_scratch.full_run.sort_error",
    "since_2017.rms_norm": "modern.rms_norm.rms_norm",
    "since_2017.pre_norm": "from_scratch.since_2017.pre_norm",
    "since_2017.rotary": "from_scratch.since_2017.turned_by_place",
    "since_2017.swiglu": "from_scratch.since_2017.swiglu",
    "since_2017.grouped_query": "from_scratch.since_2017.grouped_query_attention",
    "since_2017.cache_bytes": "from_scratch.since_2017.cache_bytes",
    "since_2017.read_block": "from_scratch.since_2017.read_block",
    "since_2017.decayed_step": "from_scratch.since_2017.decayed_step",
    "since_2017.cosine_rates": "from_scratch.since_2017.cosine_rates",
    "since_2017.llama_parameters": "from_scratch.since_2017.llama_parameters",
    "since_2017.lora": "from_scratch.since_2017.lora",
}
"""For each exercise the function or class of `course_lib` that is its reference, without "course_lib."."""


def reference(exercise_id: str) -> Callable[..., Any]:
    """The library's function or class that does what an exercise asks for.

    Raises:
        LookupError: there is no such exercise, or what it asks for is not here: its own lesson withholds it.
    """
    if exercise_id not in REFERENCES:
        raise LookupError(f"there is no exercise {exercise_id!r}")
    module, _, name = REFERENCES[exercise_id].rpartition(".")
    try:
        found: Callable[..., Any] = getattr(import_module(f"course_lib.{module}"), name)
    except ImportError:
        raise LookupError(f"{exercise_id} is what this lesson asks you to write: it is not handed out here") from None
    return found
