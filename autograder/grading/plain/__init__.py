"""Plain nbgrader courses, as they are: assignments of notebooks with test cells, graded in boxes.

Read `strategy.py` first. The tests run beside the student's code inside the box: so they keep the machine and the other
students safe, and not the points.
"""
