"""What was graded, how, and why: Katze's own tables beside nbgrader's in the gradebook.

`file.py` holds the gradebook's file: its lock, its checks, its one engine. `schema.py` makes our tables and brings
those of earlier versions up to date. `record.py` says what a record is; `store.py` writes records and reads them.
"""

from autograder.records.file import GradebookFile
from autograder.records.record import (
    CaseRecord,
    Change,
    Conditions,
    ExerciseRecord,
    HandGrade,
    Record,
    RunRecord,
    Standing,
    WrittenPage,
)

__all__ = [
    "CaseRecord",
    "Change",
    "Conditions",
    "ExerciseRecord",
    "GradebookFile",
    "HandGrade",
    "Record",
    "RunRecord",
    "Standing",
    "WrittenPage",
]
