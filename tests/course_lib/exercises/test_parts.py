"""A mistake costs the part that it concerns, and no other; one in the core costs all."""

from __future__ import annotations

import pytest

from tests.course_lib.exercises.judging import mistake, verdict

POINTS = {
    "words_in_a_bag.mean_pooling": {"nan_without_words": 3},
    "attention.weights": {
        "large_scores_overflow": 2,
        "one_maximum_for_all_rows": 2,
        "normalised_over_queries": 0,
    },
    "masking.masked_weights": {"nan_where_nothing_is_allowed": 3, "uniform_where_nothing_is_allowed": 3},
    "masking.padding_mask": {"on_the_cpu": 1},
    "masking.packed_mask": {"on_the_cpu": 3},
    "heads_and_blocks.multi_head_attention": {
        "memory_ignored": 4,
        "x_and_memory_exchanged": 4,
        "values_from_x": 4,
        "mask_ignored": 5,
        "mask_inverted": 5,
        "masks_meet_heads": 5,
        "scaled_by_d_model": 0,
    },
    "heads_and_blocks.layer_norm": {"epsilon_left_out": 2, "epsilon_outside_the_root": 2, "epsilon_fixed": 2},
    "heads_and_blocks.feed_forward": {"always_relu": 2},
    "heads_and_blocks.add_and_norm": {"always_post_norm": 2, "residual_normalised_too": 2},
    "encoder_decoder.loss_and_perplexity": {"log_of_softmax": 2, "padding_counted": 0},
    "encoder_decoder.encode_and_decode": {"mask_on_the_cpu": 3, "future_seen": 0},
    "encoder_decoder.training_loop": {"losses_in_single_precision": 3, "not_clipped": 0},
    "encoder_decoder.label_smoothing": {"log_of_softmax": 2, "softmax_by_hand": 2},
    "decoding.speculative_step": {"row_before_the_last": 3},
    "gpt.causal_language_model": {"always_causal": 4, "mask_on_the_cpu": 4},
    "gpt.generate": {"context_ignored": 2, "first_words_kept": 2},
    "subwords.merge": {"first_one_only": 0},
    "bert.answer_span": {"limit_ignored": 3, "one_word_too_many": 3},
    "bert.multiple_choice": {"exponentials_too_large": 2, "largest_of_the_batch": 2},
    "evaluation.precision_recall_f1": {"nan_for_nothing": 2},
    "evaluation.clipped_ngrams": {"first_reference_only": 3},
    "evaluation.brevity_penalty": {"one_for_nothing": 1},
    "evaluation.corpus_bleu": {"zeros_left_out": 3, "first_of_two": 3},
    "evaluation.pairwise_accuracy": {"tolerance_excluded": 2},
    "evaluation.seen_before": {"sentences_left_out": 3},
    "evaluation.corpus_or_sentence": {"passed_over": 1},
}


@pytest.mark.parametrize(
    ("exercise_id", "name", "points"),
    [(exercise_id, name, points) for exercise_id, of in POINTS.items() for name, points in of.items()],
)
def test_a_mistake_costs_its_own_part(exercise_id: str, name: str, points: int) -> None:
    for seed in (1, 5):
        assert verdict(exercise_id, mistake(exercise_id, name), seed).points == points
