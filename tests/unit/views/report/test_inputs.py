"""Names of what was dispersed, as readers know them, and what vectors amount to."""

import numpy as np
import pytest

from alight.views.report.inputs import input_of, name_of, scalars, unit_for

LOCAL = {"release": {"latitude": "20 deg"}, "dispersions": {"release.velocity": {}}}
STATE = {"release": {"latitude": "20 deg"}, "dispersions": {"release.state": {}}}
AXES = {"release": {}, "dispersions": {"release.state": {}}}
GROUP = {"release": {}, "dispersions": {"group": [{"keys": ["release.velocity"]}]}}


@pytest.mark.parametrize(
    ("column", "unit", "scenario", "label", "key"),
    [
        ("release.velocity_x_m_per_s", "m/s", LOCAL, "release velocity, east", "release.velocity"),
        ("release.velocity_x_m_per_s", "m/s", GROUP, "release velocity, x", "release.velocity"),
        ("release.state_x_m", "m", STATE, "release offset, east", "release.offset"),
        ("release.state_vz_m_per_s", "m/s", STATE, "release velocity, up", "release.velocity"),
        ("release.state_y_m", "m", AXES, "place of release, y", "release.position"),
        ("release.state_vy_m_per_s", "m/s", AXES, "release velocity, y", "release.velocity"),
        ("contact.restitution", "", GROUP, "restitution", "contact.restitution"),
        ("release.velocity.up_m_per_s", "m/s", GROUP, "release velocity, up",
         "release.velocity.up"),
        ("lander.wheel.y.torque_N_m", "N*m", GROUP, "lander wheel y torque",
         "lander.wheel.y.torque"),
    ],
)  # fmt: skip
def test_names(column, unit, scenario, label, key):
    one = input_of(column, unit, np.zeros(2), scenario)
    assert (one.label, one.key) == (label, key)


def test_vectors_come_with_their_lengths():
    parts = {"x": [3.0, 0.0], "y": [4.0, 0.0], "z": [12.0, -1.0]}
    inputs = [
        input_of(f"release.velocity_{axis}_m_per_s", "m/s", np.array(values), LOCAL)
        for axis, values in parts.items()
    ]
    found = {one.label: one.values.tolist() for one in scalars(inputs, LOCAL)}
    assert found["release speed"] == [13.0, 1.0]
    assert found["horizontal release speed"] == [5.0, 0.0]
    assert found["release velocity, up"] == [12.0, -1.0]


def test_the_slope_of_a_plane_is_from_level():
    scenario = {"dispersions": {"ground.normal": {}},
                "gravity": {"acceleration": ["0 m/s^2", "-2 m/s^2", "0 m/s^2"]}}  # fmt: skip
    normal = np.array([[0.0, 1.0, 0.0], [np.sin(0.1), np.cos(0.1), 0.0]])
    inputs = [
        input_of(f"ground.normal_{axis}", "", normal[:, k], scenario)
        for k, axis in enumerate("xyz")
    ]
    slope = scalars(inputs, scenario)[0]
    assert slope.label == "slope of the ground"
    assert slope.values == pytest.approx([0.0, 0.1], abs=1e-8)
    assert slope.shown.name == "°"


def test_units_suit():
    assert unit_for("m/s", 0.05).name == "cm/s"
    assert unit_for("rad/s", 0.05).name == "°/s"
    assert unit_for("N*m", 1.0).name == "N m"
    assert name_of("contact.restitution") == "restitution"
