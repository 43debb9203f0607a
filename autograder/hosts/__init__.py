"""Services that start the grader themselves, in their own containers."""
