"""Lane arithmetic: one kernel source that runs eight field points abreast on a CPU, one on a GPU.

A *lane vector* holds the same quantity for ``width`` field points. Elementwise operations on it
become SIMD instructions on a CPU (Warp compiles with the host's vector unit); with ``width = 1``
the same source is the plain scalar code that a GPU thread or a trajectory kernel wants.
"""

import functools
import types
from typing import Any

import warp as wp

from alight.core.types import scalar

#: Field points that one CPU thread carries through a kernel abreast.
CPU_WIDTH = 8

#: What a lane kernel needs of the CPU compiler: everything inlined into one loop body, products
#: and sums fused. Signed zeros, infinities and NaN keep their meaning (no fast math). Fused across
#: statements too, unlike the kernels of ``core.warp_setup``: this one loop is all there is.
CPU_FLAGS = (
    "-march=native -ffp-contract=fast"
    " -mllvm=-inline-threshold=9000 -mllvm=-inline-cold-callsite-threshold=3000"
)
MODULE_OPTIONS = {"cpu_compiler_flags": CPU_FLAGS, "optimization_level": 3}


def width_for(device_is_cuda: bool) -> int:
    """Lanes that pay on a device: a GPU has its own, one thread each."""
    return 1 if device_is_cuda else CPU_WIDTH


@functools.cache
def arithmetic(width: int) -> types.SimpleNamespace:
    """The lane type of a width, with its square root, dot product and odd series."""
    lanes = wp.types.vector(length=width, dtype=scalar)

    @wp.func
    def root(a: lanes):
        r = lanes()
        for i in range(wp.static(width)):
            r[i] = wp.sqrt(a[i])
        return r

    @wp.func
    def dot(ax: lanes, ay: lanes, az: lanes, bx: lanes, by: lanes, bz: lanes):
        return wp.cw_mul(ax, bx) + wp.cw_mul(ay, by) + wp.cw_mul(az, bz)

    return types.SimpleNamespace(lanes=lanes, root=root, dot=dot, odd_series=_odd_series(lanes))


def _odd_series(lanes: Any) -> Any:
    """A maker of ``x -> x (c0 + c1 x^2 + c2 x^4 + ...)``, Horner's rule unrolled on lanes."""

    def make(coefficients: tuple[float, ...]) -> Any:
        count = len(coefficients)
        table = wp.types.vector(length=count, dtype=scalar)
        constant = wp.constant(table(*coefficients))

        @wp.func
        def series(x: lanes):
            z = wp.cw_mul(x, x)
            p = lanes(constant[wp.static(count - 1)])
            for k in range(wp.static(1), wp.static(count)):
                p = wp.cw_mul(p, z) + lanes(constant[wp.static(count - 1) - k])
            return wp.cw_mul(x, p)

        return series

    return make
