"""How fast a class is graded, next to nbgrader and Otter: `python -m benchmarks.grading --help`."""
