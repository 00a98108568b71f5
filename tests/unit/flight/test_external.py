"""Pushes one by one: directions, sizes, shadow, bad input, and sums of any number of laws."""

import numpy as np
import pytest
import warp as wp

from alight.core import devices
from alight.core.constants import AU
from alight.core.errors import InputError
from alight.core.types import quat, scalar, vec3
from alight.flight import (
    SOLAR_PRESSURE,
    Combined,
    Companion,
    External,
    Fixed,
    FixedInTarget,
    Orbit,
    Push,
    SolarPressure,
    SunTide,
    UniformRotation,
    combine,
    combined_data,
    synchronous_rotation,
)

SUN = Fixed((2.0 * AU, 0.0, 0.0))
POINTS = np.random.default_rng(5).normal(size=(40, 3)) * 300.0


def test_pressure_of_sunlight_at_one_au():
    assert pytest.approx(4.5398e-6, rel=1e-4) == SOLAR_PRESSURE


def test_sunlight_pushes_away(device):
    law = SolarPressure(0.02, SUN, reflectivity=1.5)
    rotation = UniformRotation(1.0)
    acceleration, potential = law.evaluate(0.7, POINTS, rotation, device)
    size = 1.5 * SOLAR_PRESSURE * 0.02 / 4.0
    along = np.array([np.cos(0.7), -np.sin(0.7), 0.0])
    assert acceleration == pytest.approx(np.tile(-size * along, (40, 1)), rel=1e-13, abs=1e-22)
    assert potential == pytest.approx(POINTS @ (-size * along), rel=1e-12, abs=1e-18)


def test_shadow_is_a_cylinder_behind(device):
    law = SolarPressure(0.02, SUN, shadow_radius=100.0)
    inside = [(-1.0, 99.0, 0.0), (-1e6, 0.0, 99.9), (-500.0, 70.0, -70.0)]
    outside = [(1.0, 0.0, 0.0), (-1.0, 0.0, 100.1), (-500.0, 71.0, -71.0), (300.0, 99.0, 0.0)]
    dark, no_potential = law.evaluate(0.0, inside, device=device)
    lit = law.evaluate(0.0, outside, device=device)[0]
    assert not dark.any()
    assert not no_potential.any()
    assert (lit[:, 0] < 0.0).all()


def test_tide_of_a_far_mass(device):
    """gm/d^3 (2x, -y, -z) with errors of order x/d."""
    law = Companion(1e10, Fixed((1e7, 0.0, 0.0)))
    acceleration = law.evaluate(0.0, POINTS, device=device)[0]
    expected = 1e10 / 1e21 * POINTS * [2.0, -1.0, -1.0]
    scale = 1e10 / 1e21 * np.linalg.norm(POINTS, axis=1).max()
    assert np.abs(acceleration - expected).max() < 1e-3 * scale


def test_nothing_acts_at_the_centre(device):
    for law in (SunTide(SUN), Companion(1e10, Orbit(1e6, 0.3, period=1e5))):
        acceleration, potential = law.evaluate(12.0, [0.0, 0.0, 0.0], device=device)
        assert not acceleration.any()
        assert potential == 0.0


def test_steady_laws_say_so():
    assert Companion.synchronous(1e10, 1e6).steady
    assert not SunTide(SUN).steady
    assert not SolarPressure(0.02, FixedInTarget((AU, 0, 0)), shadow_radius=1.0).steady
    assert Combined(()).steady


# ---------------------------------------------------------------------------------------------
# Locked companions
# ---------------------------------------------------------------------------------------------


