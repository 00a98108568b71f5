"""Kernels are compiled quickly first and in full once it pays, with the same bits."""

import itertools

import numpy as np
import pytest
import warp as wp

from alight.core import compile_effort, devices, kernels
from alight.core.errors import InputError
from alight.core.types import scalar
from alight.core.warp_setup import POINT_OPTIONS, QUICK_OPTIONS
from alight.gravity import lanes

CPU = devices.resolve("cpu")
QUICK, FULL = (o["optimization_level"] for o in (QUICK_OPTIONS, POINT_OPTIONS))


NUMBERS = itertools.count(100)


def wander_kernel(options, times=None):
    """Products and sums that could be fused, and functions of the library, ``times`` over; another
    number is another kernel."""
    count = next(NUMBERS) if times is None else times

    @wp.kernel(module="unique", enable_backward=False, module_options=options)
    def wander(offset: int, x: wp.array(dtype=scalar), y_out: wp.array(dtype=scalar)):
        i = wp.tid() + offset
        y = x[i]
        z = scalar(0.3)
        for _ in range(wp.static(count)):
            w = scalar(3.9) * y
            y = w - w * y + scalar(1e-3) * wp.sin(z)
            z = wp.sqrt(wp.abs(z * y - scalar(0.1))) + y * y
        y_out[i] = y + z

    return wander


def launched(kernel):
    x = wp.array(np.linspace(0.1, 0.9, 64), dtype=scalar, device="cpu")
    (out,) = devices.computed(kernel, 64, [x], [scalar], CPU)
    return out.copy()


@pytest.fixture
def effort(monkeypatch, tmp_path):
    """``effort("auto")``: what is wanted from here on, with an empty cache."""
    monkeypatch.setattr(wp.config, "kernel_cache_dir", str(tmp_path))
    return lambda wanted: monkeypatch.setenv(compile_effort.VARIABLE, wanted)


def level(kernel):
    return kernel.module.options["optimization_level"]


def test_quickly_at_first_and_in_full_once_it_has_run_for_long(effort):
    effort("auto")
    kernel = wander_kernel(POINT_OPTIONS)
    first = launched(kernel)
    assert level(kernel) == QUICK
    compile_effort.note(kernel.module, 0.9 * compile_effort.LONG)
    launched(kernel)
    assert level(kernel) == QUICK
    compile_effort.note(kernel.module, 0.1 * compile_effort.LONG)
    assert np.array_equal(launched(kernel), first)
    assert level(kernel) == FULL
    assert kernel.module.options["cpu_compiler_flags"] == POINT_OPTIONS["cpu_compiler_flags"]
    launched(kernel)
    assert level(kernel) == FULL


def test_optimised_code_that_is_kept_is_used_at_once(effort):
    effort("full")
    launched(wander_kernel(POINT_OPTIONS, times=7))
    effort("auto")
    again = wander_kernel(POINT_OPTIONS, times=7)
    again.module.unload()
    kernels._loaded.clear()
    compile_effort._states.clear()
    launched(again)
    assert level(again) == FULL


@pytest.mark.parametrize(("wanted", "found"), [("quick", QUICK), ("full", FULL)])
def test_one_of_them_alone(effort, wanted, found):
    effort(wanted)
    kernel = wander_kernel(POINT_OPTIONS)
    launched(kernel)
    compile_effort.note(kernel.module, 2.0 * compile_effort.LONG)
    launched(kernel)
    assert level(kernel) == found


def test_lanes_are_always_compiled_in_full(effort):
    effort("quick")
    kernel = wander_kernel(lanes.MODULE_OPTIONS)
    launched(kernel)
    assert level(kernel) == FULL


def test_a_word_that_is_none(effort):
    effort("fast")
    with pytest.raises(InputError, match='ALIGHT_COMPILER is "fast"; it must be one of auto, q'):
        launched(wander_kernel(POINT_OPTIONS))
