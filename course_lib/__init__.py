"""Katze's reference library: the transformer, one module a lesson.

Read it in lesson order, and start with `course_lib.attention`, which needs nothing above it.
Nothing is imported here, so that a lesson can withhold the modules its students are to write.
"""

__version__ = "0.1.0"
