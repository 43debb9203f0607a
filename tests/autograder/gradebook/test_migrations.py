"""Gradebooks of other versions: those of earlier ones are read as they are and brought up to date, others refused."""

import gzip
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from nbgrader.api import Gradebook
from sqlalchemy.exc import DBAPIError, OperationalError

from autograder.course.address import Address, url_of
from autograder.errors import BadInput
from autograder.gradebook import migrations, models, store
from autograder.gradebook.access import open_gradebook, read_only
from autograder.gradebook.copying import copy_to_file
from autograder.gradebook.record import Record
from tests.autograder.gradebook.earlier import bring_back, change
from tests.autograder.gradebook.toy_lesson import CHECK, LESSON, WRITTEN, answered, give, grade, make_gradebook, running
from tests.autograder.plain_rows import plain_rows

KEPT = Path(__file__).parents[2] / "from_0_1_0" / "course" / "gradebook.db.gz"
"""What version 0.1.0 itself has written."""


@pytest.fixture
def latest(address: Address) -> Address:
    """A gradebook with a graded submission, points by hand for its written answer, and for one of its checks."""
    with running(address) as run:
        run.record("zoe", answered(), answer="sha256:a")
    give(address, "zoe", manual_score=1.5)
    give(address, "zoe", CHECK, manual_score=2.0)
    return address


def everything(address: Address, folder: Path) -> dict[str, list[Any]]:
    """All rows; of a server as they would be in the latest version."""
    copy = folder / "everything.db"
    copy_to_file(address, copy)
    rows = plain_rows(copy)
    copy.unlink()
    return rows


def records(address: Address) -> dict[str, Record]:
    with read_only(address) as session:
        return store.records(session, LESSON)


def brought_up_to_date(address: Address) -> list[str]:
    with open_gradebook(address, LESSON) as book:
        return book.notices


def differences(address: Address) -> list[Any]:
    """In what our tables differ from the models."""
    with read_only(address) as session:
        ours = {"include_name": lambda name, kind, _: kind != "table" or name in models.Base.metadata.tables}
        found = MigrationContext.configure(session.connection(), opts=ours)
        return list(compare_metadata(found, models.Base.metadata))


# --- earlier ones


@pytest.mark.parametrize("version", [0, 5, 7])
def test_it_is_brought_up_to_date_and_that_is_told(latest: Address, version: int) -> None:
    whole = records(latest)
    bring_back(latest, version)
    known = records(latest)  # of a gradebook that has not been touched
    assert known == (whole if version else {})
    with open_gradebook(latest).looking() as session:
        assert session is not None
        assert migrations.version(session.connection()) == migrations.LATEST
        session.add(models.Frozen(lesson=LESSON, since="now"))
        with pytest.raises(DBAPIError, match=r"read.?only"):
            session.flush()
    [told] = brought_up_to_date(latest)
    named, kept = latest, "no copy was made: `pg_dump` makes one"
    if isinstance(latest, Path):
        named, kept = Path(latest.name), f"a copy of the old one is in {latest.name}.before-{migrations.LATEST}"
    done = f"was brought from version {version} of Katze's tables to version {migrations.LATEST}"
    nothing = f"was nbgrader's own and now has version {migrations.LATEST} of Katze's tables"
    assert told == f"the gradebook {named} {done if version else nothing}; {kept}"
    assert (records(latest), differences(latest)) == (known, [])
    with Gradebook(url_of(latest)) as book:
        assert book.find_submission(LESSON, "zoe").score == 3.5
    assert brought_up_to_date(latest) == []


@pytest.mark.parametrize(("version", "is_known"), [(0, False), (5, True), (7, True)])
def test_points_by_hand_wait_where_the_text_that_they_were_for_is_known(
    latest: Address, version: int, is_known: bool
) -> None:
    bring_back(latest, version)
    with running(latest) as run:
        run.record("zoe", answered("Something else."), answer="sha256:c")
    with read_only(latest) as session:
        cells = store.by_hand(session, LESSON)["zoe"]
    assert {one.cell for one in cells if one.is_changed} == ({WRITTEN, CHECK} if is_known else set())
    assert {one.cell: one.points for one in cells} == {CHECK: 2.0, WRITTEN: 1.5}


