"""What articulated landers look like in reports: pads where they are, legs as far as they go in."""

import types

import numpy as np
import pytest

from alight.cli.report_lander import limits_of, look_of, pose_of
from alight.scenario.building.articulated_landers import Articulated
from alight.vehicles import dcap_lander
from alight.vehicles.dcap import PADS


@pytest.fixture(scope="module")
def lander():
    made = dcap_lander(stroke=0.25)
    joints = made.tree.neutral()[7:]
    up = np.array([0.0, 1.0, 0.0])
    return Articulated(made.tree, tuple(made.devices), up, joints, np.zeros(made.tree.n_v - 6))


def row_of(stroke=0.0):
    row = {"x_m": 1.0, "y_m": 2.0, "z_m": 3.0, "qx": 0.0, "qy": 0.0, "qz": 0.0, "qw": 1.0}
    return {**row, "joint_leg_1_m": stroke}


def test_pads_stand_where_the_lander_has_them(lander):
    pose = pose_of(lander.tree, lander.devices, lander.tree.neutral())
    # The paper gives pads to four digits; lengths of legs are made from them.
    assert pose.pads == pytest.approx(np.array(PADS), abs=1e-3)
    assert [part.role for part in pose.parts].count("pad") == 3
    # Feet stand with their soles where the pads touch.
    feet = [part for part in pose.parts if part.role == "pad"]
    for foot, pad in zip(feet, pose.pads, strict=True):
        assert np.linalg.norm(foot.vertices - pad, axis=1).min() < 1e-9
        assert foot.vertices[:, 1].min() == pytest.approx(pad[1], abs=0.03)  # it leans with its leg


def test_a_leg_that_is_crushed_takes_its_pad_along(lander):
    look = look_of(lander)
    free, crushed = look(row_of()), look(row_of(0.1))
    moved = np.linalg.norm((crushed.pads - crushed.center) - (free.pads - free.center), axis=1)
    assert moved == pytest.approx([0.1, 0.0, 0.0], abs=1e-12)


def test_the_centre_of_mass_is_where_the_row_says(lander):
    center = np.array([1.0, 2.0, 3.0])
    free = look_of(lander)(row_of())
    at_origin = pose_of(lander.tree, lander.devices, lander.tree.neutral())
    # The axes of the DCAP lander begin at its centre of mass.
    assert free.center - at_origin.center == pytest.approx(center, abs=1e-3)


def test_limits_of_strokes_by_leg(lander):
    same = types.SimpleNamespace(scenario={"dispersions": {}})
    assert limits_of(lander, same) == {"leg_1": 0.25, "leg_2": 0.25, "leg_3": 0.25}
    varied = types.SimpleNamespace(scenario={"dispersions": {"lander.stroke": {}}})
    assert limits_of(lander, varied) == {}
