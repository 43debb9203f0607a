"""Fetching from a server of our own: once, whole, with the right sum, and with clear words where it cannot be."""

import gzip
import hashlib
import io
import re
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from rich.console import Console

from course_lib.ground.files import cache_folder
from course_lib.text import downloads
from course_lib.text.downloads import FILES, DownloadError, PublishedFile, fetch
from course_lib.text.texts import SentencePair

pytestmark = pytest.mark.usefixtures("processes")


CONTENT = b"What light through yonder window breaks?\n" * 5000


class Server(ThreadingHTTPServer):
    """Answers every address with what the test has put into `answers`, and remembers what was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.claims = 0

    def address(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}{path}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        content = self.server.answers.get(self.path)
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(self.server.claims or len(content)))
        self.end_headers()
        try:
            self.wfile.write(content)
        except ConnectionError:  # the other side has heard enough
            self.close_connection = True

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KATZE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("KATZE_DATA", raising=False)
    return tmp_path / "cache"


def published(server: Server, content: bytes = CONTENT, name: str = "set/file.txt") -> PublishedFile:
    server.answers[f"/{name}"] = content
    return PublishedFile(name, server.address(f"/{name}"), len(CONTENT), hashlib.sha256(CONTENT).hexdigest())


def everything_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_a_file_is_fetched_once(server: Server, cache: Path) -> None:
    file = published(server)
    for _ in range(2):
        path = fetch(file)
        assert path == cache / "set" / "file.txt"
        assert path.read_bytes() == CONTENT
    assert server.asked == ["/set/file.txt"]
    assert everything_in(cache) == ["file.txt"]


def test_a_damaged_file_in_the_cache_is_fetched_again(server: Server, cache: Path) -> None:
    file = published(server)
    fetch(file).write_bytes(CONTENT[:-1])
    assert fetch(file).read_bytes() == CONTENT
    assert len(server.asked) == 2


@pytest.mark.parametrize("content", [CONTENT[:-1], CONTENT + b"x", b"", b"<html>not found</html>"])
def test_another_file_is_refused_with_both_sums(server: Server, cache: Path, content: bytes) -> None:
    file = published(server, content)
    with pytest.raises(DownloadError, match=f"does not give the expected file.*{file.sha256}") as caught:
        fetch(file)
    assert hashlib.sha256(content).hexdigest() in str(caught.value)
    assert everything_in(cache) == []


def test_an_answer_that_ends_early_is_refused(server: Server, cache: Path) -> None:
    file = published(server, CONTENT[:1000])
    server.claims = len(CONTENT)
    with pytest.raises(DownloadError, match="cannot fetch"):
        fetch(file)
    assert everything_in(cache) == []


def test_what_is_not_there_is_said_with_the_way_out(server: Server, cache: Path) -> None:
    file = PublishedFile("set/file.txt", server.address("/nothing"), 1, "0" * 64)
    said = r"cannot fetch .*/nothing \(404 .*Not Found.*\).* set KATZE_DATA to that folder"
    with pytest.raises(DownloadError, match=said):
        fetch(file)
    assert everything_in(cache) == []


def test_no_internet_is_said_with_the_way_out(server: Server, cache: Path) -> None:
    file = published(server)
    server.shutdown()
    server.server_close()
    said = r"cannot fetch .* \(.*Connection refused\)\. Without.*put a copy of the file at set/file.txt"
    with pytest.raises(DownloadError, match=said):
        fetch(file)


class TestCopies:
    @pytest.fixture
    def copies(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        folder = tmp_path / "copies"
        (folder / "set").mkdir(parents=True)
        monkeypatch.setenv("KATZE_DATA", str(folder))
        return folder

    def test_are_used_without_asking_and_without_pooch(
        self, server: Server, cache: Path, copies: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "pooch", None)
        with pytest.raises(ModuleNotFoundError, match="pip install pooch"):
            fetch(published(server))
        (copies / "set" / "file.txt").write_bytes(CONTENT)
        assert fetch(published(server)) == copies / "set" / "file.txt"
        assert (server.asked, cache.exists()) == ([], False)

    def test_with_another_sum_are_refused(self, server: Server, copies: Path) -> None:
        (copies / "set" / "file.txt").write_bytes(b"other")
        with pytest.raises(DownloadError, match="from the folder that KATZE_DATA names is not the expected file"):
            fetch(published(server))

    def test_that_are_missing_are_fetched(self, server: Server, cache: Path, copies: Path) -> None:
        assert fetch(published(server)) == cache / "set" / "file.txt"

    def test_that_are_missing_have_a_folder_already(self, server: Server, copies: Path) -> None:
        file = published(server)
        server.answers.clear()
        with pytest.raises(DownloadError, match=f"at set/file.txt in {re.escape(str(copies))}, which KATZE_DATA names"):
            fetch(file)


def test_nothing_is_fetched_where_one_works_offline(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KATZE_OFFLINE", "1")
    with pytest.raises(DownloadError, match="KATZE_OFFLINE is set"):
        fetch(published(server))
    assert not server.asked


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_sees_a_bar_and_a_file_does_not(server: Server, terminal: bool) -> None:
    shown = io.StringIO()
    fetch(published(server), Console(file=shown, force_terminal=terminal, force_jupyter=False, width=120))
    assert ("fetching set/file.txt" in shown.getvalue()) == terminal
    assert terminal or not shown.getvalue().strip()


def test_the_cache_has_a_place_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KATZE_CACHE")
    assert "katze" in cache_folder().parts


def test_addresses_are_pinned_to_a_commit() -> None:
    for file in FILES:
        assert re.fullmatch(r"https://raw\.githubusercontent\.com/[\w-]+/[\w-]+/[0-9a-f]{40}/.+", file.address)
        assert file.address.endswith(file.name.split("/")[1])
        assert re.fullmatch(r"[0-9a-f]{64}", file.sha256)


def put(folder: Path, name: str, content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of a published file with another content, and its sum changed to match."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    changed = [
        PublishedFile(f.name, f.address, len(content), hashlib.sha256(content).hexdigest()) if f.name == name else f
        for f in downloads.FILES
    ]
    monkeypatch.setattr(downloads, "FILES", tuple(changed))


def test_data_sets_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATZE_DATA", str(tmp_path))
    put(tmp_path, "multi30k/val.en.gz", gzip.compress(b"Two men.\nA dog.\n"), monkeypatch)
    put(tmp_path, "multi30k/val.de.gz", gzip.compress("Zwei Männer.\nEin Hund.\n".encode()), monkeypatch)
    put(tmp_path, "tinyshakespeare/input.txt", b"First Citizen:\n", monkeypatch)
    assert downloads.multi30k("val") == [SentencePair("Two men.", "Zwei Männer."), SentencePair("A dog.", "Ein Hund.")]
    assert downloads.tiny_shakespeare() == "First Citizen:\n"
