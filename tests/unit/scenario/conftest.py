"""A small scenario that every test of scenarios starts from."""

import copy
import tomllib

import pytest

#: A cube over a plane: nothing to build.
PLANE = """
title = "A cube on a plane"
seed = 7

[gravity]
law = "uniform"
acceleration = ["0 m/s^2", "0 m/s^2", "-5.7e-3 m/s^2"]

[ground]
kind = "plane"

[lander]
shape = "cube"
side = "0.2 m"
mass = "1 kg"

[release]
position = ["0 m", "0 m", "0.4 m"]
velocity = ["10 cm/s", "3 cm/s", "-5 cm/s"]

[contact]
restitution = 0.6

[stop]
max_time = "2 h"
"""

#: A rover over Ryugu, coarse enough to be built at once.
RYUGU = """
title = "A rover on Ryugu"
seed = 1

[body]
name = "ryugu"
facets = 320

[gravity]
law = "reduced"
vertices = 42
linearise = "5 m"

[ground]
spacing = "40 m"

[ground.noise]
amplitude = "0.3 m"
wavelength = "20 m"

[lander]
name = "minerva-ii-1"

[release]
latitude = "20 deg"
longitude = "40 deg"
height = "60 m"

[contact]
restitution = 0.6
friction = 0.6

[dispersions]
"release.velocity" = { kind = "normal", sigma = "5 cm/s" }
"release.attitude" = { kind = "orientation" }
"contact.restitution" = { kind = "uniform", low = 0.5, high = 0.7 }

[campaign]
runs = 20
shard = 10
"""


@pytest.fixture
def plane():
    """The table of a cube over a plane."""
    return tomllib.loads(PLANE)


@pytest.fixture
def ryugu():
    """The table of a rover over Ryugu."""
    return tomllib.loads(RYUGU)


@pytest.fixture
def changed():
    """A copy of a table with other values under dotted keys; None takes one away."""

    def change(table, **values):
        out = copy.deepcopy(table)
        for key, value in values.items():
            *path, last = key.split("__")
            place = out
            for name in path:
                place = place.setdefault(name, {})
            if value is None:
                place.pop(last, None)
            else:
                place[last] = value
        return out

    return change
