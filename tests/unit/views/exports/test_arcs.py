"""Arcs: lines are added until what others read between them is right."""

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

from alight.core import frames
from alight.core.errors import InputError
from alight.views.exports import arcs
from alight.views.exports.arcs import Arc, finer


def spun(speed):
    """Attitudes and rates of a part that nods while it spins, at any times."""

    def turns(time):
        time = np.asarray(time)
        nod = frames.quat_from_axis_angle([1.0, 0.0, 0.0], 0.4 * np.sin(0.3 * time))
        spin = frames.quat_from_axis_angle([0.0, 0.0, 1.0], speed * time)
        nodding = np.stack([0.12 * np.cos(0.3 * time), 0 * time, 0 * time], axis=1)
        rate = frames.quat_rotate_inv(spin, nodding) + np.array([0.0, 0.0, speed])
        return frames.quat_multiply(nod, spin), rate

    return turns


def arc_of(turns, time):
    still = np.zeros((len(time), 3))
    return Arc(time, still, still, turns(time)[0])


@pytest.mark.parametrize("speed", [0.2, 1.0])
def test_steps_of_whole_turns_do_not_look_right_by_chance(speed):
    """Two turns to a step: halfway the part is as at both ends, whatever it did between."""
    turns = spun(speed)
    time = 4.0 * np.pi / speed * np.arange(4.0)
    fine = finer(arc_of(turns, time), None, turns)
    q, rate = fine.quaternions
    asked = np.random.default_rng(2).uniform(0.0, time[-1], 500)
    read = frames.quat_normalize(CubicHermiteSpline(fine.time, q, rate)(asked))
    assert arcs.angle_between(read, turns(asked)[0]).max() < 1.1 * arcs.TURN
    assert fine.rate == pytest.approx(frames.quat_rotate(*turns(fine.time)), abs=1e-6)


def test_what_turns_for_too_long_is_refused(monkeypatch):
    monkeypatch.setattr(arcs, "MOST_LINES", 1000)
    turns = spun(1.0)
    with pytest.raises(InputError, match=r"more than 1000 lines.*csv, parquet, vtk"):
        finer(arc_of(turns, np.array([0.0, 1e4])), None, turns)
