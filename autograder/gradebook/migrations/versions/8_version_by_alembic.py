"""Moves the version of our tables into alembic's version table."""

from alembic import op

revision = "8"
down_revision = "7"


def upgrade() -> None:
    """Drop the old table; alembic has already made the new one."""
    op.drop_table("katze_schema")
