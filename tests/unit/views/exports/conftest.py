"""A landing with rigid hits on a ball that turns, and hostile names, for tests of exports."""

import numpy as np
import pytest

import alight
from alight.core import frames
from alight.scenario import from_dict
from alight.shapes.icosphere import icosphere
from alight.views.exports.epoch import epoch_of
from alight.views.playback import Contacts, Part, Playback, Sites, Surface, Track

HOSTILE = 'a "title" <script>alert(1)</script>\n../../x --> ]]> \\begindata META_STOP é\x1b[2J'

#: A box that spins, let go over a ball of 200 m that turns in two hours.
LANDING = {
    "title": HOSTILE,
    "body": {
        "gm": "10 m^3/s^2",
        "rotation": {"period": "2 h", "pole": ["40 deg", "-60 deg"], "meridian": "30 deg"},
    },
    "gravity": {"law": "point-mass"},
    "ground": {"kind": "sphere", "radius": "200 m"},
    "lander": {"shape": "box", "size": ["0.3 m", "0.2 m", "0.1 m"], "mass": "1 kg"},
    "release": {
        "latitude": "20 deg",
        "longitude": "40 deg",
        "height": "1 m",
        "velocity": ["1 cm/s", "2 cm/s", "0 cm/s"],
        "rate": ["3 deg/s", "0.5 deg/s", "-2 deg/s"],
    },
    "contact": {"law": "impulse", "restitution": 0.6, "friction": 0.4},
    "stop": {"max_time": "900 s"},
}


@pytest.fixture(scope="session")
def landing():
    """(scenario, solution) of a landing with rigid hits."""
    scenario = from_dict(LANDING, "a test")
    return scenario, alight.simulate(scenario, device="cpu")


@pytest.fixture
def epoch():
    return epoch_of("2018-10-03T01:57:20", None)


def turning(t):
    """q_NT of a body that turns in 7.6 h about a tilted pole."""
    start = frames.quat_normalize([0.1, 0.2, 0.3, 0.9])
    turn = frames.quat_from_axis_angle(np.array([0.0, 0.0, 1.0]), 2.3e-4 * np.asarray(t))
    return frames.quat_multiply(start, turn)


def _track(run, seed, parts):
    """Parabolas with two hits between; parts turn, each at its own rate."""
    rng = np.random.default_rng(seed)
    time, place, speed, turn = [], [], [], []
    x, v = np.array([400.0, 10.0, 300.0]), np.array([0.02, 0.01, -0.1])
    pull = np.array([-1e-4, 0.0, -1e-4])
    q = frames.quat_normalize(rng.normal(size=(parts, 4)))
    w = rng.normal(size=(parts, 3)) * 0.05
    t = 0.0
    for arc in range(3):
        for step in [0.0, *rng.uniform(1.0, 20.0, 30)]:
            t, x, v = t + step, x + step * v + 0.5 * step**2 * pull, v + step * pull
            angle = np.linalg.norm(w, axis=1) * step
            q = frames.quat_multiply(q, frames.quat_from_axis_angle(w, angle))
            aside = np.arange(parts)[:, None] * np.array([0.3, 0.0, 0.0])
            time.append(t)
            place.append(x + aside)
            speed.append(np.tile(v, (parts, 1)))
            turn.append(q)
        v = -0.6 * v
        w = rng.normal(size=(parts, 3)) * 0.05 * (arc + 1)
    met = np.array(time)[[30, 61]]
    there = np.array(place)[[30, 61], 0]
    contacts = Contacts(
        met, there, np.tile([0.0, 0.0, 1.0], (2, 1)), np.ones(2), np.full(2, np.nan)
    )
    arrays = (np.array(a) for a in (time, place, speed, turn))
    return Track(run, "settled", *arrays, met, contacts)


def box(name, role, size):
    corners = [[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    faces = [
        *([0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]),
        *([2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]),
    ]
    return Part(name, role, 0.5 * size * np.array(corners, float), np.array(faces))


@pytest.fixture(scope="session")
def runs():
    """Two runs of a lander of two parts on a body that turns; names are hostile."""
    parts = (box(HOSTILE, "lander", 0.2), box("leg\n'; DROP", "leg", 0.05))
    place = np.array([[400.0, 0.0, 300.0], [390.0, 5.0, 310.0], [np.nan] * 3])
    columns = {"end_time_s": np.array([3.0, 4.0, np.nan])}
    return Playback(
        HOSTILE,
        parts,
        (_track(3, 0, 2), _track(17, 1, 2)),
        target=icosphere(3, 450.0),
        rocks=box("rocks", "rocks", 3.0),
        attitude=turning,
        sites=Sites(np.array([3, 17, 18]), place, ["settled", "<b>", "settled"], columns),
    )


@pytest.fixture(scope="session")
def bending():
    """A run with a surface that bends."""
    track = _track(0, 2, 1)
    grid = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    surface = track.position[:, :1] + grid + np.sin(track.time / 50.0)[:, None, None] * [0, 0, 1.0]
    from dataclasses import replace

    faces = np.array([[0, 1, 2], [0, 2, 3]])
    return Playback(
        "bent",
        (box("body", "asteroid", 1.0),),
        (replace(track, surface=surface),),
        frame="inertial",
        surface=Surface("membrane", "membrane", faces),
    )
