"""nbgrader's gradebook, and our records next to its tables.

`writer.py` is what the grader uses: the one writer. `lesson.py` and `grades.py` write rows of the tables that
`tables.py` names. `file.py` holds the gradebook's file: its lock, its checks, its one engine. `schema.py` makes our
tables and brings those of earlier versions up to date. `record.py` says what a record is; `store.py` writes records
and reads them.
"""
