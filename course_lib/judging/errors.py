"""Errors in exercises, as opposed to answers."""


class UnusableExercises(ValueError):
    """A course's exercises cannot be used; the message is a sentence for their author."""
