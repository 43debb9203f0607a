"""Moves the version of our tables into a table of alembic's."""

from alembic import op

revision = "8"
down_revision = "7"


def upgrade() -> None:
    """The new table is there already."""
    op.drop_table("katze_schema")
