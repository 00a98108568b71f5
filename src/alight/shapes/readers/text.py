"""Numbers out of large text files, many at a time, with the line at fault when one is not."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from alight.core.errors import FileError
from alight.core.files import MOST_BYTES, read_bounded
from alight.shapes.integrity.arrays import FloatArray

#: Control characters that no text file holds; a binary file shows one very soon.
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x19\x1c-\x1f]")

_NUMBER = re.compile(
    rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(nan|inf|infinity)", re.IGNORECASE
)

_COMMENT = re.compile(rb"#[^\n]*")


def read_bytes(path: Path) -> bytes:
    """The whole of a file, which must not be empty."""
    data = read_bounded(path, MOST_BYTES, "the mesh")
    if not data.strip():
        raise FileError(
            f'"{path}" is empty; a mesh file holds vertices and facets. Save or fetch it again.'
        )
    return data


def read_text(path: Path) -> bytes:
    """A text file with its comments (from ``#``) blanked and its lines ended by ``\\n``."""
    return plain_text(read_bytes(path), path)


def plain_text(data: bytes, path: Path) -> bytes:
    """``data`` as clean text: one line end, no byte-order mark, no comments."""
    if _CONTROL.search(data, 0, 1 << 16):
        raise FileError(
            f'"{path}" is not a text file: it holds binary data. Check that its extension names '
            "its format."
        )
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if data.startswith(b"\xef\xbb\xbf"):
        data = b"   " + data[3:]
    return _COMMENT.sub(b"", data) if b"#" in data else data


@dataclass(frozen=True)
class NumberRows:
    """The numbers of a text, row by row.

    Attributes:
        values: All numbers, in reading order.
        widths: Numbers in each row; rows without any are left out.
        lines: Line of each row in the file, counted from 1.
        path: The file, for messages.
    """

    values: FloatArray
    widths: npt.NDArray[np.int64]
    lines: npt.NDArray[np.int64]
    path: Path

    def __len__(self) -> int:
        return len(self.widths)

    @property
    def offsets(self) -> npt.NDArray[np.int64]:
        """Where each row starts in ``values``."""
        return np.cumsum(self.widths) - self.widths

    def row(self, i: int) -> FloatArray:
        """The numbers of row ``i``."""
        start = int(self.widths[:i].sum())
        return self.values[start : start + int(self.widths[i])]

    def block(self, first: int, count: int, what: str) -> FloatArray:
        """Rows ``first`` to ``first + count`` as one array; they must be equally wide."""
        widths = self.widths[first : first + count]
        if len(widths) == 0:
            return np.zeros((0, 3))
        odd = np.flatnonzero(widths != widths[0])
        if len(odd):
            at = first + int(odd[0])
            raise FileError(
                f'"{self.path}", line {self.lines[at]}: {self.widths[at]} numbers where the rows '
                f"of {what} above have {widths[0]}."
            )
        start = int(self.widths[:first].sum())
        return self.values[start : start + int(widths.sum())].reshape(count, -1)

    def columns(self, count: int, what: str) -> FloatArray:
        """The first ``count`` numbers of every row, however long the rows are."""
        short = np.flatnonzero(self.widths < count)
        if len(short):
            at = int(short[0])
            raise FileError(
                f'"{self.path}", line {self.lines[at]}: {what} with {self.widths[at]} numbers, '
                f"needs {count}."
            )
        return self.values[self.offsets[:, None] + np.arange(count)]


def parse_rows(text: bytes, path: Path, first_line: int = 1) -> NumberRows:
    """Read every number of ``text``, whose first line has the number ``first_line`` in the file."""
    line_of_word = _line_of_word(text)
    values = _numbers(text, len(line_of_word))
    if values is None:
        at, word = _first_bad(text)
        raise FileError(
            f'"{path}", line {line_of_word[at] + first_line}: "{word}" is not a number.'
        )
    widths = np.bincount(line_of_word)
    filled = np.flatnonzero(widths)
    return NumberRows(values, widths[filled], filled + first_line, path)


def _line_of_word(text: bytes) -> npt.NDArray[np.int64]:
    """The line, counted from 0, that each word is on."""
    data = np.frombuffer(text, dtype=np.uint8)
    blank = data <= 32
    start = ~blank
    start[1:] &= blank[:-1]
    starts = np.flatnonzero(start)
    ends = np.flatnonzero(data == ord("\n"))
    return np.searchsorted(ends, starts)


def _numbers(text: bytes, count: int) -> FloatArray | None:
    """All words as numbers, or None if some word is not one."""
    if count == 0:
        return np.zeros(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # older NumPy stops short instead
        try:
            values = np.fromstring(text, dtype=np.float64, sep=" ")
        except ValueError:
            return None
    return values if len(values) == count else None


def _first_bad(text: bytes) -> tuple[int, str]:
    """Number and spelling of the first word that is not a number."""
    for i, word in enumerate(text.split()):
        if not _NUMBER.fullmatch(word):
            return i, word[:40].decode("ascii", "replace")
    raise AssertionError("every word is a number, yet they could not be read together")
