"""``Compliant``: what is refused, and the parameters it hands to kernels."""

import numpy as np
import pytest

from alight.contact import Compliant, damping_ratio
from alight.core.errors import AlightError, InputError
from alight.vehicles import RigidLander

CUBE = RigidLander.cube(0.2, 2.0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "either restitution, or stiffness"),
        ({"restitution": 0.5, "stiffness": 1e4}, "not both"),
        ({"restitution": 0.5, "damping": 1.0}, "not both"),
        ({"damping": 1.0}, "either restitution, or stiffness"),
        ({"restitution": 0.0}, "restitution is 0.0"),
        ({"restitution": -0.2}, "restitution is -0.2"),
        ({"restitution": 1.2}, "restitution is 1.2; .*more energy"),
        ({"restitution": np.nan}, "restitution is nan"),
        ({"restitution": "high"}, "restitution is 'high'"),
        ({"restitution": [0.5, 1.5]}, "restitution is 1.5"),
        ({"restitution": []}, r"array of shape \(0,\)"),
        ({"restitution": [[0.5, 0.6]]}, r"array of shape \(1, 2\)"),
        ({"restitution": 0.5, "friction": -0.1}, "friction is -0.1"),
        ({"restitution": 0.5, "friction": [0.1, -0.3]}, "friction is -0.3"),
        ({"restitution": 0.5, "friction": 0.5, "static_friction": 0.4}, "static_friction is below"),
        ({"restitution": 0.5, "static_friction": -1.0}, "static_friction is -1.0"),
        ({"restitution": 0.5, "rolling_resistance": -1e-3}, r"rolling_resistance \[m\] is -0.001"),
        ({"restitution": 0.5, "patch_radius": np.inf}, r"patch_radius \[m\] is inf"),
        ({"restitution": 0.5, "depth": 0.0}, r"depth \[m\] is 0.0"),
        ({"restitution": 0.5, "speed": 0.0}, r"speed \[m/s\] is 0.0"),
        ({"restitution": 0.5, "resolution": 0.0}, r"resolution \[rad\] is 0.0"),
        ({"restitution": 0.5, "resolution": 1.5}, "resolution is 1.5"),
        ({"restitution": 0.5, "slip_speed": 0.0}, "slip_speed"),
        ({"restitution": 0.5, "slip_rate": -1.0}, "slip_rate"),
        ({"stiffness": 0.0, "damping": 1.0}, r"stiffness \[N/m\] is 0.0"),
        ({"stiffness": 1e4, "damping": -1.0}, r"damping \[N s/m\] is -1.0"),
        ({"restitution": [0.5, 0.6], "friction": [0.1, 0.2, 0.3]}, r"numbers of runs: \[2, 3\]"),
    ],
)
def test_bad_input_is_named(given, message):
    with pytest.raises(InputError, match=message):
        Compliant(**given)


def test_an_unknown_scheme_is_met_with_a_guess():
    with pytest.raises(AlightError, match="clipped") as caught:
        Compliant(restitution=0.5, scheme="cliped")
    assert "cliped" in str(caught.value)


def test_count():
    assert Compliant(restitution=0.5).count == 1
    assert Compliant(restitution=0.5, friction=[0.1, 0.2, 0.3]).count == 3
    assert Compliant(restitution=[0.5]).count == 1


def test_rows_of_the_clipped_scheme():
    law = Compliant(restitution=[0.3, 0.6], friction=0.4, depth=2e-3, rolling_resistance=[0, 1e-3])
    rows = law.rows(CUBE)
    assert len(rows) == 2
    assert rows["restitution"].tolist() == [0.3, 0.6]
    assert rows["zeta"] == pytest.approx([damping_ratio(0.3), damping_ratio(0.6)])
    assert rows["stiffness"].tolist() == [0.0, 0.0]  # follows the speed
    assert rows["rolling"].tolist() == [0.0, 1e-3]
    assert rows["static_friction"].tolist() == [0.4, 0.4]
    assert rows["depth"].tolist() == [2e-3, 2e-3]


def test_rows_of_springs_as_given():
    rows = Compliant(stiffness=1e4, damping=[0.0, 30.0]).rows(CUBE)
    assert rows["stiffness"].tolist() == [1e4, 1e4]
    assert rows["damping"].tolist() == [0.0, 30.0]
    assert rows["restitution"].tolist() == [1.0, 1.0]


def test_stiffness_alone_is_a_spring_without_a_damper():
    assert Compliant(stiffness=1e4).rows(CUBE)["damping"].tolist() == [0.0]


def test_it_says_what_it_is():
    assert "restitution=0.5" in repr(Compliant(restitution=0.5))
    assert "stiffness=10000" in repr(Compliant(stiffness=1e4, damping=2.0))
    assert "[0.1 ... 0.9]" in repr(Compliant(restitution=[0.1, 0.9]))
