"""The learner's side: progress, kept answers, failing cases, hints, solutions.

A notebook imports these functions from the same place as `check`:

    from course_lib.checking import case, check, hint, progress, solution
"""
