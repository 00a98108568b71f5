"""Frames into a file: mp4 and webm by ffmpeg (extra ``film``), gif by Pillow."""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Generator, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from alight.core.errors import FileError, InputError, MissingExtraError
from alight.core.extras import require

Bytes = npt.NDArray[np.uint8]

ENDINGS = (".mp4", ".webm", ".gif")

#: Frames that the palette of a gif is from, and its colours that are rare ones.
PALETTE_FRAMES, RARE = 12, 48

#: How ffmpeg encodes: quality that shows no blocks, and a form that browsers play.
_CODECS: dict[str, dict[str, Any]] = {
    ".mp4": {
        "codec": "libx264",
        "output_params": ["-crf", "19", "-preset", "veryfast", "-movflags", "+faststart"],
    },
    ".webm": {
        "codec": "libvpx-vp9",
        "output_params": [
            *("-crf", "30", "-b:v", "0", "-deadline", "realtime", "-cpu-used", "6", "-row-mt", "1")
        ],
    },
}


def checked_out(out: str | os.PathLike[str]) -> Path:
    """The path of a film: an ending that is known, in a folder that is there; ffmpeg if needed."""
    path = Path(out)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise InputError(
            f'a film cannot be written to "{path}": its name must end in {", ".join(ENDINGS)}.'
        )
    if path.is_dir() or not path.parent.is_dir():
        why = "is a folder" if path.is_dir() else f'stands in "{path.parent}", which is no folder'
        raise FileError(f'a film cannot be written to "{path}": it {why}.')
    if ending != ".gif":
        _ffmpeg(ending)
    return path


def _ffmpeg(ending: str) -> Any:
    try:
        return require("imageio_ffmpeg", "film")
    except MissingExtraError as cause:
        raise MissingExtraError(f"{cause} (or write a .gif, which needs nothing more)") from None


class Writer(Protocol):
    """Takes frames, one after the other."""

    def add(self, frame: Bytes) -> None:
        """Append a frame, (rows, columns, 3)."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


def writer(out: Path, size: tuple[int, int], fps: float) -> Writer:
    """What writes the file; it appears under its name once it is whole."""
    if out.suffix.lower() == ".gif":
        return _Gif(out, size, fps)
    if size[0] % 2 or size[1] % 2:
        raise InputError(
            f"size {size[0]}x{size[1]} cannot be encoded: both numbers must be even in "
            f"{out.suffix} files."
        )
    return _Ffmpeg(out, size, fps)


class _Part:
    """A file beside the one that is wanted, which replaces it when it is whole."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.part = out.with_name(f".{out.stem}.{os.getpid()}{out.suffix}")

    def close(self, done: bool) -> None:
        if done and self.part.exists() and self.part.stat().st_size > 0:
            self.part.replace(self.out)
            return
        with contextlib.suppress(OSError):
            self.part.unlink()
        if done:
            raise FileError(f'"{self.out}" could not be written: the disk may be full.')


class _Gif:
    """A gif has one palette, so that colours do not flicker: of frames from all of the film, which
    wait for it, packed."""

    def __init__(self, out: Path, size: tuple[int, int], fps: float) -> None:
        # Times of a gif are hundredths of a second; browsers slow down what is faster than 50 a s.
        self._file, self._wait = _Part(out), max(20, 10 * round(100.0 / fps))
        self._size = size
        self._packed: list[bytes] = []

    def add(self, frame: Bytes) -> None:
        """Keep a frame."""
        self._packed.append(zlib.compress(frame.tobytes(), 1))

    def _frame(self, k: int) -> Any:
        from PIL import Image

        return Image.frombytes("RGB", self._size, zlib.decompress(self._packed[k]))

    def _palette(self) -> Any:
        """Most colours by how often they are there, some by how far they are from all others: marks
        are small, and seen by their colour."""
        from PIL import Image

        count = len(self._packed)
        chosen = [
            np.asarray(self._frame(k))[::3, ::3].reshape(-1, 3)
            for k in sorted({round(x) for x in np.linspace(0, count - 1, PALETTE_FRAMES)})
        ]
        mosaic = Image.fromarray(np.concatenate(chosen)[None])
        kinds = ((256 - RARE, Image.Quantize.MEDIANCUT), (RARE, Image.Quantize.MAXCOVERAGE))
        colours: list[int] = []
        for number, method in kinds:
            colours += (mosaic.quantize(number, method=method).getpalette() or [])[: 3 * number]
        palette = Image.new("P", (1, 1))
        palette.putpalette(colours)
        return palette

    def _reduced(self) -> Iterator[Any]:
        from PIL import Image

        palette = self._palette()
        for k in range(len(self._packed)):
            yield self._frame(k).quantize(palette=palette, dither=Image.Dither.NONE)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None or not self._packed:
            self._file.close(done=False)
            return
        how: dict[str, Any] = {"save_all": True, "duration": self._wait, "loop": 0}
        first, *more = self._reduced()
        try:
            first.save(self._file.part, append_images=more, **how)
        except OSError as cause:
            self._file.close(done=False)
            why = cause.strerror or cause
            raise FileError(f'"{self._file.out}" could not be written: {why}.') from None
        self._file.close(done=True)


class _Ffmpeg:
    def __init__(self, out: Path, size: tuple[int, int], fps: float) -> None:
        self._file, self._size, self._fps = _Part(out), size, fps
        self._module = _ffmpeg(out.suffix.lower())
        self._pipe: Generator[None, Any, None] | None = None

    def __enter__(self) -> Self:
        given = _CODECS[self._file.out.suffix.lower()]
        self._pipe = self._module.write_frames(
            str(self._file.part),
            self._size,
            fps=self._fps,
            macro_block_size=2,
            quality=None,
            ffmpeg_log_level="error",
            **given,
        )
        self._pipe.send(None)
        return self

    def add(self, frame: Bytes) -> None:
        """Send a frame to ffmpeg."""
        assert self._pipe is not None
        try:
            self._pipe.send(np.ascontiguousarray(frame))
        except (OSError, StopIteration) as cause:
            raise self._failure(cause) from None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._pipe is not None
        try:
            self._pipe.close()
        except OSError as cause:
            if kind is None:
                self._file.close(done=False)
                raise self._failure(cause) from None
        self._file.close(done=kind is None)

    def _failure(self, cause: BaseException) -> FileError:
        said = " ".join(str(cause).split())
        why = "no space is left on the disk" if "No space left" in said else said[-200:]
        return FileError(f'"{self._file.out}" could not be written: {why or "ffmpeg stopped"}.')
