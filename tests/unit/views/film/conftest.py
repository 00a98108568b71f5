"""A small playback: a cube that falls on a ball, bounces once and rests."""

import numpy as np
import pytest

from alight.shapes import icosphere
from alight.views.playback import Contacts, Part, Playback, Track

RADIUS, HALF, SPEED = 10.0, 0.2, 0.5


def cube(half=HALF):
    signs = np.array([[i, j, k] for k in (-1, 1) for j in (-1, 1) for i in (-1, 1)], float)
    quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    faces = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])
    return Part("cube", "lander", half * signs, faces)


def track(run=0, aside=0.0):
    """Down for 10 s, up and down again, at rest from 30 s to 40 s; along x."""
    time = np.array([0.0, 10.0, 10.0, 20.0, 30.0, 40.0])
    rest = RADIUS + HALF
    height = np.array([5.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    speed = np.array([-SPEED, -SPEED, 0.2, 0.0, 0.0, 0.0])
    position, velocity = np.zeros((6, 1, 3)), np.zeros((6, 1, 3))
    position[:, 0, 0], velocity[:, 0, 0] = rest + height, speed
    position[:, 0, 1] = aside
    attitude = np.tile([0.0, 0.0, 0.0, 1.0], (6, 1, 1))
    at = np.array([[RADIUS, aside, 0.0]])
    met = Contacts(np.array([10.0]), at, np.array([[1.0, 0.0, 0.0]]), np.array([SPEED]),
                   np.array([1.0]))  # fmt: skip
    return Track(run, "settled", time, position, velocity, attitude, np.array([10.0]), met)


@pytest.fixture
def playback():
    """``playback(**changes)``"""

    def make(**changes):
        given = {"title": "A cube on a ball", "target": icosphere(4, RADIUS), **changes}
        tracks = given.pop("tracks", (track(),))
        return Playback(given.pop("title"), (cube(),), tuple(tracks), **given)

    return make
