"""Copy the gradebook into a PostgreSQL database, or back into a file."""

import argparse

from autograder.commands.shared import course_of, tell

EXAMPLE = "katze copy-gradebook postgresql+psycopg://db.example.org/nlp"
PAGE = "docs/postgres.md#in-the-middle-of-a-semester"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "address",
        metavar="ADDRESS",
        help="sqlite:///FILE or postgresql+psycopg://USER@HOST/DATABASE: a file that is not there yet, or an empty "
        "database",
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be copied, and write nothing")


def run(options: argparse.Namespace) -> None:
    from autograder.course.address import address_from, without_password
    from autograder.gradebook.copying import copy_gradebook
    from autograder.words import count, some

    course = course_of(options)
    target = address_from(course.root, options.address, "ADDRESS")
    copied = copy_gradebook(course.gradebook, target, dry_run=options.dry_run)
    db_url = without_password(options.address)
    rows, tables = sum(copied.rows.values()), len(copied.rows)
    did = "would be copied" if options.dry_run else "copied and compared"
    lines = [f"{rows:,} rows of {tables} tables {did}, from {course.gradebook} to {target}"]
    if copied.left:
        lines.append(f"not copied, because neither nbgrader nor Katze made it: {some(copied.left)}")
    if copied.changed:
        texts = count(copied.changed, "text")
        lines.append(f"PostgreSQL keeps no NUL characters; \N{REPLACEMENT CHARACTER} is in their place: in {texts}")
    if not options.dry_run:
        hidden = " (*** is the password)" if db_url != options.address else ""
        lines.append(f'now set in nbgrader_config.py: c.CourseDirectory.db_url = "{db_url}"{hidden}')
    record = {
        "from": str(course.gradebook),
        "to": str(target),
        "db_url": db_url,
        "copied": not options.dry_run,
        "rows": dict(copied.rows),
        "left": list(copied.left),
        "changed_texts": copied.changed,
    }
    tell(options, record, lines)
