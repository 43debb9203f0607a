"""What alembic runs: the migrations, through the connection that has been put into its configuration."""

from alembic import context

from autograder.gradebook.migrations import VERSION_TABLE

context.configure(connection=context.config.attributes["connection"], version_table=VERSION_TABLE)
with context.begin_transaction():
    context.run_migrations()
