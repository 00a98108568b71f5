"""One small world for all tests of the engine, on every device of the machine."""

import numpy as np
import pytest

from alight import contact, engine, gravity, motions, surfaces, vehicles
from alight.core import devices, frames

DEVICES = [device.name for device in devices.available()]


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


@pytest.fixture(scope="session")
def cube():
    return vehicles.RigidLander.cube(0.2, 1.0)


@pytest.fixture(scope="session")
def world(cube):
    """``world(law, **stop)``: a cube over a plane in gravity of 5.7e-3 m/s^2."""

    def make(law=None, lander=cube, steps=None, **stop):
        stop.setdefault("max_time", 150.0)
        return motions.Model(
            gravity.Uniform((0.0, 0.0, -5.7e-3)),
            surfaces.Plane(),
            lander,
            law or contact.Compliant(restitution=0.5),
            stop=engine.Stop(**stop),
            steps=steps or motions.Steps(),
        )

    return make


@pytest.fixture(scope="session")
def tumbled():
    """``tumbled(n)``: n releases, each different."""

    def make(count, seed=0):
        rng = np.random.default_rng(seed)
        return motions.Release(
            np.column_stack([np.zeros((count, 2)), rng.uniform(0.2, 1.0, count)]),
            rng.normal(size=(count, 3)) * 0.02,
            frames.quat_normalize(rng.normal(size=(count, 4))),
            rng.normal(size=(count, 3)) * 0.2,
        )

    return make
