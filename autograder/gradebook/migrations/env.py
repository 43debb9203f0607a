"""Runs the migrations for alembic, through the connection in its configuration."""

from alembic import context

from autograder.gradebook.migrations import VERSION_TABLE

context.configure(connection=context.config.attributes["connection"], version_table=VERSION_TABLE)
with context.begin_transaction():
    context.run_migrations()
