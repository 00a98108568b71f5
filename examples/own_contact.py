"""A contact law of your own: Hertz's spring, F = k d^(3/2), and a ball that hits the ground."""

import warp as wp

import alight
from alight.contact import Compliant
from alight.contact.state import CompliantData
from alight.core.types import scalar
from alight.engine import Stop
from alight.gravity import Uniform
from alight.motions.rigid.phases.smooth import smooth_scheme
from alight.surfaces import Plane


@wp.func
def hertz_push(contact: CompliantData, depth: scalar, closing: scalar):
    """k d^(3/2) and a damper in compression [N]."""
    damper = contact.damping * wp.max(scalar(0.0), closing)
    return contact.stiffness * depth * wp.sqrt(depth) + damper


@wp.func
def hertz_stored(contact: CompliantData, depth: scalar):
    """2/5 k d^(5/2) [J]."""
    return scalar(0.4) * contact.stiffness * depth * depth * wp.sqrt(depth)


@wp.func
def hertz_frequency(contact: CompliantData, mass: scalar, speed: scalar):
    """Speed over the depth of a hit, (5 m v^2 / 4 k)^(2/5) [rad/s]; never 0."""
    v = wp.max(speed, contact.slip_speed)
    return v / wp.pow(scalar(1.25) * mass * v * v / contact.stiffness, scalar(0.4))


class Hertz(Compliant):
    """Stiffness [N/m^1.5] and damping [N s/m] of each point; all else as in the smooth scheme."""

    stepping = smooth_scheme("hertz", hertz_push, hertz_stored, hertz_frequency)

    def __init__(self, stiffness: float, damping: float = 0.0, **options) -> None:
        super().__init__(stiffness=stiffness, damping=damping, scheme="smooth", **options)


if __name__ == "__main__":
    mass, stiffness, speed = 10.0, 1e6, 0.1
    ball = alight.RigidLander.sphere(0.5, mass)
    law = Hertz(stiffness, depth=3e-3)
    model = alight.Model(Uniform((0.0, 0.0, 0.0)), Plane(), ball, law, stop=Stop(max_time=1.0))
    release = alight.Release((0.0, 0.0, 0.27), velocity=(0.0, 0.0, -speed))
    hit = alight.simulate(model, release).events[0]

    depth = (1.25 * mass * speed**2 / stiffness) ** 0.4
    force, lasts = stiffness * depth**1.5, 2.943275184324 * depth / speed
    print("                 measured    closed form")
    print(f"depth [mm]     {1e3 * hit['depth']:10.5f} {1e3 * depth:14.5f}")
    print(f"force [N]      {hit['peak_force']:10.5f} {force:14.5f}")
    print(f"duration [ms]  {1e3 * (hit['end'] - hit['start']):10.5f} {1e3 * lasts:14.5f}")
    print(f"restitution    {-hit['normal_speed_out'] / hit['normal_speed_in']:10.5f} {1.0:14.5f}")
