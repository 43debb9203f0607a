"""nbgrader's gradebook, and our records next to its tables.

`writer.py` is what the grader uses: the one writer. `models.py` has the tables, nbgrader's and ours; `lesson.py` and
`scores.py` write nbgrader's. `access.py` opens a gradebook, in a file (`file.py`) or on a server (`server.py`), and
`migrations/` brings the tables of earlier versions up to date. `record.py` says what a record is; `store.py` writes
records and reads them.
"""
