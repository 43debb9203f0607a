"""A way to a server that can be cut, as a network can."""

import contextlib
import socket
import threading
from typing import Self


class Proxy:
    """Passes on what comes, both ways, until it is cut.

    Args:
        target: the server's address, "tcp://host:port".
    """

    def __init__(self, target: str) -> None:
        host, _, port = target.removeprefix("tcp://").rpartition(":")
        self._target = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._ends: list[socket.socket] = []

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"tcp://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self.cut()

    def cut(self) -> None:
        """End all that passes here, and let nothing new pass."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for end in self._ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                ours, _ = self._listener.accept()
                theirs = socket.create_connection(self._target)
                self._ends += [ours, theirs]
                for ends in ((ours, theirs), (theirs, ours)):
                    threading.Thread(target=self._pass_on, args=ends, daemon=True).start()

    @staticmethod
    def _pass_on(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while content := source.recv(1 << 16):
                target.sendall(content)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)
