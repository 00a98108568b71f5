"""Bodies and joints of trees: what they may be."""

import math

import numpy as np
import pytest

from alight.core.errors import InputError
from alight.vehicles import Joint, TreeBody

HINGE = {"body": "a", "kind": "revolute", "axis": (0, 0, 1)}


@pytest.mark.parametrize(
    ("values", "match"),
    [
        ({"name": ""}, "a body is named ''"),
        ({"name": 3}, "a body is named 3"),
        (
            {"mass": -1.0},
            'the mass of body "a" .* is -1.0; it must be a finite number of at least 0',
        ),
        ({"mass": math.inf}, "mass"),
        ({"inertia": (1, 2)}, r"must be a finite \(3, 3\) tensor"),
        ({"inertia": "round"}, r"must be a finite \(3, 3\) tensor"),
        ({"inertia": (1, 1, 2.1)}, "the largest exceeds the sum of the other two.*units"),
        ({"inertia": (1, 1, -0.5)}, "none may be negative"),
        ({"inertia": [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]}, "not symmetric"),
        ({"mass": 0.0}, "has an inertia but a mass of 0"),
        ({"center": (1, 2)}, "the centre of mass of body"),
    ],
)
def test_bodies_that_cannot_be(values, match):
    with pytest.raises(InputError, match=match):
        TreeBody(**{"name": "a", "mass": 1.0, "inertia": (1, 1, 1), **values})


def test_points_and_rods_are_bodies():
    assert not TreeBody("point", 1.0).inertia.any()
    assert TreeBody("rod", 1.0, (0, 2, 2)).inertia[1, 1] == 2.0
    assert TreeBody("plate", 1.0, (1, 1, 2)).inertia[2, 2] == 2.0


@pytest.mark.parametrize(
    ("values", "match"),
    [
        ({"kind": "hinge"}, 'unknown kind of joint "a" "hinge".*Known: fixed, free, prismatic'),
        ({"kind": "revolut"}, 'Did you mean "revolute"'),
        ({"body": None}, "the body of a joint is named None"),
        ({"parent": ""}, 'the parent of joint "a" is named'),
        ({"axis": (0, 0, 0)}, "has no direction; give a vector"),
        ({"axis": None}, "needs an axis"),
        ({"axis": (1, 2)}, "the axis of"),
        ({"kind": "spherical"}, "is spherical and has an axis.*Leave it out"),
        ({"kind": "free", "axis": None, "stiffness": 1.0}, "is free and has stiffness 1.0; only"),
        ({"kind": "fixed", "axis": None, "damping": 1.0}, "is fixed and has damping"),
        ({"kind": "spherical", "axis": None, "upper": 1.0}, "only revolute and prismatic joints"),
        ({"kind": "spherical", "axis": None, "rest": 1.0}, "has rest"),
        ({"place": (0, math.nan, 0)}, "the place of"),
        ({"turn": (0, 0, 0, 0)}, "unit quaternion x, y, z, w"),
        ({"turn": (0, 0, 1)}, "unit quaternion"),
        ({"turn": "up"}, "unit quaternion"),
        ({"stiffness": -1.0}, "the stiffness of joint"),
        ({"damping": math.nan}, "the damping of joint"),
        ({"friction": -2.0}, "the friction of joint"),
        ({"friction_speed": 0.0}, "the friction speed of joint"),
        ({"rest": math.inf}, "the rest of joint"),
        ({"motor": math.nan}, "the motor of joint"),
        (
            {"lower": 1.0, "upper": 0.5, "stop_stiffness": 1.0},
            "1 to 0.5; the lower one must be less",
        ),
        ({"lower": 0.0, "upper": 0.0, "stop_stiffness": 1.0}, "use a fixed joint for no stroke"),
        ({"lower": math.nan}, "the lower limit of"),
        ({"upper": "high"}, "the upper limit of"),
        ({"upper": 1.0}, "stops without stiffness"),
        ({"stop_stiffness": 5.0}, "no limits at which they begin"),
        ({"upper": 1.0, "stop_stiffness": -5.0}, "stop stiffness"),
    ],
)
def test_joints_that_cannot_be(values, match):
    with pytest.raises(InputError, match=match):
        Joint(**{**HINGE, **values})


def test_axes_and_turns_become_unit():
    joint = Joint("a", "revolute", axis=(0, 3, 4), turn=(0, 0, 1e-8, 1))
    assert np.linalg.norm(joint.axis) == pytest.approx(1.0, abs=1e-15)
    assert np.linalg.norm(joint.turn) == pytest.approx(1.0, abs=1e-15)
    assert joint.name == "a"
    assert (joint.n_q, joint.n_v) == (1, 1)
