"""How long contacts stay open: no longer than true, and almost as long."""

import numpy as np
import pytest
import warp as wp

from alight.contact.time_to_contact.bounds import open_time, turning_open_time
from alight.core import devices
from alight.core.types import scalar
from alight.core.warp_setup import POINT_OPTIONS

DEVICES = [device.name for device in devices.available()]


@wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
def times_kernel(
    offset: int,
    rows: wp.array2d(dtype=scalar),
    even_out: wp.array(dtype=scalar),
    turning_out: wp.array(dtype=scalar),
) -> None:
    i = wp.tid() + offset
    even_out[i] = open_time(rows[i, 0], rows[i, 1], wp.abs(rows[i, 2]))
    turning_out[i] = turning_open_time(rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3])


def times(cases, device="cpu"):
    """Both times for rows of gap, rate, bend and jerk."""
    target = devices.resolve(device)
    given = wp.array(np.asarray(cases, float), dtype=scalar, device=target.name)
    out = [wp.empty(len(cases), dtype=scalar, device=target.name) for _ in range(2)]
    devices.launch(times_kernel, len(cases), [given], target, outputs=out)
    return [array.numpy() for array in out]


def random_cases(count=20_000):
    rng = np.random.default_rng(5)

    def size():
        return 10.0 ** rng.uniform(-6.0, 1.0, count) * (rng.random(count) < 0.9)

    sign = rng.choice([-1.0, 1.0], (2, count))
    gap, rate, bend = size(), sign[0] * size(), sign[1] * size()
    return np.column_stack([gap, rate, bend, 10.0 ** rng.uniform(-4.0, 2.0, count)])


def cubic(case, t):
    gap, rate, bend, jerk = case.T
    return gap + t * (rate + t * (0.5 * bend - t * jerk / 6.0))


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


def test_even_bend(device):
    """gap + u t - b t^2/2 = 0 at the time told."""
    cases = random_cases()
    even, _ = times(cases, device)
    gap, rate, bend = cases[:, 0], cases[:, 1], np.abs(cases[:, 2])
    left = gap + rate * even - 0.5 * bend * even**2
    scale = gap + np.abs(rate) * even + 0.5 * bend * even**2
    known = even < 1e29
    assert (np.abs(left[known]) <= 1e-12 * scale[known]).all()
    # Without an end: it opens and nothing bends it.
    assert (rate[~known] >= 0.0).all()
    assert (even[(rate > 0.0) & (bend > 0.0)] > 0.0).all()


def test_a_gap_below_zero_counts_as_closed():
    even, turning = times([[-1e-3, -1.0, 1.0, 1.0], [-1e-3, 1.0, 1.0, 1.0]])
    assert even[0] == turning[0] == 0.0
    assert even[1] == 2.0  # it opens: as from 0


def test_turning_never_too_long(device):
    """The cubic is above 0 all the way."""
    cases = random_cases()
    _, turning = times(cases, device)
    assert np.isfinite(turning).all()
    assert (turning >= 0.0).all()
    scale = np.abs(cases[:, :3]).max(axis=1)
    for share in np.linspace(0.001, 1.0, 200):
        t = share * turning
        size = cases[:, 0] + np.abs(cases[:, 1]) * t + np.abs(cases[:, 2]) * t**2 + t**3
        assert (cubic(cases, t) >= -1e-12 * (size + scale * 1e-3)).all()


def test_turning_is_almost_as_long_as_it_can_be():
    """Within a thousandth: a little later, or just there, it is closed."""
    cases = random_cases()
    cases = cases[cases[:, 0] > 1e-3]
    _, turning = times(cases)
    assert (cubic(cases, 1.002 * turning + 1e-9) <= 1e-9 * (1.0 + turning**3)).mean() > 0.99
