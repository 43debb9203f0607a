"""A gradebook in PostgreSQL: each run another lesson, all of them in one database; refused where it cannot be used.

What a file and a server have in common is tested in `test_access.py`, `test_migrations.py` and `test_store.py`.
"""

import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError

from autograder.course.address import Server, address_from, url_of
from autograder.course.course import Course
from autograder.errors import BadInput
from autograder.gradebook import server, store
from autograder.gradebook.access import open_gradebook
from autograder.gradebook.changes.adjustments import Adjustment
from autograder.gradebook.changes.frozen import freeze, thaw
from autograder.gradebook.copying import copy_to_file
from autograder.gradebook.models import Frozen
from autograder.gradebook.record import SET_ASIDE
from autograder.gradebook.session import GradebookSession
from tests import postgres
from tests.autograder.gradebook.toy_lesson import (
    LESSON,
    WRITTEN,
    answered,
    give,
    grade,
    make_gradebook,
    release,
    running,
)
from tests.autograder.plain_rows import plain_rows
from tests.autograder.small_gradebook import bring_up_to_date, make_course
from tests.postgres import PASSWORD, TEAM, Cluster

NEXT = "02_toy"
STUDENTS = [f"student_{number}" for number in range(12)]


@pytest.fixture
def ada(cluster: Cluster, database: str) -> Server:
    """The gradebook as its first instructor has it."""
    return cluster.server(database, "ada")


@pytest.fixture
def ben(cluster: Cluster, database: str) -> Server:
    """The same gradebook as another has it."""
    return cluster.server(database, "ben")


# --- the same as in a file


def test_lists_are_in_the_order_of_a_file(ada: Server, tmp_path: Path) -> None:
    names = ["b", "B", "a_1", "A", "a1", "é", "a-1", "_"]
    found = []
    for address in (ada, tmp_path / "gradebook.db"):
        grade(address, LESSON, names)
        with open_gradebook(address, LESSON) as book, book.begin() as session:
            session.add_all(Frozen(lesson=name, since="") for name in names)
            frozen = list(store.read_frozen(session))
            found.append((list(store.records(session, LESSON)), list(store.by_hand(session, LESSON)), frozen))
    assert found[0] == found[1]


def use(book: GradebookSession) -> None:
    """One transaction."""
    with book.begin() as session:
        session.execute(select(1))


def play_a_semester(course: Course) -> Iterator[str]:
    """All that changes a grade that is there; gives the name of each step when it is done."""
    address = course.gradebook
    grade(address, LESSON, ["zoe", "gus", "mia"])
    yield "graded"
    give(address, "zoe", manual_score=1.5, comment="Good.")
    give(address, "gus", manual_score=0.0)
    yield "read"
    with running(address) as run:
        for step, worth in (("worth more", 8.0), ("gone", None), ("back", 2.0)):
            run.writer.ensure_assignment(release(why=worth))
            yield step
        for adjustment in (Adjustment(drop=True), Adjustment(full_credit=True), Adjustment()):
            adjustments = {"toy.double": adjustment, "toy.zero": Adjustment(accept=("abc",))}
            run.writer.ensure_assignment(release(), adjustments)
            run.writer.apply_adjustments(run.number)
            yield adjustment.in_words()
        run.writer.set_aside(run.number, ["mia"], SET_ASIDE)
        yield "set aside"
    for due in ("2026-11-18T18:00:00+01:00", ""):
        own = f"due = {due}\nextensions = {{ gus = 2026-11-19T18:00:00+01:00 }}\n" if due else ""
        (course.root / "course.toml").write_text(f'[late]\npolicy = "linear"\nper_day = 10\n[lessons.{LESSON}]\n{own}')
        bring_up_to_date(Course.find(course.root), LESSON)
        yield f"due {due}"
    with open_gradebook(address, LESSON) as book:
        assert freeze(book, LESSON) == freeze(book, LESSON) is True
        yield "frozen"
        assert thaw(book, LESSON)
    yield "thawed"


