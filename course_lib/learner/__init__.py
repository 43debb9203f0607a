"""What a learner has done so far, and what helps to go on: progress, kept answers, cases, hints, solutions.

A notebook imports its functions from where `check` is:

    from course_lib.checking import case, check, hint, progress, solution
"""