def test_synchronous_finds_its_distance():
    rotation = UniformRotation(2.28032e-4)
    law = Companion.synchronous(4.282837e13, gm_target=7.1e5, rotation=rotation)
    distance = np.linalg.norm(law.orbit.position)
    assert distance == pytest.approx(np.cbrt((4.282837e13 + 7.1e5) / 2.28032e-4**2), rel=1e-14)
    fit = synchronous_rotation(4.282837e13, distance, gm_target=7.1e5)
    assert fit.rate == pytest.approx(2.28032e-4, rel=1e-14)
    assert Companion.synchronous(4.282837e13, 9.377e6, rotation=rotation).gm == 4.282837e13


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"gm": 35.2, "distance": 1144.0, "rotation": UniformRotation(2e-4)}, "Distance that fits"),
        ({"gm": 35.2, "distance": 1144.0, "rotation": UniformRotation(0.0)}, "stand still"),
        ({"gm": 35.2}, "give distance"),
        ({"gm": 35.2, "rotation": UniformRotation(0.0)}, "give distance"),
        ({"gm": 35.2, "distance": -1.0}, "distance"),
        ({"gm": 0.0, "distance": 1.0}, "gm"),
        ({"gm": 1.0, "distance": 1.0, "direction": (0, 0, 0)}, "direction"),
        (
            {
                "gm": 1.0,
                "distance": 1.0,
                "direction": (1, 0, 1),
                "rotation": UniformRotation(1.0),
            },
            "right angles",
        ),
    ],
)
def test_synchronous_bad_input(arguments, words):
    with pytest.raises(InputError, match=words):
        Companion.synchronous(**arguments)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: SolarPressure(-0.1, SUN), "area_over_mass"),
        (lambda: SolarPressure(0.1, SUN, reflectivity=2.1), "0 to 2"),
        (lambda: SolarPressure(0.1, SUN, shadow_radius=np.nan), "shadow_radius"),
        (lambda: SolarPressure(0.1, (AU, 0, 0)), "place"),
        (lambda: SunTide("sun"), "place"),
        (lambda: SunTide(SUN, gm=np.inf), "gm"),
        (lambda: Companion(1.0, None), "place"),
        (lambda: SunTide(SUN).evaluate(0.0, [1.0, 2.0]), "shape"),
        (lambda: SunTide(SUN).evaluate([0.0, 1.0], POINTS), "one time"),
        (lambda: SunTide(SUN).evaluate(np.nan, POINTS), "times"),
        (lambda: SunTide(SUN).evaluate(0.0, POINTS, rotation=1e-4), "rotation"),
        (lambda: combine((SunTide(SUN), 3)), "External"),
    ],
)
def test_bad_input(make, words):
    with pytest.raises(InputError, match=words):
        make()


# ---------------------------------------------------------------------------------------------
# Sums
# ---------------------------------------------------------------------------------------------

LAWS = (
    SolarPressure(0.02, SUN),
    SunTide(SUN),
    Companion(1e10, Orbit(1e7, 0.5, 0.3, 0.4, 0.5, 0.6, gm=4e13)),
    Companion.synchronous(1e10, 1e7),
    SolarPressure(0.02, Orbit(AU, 0.1, period=3e7), shadow_radius=100.0),
)


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_a_sum_is_the_sum(count, device):
    times = np.linspace(0.0, 1e5, len(POINTS))
    rotation = UniformRotation(1e-4, (1, 2, 3))
    total = Combined(LAWS[:count]).evaluate(times, POINTS, rotation, device)
    parts = [law.evaluate(times, POINTS, rotation, device) for law in LAWS[:count]]
    for i, shape in enumerate([(40, 3), (40,)]):
        expected = np.sum([part[i] for part in parts], axis=0) + np.zeros(shape)
        assert np.abs(total[i] - expected).max() <= 1e-15 * np.abs(expected).max()


def test_the_same_kinds_share_struct_and_function():
    other = (SolarPressure(0.5, Fixed((AU, 0, 0))), SunTide(Fixed((0, AU, 0))))
    assert combine(LAWS[:2]) == combine(list(other))
    assert combine(LAWS[:3])[1] is not combine(LAWS[:2])[1]
    filled = combined_data(LAWS[:2], devices.resolve("cpu"))
    assert isinstance(filled, combine(LAWS[:2])[0].cls)


@wp.struct
class ShareData:
    share: scalar


def make_share(factor):
    """Laws of one struct and different functions."""

    @wp.func
    def push(data: ShareData, t: scalar, q_NT: quat, x: vec3):
        found = Push()
        found.potential = data.share * scalar(factor)
        return found

    class Share(External):
        Data = ShareData

        def __init__(self):
            self.push = push

        def data(self, device):
            data = ShareData()
            data.share = 1.0
            return data

    return Share()


def test_own_laws_that_share_a_struct(device):
    """Equal structs with different functions are not mixed up."""
    one, ten = make_share(1.0), make_share(10.0)
    for laws, expected in (((one, ten), 11), ((one, one, ten), 12), ((ten, ten, one), 21)):
        assert Combined(laws).evaluate(0.0, [1.0, 2.0, 3.0], device=device)[1] == expected
