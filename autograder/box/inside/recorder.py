"""Records a cell's outputs: in order, merged as a notebook merges them, and capped."""

import base64
import io
import json
from typing import Any

from autograder.box.frames import Json, ProtocolError
from autograder.box.protocol import (
    MAX_NODES,
    MAX_OUTPUTS,
    MAX_TRACEBACK_LINES,
    MIME,
    bundle_bytes,
    bundle_nodes,
    clean,
    json_nodes,
)
from autograder.limits import size

_ERROR_CHARACTERS = 20_000
_MOST_OUTPUTS = MAX_OUTPUTS - 10
_MOST_NODES = MAX_NODES - MAX_OUTPUTS  # text counts as well
_CUT = "[katze] The rest of this cell's output was left out: it shows more than {}.\n"


class Recorder:
    """Collects the outputs of cell after cell; drops everything while no cell runs.

    Args:
        limit: bytes that a cell may show, from the next cell on. A notice replaces the rest.

    Attributes:
        programs: the programs that the cell asked for and that were not started.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.programs: list[str] = []
        self._outputs: list[dict[str, Json]] = []
        self._displays: dict[str, list[dict[str, Json]]] = {}
        self._left = 0
        self._nodes_left = 0
        self._open = False
        self._clear_next = False

    def start(self) -> None:
        """Start a cell."""
        self._outputs, self._left, self._open, self._clear_next = [], self.limit, True, False
        self._displays, self._nodes_left, self.programs = {}, _MOST_NODES, []

    def stop(self) -> list[dict[str, Json]]:
        """End the cell; return its outputs."""
        self._open = False
        outputs, self._outputs, self._displays = self._outputs, [], {}
        for output in outputs:
            if output["output_type"] == "stream":
                output["text"] = "".join(output["text"])
        return outputs

    def stream(self, name: str, text: str) -> None:
        """Record text on stdout or stderr; join it to text directly before it on the same stream."""
        if not text or not self._ready() or self._left < 0:
            return
        length = len(text)  # a character is a byte at least: what cannot fit is cut before it is copied
        text = clean(text[: self._left + 1])
        data = text.encode()
        if len(data) > self._left:
            text = data[: self._left].decode(errors="ignore")
        self._append_stream(name, text)
        self._spend(max(length, len(data)))

    def notice(self, text: str) -> None:
        """Record a sentence from the sandbox itself, on its own line."""
        if self._ready() and self._left >= 0:
            line = f"[katze] {text}\n"
            self._append_line(line)
            self._spend(len(line.encode()))

    def display(
        self, data: dict[str, Any], metadata: dict[str, Any], display_id: str | None = None, update: bool = False
    ) -> None:
        """Record a display, or an update of an earlier one in this cell."""
        bundle = {"data": _bundle(data), "metadata": _json_or_empty(metadata)}
        if not self._ready() or not self._spend_bundle(bundle):
            return
        if update:
            for shown in self._displays.get(display_id or "", []):
                shown.update(bundle)
            return
        output = {"output_type": "display_data", **bundle}
        if display_id:
            self._displays.setdefault(display_id, []).append(output)
        self._append(output)

    def result(self, data: dict[str, Any], metadata: dict[str, Any], count: int) -> None:
        """Record the value of the cell's last line."""
        bundle = {"data": _bundle(data), "metadata": _json_or_empty(metadata)}
        if self._ready() and self._spend_bundle(bundle):
            self._append({"output_type": "execute_result", **bundle, "execution_count": count})

    def error(self, name: str, message: str, traceback: list[str]) -> None:
        """Record the exception that ended the cell, shortened, even beyond the limit."""
        if self._ready() and len(self._outputs) < MAX_OUTPUTS - 1:
            lines, left = [], _ERROR_CHARACTERS
            for line in reversed([clean(line) for line in traceback]):
                lines.append(line[:left])
                left -= len(line)
                if left <= 0 or len(lines) == MAX_TRACEBACK_LINES:
                    break
            message = clean(message)[:_ERROR_CHARACTERS]
            entry = {"ename": clean(name)[:200], "evalue": message, "traceback": lines[::-1]}
            self._outputs.append({"output_type": "error", **entry})

    def clear(self, wait: bool = False) -> None:
        """Forget the cell's outputs, now or with its next output."""
        if wait:
            self._clear_next = True
        else:
            self._outputs.clear()

    def _ready(self) -> bool:
        if self._open and self._clear_next:
            self._clear_next = False
            self._outputs.clear()
        return self._open

    def _spend(self, count: int) -> bool:
        """Return whether there is room for `count` bytes. The first time there is not, record a notice."""
        if self._left < 0:
            return False
        self._left -= count
        if self._left < 0:
            self._append_line(_CUT.format(size(self.limit)))
        return self._left >= 0

    def _spend_bundle(self, bundle: dict[str, Json]) -> bool:
        nodes = bundle_nodes(bundle["data"], bundle["metadata"])
        if self._left >= 0 and nodes > self._nodes_left:
            self._left = -1
            self._append_line(_CUT.format(f"{_MOST_NODES} values"))
        self._nodes_left -= nodes
        return self._spend(bundle_bytes(bundle["data"], bundle["metadata"]))

    def _append_line(self, line: str) -> None:
        """Record a separate line on stdout, whatever comes before it."""
        last = self._outputs[-1] if self._outputs else {}
        is_new = last.get("output_type") != "stream" or last["text"][-1].endswith("\n")
        self._append_stream("stdout", line if is_new else f"\n{line}")

    def _append_stream(self, name: str, text: str) -> None:
        last = self._outputs[-1] if self._outputs else {}
        if last.get("output_type") == "stream" and last["name"] == name:
            last["text"].append(text)
        else:
            self._append({"output_type": "stream", "name": name, "text": [text]})

    def _append(self, output: dict[str, Json]) -> None:
        if len(self._outputs) < _MOST_OUTPUTS:
            self._outputs.append(output)
        elif self._left >= 0:
            self._left = -1
            self._outputs.append(
                {"output_type": "stream", "name": "stdout", "text": [_CUT.format(f"{_MOST_OUTPUTS} outputs")]}
            )


