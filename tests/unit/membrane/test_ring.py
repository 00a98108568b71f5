"""Suspension points: order, axes, and what is refused."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from alight.core.errors import InputError
from alight.membrane import Captive, Membrane, Ring, hexagon, holding_radius
from alight.membrane.ring import APART

HEXAGON = hexagon(7.5)


def test_area_of_the_hexagon():
    # A0 = (3/2) sqrt(3) s^2; suspension points are moved by APART of their reach.
    ring = Ring(HEXAGON)
    assert ring.area == pytest.approx(1.5 * np.sqrt(3.0) * 7.5**2, rel=4 * APART)
    assert ring.area == pytest.approx(146.0, rel=2e-3)  # paper 003: approximately 146 m^2


def test_any_order_and_pose_is_the_same_ring():
    turn = Rotation.from_rotvec((0.3, -1.1, 0.7))
    moved = turn.apply(HEXAGON[[3, 0, 5, 1, 4, 2]]) + np.array([1.0, -2.0, 3.0])
    ring = Ring(moved, up=turn.apply((0.0, 0.0, 1.0)))
    assert ring.area == pytest.approx(Ring(HEXAGON).area, rel=10 * APART)
    np.testing.assert_allclose(ring.R[:, 2], turn.apply((0.0, 0.0, 1.0)), atol=1e-14)
    back = ring.points @ ring.R.T + ring.origin
    np.testing.assert_allclose(back, moved[ring.order], atol=3 * APART * 7.5)
    assert ring.inside((0.0, 0.0, 0.0))
    # Axes begin at the first point: one side's middle is at 30 degrees, at sqrt(3)/2 of the reach.
    across = np.array([np.cos(np.pi / 6), 0.5, 0.0])
    assert ring.inside(6.4 * across)
    assert not ring.inside(6.6 * across)


def test_the_order_does_not_depend_on_rounding():
    """The corner opposite the first lies at pi or at -pi, whichever way it was rounded."""
    orders = set()
    for seed in range(50):
        turn = Rotation.random(rng=seed)
        ring = Ring(turn.apply(HEXAGON), up=turn.apply((0.0, 0.0, 1.0)))
        orders.add(tuple(ring.order))
    assert orders == {(3, 4, 5, 0, 1, 2)}


def test_up_chooses_the_side():
    assert Ring(HEXAGON, up=(0, 0, -2.0)).R[2, 2] == pytest.approx(-1.0)
    line = Ring([[5.0, 0.0], [-5.0, 0.0]])
    assert line.planar
    assert line.area == pytest.approx(10.0, rel=4 * APART)
    np.testing.assert_allclose(line.R, np.eye(3), atol=1e-15)


@pytest.mark.parametrize(
    ("points", "words"),
    [
        (HEXAGON[:2], "2 suspension points were given; a membrane hangs from 3 to"),
        ([[0, 0, 0], [1, 0, 0], [2, 0, 0], [5, 0, 0]], "lie on one line"),
        ([[0, 0, 0], [1, 1, 1], [2, 2, 2]], "lie on one line"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.2, 0]], "corners of a convex polygon"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.5, 0.5, 0]], "corners of a convex polygon"),
        ([[0, 0, 0], [1, 0, 0], [1, 1, 0.1], [0, 1, 0]], "off one plane"),
        ([[0, 0, 0], [1, 0, 0], [0, 0, 0], [0, 1, 0]], "are the same"),
        ([[0, 0], [1, 0], [0, 1]], "hangs from 2"),
        ([[0, 0, np.nan], [1, 0, 0], [0, 1, 0]], "finite"),
        ("six", "must be numbers"),
        (hexagon(1.0)[:, :1], "shape (6, 1)"),
    ],
)
def test_bad_suspension(points, words):
    with pytest.raises(InputError) as caught:
        Ring(points)
    assert words in str(caught.value)


def test_bad_up():
    with pytest.raises(InputError, match="lies in the plane"):
        Ring(HEXAGON, up=(1.0, 0.0, 0.0))
    with pytest.raises(InputError, match="zero"):
        Ring(HEXAGON, up=(0.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"stiffness": -30.0}, "stiffness [N/m^3] is -30.0; it must be a positive"),
        ({"stiffness": 0.0}, "positive"),
        ({"stiffness": np.nan}, "positive"),
        ({"stiffness": "soft"}, "one number, or one for each run"),
        ({"damping": -1.0}, "damping"),
        ({"friction": -0.1}, "friction"),
        ({"stick_stiffness": 0.0}, "stick_stiffness"),
        ({"relaxation": 0.0}, "relaxation"),
        ({"more": (1.0, 2.0)}, "three finite numbers"),
        ({"damping": [1.0, 2.0], "friction": [0.1, 0.2, 0.3]}, "different numbers of runs"),
    ],
)
def test_bad_parameters(options, words):
    given = {"stiffness": 30.0, "suspension": HEXAGON, **options}
    with pytest.raises(InputError) as caught:
        Membrane(**given)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((1.0, np.eye(3), np.zeros((0, 3))), "at least 1"),
        ((1.0, np.eye(3), [[0.0, np.inf, 0.0]]), "not finite"),
        ((-1.0, np.eye(3), np.zeros((1, 3))), "mass"),
        ((1.0, -np.eye(3), np.zeros((1, 3))), "not positive"),
        ((1.0, np.eye(2), np.zeros((1, 3))), "symmetric"),
        ((1.0, np.asarray(-2.0), np.zeros((1, 2))), "inertia"),
    ],
)
def test_bad_bodies(given, words):
    with pytest.raises(InputError, match=words):
        Captive(*given)


def test_polygon_is_moved_to_its_centre_of_mass():
    # A rectangle a x b: moment m (a^2 + b^2) / 12, wherever it was given.
    plate = Captive.polygon([[3, 1], [5, 1], [5, 2], [3, 2]], 6.0)
    assert plate.inertia[1, 1] == pytest.approx(6.0 * (4.0 + 1.0) / 12.0, rel=1e-14)
    np.testing.assert_allclose(plate.points.mean(axis=0), 0.0, atol=1e-15)


def test_words_of_a_membrane():
    text = str(Membrane([30.0, 40.0], 1.5, 0.2, suspension=HEXAGON))
    assert text.startswith("membrane of 146.1 m^2 on 6 points")
    assert "30 to 40 in 2 runs" in text


def test_radius_that_thrust_holds():
    # B3-3: 475 N holds 15 t at 11.55 m at 0.5 rpm, at 0.72 m at 2 rpm.
    rpm = 2.0 * np.pi / 60.0
    assert holding_radius(475.0, 15e3, 0.5 * rpm) == pytest.approx(11.55, abs=5e-3)
    assert holding_radius(475.0, 15e3, 2.0 * rpm) == pytest.approx(0.72, abs=5e-3)
