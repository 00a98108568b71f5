"""Hops of a cube with a flywheel on springs, against the closed forms of ``test_hop_rigid``.

With T_c = pi sqrt(m / k) at most a tenth of the brake's time t_b = J Om (1 - eta) / tau, which is
short against l / v: the edge that slides throws at atan(1 / mu), +-0.05 deg; the one that holds at
alpha - p, p = w t_b / 2, +-0.1 deg (and p^2); speeds +-1 %, rates +-2.5 %. Under constant torque
angles +-0.2 deg, speeds +-1 %; bounces +-2 %.
"""

import numpy as np
import pytest
from tests.verification.hopping import (
    ETA,
    LEVER,
    MASS,
    SIDE,
    STANDING,
    J,
    braked,
    launch,
    model,
    slipping,
    thrown,
)
from tests.verification.test_hop_rigid import PHOBOS, RYUGU, coulomb_launch

from alight import contact, engine, motions, vehicles
from alight.actuators import Schedule

#: Both ways of stepping through springs; the second is followed in detail, and slow.
SCHEMES = ["clipped", pytest.param("smooth", marks=pytest.mark.validate)]
SPEED, T_B = 100.0, 0.02


def springs(scheme, mu, stiffness=4e7, ratio=0.7, **options):
    """Stiff ground: T_c = pi sqrt(m / k) = 1.1 ms, against a brake of 20 ms."""
    damping = 2.0 * ratio * np.sqrt(MASS * stiffness)
    return contact.Compliant(
        stiffness=stiffness, damping=damping, friction=mu, rolling_resistance=0.0, scheme=scheme,
        **options,
    )  # fmt: skip


@pytest.mark.validate  # a kernel of its own
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("mu", [0.3, 0.6])
def test_an_edge_that_slides(scheme, mu):
    """H6."""
    brake = (1.0 - ETA) * J * SPEED / T_B
    _, v, angle, w = launch(braked(PHOBOS, springs(scheme, mu), SPEED, brake=brake))
    rate, speed, above = slipping(SPEED, mu)
    p = 0.5 * rate * T_B
    assert angle == pytest.approx(above, abs=0.05)
    assert w == pytest.approx(rate, rel=2.5e-2 + p)
    assert v == pytest.approx(speed, rel=1e-2 + p)


@pytest.mark.validate  # a kernel of its own
@pytest.mark.parametrize("scheme", SCHEMES)
def test_an_edge_that_holds(scheme):
    """H1, H2."""
    brake = (1.0 - ETA) * J * SPEED / T_B
    _, v, angle, w = launch(braked(PHOBOS, springs(scheme, 3.0), SPEED, brake=brake))
    p = 0.5 * ETA * SPEED * T_B
    assert w == pytest.approx(ETA * SPEED, rel=2.5e-2)
    assert v == pytest.approx(ETA * SPEED * LEVER, rel=1e-2)
    assert angle == pytest.approx(45.0 - np.degrees(p), abs=0.1 + np.degrees(p**2))


@pytest.mark.validate  # a kernel of its own
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("mu", [0.5, 1.0, 3.0])
def test_constant_torque(scheme, mu):
    """H9, H10 at the time at which the equations have the edge leave."""
    t, v, above = coulomb_launch(RYUGU, 0.1, mu)
    made = model(
        RYUGU, springs(scheme, mu, 1e4), max_time=3.0 + t, torque=0.1,
        motor=Schedule((2.0,), (-1.0,)),
    )  # fmt: skip
    solution = engine.simulate(made, motions.Release(STANDING))
    found, theta, _ = thrown(solution, np.searchsorted(solution.time, 2.0 + 1.02 * t))
    assert theta == pytest.approx(above, abs=0.2)
    assert found == pytest.approx(v, rel=1e-2)


@pytest.mark.validate  # a kernel of its own
@pytest.mark.parametrize("scheme", SCHEMES)
def test_bounces(scheme):
    """H12 while v_n > 20 g T_c."""
    g, e, v_n = 1e-3, 0.7, 0.05
    law = contact.Compliant(restitution=e, friction=0.0, rolling_resistance=0.0, scheme=scheme)
    ball = vehicles.RigidLander.sphere(SIDE, MASS)
    made = model(g, law, max_time=2.0 * v_n / g / (1.0 - e), lander=ball)
    solution = engine.simulate(made, motions.Release(STANDING, velocity=(0.0, 0.0, v_n)))
    count = 5
    starts = solution.events["start"][:count]
    assert starts == pytest.approx(np.cumsum(2.0 * v_n / g * e ** np.arange(count)), rel=2e-2)
