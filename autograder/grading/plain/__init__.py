"""Grades plain nbgrader courses unchanged: assignments of notebooks with test cells, in sandboxes.

Read `strategy.py` first. The tests run next to the student's code inside the sandbox. That protects the machine and the
other students, but not the points.
"""
