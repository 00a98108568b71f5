"""A kernel small enough to run anywhere, whose answer is known: does a device compute right?"""

from __future__ import annotations

import numpy as np
import warp as wp
from numpy.typing import NDArray

from alight.core import random
from alight.core.devices import Device, launch
from alight.core.types import scalar

_ITEMS = 1024
_SEED, _NAME = 20_140_806, "selftest"


@wp.kernel
def _selftest(
    offset: int,
    key: random.vec2u,
    x: wp.array[scalar],
    root_out: wp.array[scalar],
    draw_out: wp.array[scalar],
) -> None:
    i = wp.tid() + offset
    root_out[i] = wp.sqrt(x[i]) - x[i]
    draw_out[i] = random.uniform_pair(key, wp.uint64(i), wp.uint64(0))[0]


def problem(device: Device) -> str | None:
    """Run the kernel on ``device``; say in a sentence what is wrong, or return None.

    Roots must agree with NumPy to the last place (so arithmetic is really float64), random
    numbers to the last bit.
    """
    try:
        root, draw = _run(device)
    except Exception as error:  # whatever a broken driver or compiler throws is the finding
        first_line = (str(error).strip() or type(error).__name__).splitlines()[0]
        return f"the kernel did not run: {first_line}"
    x = _numbers()
    worst = float(np.max(np.abs(root - (np.sqrt(x) - x)) / x))
    if not worst <= 2 * np.finfo(np.float64).eps:
        return f"wrong numbers: square roots are off by {worst:.1e}"
    if not np.array_equal(draw, random.uniform(_SEED, np.arange(_ITEMS), _NAME)[:, 0]):
        return "wrong numbers: random draws differ from the host's"
    return None


def _numbers() -> NDArray[np.float64]:
    return np.linspace(2.0, 3.0, _ITEMS)


def _run(device: Device) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    x = wp.array(_numbers(), dtype=scalar, device=device.name)
    root, draw = wp.zeros_like(x), wp.zeros_like(x)
    key = random.vec2u(*random.key_of(_SEED, _NAME))
    launch(_selftest, _ITEMS, [key, x], device, outputs=[root, draw])
    return root.numpy(), draw.numpy()
