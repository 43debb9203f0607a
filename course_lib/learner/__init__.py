"""The learner's side: progress, kept answers, failing cases, hints, solutions.

A notebook imports its functions from where `check` is:

    from course_lib.checking import case, check, hint, progress, solution
"""
