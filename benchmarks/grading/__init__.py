"""Measures how fast a class is graded, compared with nbgrader: `python -m benchmarks.grading --help`."""
