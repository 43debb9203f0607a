"""Deadlines: how late a submission is, what that costs, and what nbgrader is told of it."""
