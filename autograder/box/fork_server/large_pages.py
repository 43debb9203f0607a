"""Large pages for the memory that every sandbox shares with the fork server.

A fork copies the table of its parent's pages, and the end of the fork takes it apart again. With some 250 MB in
pages of 4 KB that is most of what opening and closing a sandbox costs; in pages of 2 MB it is next to nothing. What
a sandbox then writes to is still copied 4 KB at a time.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from pathlib import Path

_COLLAPSE = 25
"""`MADV_COLLAPSE`, from Linux 6.1 on."""

_LARGE = 2 << 20


def use_large_pages() -> None:
    """Gather this process's own memory into large pages, as far as the kernel can: nothing depends on it."""
    if not sys.platform.startswith("linux"):
        return
    advise = ctypes.CDLL(None).madvise
    for start in _large_blocks(Path("/proc/self/maps").read_text().splitlines()):
        advise(ctypes.c_void_p(start), ctypes.c_size_t(_LARGE), _COLLAPSE)


def _large_blocks(maps: list[str]) -> Iterator[int]:
    """The address of each whole large block of private memory that belongs to no file; see proc_pid_maps(5)."""
    for line in maps:
        addresses, modes, _offset, _device, inode, *name = line.split()
        if modes == "rw-p" and inode == "0" and name in ([], ["[heap]"]):
            start, end = (int(address, 16) for address in addresses.split("-"))
            yield from range(-(-start // _LARGE) * _LARGE, end - _LARGE + 1, _LARGE)
