"""An actuator and a controller of your own: jets against tumbling, on while a cube tumbles."""

import math

import warp as wp

import alight
from alight.actuators import Actuator, Controller, Effort
from alight.contact import Impulse
from alight.core.types import scalar
from alight.engine import Stop, run_batch
from alight.engine.scene import Scene
from alight.gravity import Uniform
from alight.surfaces import Plane


@wp.struct
class Strength:
    """One number: of the jets [N m s/rad], of the controller [rad/s]."""

    size: scalar


def strength(size: float):
    """The struct of a number."""
    data = Strength()
    data.size = size
    return data


@wp.func
def resist(data: Strength, scene: Scene, level: scalar):
    """A torque against the rate."""
    out = Effort()
    out.torque = -level * data.size * scene.w
    return out


@wp.func
def while_tumbling(data: Strength, scene: Scene, level: scalar):
    """On or off."""
    return wp.where(wp.length(scene.w) > data.size, scalar(1.0), scalar(0.0))


class Jets(Actuator):
    """Torque of ``gain`` [N m s/rad] times the rate."""

    Data, act = Strength, resist

    def __init__(self, gain: float, schedule) -> None:
        self.gain, self.schedule = gain, schedule

    def data(self, device):
        """The gain."""
        return strength(self.gain)


class WhileTumbling(Controller):
    """Looks every ``period`` [s] whether the lander is faster than ``limit`` [rad/s]."""

    Data, command = Strength, while_tumbling

    def __init__(self, limit: float, period: float) -> None:
        super().__init__(period)
        self.limit = limit

    def data(self, device):
        """The limit."""
        return strength(self.limit)


if __name__ == "__main__":
    cube = alight.vehicles.RigidLander.cube(0.2, 10.0)
    gain, limit, period, w0 = 5e-3, 0.05, 2.0, 0.6
    model = alight.motions.Model(
        Uniform((0.0, 0.0, -1e-4)),
        Plane(),
        cube,
        Impulse(restitution=0.4, friction=0.6),
        stop=Stop(max_time=100.0),
        actuators=(Jets(gain, WhileTumbling(limit, period)),),
    )
    run = run_batch(model, alight.motions.Release((0, 0, 50.0), rate=(0.0, 0.0, w0)))
    # A cube slows down as w0 exp(-gain t / I), to the first look below the limit.
    slowing = gain / cube.inertia[2, 2]
    off = period * math.ceil(math.log(w0 / limit) / slowing / period)
    print("rate:", run.final["w"][0, 2], "rad/s; expected:", w0 * math.exp(-slowing * off))
    print("work of the jets:", run.actuator_work[0], "J")
