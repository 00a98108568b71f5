"""No contact returns more than it took: what finite steps would gain is taken back and told."""

import numpy as np
import pytest

from alight import gravity, surfaces
from alight.contact import Compliant
from alight.core.outcomes import Outcome
from alight.engine import Stop, run_batch
from alight.motions import Model, Release
from alight.vehicles import RigidLander


@pytest.fixture(scope="module")
def bounced():
    """Cubes that bounce without loss, so that any error of a step shows."""
    rng = np.random.default_rng(8)
    count = 200
    model = Model(
        gravity.Uniform((0.0, 0.0, -1e-3)),
        surfaces.Plane(),
        RigidLander.cube(0.2, 1.0),
        Compliant(restitution=1.0, friction=0.0, rolling_resistance=0.0),
        stop=Stop(max_time=400.0),
    )
    release = Release(
        (0.0, 0.0, 0.5), (0.0, 0.0, -0.05), rng.normal(size=(count, 4)), rng.normal(size=(count, 3))
    )
    return run_batch(model, release, device="cpu")


def test_energy_never_rises_from_contact_to_contact(bounced):
    touches = bounced.touches
    scale = np.abs(touches["energy_in"]).max()
    assert (touches["energy_out"] - touches["energy_in"]).max() <= 1e-14 * scale


def test_what_was_taken_back_is_told(bounced):
    """There is something to take back here, and it is small beside the energy of a hit."""
    assert bounced.final["gain"].max() > 0.0
    assert bounced.final["gain"].max() < 1e-3 * np.abs(bounced.touches["energy_in"]).max()
    assert (bounced.outcome == Outcome.TIMED_OUT).all()
