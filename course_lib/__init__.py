"""Katze's library: the transformer, from its one equation to trained, published and measured models.

`course_lib/README.md` says what stands where. Read it in the order of the lessons, and start with
`course_lib.attention`, which needs nothing above it.
Nothing is imported here, so that a lesson can withhold the modules its students are to write.
"""

__version__ = "0.1.0"
