"""Lists the students of the bundled class, makes their submissions from a release, and knows their expected results.

The same students submit every lesson, and treat it in the same way. `CLASS` describes them and what they do;
`EXPECTED`, by lesson folder, contains what depends on a lesson's exercises.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat

from autograder.box.confinement.levels import Level
from autograder.demo.student import (
    Expected,
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
from autograder.gradebook.results import ClassResult
from course_lib import exercises
from course_lib.judging.observation import Outcome


def _but(name: str, group: Group, **more: Any) -> Student:
    """Return a student with the reference's answers, except for those in the file that the name ends with."""
    return Student(name, group, ("reference", name.partition("_")[2]), **more)


CLASS = (
    # --- Right, in different styles
    Student("ada_reference", Group.RIGHT),  # the lesson's own formulas
    Student("bea_einsum", Group.RIGHT, ("einsum",)),  # einsum wherever it goes
    Student("carl_loops", Group.RIGHT, ("loops",)),  # loops, number by number
    Student("dina_batched_matmul", Group.RIGHT, ("batched_matmul",)),  # torch.bmm, and a helper of her own
    Student("emil_torch_functions", Group.RIGHT, ("torch_functions",)),  # torch's functions, those that are allowed
    # --- Not finished
    Student("fay_half_done", Group.UNFINISHED, ("half_done",)),  # about half of the exercises
    Student("gus_untouched", Group.UNFINISHED, ()),  # the release as it was
    # --- Wrong
    _but("hana_slides_numbers", Group.MISTAKEN),  # what the slides' printed numbers were made with
    _but("ivo_wrong_axis", Group.MISTAKEN),  # rows and columns confused
    _but("jana_nearly_right", Group.MISTAKEN),  # right but for rare inputs (part of the points), and other slips
    _but("kai_leaves_torch", Group.MISTAKEN),  # numpy on the way: right values, but no gradients and the wrong types
    _but("lea_mistakes_of_her_own", Group.MISTAKEN),  # mistakes that have no name
    # --- Code in one cell that fails to run properly
    _but("max_syntax_error", Group.BROKEN),  # a bracket or a colon is missing
    # An answer cell raises in its first line, such as an import of a name that is not there:
    _but("nils_raises_on_import", Group.BROKEN),
    # An answer needs what a cell with a figure defines: right, because that cell is then run:
    _but("ola_helper_in_demo_cell", Group.BROKEN),
    _but("pia_endless_call", Group.BROKEN),  # an answer that never returns
    _but("quin_endless_cell", Group.BROKEN),  # an answer cell that never ends
    _but("rosa_exits", Group.BROKEN),  # os._exit in an answer cell
    _but("sam_prints_a_lot", Group.BROKEN),  # prints a hundred megabytes
    # An answer cell, or a call of its answer, that allocates 4 GB:
    _but("tom_four_gigabytes", Group.BROKEN, level=Level.L2),
    # --- Wrong on purpose
    # Returns zeros, and patches torch.allclose and everything in course_lib.checking:
    Student("uma_patched_checks", Group.HOSTILE, ("patched_checks",), otherwise=Outcome.WRONG),
    # Patches the code in the sandbox that reports how answers did:
    Student("urs_patched_observer", Group.HOSTILE, ("patched_observer",)),
    # Turns every later cell into the number 100, her own answers with them:
    _but("ute_input_hook", Group.HOSTILE, otherwise=Outcome.NEVER_DEFINED, unanswered=Outcome.NEVER_DEFINED),
    # Returns objects that are equal to everything:
    Student("vera_always_equal", Group.HOSTILE, ("always_equal",), otherwise=Outcome.WRONG),
    # Looks for the reference: imports, files, memory, git, callers, the network:
    Student("wim_reference_hunter", Group.HOSTILE, ("reference_hunter",), otherwise=Outcome.RAISED, level=Level.L2),
    # Tries to get out of the sandbox:
    Student("xaver_break_out", Group.HOSTILE, ("break_out",), otherwise=Outcome.RAISED, level=Level.L2),
    _but("xenia_one_call", Group.HOSTILE),  # calls the functions of torch's that are to be written
    # Every check claims 100 points, one is replaced by the number 100:
    Student("yara_forged_points", Group.HOSTILE, (), edit=forge_points),
    # --- Right answers in damaged notebooks
    Student("yuri_check_deleted", Group.MANGLED, edit=delete_check),  # a check cell is gone
    # An answer cell twice: a wrong draft, and the answer:
    Student("zoe_copied_cell", Group.MANGLED, ("reference", "draft_and_copy")),
    Student("zoe_stripped_metadata", Group.MANGLED, edit=strip_metadata),  # no metadata and no ids of cells
    Student("zora_byte_order_mark", Group.MANGLED, write=write_with_byte_order_mark),  # a byte-order mark in front
    # A link to ada's notebook:
    Student("zora_symbolic_link", Group.MANGLED, write=write_link_to("ada_reference"), otherwise=Outcome.UNREADABLE),
    Student("zora_not_a_notebook", Group.MANGLED, (), write=write_garbage, otherwise=Outcome.UNREADABLE),  # a picture
)
"""All students, without anything that depends on a lesson."""

