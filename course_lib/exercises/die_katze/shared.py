"""What the exercises of lesson 11 share."""

LESSON = "11_die_katze"

WITHHELD = ("course_lib.references.die_katze",)