def test_whatever_changes_in_a_semester_is_the_same_as_in_a_file(ada: Server, tmp_path: Path) -> None:
    courses = []
    for name, address in (("server", ada), ("file", tmp_path / "gradebook.db")):
        path = tmp_path / name / "release" / LESSON / f"{LESSON}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text("{}")
        settings = f"c.CourseDirectory.db_url = {url_of(address)!r}\n"
        courses.append(make_course(tmp_path / name, config=settings))
    copy, seen = tmp_path / "copy.db", []
    for step, same in zip(*map(play_a_semester, courses), strict=True):
        assert step == same
        copy_to_file(ada, copy)
        rows = plain_rows(copy)
        copy.unlink()
        assert rows == plain_rows(tmp_path / "gradebook.db"), step
        assert rows not in seen[-1:], step
        seen.append(rows)


# --- several at once


def test_two_instructors_grade_two_lessons_at_once(ada: Server, ben: Server, tmp_path: Path) -> None:
    """From an empty database, with the same students in another order; and again, when all is there."""
    context, copy = multiprocessing.get_context("fork"), tmp_path / "copy.db"
    for _ in range(2):
        barrier = context.Barrier(2)
        works = ((ada, LESSON, STUDENTS, barrier.wait), (ben, NEXT, STUDENTS[::-1], barrier.wait))
        processes = [context.Process(target=grade, args=work) for work in works]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        assert [process.exitcode for process in processes] == [0, 0]
        for lesson in (LESSON, NEXT):
            grade(tmp_path / "gradebook.db", lesson, STUDENTS)
        copy_to_file(ada, copy)
        assert plain_rows(copy) == plain_rows(tmp_path / "gradebook.db")
        copy.unlink()


def test_one_lesson_is_one_run_s_at_a_time(ada: Server, ben: Server) -> None:
    with open_gradebook(ada, LESSON):
        said = rf"another run is grading {LESSON} into {ben} \(process {os.getpid()} on .*\); wait until it has "
        with pytest.raises(BadInput, match=said), open_gradebook(ben, LESSON):
            pass
        with open_gradebook(ben, NEXT):
            pass
    with open_gradebook(ben, LESSON):
        pass


def test_a_killed_run_gives_its_lesson_back_though_its_children_live(ada: Server, ben: Server) -> None:
    context = multiprocessing.get_context("fork")
    told, says = context.Pipe()

    def hold_and_fork(says: Any) -> None:
        with open_gradebook(ada, LESSON) as book:
            child = os.fork()
            if not child:
                signal.pause()
            use(book)  # the connection is this process's still
            says.send(child)
            signal.pause()

    process = context.Process(target=hold_and_fork, args=(says,))
    process.start()
    child = told.recv()
    try:
        process.kill()
        process.join()
        assert any(is_free(ben) for _ in range(1000))
    finally:
        os.kill(child, signal.SIGKILL)


def is_free(address: Server) -> bool:
    try:
        with open_gradebook(address, LESSON):
            return True
    except BadInput:
        return False


def test_a_child_s_end_leaves_the_connection_alone(ada: Server) -> None:
    with open_gradebook(ada, LESSON) as book:
        book.prepare()
        child = os.fork()
        if not child:
            book.__exit__(None, None, None)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        use(book)


def test_nothing_is_written_once_the_lock_is_lost(cluster: Cluster, database: str, ada: Server, ben: Server) -> None:
    ends = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'"
    with open_gradebook(ada, LESSON) as book:
        book.prepare()
        cluster.administer(ends)
        for _ in range(2):
            with pytest.raises(BadInput, match="the server has ended the connection: run this again"):
                use(book)
        with open_gradebook(ben, LESSON) as other:
            assert not other.is_new()


