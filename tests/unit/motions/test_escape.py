"""What is beyond ``escape_radius`` has escaped, in flight and on the ground, under every law."""

import numpy as np
import pytest

from alight import contact, engine, gravity, motions, surfaces, vehicles
from alight.core.outcomes import Outcome

LAWS = {
    "clipped": contact.Compliant(0.5, 0.6, rolling_resistance=0.0),
    "smooth": contact.Compliant(0.5, 0.6, rolling_resistance=0.0, scheme="smooth"),
    "impulse": contact.Impulse(0.5, 0.6, rolling_resistance=0.0),
    "sliding": contact.Sliding(0.5, 0.0),
}
FAR, SPEED = 3.0, 0.05


@pytest.mark.parametrize("law", LAWS)
def test_on_the_ground(law):
    """A ball that rolls, or a point that slides, along a plane that has no end."""
    point = law == "sliding"
    lander = vehicles.RigidLander.point(1.0) if point else vehicles.RigidLander.sphere(0.2, 1.0)
    model = motions.Model(
        gravity.Uniform((0.0, 0.0, -1e-3)),
        surfaces.Plane(),
        lander,
        LAWS[law],
        stop=engine.Stop(max_time=1e3, escape_radius=FAR),
    )
    height, rate = (0.0, (0, 0, 0)) if point else (0.1, (0, SPEED / 0.1, 0))
    release = motions.Release((0, 0, height), (SPEED, 0, 0), rate=rate)
    result = engine.run_batch(model, release, device="cpu", show="silent")
    assert result.outcome[0] == Outcome.ESCAPED
    assert np.linalg.norm(result.final["x"][0]) > FAR
    assert result.final["t"][0] < 1e3
