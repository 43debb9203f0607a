"""What a download may do to whoever opens it: nothing."""

import io
import os
import stat
import struct
import tarfile
import tracemalloc
import zipfile
import zlib
from pathlib import Path

import pytest

from autograder.errors import BadInput
from autograder.intake.archives import NOTEBOOK_BYTES, Refused
from autograder.platforms import download
from autograder.platforms.download import Download, opened_download
from tests.autograder.platforms.downloads import laid, put, tarred, zipped

TEN_GIGABYTES = 10_000_000_000


def zeros(size: int) -> bytes:
    """A raw deflate stream of this many zeros, made in no time: one piece of it again and again."""
    piece = 10_000_000
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    once = packer.compress(bytes(piece)) + packer.flush(zlib.Z_FULL_FLUSH)
    return once * (size // piece) + zlib.compressobj(9, zlib.DEFLATED, -15).flush()


def bomb(claimed: int, name: str = "a_1_2_x.ipynb") -> bytes:
    """A zip archive with one file of 10 GB of zeros, which its headers say is this large."""
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(name, zeros(TEN_GIGABYTES))
    content = bytearray(stored.getvalue())
    directory = content.rfind(b"PK\x01\x02")
    for method, size in ((8, 22), (directory + 10, directory + 24)):
        struct.pack_into("<H", content, method, zipfile.ZIP_DEFLATED)
        struct.pack_into("<I", content, size, claimed)
    return bytes(content)


def names(delivered: Download) -> list[str]:
    return [file.path for file in delivered.files]


@pytest.mark.parametrize("claimed", [4_000_000_000, NOTEBOOK_BYTES - 1], ids=["as it is", "as if it were small"])
def test_ten_gigabytes_of_zeros_take_no_memory(claimed: int, tmp_path: Path) -> None:
    path = put(tmp_path / "s.zip", bomb(claimed))
    assert path.stat().st_size < 20_000_000
    with opened_download(path) as delivered:
        [file] = delivered.files
        tracemalloc.start()
        try:
            with pytest.raises(Refused, match=r"more than the limit of 50 MB|damaged"):
                for _ in file.pieces():
                    pass
            assert tracemalloc.get_traced_memory()[1] < 10_000_000
        finally:
            tracemalloc.stop()


def test_a_bomb_in_an_archive_in_an_archive_is_refused_and_the_rest_goes_on(tmp_path: Path) -> None:
    inner = bomb(4_200_000_000, "inner.zip")
    path = put(tmp_path / "all.zip", zipped({"good.zip": zipped({"a_1_2_x.ipynb": b"x"}), "bad.zip": inner}))
    with opened_download(path) as delivered:
        assert delivered.unpack()
        assert names(delivered) == ["bad.zip/inner.zip", "good.zip/a_1_2_x.ipynb"]
        assert delivered.unpack()
        assert names(delivered) == ["good.zip/a_1_2_x.ipynb"]
        assert delivered.refused == {
            "bad.zip/inner.zip": "it holds 4200 MB, more than the limit of 4000 MB",
        }


def test_a_compressed_archive_is_read_up_to_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "ARCHIVE_BYTES", 20_000_000)
    header = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"
    path = put(tmp_path / "class.tar.gz", header + zeros(TEN_GIGABYTES))
    with (
        pytest.raises(BadInput, match="cannot be opened: it holds more than the limit of 20 MB"),
        opened_download(path),
    ):
        pass


def test_a_list_of_contents_that_would_fill_the_memory_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "FILES", 20)
    path = put(tmp_path / "s.zip", zipped({f"{number:0>100}": b"" for number in range(100)}))
    with pytest.raises(BadInput, match="lists too many files"), opened_download(path):
        pass


def test_no_name_leads_out_of_an_archive_whatever_system_has_written_it(tmp_path: Path) -> None:
    bad = ["../x.ipynb", "a/../../x.ipynb", "a\\..\\x.ipynb", "C:\\..\\x.ipynb"]
    plain = {
        "good.ipynb": "good.ipynb",
        "/etc/a.ipynb": "etc/a.ipynb",
        "C:b.ipynb": "b.ipynb",
        "D:\\Users\\ada\\c.ipynb": "Users/ada/c.ipynb",
        "\\\\server\\share\\d.ipynb": "server/share/d.ipynb",
        "mixed\\e/f.ipynb": "mixed/e/f.ipynb",
        "g//./h.ipynb": "g/h.ipynb",
        "/".join("abcdefghijklmnop"): "/".join("abcdefghijklmnop"),
    }
    files = {**dict.fromkeys((*bad, *plain, "g/h.ipynb"), b"x"), "empty\\": b""}
    path = put(tmp_path / "s.zip", zipped(files))
    with opened_download(path) as delivered:
        assert sorted(names(delivered)) == sorted(plain.values())
        twice = {"g/h.ipynb": "it is in the archive twice; the first copy was used"}
        assert delivered.refused == dict.fromkeys(bad, "its name leads out of the archive") | twice
    with opened_download(put(tmp_path / "s.tar.gz", tarred({"../x.ipynb": b"x", "good.ipynb": b"y"}))) as delivered:
        assert (names(delivered), list(delivered.refused)) == (["good.ipynb"], ["../x.ipynb"])


