"""Katze's library: the transformer, from its one equation to trained, published and measured models.

`course_lib/README.md` says where things are. Read it in the order of the lessons, and start with
`course_lib.attention`.
Nothing of it is imported here, so that a lesson can withhold the modules its students are to write.
"""

import re

from course_lib.ground.moved import forward

__version__ = "0.2.0"


class TooOld(ImportError):
    """The library is older than the notebook that uses it."""

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows: the sentence alone."""
        return [str(self)]


def require_version(version: str) -> None:
    """Refuse a notebook that is newer than this library; its first cell asks.

    Args:
        version: of the library that the notebook was released with.

    Raises:
        TooOld: that is a later one.
    """
    if _numbers(version) > _numbers(__version__):
        raise TooOld(
            f"This notebook needs katze {version}, and {__version__} is installed here. Update it as you installed it "
            "(in a clone: git pull, then make setup), restart the kernel, and run this cell again."
        )


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


forward(
    {
        f"course_lib.{old}": f"course_lib.{new}"
        for old, new in {
            "checking.arrays": "judging.arrays",
            "checking.exercise": "judging.exercise",
            "continuation": "decoding.state",
            "data": "text.batches",
            "fast_subwords": "text.fast_subwords",
            "grammar": "toys.grammar",
            "hub": "published.hub",
            "lexicon": "toys.lexicon",
            "losses": "objectives.losses",
            "metrics": "evaluation.metrics",
            "optional": "ground.optional",
            "precision": "training.precision",
            "schedules": "training.schedules",
            "similarity": "evaluation.similarity",
            "small_world": "toys.small_world",
            "tables": "ground.tables",
            "timing": "ground.timing",
            "tokenization": "text.tokenization",
        }.items()
    }
)
