"""Several kernels compiled at the same time, and what a person is told meanwhile."""

import itertools
import threading

import numpy as np
import pytest
import warp as wp

from alight.core import compile_notice, devices, headers, kernels
from alight.core.progress import Silent, progress
from alight.core.types import scalar
from alight.core.warp_setup import POINT_OPTIONS, QUICK_OPTIONS, TABLE_OPTIONS

CPU = devices.resolve("cpu")
NUMBERS = itertools.count(5000)


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """An empty folder of kernels."""
    monkeypatch.setattr(wp.config, "kernel_cache_dir", str(tmp_path))
    return tmp_path


def adding_kernel(options=POINT_OPTIONS):
    """A kernel that no other test has, and the number that it adds."""
    number = next(NUMBERS)

    @wp.kernel(module="unique", enable_backward=False, module_options=options)
    def add(offset: int, x: wp.array(dtype=scalar), y_out: wp.array(dtype=scalar)):
        i = wp.tid() + offset
        y_out[i] = x[i] + scalar(wp.static(float(number)))

    return add, number


def launched(kernel):
    x = wp.array(np.arange(4.0), dtype=scalar, device="cpu")
    return devices.computed(kernel, 4, [x], [scalar], CPU)[0].tolist()


def compilers(monkeypatch):
    """The thread that compiled each module since."""
    seen = []
    load = kernels._load

    def noted(module, *rest):
        seen.append((module, threading.current_thread().name))
        load(module, *rest)

    monkeypatch.setattr(kernels, "_load", noted)
    return seen


def test_all_are_compiled_by_threads_once_and_sealed(cache, monkeypatch):
    made = [adding_kernel() for _ in range(3)]
    launched(adding_kernel()[0])  # headers are there
    seen = compilers(monkeypatch)
    monkeypatch.setattr(devices, "thread_count", lambda threads=None: 2)
    devices.compile_together([(kernel, CPU, 256) for kernel, _ in (*made, made[0])])
    assert len(seen) == 3
    assert all(name.startswith("compile") for _, name in seen)
    for kernel, number in made:
        assert launched(kernel) == [number, number + 1.0, number + 2.0, number + 3.0]
        folder = cache / kernel.module.get_module_identifier(1)
        assert sorted(f.suffix for f in folder.iterdir() if f.suffix == ".sha256")
    devices.compile_together([(kernel, CPU, 256) for kernel, _ in made])
    assert len(seen) == 3


def test_an_error_of_one_comes_out(cache, monkeypatch):
    made = [adding_kernel()[0] for _ in range(3)]
    load = kernels._load

    def broken(module, *rest):
        if module is made[1].module:
            raise RuntimeError("no compiler")
        load(module, *rest)

    monkeypatch.setattr(kernels, "_load", broken)
    with pytest.raises(RuntimeError, match="no compiler"):
        devices.compile_together([(kernel, CPU, 256) for kernel in made])


def test_headers_compiled_under_some_flags_serve_those_that_the_optimiser_alone_reads(cache):
    launched(adding_kernel(dict(QUICK_OPTIONS))[0])
    place = headers.place_of_this_thread()
    for file in place.iterdir():
        file.unlink()
    for file in headers.store().iterdir():
        if headers._ending(str(QUICK_OPTIONS["cpu_compiler_flags"]), 2) not in file.name:
            file.unlink()
    headers.lend(place)
    (first,) = place.iterdir()
    flags = str(TABLE_OPTIONS["cpu_compiler_flags"])
    assert headers.lend_for(place, flags, 2)
    (other,) = set(place.iterdir()) - {first}
    launched(adding_kernel(TABLE_OPTIONS)[0])
    # It was read as it is: a compiler that refuses one removes it, and names of Warp's own follow.
    assert {file.name for file in place.iterdir()} == {first.name, other.name}
    assert other.read_bytes() == first.read_bytes()


@pytest.mark.parametrize(("flags", "level"), [("-march=native", 2), (None, 2)])
def test_others_are_not_lent(cache, flags, level):
    launched(adding_kernel(dict(QUICK_OPTIONS))[0])
    assert not headers.lend_for(headers.place_of_this_thread(), flags, level)
    assert not headers.lend_for(
        headers.place_of_this_thread(), str(QUICK_OPTIONS["cpu_compiler_flags"]), 7
    )


# -- what is told ------------------------------------------------------------------------------


@pytest.fixture
def at_once(monkeypatch):
    """Lines are due from the first moment on."""
    monkeypatch.setattr(compile_notice, "FIRST", 0.0)


@pytest.mark.parametrize("kind", ["text", progress("text")])
def test_a_line_says_that_kernels_compile_and_when_they_are_done(cache, at_once, capsys, kind):
    with compile_notice.reported(kind):
        launched(adding_kernel()[0])
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("Compiling kernels (first use): 0 of 1 done, ")
    assert lines[-1].startswith("Compiled 1 kernel in ")


def test_how_many_are_to_come_is_told_where_it_is_known(cache, at_once, capsys):
    made = [(adding_kernel()[0], CPU, 256) for _ in range(3)]
    with compile_notice.reported("text"):
        devices.compile_together(made)
    lines = capsys.readouterr().err.splitlines()
    assert " of 3 done" in lines[0]
    assert lines[-1].startswith("Compiled 3 kernels in ")


@pytest.mark.parametrize("kind", ["silent", Silent()])
def test_silence_is_kept(cache, at_once, capsys, kind):
    with compile_notice.reported(kind):
        launched(adding_kernel()[0])
    assert capsys.readouterr().err == ""


def test_the_outermost_decides(cache, at_once, capsys):
    with compile_notice.reported("silent"), compile_notice.reported("text"):
        launched(adding_kernel()[0])
    assert capsys.readouterr().err == ""


def test_what_is_found_compiled_is_not_told(cache, at_once, capsys):
    kernel, _ = adding_kernel()
    launched(kernel)
    with compile_notice.reported("text"):
        launched(kernel)
    assert capsys.readouterr().err == ""


def test_headers_are_compiled_ahead_once_and_others_wait_for_them(cache, monkeypatch):
    (small, _), (other, number) = adding_kernel(), adding_kernel()
    monkeypatch.setattr(kernels, "_headers", None)
    seen, go_on = compilers(monkeypatch), threading.Event()
    load = kernels._load

    def held(module, *rest):
        if module is small.module:
            assert go_on.wait(60.0)
        load(module, *rest)

    monkeypatch.setattr(kernels, "_load", held)
    devices.compile_headers(small, CPU)
    waiting = threading.Thread(target=launched, args=(other,))
    waiting.start()
    waiting.join(0.3)
    assert waiting.is_alive()
    assert not seen
    go_on.set()
    waiting.join()
    assert [module for module, _ in seen] == [small.module, other.module]
    assert launched(other) == [number, number + 1.0, number + 2.0, number + 3.0]
    assert headers.kept()
    monkeypatch.setattr(kernels, "_headers", None)
    devices.compile_headers(adding_kernel()[0], CPU)
    assert kernels._headers is None  # there is nothing to be done


def test_headers_that_cannot_be_compiled_ahead_are_no_word(cache, monkeypatch, capfd):
    def broken(*_):
        raise RuntimeError("no compiler")

    monkeypatch.setattr(kernels, "_headers", None)
    with monkeypatch.context() as now:
        now.setattr(kernels, "_load", broken)
        devices.compile_headers(adding_kernel()[0], CPU)
        kernels._await_headers()
    assert "no compiler" not in "".join(capfd.readouterr())
