"""Grades on a cluster of Dask workers; only the client writes the files and the gradebook.

Read it in this order. The bytes that cross: `messages.py`. Admission of workers: `examining.py`. The worker's side:
`worker.py`, and for a lesson `lesson_on_worker.py`. The client's side: `connecting.py`, `pool.py`, `backend.py`.
"""
