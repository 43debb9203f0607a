"""Adds which text points were given for, digests of answers, and what in them is worth a look."""

from alembic import op
from sqlalchemy import Column, String, Text

revision = "7"
down_revision = "5"


def upgrade() -> None:
    """Add the columns; our own records already have the digests of answers to checks."""
    is_server = op.get_bind().dialect.name == "postgresql"
    exact = 'COLLATE "C"' if is_server else "COLLATE BINARY"
    op.add_column("katze_answer", Column("given_for", String(128), nullable=False, server_default=""))
    op.execute(f"""
        INSERT INTO katze_answer (grade_id, checksum)
        SELECT grade.id, katze_exercise.answer FROM katze_exercise
        JOIN katze_submission ON katze_submission.id = katze_exercise.submission
        JOIN assignment ON assignment.name = katze_submission.lesson {exact}
        JOIN submitted_assignment
            ON submitted_assignment.assignment_id = assignment.id
            AND submitted_assignment.student_id = katze_submission.student {exact}
        JOIN submitted_notebook ON submitted_notebook.assignment_id = submitted_assignment.id
        JOIN notebook ON notebook.id = submitted_notebook.notebook_id AND notebook.name = assignment.name
        JOIN grade ON grade.notebook_id = submitted_notebook.id
        JOIN base_cell ON base_cell.id = grade.cell_id AND base_cell.name = katze_exercise.cell {exact}
        WHERE katze_exercise.answer != '' AND grade.id NOT IN (SELECT grade_id FROM katze_answer)
    """)
    text = Text(collation="C") if is_server else Text()
    op.add_column("katze_exercise", Column("worth_a_look", text, nullable=False, server_default=""))
