"""``Impulse``: what is refused, and the parameters it hands to kernels."""

import numpy as np
import pytest

from alight import gravity, motions, surfaces, vehicles
from alight.contact import GroundMap, Impulse
from alight.core import devices
from alight.core.errors import AlightError, InputError
from alight.shapes import Mesh
from alight.vehicles.rigid import hull_meshes
from alight.vehicles.rigid.hull_data import hull_data


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"restitution": -0.1}, "restitution is -0.1"),
        ({"restitution": 1.1}, "restitution is 1.1; .*more energy"),
        ({"restitution": np.nan}, "restitution is nan"),
        ({"restitution": "high"}, "restitution is 'high'"),
        ({"restitution": [0.5, 1.5]}, "restitution is 1.5"),
        ({"restitution": []}, r"array of shape \(0,\)"),
        ({"restitution": 0.5, "friction": -0.1}, "friction is -0.1"),
        ({"restitution": 0.5, "friction": np.nan}, "friction is nan"),
        ({"restitution": 0.5, "friction": 0.5, "static_friction": 0.4}, "static_friction is below"),
        ({"restitution": 0.5, "rolling_resistance": -1e-3}, r"rolling_resistance \[m\] is -0.001"),
        ({"restitution": 0.5, "hop": 0.0}, r"hop \[m\] is 0.0"),
        ({"restitution": 0.5, "hop": np.inf}, r"hop \[m\] is inf"),
        ({"restitution": 0.5, "stride": 0.0}, "stride is 0.0"),
        ({"restitution": 0.5, "stride": 1.5}, "stride is 1.5; .*pass over"),
        ({"restitution": 0.5, "stride": np.nan}, "stride is nan"),
        ({"restitution": 0.5, "ground": "soft"}, "ground is 'soft'"),
        ({"restitution": [0.5, 0.6], "friction": [0.1, 0.2, 0.3]}, r"numbers of runs: \[2, 3\]"),
        (
            {"restitution": 0.9, "ground": GroundMap({"restitution": np.full((7, 12), 1.2)})},
            "restitution",
        ),
    ],
)
def test_bad_input_is_named(given, message):
    with pytest.raises(InputError, match=message):
        Impulse(**given)


def test_both_ends_of_restitution_are_allowed():
    rows = Impulse([0.0, 1.0]).rows(vehicles.RigidLander.cube(0.2, 2.0))
    assert rows["restitution"].tolist() == [0.0, 1.0]


def test_rows():
    law = Impulse([0.3, 0.6], 0.4, static_friction=0.5, rolling_resistance=1e-3, hop=2e-4)
    rows = law.rows(vehicles.RigidLander.cube(0.2, 2.0))
    assert law.count == len(rows) == 2
    assert rows["restitution"].tolist() == [0.3, 0.6]
    assert rows["friction"].tolist() == [0.4, 0.4]
    assert rows["static_friction"].tolist() == [0.5, 0.5]
    assert rows["rolling"].tolist() == [1e-3, 1e-3]
    assert rows["depth"].tolist() == [2e-4, 2e-4]
    assert rows["resolution"].tolist() == [law.stride, law.stride]


def test_it_says_what_it_is():
    assert repr(Impulse(0.5)).startswith("Impulse(restitution=0.5, friction=0.6")


def test_a_hull_that_is_not_closed_is_refused():
    box = hull_meshes.box((0.2, 0.2, 0.2))
    with pytest.raises(AlightError, match="hole"):
        hull_data(Mesh(box.vertices, box.faces[1:]), devices.resolve("cpu"))


def test_which_surface_asks_for_which_scheme():
    cube = vehicles.RigidLander.cube(0.2, 1.0)
    down = gravity.Uniform((0.0, 0.0, -1e-3))
    facets = surfaces.Facets(hull_meshes.box((20.0, 20.0, 20.0)))
    for surface, name in ((surfaces.Plane(), "impulse"), (facets, "impulse on facets")):
        scheme = motions.Model(down, surface, cube, Impulse(0.5)).scheme
        assert scheme.name == name
        assert scheme.hull == (name == "impulse on facets")
