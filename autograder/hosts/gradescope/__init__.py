"""Gradescope: the archive that its autograder is made of, and what runs there for each submission."""
