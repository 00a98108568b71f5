"""Releases: shapes, bad values, and places above the ground of a body."""

import numpy as np
import pytest

from alight import motions, surfaces
from alight.core import frames
from alight.core.errors import InputError


def test_one_row_serves_all_runs():
    release = motions.Release(np.zeros((4, 3)), (1.0, 2.0, 3.0))
    assert len(release) == 4
    assert (release.velocity == [1.0, 2.0, 3.0]).all()
    assert (release.attitude == [0.0, 0.0, 0.0, 1.0]).all()


def test_what_is_not_given_is_at_rest_and_upright():
    release = motions.Release((1.0, 2.0, 3.0))
    assert release.velocity.tolist() == [[0.0, 0.0, 0.0]]
    assert release.rate.tolist() == [[0.0, 0.0, 0.0]]
    assert release.attitude.tolist() == [[0.0, 0.0, 0.0, 1.0]]


def test_attitudes_are_made_unit():
    release = motions.Release((0, 0, 0), attitude=(0.0, 0.0, 3.0, 4.0))
    assert release.attitude[0] == pytest.approx([0.0, 0.0, 0.6, 0.8])


def test_rows_can_be_picked():
    release = motions.Release(np.arange(12.0).reshape(4, 3))
    assert (release[2].position == [[6.0, 7.0, 8.0]]).all()
    assert len(release[1:3]) == 2
    assert len(release[np.array([True, False, True, False])]) == 2


def test_it_never_changes():
    release = motions.Release((0.0, 0.0, 1.0))
    with pytest.raises(ValueError, match="read-only"):
        release.position[0, 0] = 1.0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"position": (0.0, 1.0)}, r"position \[m\] of a release must be 3 numbers"),
        ({"position": "here"}, r"position \[m\]"),
        ({"position": np.zeros((0, 3))}, r"position \[m\]"),
        ({"position": np.zeros((2, 2, 3))}, r"position \[m\]"),
        ({"position": (0.0, np.nan, 0.0)}, r"position \[m\] of run 0 is not finite: .*nan"),
        ({"velocity": [[0, 0, 0], [0, 0, np.inf]]}, r"velocity \[m/s\] of run 1 .*inf"),
        ({"attitude": (0, 0, 0, 0)}, "zero quaternion"),
        ({"attitude": (0, 0, 1)}, "attitude of a release must be 4 numbers"),
        ({"rate": (0, 0, 1, 2)}, r"rate \[rad/s\]"),
        (
            {"position": np.zeros((2, 3)), "velocity": np.zeros((3, 3))},
            "2 rows of position, 3 rows",
        ),
    ],
)
def test_bad_input_is_named(given, message):
    with pytest.raises(InputError, match=message):
        motions.Release(**{"position": (0.0, 0.0, 1.0), **given})


@pytest.mark.parametrize("height", [0.0, 0.5, 30.0])
def test_above_a_sphere(height):
    """At that height on that ray; velocity in east, north and up."""
    ground = surfaces.Sphere(radius=100.0)
    latitude, longitude = 0.3, -1.1
    release = motions.Release.above(ground, latitude, longitude, height, (0.1, 0.2, 0.3))
    up = frames.direction(latitude, longitude)
    assert release.position[0] == pytest.approx((100.0 + height) * up, rel=1e-8)
    velocity = release.velocity[0]
    east = np.array([-np.sin(longitude), np.cos(longitude), 0.0])
    assert velocity @ up == pytest.approx(0.3)
    assert velocity @ east == pytest.approx(0.1)
    assert velocity @ np.cross(up, east) == pytest.approx(0.2)


def test_above_a_sphere_off_the_origin():
    """Height counts along the ray, from where it meets the ground."""
    ground = surfaces.Sphere(center=(20.0, 0.0, 0.0), radius=100.0)
    release = motions.Release.above(ground, 0.4, 1.0, 7.0)
    up = frames.direction(0.4, 1.0)
    assert float(ground.query(release.position[0] - 7.0 * up)[0]) == pytest.approx(0.0, abs=1e-6)


def test_above_a_plane_is_refused():
    ground = surfaces.Plane(normal=(0.0, 0.0, 1.0))
    with pytest.raises(InputError, match="not a plane"):
        motions.Release.above(ground, -0.5, 0.0, 1.0)
