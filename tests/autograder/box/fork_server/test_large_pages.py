"""Large pages: which blocks are gathered, and that what they hold stays as it is."""

import ctypes
import mmap
import sys

import pytest

from autograder.box.fork_server.large_pages import _large_blocks, use_large_pages

LARGE = 2 << 20
MAPS = [
    "00600000-00e00000 rw-p 00000000 00:00 0                          [heap]",  # three blocks of 2 MB and a bit
    "7f0000100000-7f0000500000 rw-p 00000000 00:00 0 ",  # one whole block, at 7f0000200000
    "7f0001000000-7f0001800000 r--p 00000000 08:01 1234 /usr/lib/libtorch.so",  # a file's
    "7f0002000000-7f0002800000 rw-p 00000000 08:01 1234 /usr/lib/libtorch.so",  # a file's, too
    "7f0003000000-7f0003800000 rw-s 00000000 00:00 0 ",  # shared
    "7ffe00000000-7ffe00800000 rw-p 00000000 00:00 0 [stack]",
]


def test_whole_blocks_of_private_memory_are_gathered() -> None:
    assert list(_large_blocks(MAPS)) == [0x600000, 0x800000, 0xA00000, 0xC00000, 0x7F0000200000]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_holds_what_it_held() -> None:
    with mmap.mmap(-1, 8 * LARGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as block:
        for place in range(0, 8 * LARGE, 4096):
            block[place : place + 4] = place.to_bytes(4, "little")
        address = ctypes.addressof(ctypes.c_char.from_buffer(block))
        use_large_pages()
        assert all(
            ctypes.string_at(address + place, 4) == place.to_bytes(4, "little") for place in range(0, 8 * LARGE, 4096)
        )
