"""What is read of compiled GPU kernels: sizes, registers, stack, and where the time went."""

import json

import pytest
import warp as wp
from tools import gpu_compile

from alight.core.types import scalar

Many = wp.types.vector(length=32, dtype=scalar)


@wp.kernel(module="unique", enable_backward=False)
def plain(values: wp.array(dtype=scalar)) -> None:
    i = wp.tid()
    values[i] = values[i] + scalar(1.0)


@wp.kernel(module="unique", enable_backward=False)
def on_stack(values: wp.array(dtype=scalar), order: wp.array(dtype=int)) -> None:
    """What is indexed by a number that the compiler does not know lies in memory."""
    i = wp.tid()
    kept = Many()
    for k in range(32):
        kept[order[k]] = values[k]
    values[i] = kept[order[i]]


def test_registers_and_stack_are_those_of_the_kernel(tmp_path):
    """A thread that keeps 32 numbers by a computed index has a stack of at least 256 bytes."""
    if not wp.is_cuda_available() and not wp.get_cuda_supported_archs():
        pytest.skip("this build of Warp cannot compile for a GPU")
    small = gpu_compile.compiled(plain, "plain", tmp_path / "plain", 90)
    large = gpu_compile.compiled(on_stack, "on stack", tmp_path / "on_stack", 90)
    assert small.stack == 0
    assert large.stack >= 256
    assert 0 < small.registers < 64
    assert small.source > 0
    assert 0 < small.code < large.code


def test_the_slowest_functions_are_told_by_their_names(tmp_path):
    """Names as the compiler writes them, with the time of all passes added up."""
    unit = "_ZN45_INTERNAL_00000000_14_facets_hits_cu_5f933299"
    inner = unit + "37contacts_function__locals__contacts_0E4Rock"
    events = [
        {"name": "OptFunction", "dur": 1.5e6, "args": {"detail": inner}},
        {"name": "OptFunction", "dur": 2.0e6, "args": {"detail": "advance_1b_cuda_kernel_forward"}},
        {"name": "OptFunction", "dur": 1.5e6, "args": {"detail": inner}},
        {"name": "OptFunction", "dur": 0.1e6, "args": {"detail": "__internal_accurate_pow"}},
        {"name": "Phase I", "dur": 9e6},
    ]
    file = tmp_path / "module.cubin_compile-time-trace.json"
    file.write_text(json.dumps({"traceEvents": events}))
    found = gpu_compile.slowest(tmp_path)
    assert found == [
        ("contacts_function.contacts", pytest.approx(3.0)),
        ("the kernel", pytest.approx(2.0)),
    ]
