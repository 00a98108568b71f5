"""What every law shares: points in any shape, numbers out in the same, clear refusals."""

import numpy as np
import pytest

from alight.core.checks import checked_number, checked_points
from alight.core.errors import DeviceError, InputError
from alight.gravity.law import Gravity
from alight.gravity.linearised import Linearised
from alight.gravity.multipole import Multipole
from alight.gravity.polyhedron.field import Polyhedron
from alight.gravity.reduced import Reduced
from alight.gravity.simple import PointMass, Uniform
from alight.shapes.icosphere import icosphere

BALL = icosphere(1)
LAWS = {
    "uniform": Uniform([0.0, 0.0, -1.0]),
    "point mass": PointMass(2.0),
    "polyhedron": Polyhedron(BALL, 1000.0),
    "reduced": Reduced(BALL, 1000.0, vertices=12),
    "multipole": Multipole.from_mesh(BALL, gm=3.0, degree=4),
    "linearised": Linearised(PointMass(2.0), 0.5),
}


@pytest.fixture(params=LAWS)
def law(request):
    return LAWS[request.param]


def test_a_single_point_gives_single_values(law):
    u, g, gradient = law.evaluate([1.5, 2.0, 2.5])
    assert (u.shape, g.shape, gradient.shape) == ((), (3,), (3, 3))


@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (2, 5), (3, 0), (2, 3, 4)])
def test_shapes_are_kept(law, shape):
    points = np.random.default_rng(0).uniform(2.0, 3.0, (*shape, 3))
    u, g, gradient = law.evaluate(points)
    assert (u.shape, g.shape, gradient.shape) == (shape, (*shape, 3), (*shape, 3, 3))
    assert u.dtype == g.dtype == gradient.dtype == np.float64


def test_lists_integers_float32_and_strides_are_the_same_points(law):
    table = np.arange(2.0, 38.0).reshape(6, 6)
    expected = law.evaluate(np.ascontiguousarray(table[::2, ::2]))
    for points in (
        table[::2, ::2],
        table[::2, ::2].tolist(),
        table[::2, ::2].astype(np.float32),
        table[::2, ::2].astype(int),
        np.asfortranarray(table[::2, ::2]),
    ):
        for found, wanted in zip(law.evaluate(points), expected, strict=True):
            assert np.array_equal(found, wanted)


def test_the_given_points_are_not_changed(law):
    points = np.full((3, 3), 2.0)
    law.evaluate(points)
    assert (points == 2.0).all()


@pytest.mark.parametrize("name", LAWS)
def test_gradient_is_symmetric_and_free_of_sources(name):
    gradient = LAWS[name].evaluate(np.random.default_rng(1).uniform(2.0, 3.0, (5, 3)))[2]
    assert np.array_equal(gradient, gradient.transpose(0, 2, 1))
    scale = np.abs(gradient).max() + 1e-300
    assert np.abs(np.trace(gradient, axis1=1, axis2=2)).max() <= 1e-13 * scale


@pytest.mark.parametrize(
    ("points", "says"),
    [
        ([[1.0, 2.0]], r"shape \(1, 2\)"),
        (3.0, r"shape \(\)"),
        (None, r"shape \(\)"),
        ("here", "numbers"),
        ([[1, 2, 3], [1, 2]], "numbers"),
        ([[1j, 0, 0]], "numbers"),
        ([[1, 2, 3], [4, np.nan, 6]], r"1 of 2 points are not finite \(first at index \(1,\)\)"),
        ([np.inf, 2, 3], "1 of 1 points are not finite"),
    ],
)
def test_points_that_cannot_be_used(law, points, says):
    with pytest.raises(InputError, match=says):
        law.evaluate(points)


def test_an_absent_device_is_named(law):
    with pytest.raises(DeviceError, match="cuda:77"):
        law.evaluate([1.0, 2.0, 3.0], device="cuda:77")


def test_points_come_out_as_float64():
    assert checked_points([1, 2, 3]).dtype == np.float64


@pytest.mark.parametrize("value", [1, 2.5, np.float32(2.0), np.int64(3)])
def test_positive_numbers_pass(value):
    assert checked_number("gm", value) == float(value)
    assert isinstance(checked_number("gm", value), float)


@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, "3", None, [1.0]])
def test_other_values_do_not(value):
    with pytest.raises(InputError, match=r"gm .*must be a positive, finite number"):
        checked_number("gm", value)


def test_a_law_must_bring_its_data():
    with pytest.raises(NotImplementedError):
        Gravity().data(None)
