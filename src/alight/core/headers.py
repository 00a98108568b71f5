"""Warp's headers as compiled once, kept between processes.

Before its first kernel a process compiles Warp's headers, once for each set of compiler flags: two
to four seconds each time. Warp throws the result away when the process ends. Here it is kept beside
the kernels, under a name made from the headers themselves, sealed, and lent to the next process
that compiles. A process that finds every kernel compiled never comes here.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import pathlib
import shutil

import warp as wp

from alight.core.seals import is_sound, seal_of
from alight.core.stale_files import whole_file

#: Ending of a compiled header.
COMPILED = ".pch"


def store() -> pathlib.Path:
    """Where those of the headers that are installed now are kept."""
    return pathlib.Path(wp.config.kernel_cache_dir) / f"headers_{_installed()}"


def lend(place: pathlib.Path) -> None:
    """Put what is kept and sound where a thread of this process compiles."""
    for kept in _compiled(store()):
        own = place / kept.name
        if own.exists() or not is_sound(kept):
            continue
        with contextlib.suppress(OSError):
            shutil.copyfile(kept, own)


def keep(place: pathlib.Path) -> None:
    """Keep what a thread of this process has made; where nothing can be written it is not kept."""
    folder = store()
    for own in _compiled(place):
        kept = folder / own.name
        if is_sound(kept):
            continue
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            data = own.read_bytes()
            with whole_file(kept) as file:
                file.write(data)
            with whole_file(seal_of(kept)) as file:
                file.write(hashlib.sha256(data).hexdigest().encode("ascii"))


def place_of_this_thread() -> pathlib.Path | None:
    """Where Warp looks for compiled headers and leaves them; None where it does not say."""
    ask = getattr(getattr(wp._src.context, "runtime", None), "get_clang_pch_dir", None)
    found = None if ask is None else ask()
    return None if found is None else pathlib.Path(found)


@functools.cache
def _installed() -> str:
    """A digest of which headers are installed: a compiled one serves no others, nor elsewhere."""
    native = pathlib.Path(wp.__file__).parent / "native"
    facts = [wp.config.version, str(native)]
    for file in sorted(native.rglob("*.h")):
        state = file.stat()
        facts.append(f"{file.name} {state.st_size} {state.st_mtime_ns}")
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:12]


def _compiled(folder: pathlib.Path) -> list[pathlib.Path]:
    try:
        return sorted(file for file in folder.iterdir() if file.suffix == COMPILED)
    except OSError:
        return []
