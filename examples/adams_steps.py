"""The Adams method of articulated landers, stepped from Python for any right-hand side.

``integrators.pece_rows`` has the steps as Warp functions. Here four small kernels call them one
after another, and slopes come from Python in between: slow, but the very code that landings run.
``examples/pendulum_on_stop.py`` and the tests of the method use it.
"""

from typing import NamedTuple

import numpy as np
import warp as wp

from alight.core import devices
from alight.core.types import scalar
from alight.integrators.pece_rows import (
    Adams,
    Corrected,
    StateRows,
    Step,
    begin_rows,
    correct_rows,
    give_way,
    keep_rows,
    predict_rows,
    state_rows,
    weigh_step,
)


@wp.kernel(enable_backward=False)
def begin(rows: StateRows, first: scalar, adams: wp.array(dtype=Adams)) -> None:
    """A start at order 1."""
    adams[0] = begin_rows(rows, 0, first)


@wp.kernel(enable_backward=False)
def predict(
    rows: StateRows, h: scalar, adams: wp.array(dtype=Adams), step: wp.array(dtype=Step)
) -> None:
    """The predicted state of a step."""
    step[0] = weigh_step(rows, 0, adams[0], h)
    predict_rows(rows, 0, adams[0], step[0])


@wp.kernel(enable_backward=False)
def correct(
    rows: StateRows,
    adams: wp.array(dtype=Adams),
    step: wp.array(dtype=Step),
    found: wp.array(dtype=Corrected),
) -> None:
    """The corrected state, and its error over the one allowed."""
    found[0] = correct_rows(rows, 0, adams[0], step[0])


@wp.kernel(enable_backward=False)
def end(
    rows: StateRows,
    kept: bool,
    adams: wp.array(dtype=Adams),
    step: wp.array(dtype=Step),
    found: wp.array(dtype=Corrected),
) -> None:
    """What comes after a step that was kept, or was not."""
    if kept:
        adams[0] = keep_rows(rows, 0, adams[0], step[0], found[0])
    else:
        adams[0] = give_way(adams[0], step[0].h, found[0].errors)


class Steps(NamedTuple):
    """The steps of a solution."""

    t: np.ndarray
    """(m + 1,) the start and the ends of steps."""
    y: np.ndarray
    """(m + 1, n) states there."""
    order: np.ndarray
    """(m,) of each step."""
    rejected: int
    """Steps that were tried and not kept."""
    evaluations: int
    """Slopes asked for."""

    @property
    def size(self) -> np.ndarray:
        """(m,) sizes of steps."""
        return np.diff(self.t)


def adams_steps(rhs, span, y0, tolerance, absolute=None, first=1e-4, longest=np.inf) -> Steps:
    """Solve y' = rhs(t, y) over ``span``, forward, with errors of ``tolerance`` a step.

    An error is over ``absolute`` (that same number unless given) plus ``tolerance`` times the
    state. A solution whose steps shrink to nothing ends there: its last time shows it.
    """
    t, stop = span
    n = len(y0)
    absolute = tolerance if absolute is None else absolute
    rows = state_rows(n, 1, np.full(n, absolute), np.full(n, tolerance), devices.resolve("cpu"))
    kept = [wp.zeros(1, dtype=kind, device="cpu") for kind in (Adams, Step, Corrected)]
    adams, found = kept[0].numpy(), kept[2].numpy()
    y, trial, slope = (getattr(rows, name).numpy()[:, 0] for name in ("y", "trial", "slope"))

    def launch(kernel, *inputs):
        wp.launch(kernel, dim=1, inputs=[rows, *inputs], device="cpu")

    y[:] = y0
    slope[:] = rhs(t, y)
    launch(begin, first, kept[0])
    times, states, orders = [t], [y.copy()], []
    tries, slopes = 0, 1
    while t < stop and adams["size"][0] > 10.0 * np.spacing(abs(t)):
        h, left = min(float(adams["size"][0]), longest), stop - t
        # The last two steps are equal, so that neither is a sliver.
        to = stop if h >= left * (1.0 - 1e-9) else t + (0.5 * left if 2.0 * h > left else h)
        launch(predict, to - t, *kept[:2])
        slope[:] = rhs(to, trial)
        launch(correct, *kept)
        tries, slopes = tries + 1, slopes + 1
        good = bool(found["error"][0] <= 1.0)
        if good:
            slope[:] = rhs(to, trial)
            slopes += 1
            good = bool(np.isfinite(slope).all())
        order = int(adams["order"][0])
        launch(end, good, *kept)
        if good:
            t = to
            times.append(t)
            states.append(y.copy())
            orders.append(order)
    rejected = tries - len(orders)
    return Steps(np.array(times), np.array(states), np.array(orders), rejected, slopes)
