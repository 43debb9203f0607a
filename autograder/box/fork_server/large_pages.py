"""Puts the memory that sandboxes share with the fork server into large pages.

Forking copies the parent's page table, and the end of the fork takes it apart again. With some 250 MB in 4 KB pages,
that is most of the cost of opening and closing a sandbox; with 2 MB pages, it is next to nothing. Memory that a sandbox
then writes to is still copied 4 KB at a time.
"""

import ctypes
import sys
from collections.abc import Iterator
from pathlib import Path

_COLLAPSE = 25
"""`MADV_COLLAPSE`, from Linux 6.1 on."""

_LARGE = 2 << 20


def use_large_pages() -> None:
    """Gather this process's private memory into large pages as far as the kernel can. Nothing depends on success."""
    if not sys.platform.startswith("linux"):
        return
    advise = ctypes.CDLL(None).madvise
    for start in _large_blocks(Path("/proc/self/maps").read_text().splitlines()):
        advise(ctypes.c_void_p(start), ctypes.c_size_t(_LARGE), _COLLAPSE)


def _large_blocks(maps: list[str]) -> Iterator[int]:
    """Yield the address of each whole large block of private, anonymous memory; see proc_pid_maps(5)."""
    for line in maps:
        addresses, modes, _offset, _device, inode, *name = line.split()
        if modes == "rw-p" and inode == "0" and name in ([], ["[heap]"]):
            start, end = (int(address, 16) for address in addresses.split("-"))
            yield from range(-(-start // _LARGE) * _LARGE, end - _LARGE + 1, _LARGE)