EXPECTED: Mapping[str, Mapping[str, Mapping[str, Expected]]] = {
    "01_attention": {
        "fay_half_done": {"attention.weights": no_points(Outcome.NOT_ATTEMPTED)},  # only a note
        "hana_slides_numbers": {
            "attention.scores": wrong("keys_as_rows"),
            "attention.scale": wrong("divided_by_number_of_keys"),
            "attention.scaled_dot_product": wrong("unscaled_softmax"),
        },
        "ivo_wrong_axis": {
            "attention.contextual_embedding": wrong("normalised_over_the_wrong_words"),
            "attention.scores": wrong("keys_as_rows"),
            "attention.weights": wrong("normalised_over_queries"),
            "attention.scaled_dot_product": wrong("softmax_over_the_second_dimension"),
            "attention.dot_product_variance": wrong("summed_over_samples"),
            "attention.softmax_jacobian": wrong("softmax_over_the_first_dimension"),
        },
        "jana_nearly_right": {
            "attention.weights": wrong("large_scores_overflow", points=2.0),
            "attention.dot_product_variance": wrong("biased"),
            "attention.softmax_jacobian": wrong("zero_off_the_diagonal"),
        },
        "kai_leaves_torch": {
            "attention.scale": wrong("root_cut_to_an_integer"),
            "attention.scaled_dot_product": wrong("no_gradients"),
            "attention.dot_product_variance": wrong(),
        },
        "lea_mistakes_of_her_own": {
            "attention.contextual_embedding": wrong(),
            "attention.scale": wrong(),
            "attention.scaled_dot_product": wrong(),
        },
        "max_syntax_error": {"attention.scaled_dot_product": no_points(Outcome.RAISED)},
        "nils_raises_on_import": {"attention.weights": no_points(Outcome.RAISED)},
        "pia_endless_call": {"attention.weights": no_points(Outcome.TIMED_OUT)},
        "quin_endless_cell": {"attention.gradients": no_points(Outcome.TIMED_OUT)},
        "rosa_exits": {"attention.scores": no_points(Outcome.DIED)},
        "tom_four_gigabytes": {"attention.softmax_jacobian": no_points(Outcome.OUT_OF_MEMORY)},
        "xaver_break_out": {
            "attention.scaled_dot_product": no_points(Outcome.DIED),
            "attention.dot_product_variance": no_points(Outcome.DIED),
        },
        "xenia_one_call": {
            "attention.weights": no_points(Outcome.RULE_BROKEN),
            "attention.scaled_dot_product": no_points(Outcome.RULE_BROKEN),
            "attention.softmax_jacobian": no_points(Outcome.RULE_BROKEN),
        },
    },
    "02_masking": {
        "fay_half_done": {"masking.leak_test": no_points(Outcome.NOT_ATTEMPTED)},  # begun, not finished
        "hana_slides_numbers": {
            "masking.masked_self_attention": wrong("unscaled_scores_masked"),
            "masking.attention_pooling": wrong("mean_pooling_with_padding"),
        },
        "ivo_wrong_axis": {
            "masking.causal_mask": wrong("keys_as_rows"),
            "masking.padding_mask": wrong("batch_as_columns"),
            "masking.packed_mask": wrong("counted_over_the_batch"),
            "masking.masked_weights": wrong("softmax_over_queries"),
            "masking.leak_test": wrong("transposed"),
            "masking.attention_pooling": wrong("softmax_over_the_batch"),
        },
        "jana_nearly_right": {
            "masking.padding_mask": wrong("one_too_many"),
            "masking.masked_weights": wrong("nan_where_nothing_is_allowed", points=3.0),
            "masking.leak_test": wrong("scaled"),
        },
        "kai_leaves_torch": {
            "masking.causal_mask": wrong("zeros_and_ones"),
            "masking.masked_self_attention": wrong("no_gradients"),
            "masking.attention_pooling": wrong("query_detached"),
        },
        "lea_mistakes_of_her_own": {
            "masking.packed_mask": wrong(),
            "masking.masked_self_attention": wrong(),
            "masking.attention_pooling": wrong(),
        },
        "max_syntax_error": {"masking.attention_pooling": no_points(Outcome.RAISED)},
        "nils_raises_on_import": {"masking.packed_mask": no_points(Outcome.RAISED)},
        "pia_endless_call": {"masking.padding_mask": no_points(Outcome.TIMED_OUT)},
        "quin_endless_cell": {"masking.causal_mask": no_points(Outcome.TIMED_OUT)},  # what it had defined is lost
        "rosa_exits": {"masking.leak_test": no_points(Outcome.DIED)},
        "tom_four_gigabytes": {"masking.causal_mask": no_points(Outcome.OUT_OF_MEMORY)},
        "vera_always_equal": {"masking.masked_weights": wrong("zero_times_infinity")},  # she returns NaN everywhere
        "xaver_break_out": {
            "masking.masked_weights": no_points(Outcome.DIED),
            "masking.leak_test": no_points(Outcome.DIED),
        },
        "xenia_one_call": {
            "masking.masked_weights": no_points(Outcome.RULE_BROKEN),
            "masking.masked_self_attention": no_points(Outcome.RULE_BROKEN),
            "masking.attention_pooling": no_points(Outcome.RULE_BROKEN),
        },
    },
}
"""By lesson and student, the exercises whose results differ from the student's `otherwise` and `unanswered`."""


