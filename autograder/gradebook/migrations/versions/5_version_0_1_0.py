"""The tables of version 0.1.0. Newer ones are made from the models, so that nothing has to be made here."""

revision = "5"
down_revision = None


def upgrade() -> None:
    """There is nothing earlier."""
