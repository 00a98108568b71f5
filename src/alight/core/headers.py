"""Warp's headers as compiled once, kept between processes.

Before its first kernel a process compiles Warp's headers, once for each set of compiler flags: one
to four seconds each time. Warp throws the result away when the process ends. Here it is kept beside
the kernels, under a name made from the headers themselves, sealed, and lent to the next process
that compiles. A process that finds every kernel compiled never comes here.

Warp names a compiled header by the level of optimisation and a digest of the flags. Flags for the
optimiser say nothing about headers: what was compiled under some serves all that differ in those
alone, under the other name. (Clang checks a compiled header when it reads one, and compiles without
where it does not fit.)
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
from alight.core.warp_setup import ALL_FLAGS

#: Ending of a compiled header.
COMPILED = ".pch"


def store() -> pathlib.Path:
    """Where those of the headers that are installed now are kept."""
    return pathlib.Path(wp.config.kernel_cache_dir) / f"headers_{_installed()}"


def kept() -> list[pathlib.Path]:
    """Those that are kept, sound or not."""
    return _compiled(store())


def lend(place: pathlib.Path) -> None:
    """Put what is kept and sound where a thread of this process compiles."""
    for file in kept():
        own = place / file.name
        if own.exists() or not is_sound(file):
            continue
        with contextlib.suppress(OSError):
            shutil.copyfile(file, own)


def lend_for(place: pathlib.Path, flags: str | None, level: int) -> bool:
    """Whether there are headers for these flags now, made under others if need be."""
    if flags is None:
        return False
    wanted = _ending(flags, level)
    here = {file.name: file for file in _compiled(place)}
    if any(name.endswith(wanted) for name in here):
        return True
    endings = [_ending(other, level) for other in ALL_FLAGS if _plain(other) == _plain(flags)]
    for name, file in here.items():
        for ending in endings:
            if name.endswith(ending):
                with contextlib.suppress(OSError):
                    shutil.copyfile(file, place / (name.removesuffix(ending) + wanted))
                    return True
    return False


def _plain(flags: str) -> list[str]:
    """Flags without those that only the optimiser reads."""
    return [f for f in flags.split() if f != "-fno-slp-vectorize" and not f.startswith("-mllvm=")]


def _ending(flags: str, level: int) -> str:
    """How Warp ends the name of what is compiled under these flags: by their digest, FNV-1a."""
    digest = 14695981039346656037
    for byte in b"".join(flag.encode() + b"\0" for flag in flags.split()):
        digest = (digest ^ byte) * 1099511628211 % 2**64
    return f"_o{level}_f{digest:016x}{COMPILED}"


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
