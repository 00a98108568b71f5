"""A cube with flywheels on a plane: what tests of hops share, and their closed forms.

l is the way from the leading edge to the centre of mass, alpha its angle from the normal, I_p the
inertia of the platform about the wheel's axis, without the wheel's J, and I_t = I_p + J + m l^2.
"""

import numpy as np

from alight import contact, engine, gravity, motions, surfaces, vehicles
from alight.actuators import Schedule, Wheel

SIDE, MASS, J = 0.25, 5.0, 2.7e-3
LEVER = SIDE / np.sqrt(2.0)
PLATFORM = MASS * SIDE**2 / 6.0
WHOLE = PLATFORM + J + MASS * LEVER**2
ETA = J / WHOLE
#: Its inertia is that of the solid cube with its wheels free.
CUBE = vehicles.RigidLander.cube(SIDE, MASS, inertia=(PLATFORM + J) * np.eye(3))
X, Y = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
STANDING = (0.0, 0.0, 0.5 * SIDE + 1e-10)


def rigid(mu, restitution=0.3, stride=0.05):
    """Rigid ground, followed in steps of ``stride`` of the cube's radius."""
    return contact.Impulse(
        restitution=restitution, friction=mu, rolling_resistance=0.0, stride=stride
    )


def model(g, law, max_time=1e5, lander=CUBE, tilt=0.0, tolerance=1e-9, **wheel):
    """A cube on a plane that rises along x by ``tilt`` [rad], with a wheel about y.

    The one about x is idle; its brake takes no time, so that all kernels are one.
    """
    down = (-g * np.sin(tilt), 0.0, -g * np.cos(tilt))
    return motions.Model(
        gravity.Uniform(down),
        surfaces.Plane(),
        lander,
        law,
        stop=engine.Stop(max_time=max_time),
        steps=motions.Steps(tolerance=tolerance),
        actuators=(Wheel(Y, J, name="y", **wheel), Wheel(X, J, brake=np.inf, name="x")),
    )


def braked(g, law, speed, brake=np.inf, **options):
    """The run of a cube at rest whose wheel is braked 10 s later."""
    braking = Schedule.after_rest(10.0)
    made = model(g, law, speed=speed, brake=brake, braking=braking, **options)
    return engine.simulate(made, motions.Release(STANDING))


def launch(solution):
    """Number of the line of the first step after lock-up, speed [m/s], angle [deg], rate [rad/s].

    The ground has then taken what the last of the brake left.
    """
    at = np.flatnonzero(solution.wheel_speed[:, 0] == 0.0)[0] + 1
    return at, *thrown(solution, at)


def thrown(solution, at):
    """Speed [m/s], angle above the ground [deg] and rate [rad/s] at a line."""
    v = solution.velocity[at]
    angle = np.degrees(np.arctan2(v[2], abs(v[0])))
    return np.linalg.norm(v), angle, solution.rate[at, 1]


def slipping(speed, mu, alpha=np.pi / 4):
    """H6: rate, speed and angle [deg] where the edge slides."""
    s, c = np.sin(alpha), np.cos(alpha)
    w = J * speed / (PLATFORM + J + MASS * LEVER**2 * s * (s + mu * c))
    return w, w * LEVER * s * np.sqrt(1.0 + mu**2), np.degrees(np.arctan(1.0 / mu))
