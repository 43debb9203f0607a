"""Katze's library: the transformer, from its one equation to trained, published and measured models.

`course_lib/README.md` says where things are. Read it in the order of the lessons, and start with
`course_lib.attention`.
Nothing of it is imported here, so that a lesson can withhold the modules its students are to write.
"""

from course_lib.ground.moved import forward

__version__ = "0.1.0"

forward(
    {
        f"course_lib.{old}": f"course_lib.{new}"
        for old, new in {
            "continuation": "decoding.continuation",
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
