"""The springs on paper: zeta to e and back, durations, depths."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from alight.contact import damping_ratio, restitution_of
from alight.contact.compliant.restitution import viscous_spring, viscous_time
from alight.core.errors import InputError

#: e and zeta, to six digits.
TABLE = [(0.9, 0.070035), (0.8, 0.155848), (0.6, 0.404744), (0.4, 0.879039)]
TABLE += [(0.3, 1.336027), (0.2, 2.223955), (0.1, 4.806942)]


@pytest.mark.parametrize(("e", "zeta"), TABLE)
def test_table(e, zeta):
    assert damping_ratio(e) == pytest.approx(zeta, abs=1e-6)
    assert restitution_of(zeta) == pytest.approx(e, abs=1e-6)


@pytest.mark.parametrize("e", [1e-12, 1e-9, 1e-6, 1e-3])
def test_ground_that_hardly_bounces(e):
    assert restitution_of(damping_ratio(e)) == pytest.approx(e, rel=1e-13)


@pytest.mark.parametrize("e", [5e-324, 1e-160, 1e-13])
def test_less_than_any_damper_gives_is_refused(e):
    with pytest.raises(InputError, match=r"at least 1e-12.*Use 1e-6"):
        damping_ratio(e)


def test_critical_damping():
    assert restitution_of(1.0) == pytest.approx(math.exp(-1.0), rel=1e-14)
    assert restitution_of(0.0) == 1.0
    assert damping_ratio(1.0) == 0.0


@pytest.mark.parametrize("zeta", [1.0 - 2e-6, 1.0 - 5e-7, 1.0 + 5e-7, 1.0 + 2e-6])
def test_the_closed_forms_meet(zeta):
    """ln e = -zeta turn(zeta) has the slope -2/3 at zeta = 1."""
    assert math.log(restitution_of(zeta)) == pytest.approx(
        -1.0 - (zeta - 1.0) * 2.0 / 3.0, abs=1e-9
    )


@given(st.floats(0.01, 1.0))
def test_there_and_back(e):
    assert restitution_of(damping_ratio(e)) == pytest.approx(e, rel=1e-10)


@given(st.floats(0.0, 5.0), st.floats(1e-3, 1.0))
def test_more_damping_returns_less(zeta, more):
    assert restitution_of(zeta + more) < restitution_of(zeta)


@pytest.mark.parametrize("e", [0.1, 0.3, 0.6, 0.9, 1.0])
def test_against_an_integration(e):
    """x'' = -omega^2 x - 2 zeta omega min(x', 0) from x = 0, x' = -v, to x = 0."""
    omega, speed, mass = 30.0, 0.1, 2.0
    depth = e * speed / omega
    stiffness, damping = viscous_spring(e, depth, speed, mass)
    assert stiffness == pytest.approx(mass * omega**2, rel=1e-12)

    def slope(_t, y):
        return [y[1], -(stiffness * y[0] + damping * min(y[1], 0.0)) / mass]

    def out(t, y):
        return y[0] if t > 0.0 else -1.0

    def turn(_t, y):
        return y[1]

    out.terminal, out.direction = True, 1.0
    found = solve_ivp(
        slope, (0.0, 10.0), [0.0, -speed], events=(out, turn), rtol=1e-10, atol=1e-14, max_step=1e-3
    )
    assert found.y[1, -1] == pytest.approx(e * speed, rel=1e-5)
    assert found.t[-1] == pytest.approx(viscous_time(e, omega), rel=1e-5)
    assert found.y[0].min() == pytest.approx(-depth, rel=1e-4)


@pytest.mark.parametrize("value", [0.0, -0.1, 1.0001, np.nan, np.inf, "soft", True])
def test_restitution_outside_its_range(value):
    with pytest.raises(InputError, match="restitution is"):
        damping_ratio(value)


@pytest.mark.parametrize("value", [-0.1, np.nan])
def test_a_damping_ratio_is_not_negative(value):
    with pytest.raises(InputError, match="damping ratio"):
        restitution_of(value)


@pytest.mark.parametrize(("name", "place"), [("depth", 1), ("speed", 2), ("mass", 3)])
def test_bad_springs_are_named(name, place):
    values = [0.5, 1e-3, 0.1, 1.0]
    values[place] = 0.0
    with pytest.raises(InputError, match=name):
        viscous_spring(*values)
