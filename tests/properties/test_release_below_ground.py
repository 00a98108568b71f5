"""Landers released a little below the ground, under every law of contact: one rule for all.

From a depth d of up to ``TOLERANCE`` the lander is lifted until it touches, or rests on its springs
as they are. Let go at rest, it has no more energy than its weight gives it over d,

    T + m g (z - z_release) <= m g d,

and it ends on the ground, no deeper than its weight presses it in. Deeper it is refused.
"""

import numpy as np
import pytest

from alight import contact, engine, gravity, motions, surfaces, vehicles
from alight.core import frames
from alight.core.devices import resolve
from alight.core.errors import InputError
from alight.core.outcomes import Outcome
from alight.engine.lift import TOLERANCE, lifted
from alight.motions.rigid.release import gaps

G = 5.7e-3
CUBE = vehicles.RigidLander.cube(0.2, 1.0)
POINT = vehicles.RigidLander.point(1.0)
TILTED = frames.quat_normalize(np.array([0.3, -0.2, 0.1, 0.9]))
FLAT = np.array([0.0, 0.0, 0.0, 1.0])

#: Law, lander, attitude, and how deep the weight presses it in at the end [m], at most.
CASES = {
    "clipped, flat": (contact.Compliant(restitution=0.5), CUBE, FLAT, 2.5e-4),
    "clipped, on a corner": (contact.Compliant(restitution=0.5), CUBE, TILTED, 2.5e-4),
    "clipped, springs given": (contact.Compliant(stiffness=57.0, damping=5.0), CUBE, FLAT, 1.1e-4),
    "smooth, flat": (contact.Compliant(restitution=0.5, scheme="smooth"), CUBE, FLAT, 1e-6),
    "smooth, corner": (contact.Compliant(restitution=0.5, scheme="smooth"), CUBE, TILTED, 1e-6),
    "rigid, flat": (contact.Impulse(restitution=0.5), CUBE, FLAT, 1e-5),
    "rigid, on a corner": (contact.Impulse(restitution=0.5), CUBE, TILTED, 1e-5),
    "sliding": (contact.Sliding(restitution=0.5), POINT, FLAT, 1e-12),
}


def model_of(law, lander, max_time=60.0):
    return motions.Model(
        gravity.Uniform((0.0, 0.0, -G)),
        surfaces.Plane(),
        lander,
        law,
        stop=engine.Stop(max_time=max_time),
    )


def released(lander, attitude, depth):
    """At rest, the lowest point ``depth`` [m] below the plane z = 0."""
    low = frames.quat_rotate(attitude, lander.points)[:, 2].min()
    return motions.Release((0.0, 0.0, -depth - low), attitude=attitude)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("depth", [0.0, 1e-5, 1e-4, 0.9e-3, 0.999e-3])
def test_nothing_is_fired_out_or_left_below(name, depth):
    law, lander, attitude, press = CASES[name]
    model = model_of(law, lander)
    release = released(lander, attitude, depth)
    run = engine.simulate(model, release)
    spin = np.einsum("ni,ij,nj->n", run.rate, lander.inertia, run.rate)
    moving = 0.5 * lander.mass * np.sum(run.velocity**2, axis=1) + 0.5 * spin
    rise = run.position[:, 2] - release.position[0, 2]
    have = moving + lander.mass * G * rise
    assert have.max() <= lander.mass * G * depth * (1.0 + 1e-6) + 1e-14
    end = motions.Release(run.position[-1], attitude=run.attitude[-1])
    assert gaps(model, end, resolve("cpu"), 1)[0] >= -press
    assert not run.outcome.failed


@pytest.mark.parametrize("name", CASES)
def test_deeper_it_is_refused_alike(name):
    law, lander, attitude, _ = CASES[name]
    with pytest.raises(InputError, match=r"1 mm below.*height in \[release\].*Release.above"):
        engine.simulate(model_of(law, lander), released(lander, attitude, 1.001 * TOLERANCE))
    depths = [0.5 * TOLERANCE, 2.0 * TOLERANCE]
    rows = [released(lander, attitude, depth) for depth in depths]
    both = motions.Release(np.concatenate([r.position for r in rows]), attitude=attitude)
    result = engine.run_batch(model_of(law, lander, 1.0), both, device="cpu")
    assert (result.outcome == Outcome.STARTED_INSIDE).tolist() == [False, True]


def planes(*normals):
    """``look`` of a point between planes through the origin."""
    n = np.array(normals) / np.linalg.norm(normals, axis=1, keepdims=True)

    def look(rows, x):
        gap = x @ n.T
        low = gap.argmin(axis=1)
        return gap[np.arange(len(x)), low], n[low]

    return look


def nobody(rows):
    return np.zeros(len(rows), dtype=bool)


def test_out_of_a_valley_by_the_mean_of_its_sides():
    """Each side of a valley pushes into the other: a lift along single normals would not end."""
    look = planes((1.0, 0.0, 0.4), (-1.0, 0.0, 0.4))
    x, refused = lifted(look, np.array([[2e-4, 0.0, -5e-4], [0.0, 0.0, 1.0]]), 1.0, nobody)
    assert not refused.any()
    assert look([0], x)[0].min() > -1e-13
    assert x[0, 2] < 4e-3
    assert (x[1] == [0.0, 0.0, 1.0]).all()  # what is above stays to the bit


def test_a_gap_too_narrow_is_refused():
    look = planes((1.0, 0.0, 0.05), (-1.0, 0.0, 0.05))
    _, refused = lifted(look, np.array([[0.0, 0.0, -1e-4]]), 1.0, nobody)
    assert refused.all()