def test_what_version_0_1_0_wrote_has_the_same_tables(tmp_path: Path) -> None:
    path = tmp_path / "gradebook.db"
    path.write_bytes(gzip.decompress(KEPT.read_bytes()))
    before = everything(path, tmp_path)
    [told] = brought_up_to_date(path)
    assert "was brought from version 5" in told
    after = everything(path, tmp_path)
    new = {"katze_version", "katze_schema", "katze_answer", "katze_exercise"}
    assert before.keys() ^ after.keys() == {"katze_version", "katze_schema"}
    assert {name: rows for name, rows in after.items() if before.get(name) != rows}.keys() <= new
    assert differences(path) == []


def test_a_step_that_fails_leaves_it_as_it_was(
    latest: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring_back(latest, 5)
    before = everything(latest, tmp_path)
    migrate = migrations.migrate

    def fail(connection: Any) -> None:
        migrate(connection)
        raise OperationalError("x", {}, Exception("the disk is full"))

    with monkeypatch.context() as patch:
        patch.setattr(migrations, "migrate", fail)
        with pytest.raises(BadInput, match="the disk is full"), open_gradebook(latest, LESSON):
            pass
    assert everything(latest, tmp_path) == before
    assert len(brought_up_to_date(latest)) == 1


def test_an_earlier_copy_is_not_overwritten_and_without_one_nothing_is_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, first = tmp_path / "gradebook.db", tmp_path / f"gradebook.db.before-{migrations.LATEST}"
    grade(path, LESSON, ["zoe"])
    assert (brought_up_to_date(path), differences(path)) == ([], [])
    bring_back(path, 5)
    path.chmod(0o600)
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr("autograder.gradebook.file.os.replace", full)
        with pytest.raises(BadInput, match="cannot copy the gradebook .* before it is changed: .*No space") as refused:
            brought_up_to_date(path)
    assert "\n" not in str(refused.value)
    assert (path.read_bytes(), list(tmp_path.glob("*.copy"))) == (before, [])
    rows = everything(path, tmp_path)
    first.write_text("somebody's")
    [told] = brought_up_to_date(path)
    copy = first.with_name(f"{first.name}.2")
    assert told.endswith(f"is in {copy.name}")
    assert (first.read_text(), everything(copy, tmp_path)) == ("somebody's", rows)
    assert copy.stat().st_mode & 0o777 == 0o600


def full(source: object, target: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.usefixtures("processes")
def test_nbgrader_can_upgrade_a_gradebook_with_our_tables(tmp_path: Path) -> None:
    path = tmp_path / "gradebook.db"
    grade(path, LESSON, ["zoe"])
    before = everything(path, tmp_path)
    nbgrader = Path(sys.executable).with_name("nbgrader")
    environment = {"PATH": f"{nbgrader.parent}:/usr/bin:/bin", "HOME": str(tmp_path)}
    subprocess.run([nbgrader, "db", "upgrade"], cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert everything(path, tmp_path) == before
    assert brought_up_to_date(path) == []


# --- others


@pytest.mark.parametrize(
    ("statement", "match"),
    [
        ("UPDATE alembic_version SET version_num = '724cde206c17'", "older nbgrader.*nbgrader db upgrade"),
        ("UPDATE alembic_version SET version_num = 'ffffffffffff'", "newer nbgrader"),
        ("DELETE FROM alembic_version", "not a complete gradebook"),
        ("DROP TABLE alembic_version", "not a complete gradebook"),
        ("UPDATE katze_version SET version_num = '99'", "newer Katze .version 99.*update Katze"),
        ("UPDATE katze_version SET version_num = 'x'", "newer Katze"),
        ("UPDATE katze_version SET version_num = '6'", "never released .version 6 of its tables.; grade with that"),
        ("DELETE FROM katze_version; CREATE TABLE katze_schema AS SELECT 3 AS version", "never released .version 3"),
    ],
)
def test_a_gradebook_of_another_version_is_refused(address: Address, statement: str, match: str) -> None:
    make_gradebook(address)
    change(address, *statement.split("; "))
    uses: list[Callable[[], Any]] = [lambda: open_gradebook(address).check(), open_gradebook(address, LESSON).__enter__]
    if "katze_" in statement:  # nbgrader's own tables are read whatever their version
        uses.append(read_only(address).__enter__)
    for use in uses:
        with pytest.raises(BadInput, match=match) as raised:
            use()
        assert "\n" not in str(raised.value)
