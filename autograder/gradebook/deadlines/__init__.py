"""Deadlines: how late a submission is, what that costs, and what nbgrader's tables say about it."""
