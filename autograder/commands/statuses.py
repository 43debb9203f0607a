"""The exit statuses of `katze`."""

DONE = 0
FAILED = 1
"""The grader or a check failed, or a student could not be graded because of a folder's name."""

MISUSED = 2
"""Wrong usage, or bad input."""
