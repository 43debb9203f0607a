"""Who is in the bundled class: the same people in every lesson, and how each submission should come out."""

from __future__ import annotations

from autograder.box import Level
from autograder.demo.student import (
    Group,
    Student,
    delete_check,
    forge_points,
    no_points,
    strip_metadata,
    write_garbage,
    write_link_to,
    write_with_byte_order_mark,
    wrong,
)
from course_lib.checking import Outcome

ATTENTION = (
    # Right, in different styles.
    Student("ada_reference", Group.RIGHT, "the lesson's own formulas"),
    Student("bea_einsum", Group.RIGHT, "einsum wherever it goes", ("einsum",)),
    Student("carl_loops", Group.RIGHT, "loops over queries, keys and components", ("loops",)),
    Student("dina_batched_matmul", Group.RIGHT, "torch.bmm, and a helper of her own", ("batched_matmul",)),
    Student("emil_torch_functions", Group.RIGHT, "torch's functions, those that are allowed", ("torch_functions",)),
    # Not finished.
    Student(
        "fay_half_done",
        Group.UNFINISHED,
        "four of eight exercises",
        ("half_done",),
        expected={
            "attention.weights": no_points(Outcome.NOT_ATTEMPTED),
            "attention.scaled_dot_product": no_points(Outcome.NOT_ATTEMPTED),
            "attention.dot_product_variance": no_points(Outcome.NOT_ATTEMPTED),
            "attention.softmax_jacobian": no_points(Outcome.NOT_ATTEMPTED),
        },
    ),
    Student("gus_untouched", Group.UNFINISHED, "the release as it was", (), otherwise=Outcome.NOT_ATTEMPTED),
    # Wrong.
    Student(
        "hana_slides_numbers",
        Group.MISTAKEN,
        "what the slides' printed numbers were made with",
        ("reference", "slides_numbers"),
        expected={
            "attention.scale": wrong("divided_by_number_of_keys"),
            "attention.output": wrong("first_query_everywhere"),
            "attention.scaled_dot_product": wrong("unscaled_softmax"),
        },
    ),
    Student(
        "ivo_wrong_axis",
        Group.MISTAKEN,
        "rows and columns confused",
        ("reference", "wrong_axis"),
        expected={
            "attention.contextual_embedding": wrong("normalised_over_the_wrong_words"),
            "attention.scores": wrong("keys_as_rows"),
            "attention.weights": wrong("normalised_over_queries"),
            "attention.scaled_dot_product": wrong("softmax_over_the_second_dimension"),
            "attention.dot_product_variance": wrong("summed_over_samples"),
            "attention.softmax_jacobian": wrong("softmax_over_the_first_dimension"),
        },
    ),
    Student(
        "jana_nearly_right",
        Group.MISTAKEN,
        "a softmax that overflows (part of the points), and other slips",
        ("reference", "nearly_right"),
        expected={
            "attention.weights": wrong("large_scores_overflow", points=2.0),
            "attention.dot_product_variance": wrong("biased"),
            "attention.softmax_jacobian": wrong("zero_off_the_diagonal"),
        },
    ),
    Student(
        "kai_leaves_torch",
        Group.MISTAKEN,
        "numpy on the way: right values, but no gradients and the wrong types",
        ("reference", "leaves_torch"),
        expected={
            "attention.scale": wrong("root_cut_to_an_integer"),
            "attention.scaled_dot_product": wrong("no_gradients"),
            "attention.dot_product_variance": wrong(),
        },
    ),
    Student(
        "lea_mistakes_of_her_own",
        Group.MISTAKEN,
        "mistakes that have no name",
        ("reference", "mistakes_of_her_own"),
        expected={
            "attention.contextual_embedding": wrong(),
            "attention.scale": wrong(),
            "attention.scaled_dot_product": wrong(),
        },
    ),
    # Code that does not run as it should, in one cell.
    Student(
        "max_syntax_error",
        Group.BROKEN,
        "a bracket is missing",
        ("reference", "syntax_error"),
        expected={"attention.scaled_dot_product": no_points(Outcome.RAISED)},
    ),
    Student(
        "nils_raises_on_import",
        Group.BROKEN,
        "an answer cell imports a file that was not handed in",
        ("reference", "raises_on_import"),
        expected={"attention.weights": no_points(Outcome.RAISED)},
    ),
    Student(
        "ola_helper_in_demo_cell",
        Group.BROKEN,
        "two answers need what a cell with a figure defines: all right, that cell is run then",
        ("reference", "helper_in_demo_cell"),
    ),
    Student(
        "pia_endless_call",
        Group.BROKEN,
        "an answer that never returns",
        ("reference", "endless_call"),
        expected={"attention.weights": no_points(Outcome.TIMED_OUT)},
    ),
    Student(
        "quin_endless_cell",
        Group.BROKEN,
        "an answer cell that never ends",
        ("reference", "endless_cell"),
        expected={"attention.output": no_points(Outcome.TIMED_OUT)},
    ),
    Student(
        "rosa_exits",
        Group.BROKEN,
        "os._exit in an answer",
        ("reference", "exits"),
        expected={"attention.scores": no_points(Outcome.DIED)},
    ),
    Student("sam_prints_a_lot", Group.BROKEN, "prints a hundred megabytes", ("reference", "prints_a_lot")),
    Student(
        "tom_four_gigabytes",
        Group.BROKEN,
        "an answer that allocates 4 GB",
        ("reference", "four_gigabytes"),
        expected={"attention.softmax_jacobian": no_points(Outcome.OUT_OF_MEMORY)},
        level=Level.L2,
    ),
    # Wrong on purpose.
    Student(
        "uma_patched_checks",
        Group.HOSTILE,
        "returns zeros, and patches torch.allclose and everything in course_lib.checking",
        ("patched_checks",),
        otherwise=Outcome.WRONG,
    ),
    Student(
        "urs_patched_observer",
        Group.HOSTILE,
        "patches what reports, inside the box, how answers did",
        ("patched_observer",),
        otherwise=Outcome.WRONG,
    ),
    Student(
        "ute_input_hook",
        Group.HOSTILE,
        "turns every later cell into the number 100, her own answers with them",
        ("reference", "input_hook"),
        otherwise=Outcome.NEVER_DEFINED,
    ),
    Student(
        "vera_always_equal",
        Group.HOSTILE,
        "returns objects that are equal to everything",
        ("always_equal",),
        otherwise=Outcome.WRONG,
    ),
    Student(
        "wim_reference_hunter",
        Group.HOSTILE,
        "looks for the reference: imports, files, memory, callers, the network",
        ("reference_hunter",),
        otherwise=Outcome.RAISED,
        level=Level.L2,
    ),
    Student(
        "xaver_break_out",
        Group.HOSTILE,
        "tries to get out of the box",
        ("break_out",),
        expected={
            "attention.scaled_dot_product": no_points(Outcome.DIED),
            "attention.dot_product_variance": no_points(Outcome.DIED),
        },
        otherwise=Outcome.RAISED,
        level=Level.L2,
    ),
    Student(
        "xenia_one_call",
        Group.HOSTILE,
        "calls the functions of torch's that are to be written",
        ("reference", "one_call"),
        expected={
            "attention.weights": no_points(Outcome.RULE_BROKEN),
            "attention.scaled_dot_product": no_points(Outcome.RULE_BROKEN),
            "attention.softmax_jacobian": no_points(Outcome.RULE_BROKEN),
        },
    ),
    Student(
        "yara_forged_points",
        Group.HOSTILE,
        "every check claims 100 points, one is replaced by the number 100",
        (),
        edit=forge_points("attention.scores"),
        otherwise=Outcome.NOT_ATTEMPTED,
    ),
    # Right answers in notebooks that have been through something.
    Student("yuri_check_deleted", Group.MANGLED, "a check cell is gone", edit=delete_check("attention.weights")),
    Student(
        "zoe_copied_cell",
        Group.MANGLED,
        "an answer cell twice: a wrong draft, and the answer",
        ("reference", "draft_and_copy"),
    ),
    Student("zoe_stripped_metadata", Group.MANGLED, "no metadata and no ids of cells", edit=strip_metadata),
    Student("zora_byte_order_mark", Group.MANGLED, "a byte-order mark in front", write=write_with_byte_order_mark),
    Student(
        "zora_symbolic_link",
        Group.MANGLED,
        "a link to ada's notebook",
        write=write_link_to("ada_reference"),
        otherwise=Outcome.UNREADABLE,
    ),
    Student("zora_not_a_notebook", Group.MANGLED, "a picture", (), write=write_garbage, otherwise=Outcome.UNREADABLE),
)

