"""Plain nbgrader courses, as they are: assignments of notebooks with test cells, graded in sandboxes.

Read `strategy.py` first. The tests run beside the student's code inside the sandbox: so they keep the machine and the
other students safe, and not the points.
"""
