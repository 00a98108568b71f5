"""Asteroids that tumble together: no run's bits depend on its company."""

import numpy as np
import pytest

from alight.core import frames
from alight.membrane import Captive, pear
from alight.motions.capture.approach import Approach, Asteroids, approach, tumble_together
from alight.motions.capture.craft import Spacecraft

STEP, COUNT = 0.7, 5


def asteroids(count, length, seed):
    """``count`` of one shape, ``length`` [m] long, tumbling about any axis."""
    rng = np.random.default_rng(seed)
    body = Captive.from_mesh(pear(length, subdivisions=1), 1e5 * length)
    inertia = np.tile(body.inertia, (count, 1, 1))
    turns = frames.quat_normalize(rng.normal(size=(count, 4)))
    return Asteroids(body, inertia, turns, rng.normal(size=(count, 3)))


def some():
    return [asteroids(1, 8.0, 1), asteroids(3, 10.0, 2), asteroids(2, 12.0, 3)]


def test_together_is_one_after_the_other():
    """``ahead`` is what ``after`` gives step by step, to the bit, alone and in company."""
    together = some()
    tumble_together(together, STEP, COUNT)
    for one, alone in zip(together, some(), strict=True):
        now = alone
        for look in range(COUNT):
            now = now.after(STEP)
            assert one.ahead(STEP, COUNT)[look].tobytes() == now.attitude.tobytes()
        assert alone.ahead(STEP, COUNT).tobytes() == one.ahead(STEP, COUNT).tobytes()


@pytest.mark.parametrize("name", ["angular-momentum", "corkscrew", "instantaneous"])
def test_plans_do_not_depend_on_company(name):
    """Leads that differ are looked ahead for apart."""
    craft = Spacecraft()
    ways = [approach(name, lead=lead) for lead in (10.0, 4.0, 10.0)]
    together = some()
    Approach.look_ahead(list(zip(ways, together, strict=True)))
    for way, one, alone in zip(ways, together, some(), strict=True):
        assert way.plan(one, craft).tobytes() == way.plan(alone, craft).tobytes()