class Stream(io.TextIOBase):
    """Replaces `sys.stdout` or `sys.stderr`."""

    def __init__(self, recorder: Recorder, name: str) -> None:
        self._recorder = recorder
        self._name = name

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Always UTF-8, as in a kernel."""
        return "utf-8"

    def write(self, text: str) -> int:
        """Record `text`."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._recorder.stream(self._name, text)
        return len(text)

    def writable(self) -> bool:
        """Return True."""
        return True


def _bundle(data: dict[str, Any]) -> dict[str, Json]:
    """Return a MIME bundle in notebook form: text, base64 for bytes, JSON for JSON types; anything else is dropped."""
    bundle: dict[str, Json] = {}
    for mime, content in data.items():
        if not MIME.fullmatch(str(mime)):
            continue
        if isinstance(content, bytes):
            bundle[str(mime)] = base64.b64encode(content).decode()
        elif str(mime).endswith("json"):
            checked = _json(content)
            if checked is not None:
                bundle[str(mime)] = checked
        elif isinstance(content, str):
            bundle[str(mime)] = clean(content)
    return bundle


def _json_or_empty(metadata: dict[str, Any] | None) -> dict[str, Json]:
    checked = _json(metadata)
    return checked if isinstance(checked, dict) else {}


def _json(content: Any) -> Json:
    """Return `content` after a round trip through strict JSON; None if it does not survive that."""
    try:
        checked = json.loads(clean(json.dumps(content, ensure_ascii=False, allow_nan=False)))
        json_nodes(checked)
    except (TypeError, ValueError, RecursionError, ProtocolError):
        return None
    return checked
