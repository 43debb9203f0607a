"""Gradescope: builds the archive for its autograder, and runs there for each submission."""
