"""`katze demo`: a transformer that learns to translate, and a class of submissions graded in boxes."""

from autograder.demo.run import run_demo

__all__ = ["run_demo"]