def test_links_locked_files_and_devices_are_refused(tmp_path: Path) -> None:
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w") as archive:
        link = zipfile.ZipInfo("link.ipynb")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("locked.ipynb", b"x")
    content = bytearray(stored.getvalue())
    content[content.rfind(b"PK\x01\x02") + 8] |= 1
    with opened_download(put(tmp_path / "s.zip", bytes(content))) as delivered:
        assert names(delivered) == []
        assert delivered.refused == {
            "link.ipynb": "it is a link, and links are not followed",
            "locked.ipynb": "it is locked with a password",
        }
    stored = io.BytesIO()
    with tarfile.open(fileobj=stored, mode="w") as tar:
        for name, kind in (("link", tarfile.SYMTYPE), ("hard", tarfile.LNKTYPE), ("pipe", tarfile.FIFOTYPE)):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, "/etc/passwd"
            tar.addfile(entry)
    with opened_download(put(tmp_path / "s.tar", stored.getvalue())) as delivered:
        assert (names(delivered), len(delivered.refused)) == ([], 3)


def test_in_a_folder_no_link_is_followed_and_no_pipe_is_read(tmp_path: Path) -> None:
    folder = laid(tmp_path / "d", {"ada/x.ipynb": b"x", ".git/y": b"", "__MACOSX/z": b""})
    (folder / "ada" / "link.ipynb").symlink_to("/etc/passwd")
    (folder / "ben").symlink_to("/etc")
    os.mkfifo(folder / "pipe")
    with opened_download(folder) as delivered:
        assert names(delivered) == ["ada/x.ipynb"]
        assert set(delivered.refused) == {"ada/link.ipynb", "ben", "pipe"}
        (folder / "ada" / "x.ipynb").unlink()
        (folder / "ada" / "x.ipynb").symlink_to("/etc/passwd")  # changed after it was seen
        with pytest.raises(Refused, match="cannot be read"):
            delivered.files[0].content()


def test_a_name_that_is_no_text_is_shown_and_read(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    folder.mkdir()
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff.ipynb")).write_bytes(b"x")
    with opened_download(folder) as delivered:
        assert names(delivered) == ["\ufffd.ipynb"]
        assert delivered.files[0].content() == b"x"


def test_names_in_utf_8_are_read_as_such_even_where_a_zip_does_not_say_so(tmp_path: Path) -> None:
    content = zipped({"m\u00fcller_1_2_x.ipynb": b"x"})
    unsaid = bytearray(content)
    unsaid[7] &= ~8
    unsaid[content.rfind(b"PK\x01\x02") + 9] &= ~8
    for written in (content, bytes(unsaid)):
        with opened_download(put(tmp_path / "s.zip", written)) as delivered:
            assert names(delivered) == ["m\u00fcller_1_2_x.ipynb"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("s.zip", b"", "neither a zip nor a tar"),
        ("s.zip", b"<html>", "neither a zip nor a tar"),
        ("s.zip", zipped({"x": b"y" * 1000})[:60], "it is damaged"),
        ("s.tar.gz", b"\x1f\x8b" + bytes(20), "it cannot be read"),
        ("s.tar", tarred({"x": b"y" * 3000}, "w")[:1000], "it is damaged"),
    ],
    ids=["empty", "a page", "a zip cut off", "no gzip", "a tar cut off"],
)
def test_what_is_no_archive_is_told_in_a_line(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=said) as raised, opened_download(put(tmp_path / name, content)):
        pass
    assert "\n" not in str(raised.value)
    assert "download it again" in str(raised.value)


def test_a_file_that_is_damaged_is_refused_when_it_is_read(tmp_path: Path) -> None:
    content = zipped({"bad.ipynb": b"x" * 1000, "good.ipynb": bytes(range(256))})
    start = content.index(b"bad.ipynb") + len("bad.ipynb")
    with opened_download(put(tmp_path / "s.zip", content[:start] + b"\xff\xff" + content[start + 2 :])) as delivered:
        bad, good = delivered.files
        assert good.content() == bytes(range(256))
        with pytest.raises(Refused, match="it is damaged"):
            bad.content()
