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
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import warp as wp

from alight.core import compile_effort, compile_notice, headers, seals
from alight.core.errors import FileError

#: Endings of the files that are loaded: machine code and what Warp notes about it.
LOADED = (".o", ".cubin", ".ptx", ".meta")

#: For the tables below; held shortly, and never while something compiles.
_lock = threading.Lock()
#: Which variants of a module are loaded: name of the device, size of a block, hash of the code.
_loaded: weakref.WeakKeyDictionary[Any, set[tuple[str, int, bytes]]] = weakref.WeakKeyDictionary()
#: One thread at a time compiles a module; others wait for it and find it loaded.
_locks: weakref.WeakKeyDictionary[Any, threading.RLock] = weakref.WeakKeyDictionary()


def load(kernel: wp.Kernel, device: str, block: int) -> None:
    """Have the module of a kernel loaded on a device, from sound files or compiled again."""
    module = kernel.module
    if _is_loaded(module, device, block):
        return
    with _lock_of(module):
        folder = _chosen_folder(module, device, block)
        variant = (device, block, module.get_module_hash(block))
        remove_unsound(folder)
        if _files(folder):
            _load(module, device, block, folder)
        else:
            with compile_notice.compiling():
                _await_headers()
                place = headers.place_of_this_thread()
                if place is not None:
                    headers.lend(place)
                    options = module.options
                    headers.lend_for(
                        place, options["cpu_compiler_flags"], options["optimization_level"]
                    )
                _load(module, device, block, folder)
                if place is not None:
                    headers.keep(place)
        with _lock:
            _loaded.setdefault(module, set()).add(variant)


def compile_together(kernels: Sequence[tuple[wp.Kernel, str, int]], workers: int) -> None:
    """Have the modules of several kernels, each on a device and for blocks of a size, loaded; those
    that must be compiled are, at the same time, by ``workers`` threads.

    Each compiler is a thread: Warp lets go of Python's lock while one works, on a CPU (clang) and
    for a GPU (NVRTC). Name those that take longest first. ``launch`` would compile each of them
    when it comes to it, one after the other; the files and their bits are the same.
    """
    new = {(id(k.module), d, b): (k, d, b) for k, d, b in kernels if not _is_loaded(k.module, d, b)}
    wanted = list(new.values())
    folders = [_chosen_folder(kernel.module, device, block) for kernel, device, block in wanted]
    compile_notice.expect(sum(not _files(folder) for folder in folders))
    hosted = [each for each in wanted if each[1] == "cpu"]
    if len(hosted) > 1 and not _has_headers(hosted[0][0].module):
        # Compilers that begin together would each compile Warp's headers: the last one here goes
        # first, and leaves them to the others.
        wanted.remove(hosted[-1])
        load(*hosted[-1])
    workers = min(len(wanted), workers)
    if workers <= 1:
        for each in wanted:
            load(*each)
        return
    pool = ThreadPoolExecutor(workers, "compile")
    try:
        for done in [pool.submit(load, *each) for each in wanted]:
            done.result()
    finally:
        pool.shutdown(cancel_futures=True)


def compile_headers(kernel: wp.Kernel) -> None:
    """Begin to compile Warp's headers for the CPU, where none are kept: in a thread, with a small
    kernel, while the process loads and builds what it needs to have kernels of its own.

    What goes wrong is not reported: it comes again where the kernel is needed.
    """
    global _headers
    with _lock:
        if _headers is not None or any(map(seals.is_sound, headers.kept())):
            return
        _headers = threading.Thread(target=_load_quietly, args=(kernel,), daemon=True)
    _headers.start()


#: The thread of ``compile_headers``.
_headers: threading.Thread | None = None


def _load_quietly(kernel: wp.Kernel) -> None:
    with contextlib.suppress(Exception):
        load(kernel, "cpu", 1)


def _await_headers() -> None:
    """Other compilers would compile the headers too: they wait, and take them."""
    if _headers is not None and _headers is not threading.current_thread():
        _headers.join()


def _has_headers(module: Any) -> bool:
    """Whether Warp's headers are compiled for the options of a module, as far as is known."""
    _await_headers()
    place, options = headers.place_of_this_thread(), module.options
    if place is None:
        return True
    headers.lend(place)
    return headers.lend_for(place, options["cpu_compiler_flags"], options["optimization_level"])


def _is_loaded(module: Any, device: str, block: int) -> bool:
    if not compile_effort.is_chosen(module, device):
        return False
    variant = (device, block, module.get_module_hash(block))
    return variant in _loaded.get(module, ())


def _lock_of(module: Any) -> threading.RLock:
    with _lock:
        return _locks.setdefault(module, threading.RLock())


def _load(module: Any, device: str, block: int, folder: pathlib.Path) -> None:
    """Have Warp load a module, and seal what it has compiled."""
    try:
        module.load(device, block)
    except Exception:
        # Another process may have removed a file between Warp's look at it and its loading. An
        # error of the compiler is kept by Warp and comes again at once.
        for file in _files(folder):
            _remove(file)
        module.load(device, block)
    seal(folder)


def _chosen_folder(module: Any, device: str, block: int) -> pathlib.Path:
    """Where the code of a module is kept, once it is chosen how it is compiled."""
    with _lock:
        compile_effort.choose(module, device, lambda: bool(_files(_folder(module, block))))
        return _folder(module, block)


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
                "the environment variable WARP_CACHE_PATH to a writable folder."
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
