"""Aimed hops on bodies: the engine's first impact is within 1 mm, or a reason says why not.

Pairs of places are drawn at random, up to a bounding radius apart, on the built-in shapes. 67P has
a neck: many of its pairs have ground in between.
"""

import numpy as np
import pytest

from alight import scenario
from alight.mobility import Aimer

TEXT = """
[body]
name = "{}"
[gravity]
law = "smooth"
[ground]
kind = "distance-field"
[lander]
shape = "point"
mass = "1 kg"
[release]
kind = "ground"
latitude = "0 deg"
longitude = "0 deg"
[contact]
restitution = 0.5
"""

REASONS = ("ground is in between", "inside the ground", "touches other ground", "out of reach")


def places(rng, count):
    """Latitudes and longitudes [rad], evenly over the sphere of directions."""
    latitude = np.arcsin(rng.uniform(-1.0, 1.0, count))
    return np.stack([latitude, rng.uniform(-np.pi, np.pi, count)], -1)


@pytest.mark.validate
@pytest.mark.parametrize(("body", "least"), [("itokawa", 0.95), ("67p", 0.85), ("eros", 0.85)])
def test_hops_hit_within_a_millimetre_or_say_why_not(body, least):
    aimer = Aimer(scenario.loads(TEXT.format(body)))
    rng, count = np.random.default_rng(7), 100
    start, target = places(rng, 6 * count), places(rng, 6 * count)
    ends = [aimer.stand.footing(one) for one in (start, target)]
    size = np.linalg.norm(ends[0], axis=1).max()
    near = np.flatnonzero(np.linalg.norm(ends[1] - ends[0], axis=1) < size)[:count]
    found = aimer.aim_many(start[near], target[near])
    hit = [one for one in found if one.hops]
    assert len(hit) >= least * count
    assert max(one.hops[0].miss for one in hit) < 1e-3
    for one in found:
        assert one.hops or any(reason in one.reason for reason in REASONS), one.reason