STUDENTS = {
    lesson: tuple(replace(student, expected=expected.get(student.name, {})) for student in CLASS)
    for lesson, expected in EXPECTED.items()
}
"""The students who submit a lesson, by its folder name."""


def students(lesson: str, level: Level = Level.L2) -> list[Student]:
    """Return the students who submit a lesson.

    Args:
        lesson: its folder name.
        level: the level of the sandboxes to use; students whose code must not run in them are left out.
    """
    return [student for student in STUDENTS[lesson] if student.level <= level]


def make_class(release: Path, lesson: str, submitted: Path, level: Level = Level.L2) -> None:
    """Write all submissions of the class.

    Args:
        release: the released notebook.
        lesson: its folder name.
        submitted: the course's folder of submissions, which must not contain any `<student>/<lesson>/` yet.
        level: the level of the sandboxes to use.
    """
    notebook = nbformat.read(release, as_version=4)
    for student in students(lesson, level):
        folder = submitted / student.name / lesson
        folder.mkdir(parents=True)
        student.hand_in(notebook, lesson, folder / f"{lesson}.ipynb")


def expected(lesson: str, level: Level = Level.L2) -> dict[str, dict[str, Expected]]:
    """Return the expected result of every exercise of every student."""
    wanted = exercises.of_lesson(lesson)
    return {
        student.name: {exercise.id: student.expects(exercise) for exercise in wanted}
        for student in students(lesson, level)
    }


def surprises(graded: ClassResult, level: Level = Level.L2) -> dict[str, list[str]]:
    """Return each student's deviations from the expected results; empty if there are none."""
    wanted = expected(graded.lesson, level)
    came = {
        record.student: {one.exercise: Expected(one.outcome, one.points, one.misconception) for one in record.exercises}
        for record in graded.submissions
    }
    found = {}
    for student in sorted(wanted.keys() | came.keys()):
        if student not in came:
            found[student] = ["was not graded"]
        elif student not in wanted:
            found[student] = ["is not in the class"]
        elif came[student] != wanted[student]:
            pairs = {one: (wanted[student].get(one), came[student].get(one)) for one in wanted[student] | came[student]}
            found[student] = [
                f"{exercise}: expected {_shown(was)}, got {_shown(got)}"
                for exercise, (was, got) in pairs.items()
                if was != got
            ]
    return found


def _shown(entry: Expected | None) -> str:
    if entry is None:
        return "nothing"
    points = "no score" if entry.points is None else f"{entry.points:g} points"
    return ", ".join(filter(None, [entry.outcome, points, entry.misconception]))
