"""Compiled kernels on disk: files that are not as they were written are compiled again.

Warp keeps the code of a module in a folder of its cache and loads what it finds there. A file that
was cut short, by a full disk or a machine that lost power, would fail every later start, and one
with other bytes in it might run. So each file that is loaded has a seal beside it, its digest. What
does not match its seal, or has none, is removed before Warp looks, and Warp compiles it again.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import threading
import weakref
from typing import Any

import warp as wp

from alight.core import compile_effort, headers, seals
from alight.core.errors import FileError

#: Endings of the files that are loaded: machine code and what Warp notes about it.
LOADED = (".o", ".cubin", ".ptx", ".meta")

_lock = threading.Lock()
#: Which variants of a module are loaded: name of the device, size of a block, hash of the code.
_loaded: weakref.WeakKeyDictionary[Any, set[tuple[str, int, bytes]]] = weakref.WeakKeyDictionary()


def load(kernel: wp.Kernel, device: str, block: int) -> None:
    """Have the module of a kernel loaded on a device, from sound files or compiled anew."""
    module = kernel.module
    if compile_effort.is_chosen(module, device):
        variant = (device, block, module.get_module_hash(block))
        if variant in _loaded.get(module, ()):
            return
    with _lock:
        compile_effort.choose(module, device, lambda: bool(_files(_folder(module, block))))
        variant = (device, block, module.get_module_hash(block))
        folder = _folder(module, block)
        remove_unsound(folder)
        place = None if _files(folder) else headers.place_of_this_thread()
        if place is not None:
            headers.lend(place)
        try:
            module.load(device, block)
        except Exception:
            # Another process may have removed a file between Warp's look at it and its loading. An
            # error of the compiler is kept by Warp and comes again at once.
            for file in _files(folder):
                _remove(file)
            module.load(device, block)
        seal(folder)
        if place is not None:
            headers.keep(place)
        _loaded.setdefault(module, set()).add(variant)


def _folder(module: Any, block: int) -> pathlib.Path:
    """Where the code of a module is kept, as it is to be compiled now."""
    return pathlib.Path(wp.config.kernel_cache_dir) / module.get_module_identifier(block)


def remove_unsound(folder: pathlib.Path) -> None:
    """Remove files that do not match their seal, or have none."""
    for file in _files(folder):
        if seals.is_sound(file):
            continue
        sealed = seals.stated(file) is not None
        _remove(file)
        if sealed and file.exists():
            raise FileError(
                f"the compiled kernel {file} is damaged and cannot be removed. Remove it, or set "
                "the environment variable WARP_CACHE_PATH to a folder that can be written."
            )


def seal(folder: pathlib.Path) -> None:
    """Write the seals that are missing; where nothing can be written there are none."""
    for file in _files(folder):
        path = seals.seal_of(file)
        with contextlib.suppress(OSError):
            if not path.exists():
                part = path.with_name(f"{path.name}.{os.getpid()}.part")
                part.write_text(seals.digest(file), "ascii")
                part.replace(path)


def _files(folder: pathlib.Path) -> list[pathlib.Path]:
    """What is loaded from a folder, sorted."""
    try:
        return sorted(file for file in folder.iterdir() if file.suffix in LOADED)
    except OSError:
        return []


def _remove(file: pathlib.Path) -> None:
    for path in (file, seals.seal_of(file)):
        with contextlib.suppress(OSError):
            path.unlink()
