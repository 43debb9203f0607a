"""Helpers for several exercises of lesson 11."""

LESSON = "11_die_katze"

WITHHELD = ("course_lib.references.die_katze",)
