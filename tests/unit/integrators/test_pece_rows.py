"""Adams steps in rows: the same steps at the same orders as on the host, at any length."""

import numpy as np
import pytest
import warp as wp

from alight.core import devices
from alight.core.types import scalar
from alight.integrators import solve
from alight.integrators.pece_kernel import ROWS, laws
from alight.integrators.pece_rows import (
    StateRows,
    begin_rows,
    correct_rows,
    give_way,
    keep_rows,
    predict_rows,
    step_weights,
)
from alight.integrators.runge_kutta_kernel import accepted
from alight.vehicles.tree.data import run_rows

DEVICES = [device.name for device in devices.available()]
_fitted = laws.fitted


@wp.func
def orbits(rows: StateRows, slot: int):
    """As many Kepler orbits in the plane as the state has room for: x, y, u, v each."""
    for j in range(rows.y.shape[0] / 4):
        a = 4 * j
        x = rows.trial[a, slot]
        y = rows.trial[a + 1, slot]
        r2 = x * x + y * y
        pull = scalar(1.0) / (r2 * wp.sqrt(r2))
        rows.slope[a, slot] = rows.trial[a + 2, slot]
        rows.slope[a + 1, slot] = rows.trial[a + 3, slot]
        rows.slope[a + 2, slot] = -pull * x
        rows.slope[a + 3, slot] = -pull * y


@wp.kernel(enable_backward=False)
def fly(
    offset: int,
    rows: StateRows,
    first: scalar,
    end: scalar,
    steps_out: wp.array(dtype=int),
    order_out: wp.array(dtype=int),
) -> None:
    slot = wp.tid() + offset
    n = rows.y.shape[0]
    for k in range(n):
        rows.trial[k, slot] = rows.y[k, slot]
    orbits(rows, slot)
    adams = begin_rows(rows, slot, first)
    t = scalar(0.0)
    count = int(0)
    highest = int(0)
    while t < end and count < 100000:
        h = _fitted(adams.size, end - t)
        to = t + h
        h = to - t
        weights = step_weights(adams, h)
        predict_rows(rows, slot, adams, weights)
        orbits(rows, slot)
        found = correct_rows(rows, slot, adams, weights)
        count += 1
        if accepted(found.error):
            orbits(rows, slot)
            adams = keep_rows(rows, slot, adams, weights, found)
            t = to
            highest = wp.max(highest, adams.used)
        else:
            adams = give_way(adams, h, found.errors)
    steps_out[slot] = count
    order_out[slot] = highest


def state(e):
    """At the nearest point of an orbit of semi-axis 1."""
    return np.array([1.0 - e, 0.0, 0.0, np.sqrt((1.0 + e) / (1.0 - e))])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shapes", [(0.3,), (0.3, 0.6, 0.1)])
def test_rows_take_the_steps_of_the_host(device, shapes):
    target = devices.resolve(device)
    y0 = np.concatenate([state(e) for e in shapes])
    n, slots, rtol, end = len(y0), 3, 1e-9, 10.0

    def slope(t, y):
        y = y.reshape(-1, 4)
        pull = -y[:, :2] / np.linalg.norm(y[:, :2], axis=1, keepdims=True) ** 3
        return np.concatenate([y[:, 2:], pull], axis=1).ravel()

    host = solve(slope, (0.0, end), y0, "pece", rtol=rtol, atol=rtol, first_step=1e-4)
    rows = StateRows()
    for name in ("y", "trial", "slope", "lost"):
        setattr(rows, name, run_rows(n, slots, scalar, target))
    rows.y.assign(np.repeat(y0[:, None], slots, axis=1))
    rows.phi = run_rows(n * ROWS, slots, scalar, target)
    rows.allowed = wp.array(np.full(n, rtol), dtype=scalar, device=device)
    rows.relative = wp.array(np.full(n, rtol), dtype=scalar, device=device)
    steps = wp.zeros(slots, dtype=int, device=device)
    order = wp.zeros(slots, dtype=int, device=device)
    inputs = [rows, 1e-4, end, steps, order]
    devices.launch(fly, slots, inputs, target)
    assert steps.numpy().tolist() == [host.steps + host.rejected] * slots
    assert order.numpy().tolist() == [host.history.order.max()] * slots
    # The same formulas, rounded in another order.
    np.testing.assert_allclose(rows.y.numpy().T, np.tile(host.y[-1], (slots, 1)), atol=1e-11)
