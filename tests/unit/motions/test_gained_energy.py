"""A contact that gives more energy than it received is a failure, under every contact law.

The ground here is false beyond x = 0: it has a step of 8 cm that its bounds do not announce, and
its normal there is twice too long. A lander that flies or slides into it is suddenly deep inside;
one that drops on it is pushed by more than its own motion.
"""

import pytest
import warp as wp

from alight import contact, engine, gravity, motions, vehicles
from alight.core.outcomes import Outcome
from alight.core.types import mat33, scalar, vec3
from alight.surfaces.law import Bounds, Surface, SurfaceBend, SurfacePoint

STEP = wp.constant(scalar(0.08))


@wp.struct
class StepData:
    unused: scalar


@wp.func
def step_point(data: StepData, x: vec3):
    found = SurfacePoint()
    found.distance = x[2] - wp.where(x[0] < scalar(0.0), scalar(0.0), STEP)
    found.normal = vec3(
        scalar(0.0), scalar(0.0), wp.where(x[0] < scalar(0.0), scalar(1.0), scalar(2.0))
    )
    found.gradient = found.normal
    return found


@wp.func
def step_bend(data: StepData, x: vec3):
    at = step_point(data, x)
    found = SurfaceBend()
    found.distance = at.distance
    found.gradient = at.gradient
    found.hessian = mat33()
    return found


class Step(Surface):
    Data, point, bend = StepData, step_point, step_bend

    def bounds_to(self, depth):
        return Bounds(slope=1.0, curvature=0.0)

    def data(self, device):
        return StepData()


LAWS = {
    "clipped": contact.Compliant(restitution=0.5, friction=0.0),
    "smooth": contact.Compliant(restitution=0.5, friction=0.0, scheme="smooth"),
    "impulse": contact.Impulse(restitution=0.5, friction=0.0),
    "sliding": contact.Sliding(restitution=0.5, friction=0.0),
}
LATER = [pytest.param(name, marks=pytest.mark.validate) for name in list(LAWS)[1:]]


def flown(law, place, speed):
    """Two landers: one at ``place`` that meets false ground, one far from it."""
    point = isinstance(law, contact.Sliding)
    lander = vehicles.RigidLander.point(1.0) if point else vehicles.RigidLander.sphere(0.2, 1.0)
    model = motions.Model(
        gravity.Uniform((0.0, 0.0, -1e-4)),
        Step(),
        lander,
        law,
        stop=engine.Stop(max_time=1000.0, escape_radius=1e4),
    )
    release = motions.Release([place, (-500.0, 0.0, 0.15)], (speed, 0.0, 0.0))
    return engine.run_batch(model, release, device="cpu", show="silent")


@pytest.mark.parametrize("law", ["clipped", *LATER])
def test_it_is_no_escape(law):
    place = {"impulse": (1.0, 0.0, 2.0), "sliding": (-0.5, 0.0, 0.0)}.get(law, (-0.5, 0.0, 0.105))
    result = flown(LAWS[law], place, speed=0.005 if law == "sliding" else 0.05)
    assert result.outcome[0] == Outcome.GAINED_ENERGY
    assert not Outcome.of(result.outcome[1]).failed  # its neighbour far from the step
    assert Outcome.GAINED_ENERGY.failed


@pytest.mark.validate  # a kernel of its own
@pytest.mark.parametrize("thrust", [0.0, 1e-4])
def test_pads_of_articulated_landers(thrust):
    """A ball on one pad that slides into the step; what pushes it all the way excuses nothing."""
    push = [vehicles.Thruster(thrust, (1.0, 0.0, 0.0), body="bus")] if thrust else []
    bus = vehicles.Branch(
        [vehicles.TreeBody("bus", 1.0, (0.01, 0.01, 0.01))],
        [vehicles.Joint("bus", "free")],
        [vehicles.Pad("bus", (0.0, 0.0, 0.0), 0.1), *push],
    )
    lander = vehicles.assemble("ball", [bus])
    model = motions.TreeModel(
        lander.tree,
        lander.devices,
        gravity.Uniform((0.0, 0.0, -1e-4)),
        Step(),
        contact.Hertz(1e5, damping=100.0, friction=0.0),
        stop=motions.TreeStop(max_time=1000.0),
    )
    place = [(-0.5, 0.0, 0.1), (-500.0, 0.0, 0.15)]
    release = motions.TreeRelease.of(lander.tree, place, (0.05, 0.0, 0.0))
    result = engine.run_batch(model, release, device="cpu")
    assert result.outcome[0] == Outcome.GAINED_ENERGY
    assert not Outcome.of(result.outcome[1]).failed
