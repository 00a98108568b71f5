"""Lane vectors of any width compute what NumPy computes."""

import functools

import numpy as np
import pytest
import warp as wp

from alight.core.types import scalar
from alight.gravity.lanes import CPU_WIDTH, arithmetic, width_for

COEFFICIENTS = (2.0, -0.75, 0.3, -0.1)


@functools.cache
def sampler(width):
    """A kernel that stores root, dot product and odd series of one lane vector a thread."""
    lane = arithmetic(width)
    lanes, root, dot = lane.lanes, lane.root, lane.dot
    series = lane.odd_series(COEFFICIENTS)

    @wp.kernel(module="unique", enable_backward=False)
    def sample(x: wp.array(dtype=lanes), out: wp.array(dtype=lanes, ndim=2)):
        i = wp.tid()
        v = x[i]
        out[i, 0] = root(v)
        out[i, 1] = dot(v, v, v, v, root(v), wp.cw_mul(v, v))
        out[i, 2] = series(v)

    return sample, lanes


@pytest.mark.parametrize("width", [1, 3, 8])
def test_lane_arithmetic(width):
    kernel, lanes = sampler(width)
    x = np.random.default_rng(0).uniform(0.0, 0.4, (5, width))
    out = wp.zeros((5, 3), dtype=lanes, device="cpu")
    wp.launch(kernel, dim=5, inputs=[wp.array(x, dtype=lanes, device="cpu"), out], device="cpu")
    root, dot, series = out.numpy().reshape(5, 3, width).transpose(1, 0, 2)
    assert np.array_equal(root, np.sqrt(x))
    assert dot == pytest.approx(x * x + x * np.sqrt(x) + x**3, rel=1e-15)
    odd = sum(c * x ** (2 * k + 1) for k, c in enumerate(COEFFICIENTS))
    assert series == pytest.approx(odd, rel=1e-15)


def test_the_same_width_is_built_once():
    assert arithmetic(4) is arithmetic(4)
    assert arithmetic(4).lanes._wp_scalar_type_ is scalar


def test_a_gpu_thread_carries_one_point():
    assert width_for(True) == 1
    assert width_for(False) == CPU_WIDTH
