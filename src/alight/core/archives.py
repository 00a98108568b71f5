"""NumPy archives (.npz) that may be damaged, or made to ask for more memory than there is.

Sizes are compared before anything is allocated: what an array's header asks for with the bytes that
its entry has, and the entries with what is allowed. A flipped byte is found by the checksums of the
archive, or makes it unreadable: either is one error.
"""

from __future__ import annotations

import math
import os
import zipfile
from collections.abc import Collection, Iterator
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from alight.core.files import opened, refusal

#: Longest header of an array [bytes]; those of plain numbers have some 100.
_MOST_HEADER = 10_000

_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}

_CHUNK = 1 << 20


def read_archive(
    path: str | os.PathLike[str], most: int, what: str, names: Collection[str] | None = None
) -> tuple[dict[str, npt.NDArray[Any]], list[str]]:
    """Arrays of an archive, all of them or those of ``names``, and the names of all there are.

    The arrays may take ``most`` bytes together, unpacked.
    """
    with opened(path, what) as file:
        if os.fstat(file.fileno()).st_size == 0:
            raise refusal(f'{what} "{path}"', "it is empty. Save or fetch it again.")
        try:
            with zipfile.ZipFile(file) as archive:
                return _arrays(archive, most, names)
        except Exception as cause:
            # zipfile, its decompressors and NumPy's parser of headers raise a dozen kinds of errors
            # at damaged bytes, MemoryError among them; each means the same.
            said = str(cause).strip().rstrip(".") or type(cause).__name__
            raise refusal(
                f'{what} "{path}"',
                f"it is damaged, or no NumPy archive (.npz): {said}. Save or fetch it again.",
            ) from None


def _arrays(
    archive: zipfile.ZipFile, most: int, names: Collection[str] | None
) -> tuple[dict[str, npt.NDArray[Any]], list[str]]:
    entries = list(_entries(archive))
    known = [name for name, _ in entries]
    if len(set(known)) < len(known):
        raise ValueError("two of its arrays have one name")
    wanted = [(name, entry) for name, entry in entries if names is None or name in names]
    size = sum(entry.file_size for _, entry in wanted)
    if size > most:
        raise ValueError(f"its arrays take {size} bytes, and at most {most} are read")
    return {name: _array(archive, entry) for name, entry in wanted}, known


def _entries(archive: zipfile.ZipFile) -> Iterator[tuple[str, zipfile.ZipInfo]]:
    for entry in archive.infolist():
        if entry.filename.endswith(".npy"):
            yield entry.filename.removesuffix(".npy"), entry


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> npt.NDArray[Any]:
    with archive.open(entry) as stream:
        version = np.lib.format.read_magic(stream)
        if version not in _HEADERS:
            raise ValueError(f"an array of format {version}, and (1, 0) or (2, 0) is read")
        shape, fortran, dtype = _HEADERS[version](stream, max_header_size=_MOST_HEADER)
        if dtype.hasobject:
            raise ValueError("an array of Python objects, and only numbers and text are read")
        held, asked = entry.file_size - stream.tell(), math.prod(shape) * dtype.itemsize
        if asked != held or min(shape, default=0) < 0:
            raise ValueError(
                f"an array of shape {shape} would have {asked} bytes, and {held} are there"
            )
        data = _filled(stream, held)
    flat = np.frombuffer(data, dtype=dtype, count=math.prod(shape)) if held else np.empty(0, dtype)
    return flat.reshape(shape, order="F" if fortran else "C")


def _filled(stream: IO[bytes], size: int) -> bytearray:
    """The rest of an entry; at its end the archive's checksum is compared."""
    data = bytearray(size)
    view, at = memoryview(data), 0
    while at < size:
        part = stream.read(min(_CHUNK, size - at))
        if not part:
            raise EOFError("it ends early")
        view[at : at + len(part)] = part
        at += len(part)
    stream.read(1)
    return data
