"""Judging an answer: from cases to observations, and to a verdict that names the mistake.

Read `exercise.py` (what makes up a task), `observation.py` (one call, as plain data; numpy's arrays: `arrays.py`),
`compare.py` (the first difference), `answer_key.py` (what is expected), `diagnosis.py` (the name of the mistake),
`judge.py` (the decision), `verdict.py` and `render.py` (what is shown), in that order.
"""
