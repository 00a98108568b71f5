"""Contacts on their way to a hit, alone: which are awaited, and when they touch.

A gap closes when gap + u t + a t^2/2 = 0. Awaited is what did not hold and could come faster than a
given speed, u^2 + 2 g gap > least^2; it is left alone, and a step that passes its touch says so.
"""

import numpy as np
import pytest
import warp as wp

from alight.contact.compliant.clipped_springs import Motion
from alight.contact.hull.contact_list import MOST, HullContact
from alight.contact.hull.feature_pairs import BALL, CORNER
from alight.contact.impulse.awaited_hits import (
    Coming,
    await_hits,
    next_touch,
    time_to_touch,
    touch_after_hits,
)
from alight.contact.impulse.contact_solver import AWAITED, HeldContact
from alight.core import devices
from alight.core.types import scalar, vec3
from alight.core.warp_setup import POINT_OPTIONS

UP = np.array([0.0, 0.0, 1.0])
NEVER = 1e30
#: Of the cases below.
G, LEAST, NEAR, DT = 1e-3, 1e-5, 1e-6, 0.5


@wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
def coming_kernel(
    offset: int,
    g: scalar,
    least: scalar,
    near: scalar,
    dt: scalar,
    pull: vec3,
    start: wp.array(dtype=Motion),
    end: wp.array(dtype=Motion),
    found: wp.array2d(dtype=HullContact),
    held: wp.array2d(dtype=HeldContact),
    coming_out: wp.array(dtype=Coming),
    after_out: wp.array(dtype=scalar),
) -> None:
    i = wp.tid() + offset
    await_hits(found, held, 1, i, vec3(), start[i], g, least)
    coming_out[i] = next_touch(found, held, 1, i, vec3(), start[i], end[i], dt, near, least)
    after_out[i] = touch_after_hits(found, 1, i, vec3(), start[i], pull, near, least)


@wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
def time_kernel(offset: int, given: wp.array(dtype=vec3), time_out: wp.array(dtype=scalar)) -> None:
    i = wp.tid() + offset
    time_out[i] = time_to_touch(given[i][0], given[i][1], given[i][2])


def coming(gap, u, *, later=None, carried=0.0, turn=0.0, kind=BALL, place=(0.0, 0.0, -0.1)):
    """One contact at ``gap`` in the middle of a step, that separates with ``u``, then ``later``.

    What is awaited, what comes next, and when it would touch after hits, under gravity alone.
    """
    target = devices.resolve("cpu")
    found = np.zeros((MOST, 1), dtype=HullContact.numpy_dtype())
    found["normal"], found["gap"], found["kind"], found["point"] = UP, gap, kind, place
    before = np.zeros((MOST, 1), dtype=HeldContact.numpy_dtype())
    before["impulse"] = carried * UP
    moves = np.zeros((2, 1), dtype=Motion.numpy_dtype())
    moves["w"][..., 0] = turn
    moves["v"][0], moves["v"][1] = u * UP, (u if later is None else later) * UP
    held = wp.array(before, dtype=HeldContact, device="cpu")
    inputs = [
        *(scalar(value) for value in (G, LEAST, NEAR, DT)),
        vec3(0.0, 0.0, -G),
        *(wp.array(move, dtype=Motion, device="cpu") for move in moves),
        wp.array(found, dtype=HullContact, device="cpu"),
        held,
    ]
    out = wp.zeros(1, dtype=Coming, device="cpu")
    after = wp.zeros(1, dtype=scalar, device="cpu")
    devices.launch(coming_kernel, 1, inputs, target, outputs=[out, after])
    return held.numpy()["stuck"][0, 0] == AWAITED, out.numpy()[0], after.numpy()[0]


def test_the_time_to_a_touch_is_the_first_root_on_the_way_down():
    rng = np.random.default_rng(1)
    given = rng.normal(size=(300, 3))
    out = wp.zeros(len(given), dtype=scalar, device="cpu")
    table = wp.array(given, dtype=vec3, device="cpu")
    devices.launch(time_kernel, len(given), [table], devices.resolve("cpu"), outputs=[out])
    times = np.linspace(0.0, 50.0, 50_001)
    for (gap, u, a), found in zip(given, out.numpy(), strict=True):
        if gap <= 0.0 and u < 0.0:
            assert found == 0.0
        elif found < NEVER:
            scale = abs(gap) + abs(u) * found + 0.5 * abs(a) * found**2
            assert abs(gap + u * found + 0.5 * a * found**2) < 1e-12 * scale
            assert u + a * found < 1e-9
            above = gap + u * times + 0.5 * a * times**2
            early = times[(times > 0.0) & (times < 0.999 * found)]
            assert gap <= 0.0 or (above[1 : 1 + len(early)] > 0.0).all()
        elif gap > 0.0:
            assert (gap + u * times + 0.5 * a * times**2).min() > -1e-6
    assert (out.numpy() < NEVER).mean() > 0.5


def test_what_held_or_is_slow_or_below_is_held():
    """From 1 um, LEAST falls no deeper than 0.05 um."""
    assert coming(1e-4, -1e-3)[0]
    assert coming(1e-6, 0.0)[0]
    assert not coming(1e-4, -1e-3, carried=1.0)[0]
    assert not coming(-1e-9, -1e-3)[0]
    assert not coming(1e-8, -0.5 * LEAST)[0]
    assert coming(1e-8, -2.0 * LEAST)[0]


def test_the_next_touch_goes_on_as_the_step_did():
    """From the end of a step whose second half goes at ``later``, with its acceleration."""
    gap, u, later = 1e-3, -1e-4, -3e-4
    _, found, _ = coming(gap, u, later=later)
    left, a = gap + 0.5 * DT * later, (later - u) / DT
    assert found["due"] == 0
    assert found["missed"] == NEVER
    assert left + later * found["time"] + 0.5 * a * found["time"] ** 2 == pytest.approx(
        0, abs=1e-15
    )


def test_a_hit_is_due_where_a_gap_is_closed_at_the_end():
    for off in (-0.9, 0.0, 0.9):
        _, found, _ = coming(1e-4 + off * NEAR, -2e-4 / DT)
        assert (found["due"], found["time"], found["missed"]) == (1, 0.0, NEVER)
    slow = coming(5e-6, -0.9 * LEAST)[1]
    assert slow["due"] == 0


def test_a_step_that_missed_a_touch_tells_how_long_it_should_be():
    """A gap of 0.1 mm in the middle that closes after a tenth of the step."""
    _, found, _ = coming(1e-4, -1e-4 / (0.1 * DT))
    assert found["missed"] == pytest.approx(0.6 * DT)


def test_a_corner_goes_round():
    """Its arc of w^2 r is part of the way to the touch: r above the centre, falling."""
    w, r = 0.1, 0.02
    _, found, _ = coming(1e-4, 0.0, turn=w, kind=CORNER, place=(0.0, 0.0, r))
    fall, end = w**2 * r, 0.5 * DT
    assert found["time"] == pytest.approx(np.sqrt(2e-4 / fall) - end, rel=1e-12)


def test_after_hits_gravity_brings_a_rebound_back():
    """2 u/g; what does not open and touches is at rest."""
    assert coming(0.0, 1e-3)[2] == pytest.approx(2.0 * 1e-3 / G)
    assert coming(1e-4, 0.0)[2] == pytest.approx(np.sqrt(2e-4 / G))
    assert coming(0.0, 0.5 * LEAST)[2] == NEVER
