"""Grading on a cluster of Dask's workers, from one client that alone writes files and gradebook.

Read it in this order. What crosses: `messages.py`, as bytes. Who may take part: `examining.py`. What a worker keeps
warm and does: `worker.py`, and for a lesson `lesson_on_worker.py`. The client's side: `connecting.py`, `pool.py`, and
for a lesson `backend.py`.
"""
