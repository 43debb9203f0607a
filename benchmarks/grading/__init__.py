"""How fast a class is graded, beside nbgrader and Otter: `python -m benchmarks.grading --help`."""
