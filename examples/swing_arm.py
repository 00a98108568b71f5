"""MASCOT's way to hop: a box of 10 kg on ground like Ryugu's swings a small mass on an arm.

The arm turns once about the box's y axis, up and over, and stands again where it began. Its mass,
0.3 kg at 7 cm, is assumed, as are its rates; nothing but the ground holds the box.
"""

import numpy as np

import alight
from alight.actuators import Arm, Schedule
from alight.contact import Impulse
from alight.engine import Stop
from alight.gravity import Uniform
from alight.surfaces import Plane

GRAVITY, MASS = 1.2e-4, 10.0
BOX = alight.vehicles.RigidLander.box((0.275, 0.29, 0.195), MASS)


def hop(rate: float):
    """The run of one turn of the arm at ``rate`` [rad/s], begun a minute after coming to rest."""
    arm = Arm(
        mass=0.3,  # kg
        axis=(0.0, 1.0, 0.0),
        reach=(0.0, 0.0, -0.07),  # m
        rate=rate,
        acceleration=20.0,  # rad/s^2
        schedule=Schedule((60.0, 60.0 + 2.0 * np.pi / rate), (1.0, 0.0), "rest"),
    )
    model = alight.motions.Model(
        Uniform((0.0, 0.0, -GRAVITY)),
        Plane(),
        BOX,
        Impulse(restitution=0.3, friction=0.6),
        stop=Stop(max_time=7200.0),
        actuators=(arm,),
    )
    return alight.simulate(model, alight.motions.Release((0.0, 0.0, 0.098)))


if __name__ == "__main__":
    print("rate [rad/s]   hops   highest [cm]   way [cm]   work of the motor [mJ]")
    for rate in (0.5, 1.0, 2.0):
        run = hop(rate)
        times = np.linspace(0.0, run.time[-1], 20_000)
        height = run.sample(times)[0][:, 2].max() - 0.0975
        way = np.linalg.norm(run.position[-1, :2])
        work = 1e3 * run.actuator_work[-1]
        print(
            f"{rate:12.1f} {run.result.hops[0]:6d} {100 * height:14.2f} {100 * way:10.2f} "
            f"{work:12.4f}   {run.outcome}"
        )