MASKING = (
    # Right, in different styles.
    Student("ada_reference", Group.RIGHT, "the lesson's own formulas"),
    Student("bea_einsum", Group.RIGHT, "einsum wherever it goes", ("einsum",)),
    Student("carl_loops", Group.RIGHT, "loops over sentences, queries and keys", ("loops",)),
    Student("dina_batched_matmul", Group.RIGHT, "torch.bmm, and a helper of her own", ("batched_matmul",)),
    Student("emil_torch_functions", Group.RIGHT, "torch's functions, those that are allowed", ("torch_functions",)),
    # Not finished.
    Student(
        "fay_half_done",
        Group.UNFINISHED,
        "three of seven exercises",
        ("half_done",),
        expected={
            "masking.combined_mask": no_points(Outcome.NOT_ATTEMPTED),
            "masking.multiplicative_weights": no_points(Outcome.NOT_ATTEMPTED),
            "masking.masked_self_attention": no_points(Outcome.NOT_ATTEMPTED),
            "masking.attention_pooling": no_points(Outcome.NOT_ATTEMPTED),
        },
    ),
    Student("gus_untouched", Group.UNFINISHED, "the release as it was", (), otherwise=Outcome.NOT_ATTEMPTED),
    # Wrong.
    Student(
        "hana_slides_numbers",
        Group.MISTAKEN,
        "what the slides' printed numbers were made with",
        ("reference", "slides_numbers"),
        expected={
            "masking.masked_self_attention": wrong("unscaled_scores_masked"),
            "masking.attention_pooling": wrong("mean_pooling_with_padding"),
        },
    ),
    Student(
        "ivo_wrong_axis",
        Group.MISTAKEN,
        "rows and columns confused",
        ("reference", "wrong_axis"),
        expected={
            "masking.causal_mask": wrong("keys_as_rows"),
            "masking.padding_mask": wrong("batch_as_columns"),
            "masking.combined_mask": wrong("batch_in_the_middle"),
            "masking.masked_weights": wrong("softmax_over_queries"),
            "masking.multiplicative_weights": wrong("normalised_over_queries"),
            "masking.attention_pooling": wrong("softmax_over_the_batch"),
        },
    ),
    Student(
        "jana_nearly_right",
        Group.MISTAKEN,
        "NaN where nothing is allowed and for large scores (part of the points), and one word too many",
        ("reference", "nearly_right"),
        expected={
            "masking.padding_mask": wrong("one_too_many"),
            "masking.masked_weights": wrong("nan_where_nothing_is_allowed", points=3.0),
            "masking.multiplicative_weights": wrong("large_scores_overflow", points=2.0),
        },
    ),
    Student(
        "kai_leaves_torch",
        Group.MISTAKEN,
        "numpy on the way: right values, but no gradients and the wrong types",
        ("reference", "leaves_torch"),
        expected={
            "masking.causal_mask": wrong("zeros_and_ones"),
            "masking.masked_self_attention": wrong("no_gradients"),
            "masking.attention_pooling": wrong("query_detached"),
        },
    ),
    Student(
        "lea_mistakes_of_her_own",
        Group.MISTAKEN,
        "mistakes that have no name",
        ("reference", "mistakes_of_her_own"),
        expected={
            "masking.combined_mask": wrong(),
            "masking.masked_self_attention": wrong(),
            "masking.attention_pooling": wrong(),
        },
    ),
    # Code that does not run as it should, in one cell.
    Student(
        "max_syntax_error",
        Group.BROKEN,
        "a colon is missing",
        ("reference", "syntax_error"),
        expected={"masking.attention_pooling": no_points(Outcome.RAISED)},
    ),
    Student(
        "nils_raises_on_import",
        Group.BROKEN,
        "an answer cell raises in its first line",
        ("reference", "raises_on_import"),
        expected={"masking.combined_mask": no_points(Outcome.RAISED)},
    ),
    Student(
        "ola_helper_in_demo_cell",
        Group.BROKEN,
        "an answer calls what a cell with a figure defines: all right, that cell is run then",
        ("reference", "helper_in_demo_cell"),
    ),
    Student(
        "pia_endless_call",
        Group.BROKEN,
        "an answer that never returns",
        ("reference", "endless_call"),
        expected={"masking.padding_mask": no_points(Outcome.TIMED_OUT)},
    ),
    Student(
        "quin_endless_cell",
        Group.BROKEN,
        "an answer cell that sleeps for ever: what it had defined before goes with it",
        ("reference", "endless_cell"),
        expected={"masking.causal_mask": no_points(Outcome.TIMED_OUT)},
    ),
    Student(
        "rosa_exits",
        Group.BROKEN,
        "os._exit in an answer cell",
        ("reference", "exits"),
        expected={"masking.multiplicative_weights": no_points(Outcome.DIED)},
    ),
    Student("sam_prints_a_lot", Group.BROKEN, "prints a hundred megabytes", ("reference", "prints_a_lot")),
    Student(
        "tom_four_gigabytes",
        Group.BROKEN,
        "an answer cell that allocates 4 GB",
        ("reference", "four_gigabytes"),
        expected={"masking.causal_mask": no_points(Outcome.OUT_OF_MEMORY)},
        level=Level.L2,
    ),
    # Wrong on purpose.
    Student(
        "uma_patched_checks",
        Group.HOSTILE,
        "returns zeros, and patches torch.allclose and everything in course_lib.checking",
        ("patched_checks",),
        otherwise=Outcome.WRONG,
    ),
    Student(
        "urs_patched_observer",
        Group.HOSTILE,
        "patches what reports, inside the box, how answers did",
        ("patched_observer",),
        expected={"masking.attention_pooling": no_points(Outcome.DIED)},
        otherwise=Outcome.WRONG,
    ),
    Student(
        "ute_input_hook",
        Group.HOSTILE,
        "turns every later cell into the number 100, her own answers with them",
        ("reference", "input_hook"),
        otherwise=Outcome.NEVER_DEFINED,
    ),
    Student(
        "vera_always_equal",
        Group.HOSTILE,
        "returns objects that are equal to everything",
        ("always_equal",),
        otherwise=Outcome.WRONG,
    ),
    Student(
        "wim_reference_hunter",
        Group.HOSTILE,
        "looks for the reference: imports, files, memory, git",
        ("reference_hunter",),
        otherwise=Outcome.RAISED,
        level=Level.L2,
    ),
    Student(
        "xaver_break_out",
        Group.HOSTILE,
        "tries to get out of the box",
        ("break_out",),
        expected={
            "masking.masked_weights": no_points(Outcome.DIED),
            "masking.multiplicative_weights": no_points(Outcome.DIED),
        },
        otherwise=Outcome.RAISED,
        level=Level.L2,
    ),
    Student(
        "xenia_one_call",
        Group.HOSTILE,
        "calls the functions of torch's that are to be written",
        ("reference", "one_call"),
        expected={
            "masking.multiplicative_weights": no_points(Outcome.RULE_BROKEN),
            "masking.masked_self_attention": no_points(Outcome.RULE_BROKEN),
            "masking.attention_pooling": no_points(Outcome.RULE_BROKEN),
        },
    ),
    Student(
        "yara_forged_points",
        Group.HOSTILE,
        "every check claims 100 points, one is replaced by the number 100",
        (),
        edit=forge_points("masking.causal_mask"),
        otherwise=Outcome.NOT_ATTEMPTED,
    ),
    # Right answers in notebooks that have been through something.
    Student("yuri_check_deleted", Group.MANGLED, "a check cell is gone", edit=delete_check("masking.masked_weights")),
    Student(
        "zoe_copied_cell",
        Group.MANGLED,
        "an answer cell twice: a wrong draft, and the answer",
        ("reference", "draft_and_copy"),
    ),
    Student("zoe_stripped_metadata", Group.MANGLED, "no metadata and no ids of cells", edit=strip_metadata),
    Student("zora_byte_order_mark", Group.MANGLED, "a byte-order mark in front", write=write_with_byte_order_mark),
    Student(
        "zora_symbolic_link",
        Group.MANGLED,
        "a link to ada's notebook",
        write=write_link_to("ada_reference"),
        otherwise=Outcome.UNREADABLE,
    ),
    Student("zora_not_a_notebook", Group.MANGLED, "a picture", (), write=write_garbage, otherwise=Outcome.UNREADABLE),
)

STUDENTS = {"01_attention": ATTENTION, "02_masking": MASKING}
"""Everyone who hands in a lesson, by its folder name."""