def test_formgrader_is_not_waited_for_without_end(ada: Server, ben: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    grade(ada, LESSON, ["zoe"])
    monkeypatch.setattr(server, "WAIT_SECONDS", 1)
    with Gradebook(ben.url, "toy") as formgrader, running(ada) as run:
        formgrader.find_grade(WRITTEN, LESSON, LESSON, "zoe").manual_score = 2.0
        formgrader.db.flush()  # and not committed
        with pytest.raises(BadInput, match="another program is writing it: close it"):
            run.record("zoe", answered())


def test_points_that_formgrader_gives_meanwhile_are_seen(
    cluster: Cluster, database: str, ada: Server, ben: Server
) -> None:
    """A grade that is being read by a person waits for nobody once the person has given points."""
    grade(ada, LESSON, ["zoe"])
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND wait_event_type = 'Lock'"
    with Gradebook(ben.url, "toy") as formgrader, running(ada) as run:
        points = formgrader.find_grade(WRITTEN, LESSON, LESSON, "zoe")
        points.manual_score, points.needs_manual_grade = 2.0, False
        formgrader.db.flush()
        with ThreadPoolExecutor() as pool, cluster.connect("postgres") as watch:
            recording = pool.submit(run.record, "zoe", answered())
            while not recording.done() and watch.execute(waiting, [database]).fetchone() == (0,):
                pass
            formgrader.db.commit()
            recording.result()
        formgrader.db.expire_all()
        found = formgrader.find_submission(LESSON, "zoe")
        assert (found.score, found.needs_manual_grade) == (5.0, False)


def test_what_is_wrong_with_one_submission_is_not_told_of_the_gradebook(ada: Server) -> None:
    with running(ada) as run:
        with pytest.raises(DBAPIError, match="too long"):
            run.record("z" * 200, answered())
        run.record("zoe", answered(), problem="A\0B")
    with Gradebook(ada.url, "toy") as found:
        assert found.find_comment(WRITTEN, LESSON, LESSON, "zoe").auto_comment == "A\ufffdB"


# --- what cannot be used


def refused(address: Server, match: str) -> None:
    for use in (open_gradebook(address).check, open_gradebook(address, LESSON).__enter__):
        with pytest.raises(BadInput, match=match) as raised:
            use()
        assert "\n" not in str(raised.value)
        assert PASSWORD not in str(raised.value)
        assert address.url not in str(raised.value)


def test_who_is_not_let_in_is_told_why(cluster: Cluster, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    url, folder = cluster.url(database), postgres.quote(str(cluster.folder))
    no_password = url.replace(f":{postgres.quote(PASSWORD, safe='')}", "")
    monkeypatch.setenv("PGPASSFILE", "/nowhere")
    for wrong, said in (
        (url.replace(folder, "/nowhere"), "it cannot be reached: check its address, and that it is running"),
        ("postgresql+psycopg://ada:x@127.0.0.1:9/nlp", "it cannot be reached"),
        ("postgresql://ada:x@nowhere.invalid/nlp", "it cannot be reached"),
        (cluster.url(database, password="wrong"), "refuses the password.*~/.pgpass"),
        (cluster.url("nowhere"), "no such database.*createdb"),
        (no_password, "asks for a password.*~/.pgpass"),
    ):
        address = address_from(cluster.folder, wrong)
        assert isinstance(address, Server)
        refused(address, said)
        with pytest.raises(BadInput, match=said), open_gradebook(address).looking():
            pass
    kept = cluster.folder / "pgpass"
    kept.write_text(f"{cluster.folder}:*:*:ada:{PASSWORD.replace(':', chr(92) + ':')}\n")
    kept.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(kept))
    open_gradebook(address).check()


def test_without_the_driver_it_is_said_how_to_get_it(ada: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    refused(ada, "driver that is not installed.*pip install --editable '\\.\\[postgres\\]'")


def test_a_database_that_cannot_be_written_is_refused(cluster: Cluster, ada: Server, database: str) -> None:
    cluster.administer(
        f'CREATE DATABASE "{database}_closed"',
        f"CREATE DATABASE \"{database}_old\" TEMPLATE template0 ENCODING LATIN1 LOCALE 'C' LOCALE_PROVIDER libc "
        f"OWNER {TEAM}",
    )
    refused(cluster.server(f"{database}_closed"), "ada may not make tables.*GRANT CREATE ON SCHEMA public TO ada")
    refused(cluster.server(f"{database}_old"), "encoded in LATIN1.*--encoding UTF8")
    make_gradebook(ada)
    cluster.administer(f"REVOKE UPDATE ON katze_run FROM {TEAM}", database=database)
    refused(ada, f"{TEAM} may not read and write the table katze_run")
    cluster.administer(f'ALTER DATABASE "{database}" SET default_transaction_read_only TO on')
    refused(ada, "it is read-only")
