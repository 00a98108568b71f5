"""A body on a membrane against closed forms and conserved quantities (paper 003, FACTS B3, F.6).

Energy: 1/2 m v^2 + 1/2 w.I w - m g.x + 1/2 k (A - A0)^2 + (energy lost so far) is constant.
Momentum: m v + M V and the angular momentum of body and craft together, without thrust.

The area is once continuously differentiable in the pose: where a triangle of the hull turns over,
or a vertex comes to the fabric, value and slope agree and the second derivative jumps. Forces are
continuous with kinks, so fixed steps converge with order 2 over a bounce, and adaptive steps find
the kinks by themselves.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from alight.actuators import Schedule, Thruster
from alight.core import devices, frames
from alight.core.outcomes import Outcome
from alight.membrane import Captive, Membrane, hexagon
from alight.motions.membrane.model import Craft, MembraneMotion

DEVICES = [device.name for device in devices.available()]
G = 9.80665
DOWN = np.array([0.0, 0.0, -G])
SIDE = 7.5
HEIGHT = SIDE * np.sqrt(3.0) / 2.0
POINT = Captive(100.0, np.eye(3), np.zeros((1, 3)))

pytestmark = pytest.mark.parametrize("device", DEVICES)


def odd(count=40, mass=100.0, size=(2.25, 1.9, 1.5), seed=3):
    points = np.random.default_rng(seed).normal(size=(count, 3))
    inertia = mass / 100.0 * np.diag([120.0, 150.0, 190.0])
    return Captive(mass, inertia, points / np.linalg.norm(points, axis=1)[:, None] * size)


def trampoline(stiffness=30.0, damping=0.0, friction=0.0, **options):
    return Membrane(stiffness, damping, friction, suspension=hexagon(SIDE), **options)


def kinetic(mass, inertia, velocity, rate):
    turning = np.einsum("nri,ij,nrj->nr", rate, inertia, rate)
    return 0.5 * mass * (velocity**2).sum(axis=-1) + 0.5 * turning


def energy(flight, body, gravity=DOWN):
    """Everything, with what was lost (n, r)."""
    moving = kinetic(body.mass, body.inertia, flight.velocity, flight.rate)
    fall = -body.mass * (flight.position @ gravity)
    return moving + fall + flight.loads["stored"] + flight.damped + flight.rubbed


def point_drop(damping):
    """Reference: contact, slack, depth and return of a 100 kg point, by SciPy."""
    k, m = 30.0, 100.0

    def tension(z, v):
        far = np.hypot(HEIGHT, z)
        rate = 3.0 * SIDE * z * v / far
        return max(0.0, k * 3.0 * SIDE * (far - HEIGHT) + damping * rate)

    def slope(_, y):
        z, v = y
        return [v, -G - tension(z, v) * 3.0 * SIDE * z / np.hypot(HEIGHT, z) / m]

    def back(_, y):
        return y[0]

    back.terminal, back.direction = True, 1.0
    start = [0.0, -np.sqrt(2.0 * G * 10.0)]
    tight = {"rtol": 1e-11, "atol": 1e-12, "max_step": 1e-3}
    found = solve_ivp(slope, (0.0, 2.0), start, events=back, dense_output=True, **tight)
    return found.t_events[0][0], -found.y[0].min(), found.y_events[0][0][1]


@pytest.mark.parametrize(
    ("damping", "back", "deep", "ratio"), [(1.5, 0.862, 4.06, 0.605), (0.0, 0.766, 4.427, 1.0)]
)
def test_drop_of_a_point(device, damping, back, deep, ratio):
    # B3-1, and the same by another integrator.
    motion = MembraneMotion(trampoline(damping=damping), POINT, gravity=DOWN)
    flight = motion.run(
        (0, 0, 10), duration=3.0, step=1e-3, method="rk4", until_release=True, device=device
    )
    notes = {name: values[0] for name, values in flight.notes.items()}
    assert flight.outcome[0] == Outcome.LOST
    assert notes["first_contact_s"] == pytest.approx(np.sqrt(20.0 / G), abs=1e-6)
    lasted = notes["release_s"] - notes["first_contact_s"]
    speed = flight.last[0, 5] + G * (flight.end[0] - notes["release_s"])
    assert lasted == pytest.approx(back, abs=1e-3)
    assert notes["depth_m"] == pytest.approx(deep, abs=5e-3)
    assert speed / np.sqrt(20.0 * G) == pytest.approx(ratio, abs=1e-3)
    wanted = point_drop(damping)
    assert (lasted, notes["depth_m"], speed) == pytest.approx(wanted, rel=2e-6)
    if damping:
        assert notes["slack_s"] - notes["first_contact_s"] == pytest.approx(0.757, abs=2e-3)
    else:
        # F.6: 1/2 k (A - A0)^2 = m g (H + z) at the lowest point.
        z = brentq(
            lambda z: (
                15.0 * (3.0 * SIDE * (np.hypot(HEIGHT, z) - HEIGHT)) ** 2 - 100.0 * G * (10.0 + z)
            ),
            1.0,
            9.0,
        )
        assert notes["depth_m"] == pytest.approx(z, rel=1e-6)


def bounce(device, body, law=None, **options):
    motion = MembraneMotion(law or trampoline(), body, gravity=DOWN)
    given = {"velocity": (0, 0, -10.0), "rate": (0.5, 1.0, -0.2), "duration": 1.8, "every": 0.05}
    return motion.run((0.3, 0.2, 5.0), **{**given, **options}, device=device)


@pytest.mark.parametrize("count", [8, 40])
def test_energy_over_a_bounce(device, count):
    # 1e-8 of the energy of the impact, without damping and friction, body tumbling.
    body = odd(count)
    flight = bounce(device, body, method="rk45", tolerance=1e-11)
    assert flight.notes["contacts"][0] == 1
    assert flight.notes["release_s"][0] < 1.3
    total = energy(flight, body)[0]
    impact = 0.5 * 100.0 * 10.0**2 + 100.0 * G * 5.0
    assert np.abs(total - total[0]).max() < 1e-8 * impact


def test_error_falls_with_the_tolerance(device):
    body = odd()
    errors = []
    for tolerance in (1e-6, 1e-8, 1e-10, 1e-12):
        total = energy(bounce(device, body, method="rk45", tolerance=tolerance), body)[0]
        errors.append(np.abs(total - total[0]).max())
    assert (np.diff(np.log10(errors)) < -1.0).all()


def test_fixed_steps_converge_with_order_two(device):
    body = odd()
    reference = bounce(device, body, method="rk45", tolerance=1e-13).last[0, :13]
    steps = 4e-3 * 0.5 ** np.arange(6)
    errors = [
        np.abs(bounce(device, body, step=h, method="rk4").last[0, :13] - reference).max()
        for h in steps
    ]
    order = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert 1.7 < order < 3.5


def test_energy_that_is_lost_is_accounted_for(device):
    # Damping and friction: what is gone from the motion is in the two sums, and both only grow.
    body = odd()
    law = trampoline(damping=1.5, friction=0.4)
    flight = bounce(device, body, law, velocity=(2.0, 0.0, -10.0), method="rk45", tolerance=1e-10)
    total = energy(flight, body)[0]
    assert np.abs(total - total[0]).max() < 1e-6 * total[0]
    assert (np.diff(flight.damped[0]) >= 0.0).all()
    assert (np.diff(flight.rubbed[0]) >= 0.0).all()
    assert flight.damped[0, -1] > 0.1 * total[0]
    assert flight.rubbed[0, -1] > 1e-3 * total[0]


def momenta(flight, body, craft):
    """Linear and angular momentum of the pair (r, 3)."""
    linear = body.mass * flight.velocity + craft.mass * flight.craft_velocity
    turning = frames.quat_rotate(flight.attitude, flight.rate @ body.inertia)
    turning += frames.quat_rotate(flight.craft_attitude, flight.craft_rate @ craft.inertia)
    swing = body.mass * np.cross(flight.position, flight.velocity)
    swing += craft.mass * np.cross(flight.craft_position, flight.craft_velocity)
    return linear[0], (turning + swing)[0]


def test_momentum_of_the_pair(device):
    # A tumbling body against a free craft, friction and damping on, no thrust.
    body, craft = odd(mass=1000.0), Craft(400.0, np.diag([900.0, 1000.0, 600.0]))
    law = trampoline(3.0, 5.0, 0.5)
    flight = MembraneMotion(law, body, craft).run(
        (0.4, -0.3, 2.5),
        (0.05, 0.0, -1.0),
        rate=(0.2, 0.1, -0.15),
        craft_rate=(0.01, 0.02, 0.05),
        duration=12.0,
        step=0.1,
        method="rk45",
        tolerance=1e-11,
        every=0.5,
        device=device,
    )
    assert flight.notes["contacts"][0] >= 1
    assert flight.loads["slip"].max() > 0.01
    linear, angular = momenta(flight, body, craft)
    assert np.abs(linear - linear[0]).max() < 1e-12 * 1000.0
    assert np.abs(angular - angular[0]).max() < 1e-8 * np.linalg.norm(angular[0])
    own = kinetic(craft.mass, craft.inertia, flight.craft_velocity, flight.craft_rate)
    total = (energy(flight, body, np.zeros(3)) + own)[0]
    assert np.abs(total - total[0]).max() < 1e-6 * total[0]


def test_axial_capture(device):
    # B3-2: 1000 t, 15 t, 5 cm/s, 475 N from contact on; a point on the axis. The reference is in
    # one dimension: the reduced mass on the membrane, and a steady force of 475 N 1000/1015.
    mass, own, push = 1e6, 15e3, 475.0
    body = Captive(mass, 1e7 * np.eye(3), np.zeros((1, 3)))
    craft = Craft(own, 1e12 * np.eye(3))  # on the axis: it does not tilt
    main = Thruster(push, (0.0, 0.0, 1.0), schedule=Schedule.after_touch())
    motion = MembraneMotion(trampoline(1.5, 15.0), body, craft, actuators=(main,))
    flight = motion.run(
        (0, 0, 0.1), (0, 0, -0.05), duration=120.0, step=0.1, every=0.1, method="rk4", device=device
    )
    depth = -flight.loads["lowest"][0]
    peak = depth.argmax()
    touch = flight.notes["first_contact_s"][0]
    assert touch == pytest.approx(2.0, abs=0.11)
    assert depth[peak] == pytest.approx(4.89, abs=0.01)
    assert flight.time[peak] - touch == pytest.approx(24.4, abs=0.2)
    assert depth[-1] == pytest.approx(4.057, abs=0.01)
    force = np.linalg.norm(flight.loads["force"][0], axis=1)
    assert force[-1] == pytest.approx(push * mass / (mass + own), rel=1e-3)
    assert flight.notes["force_n"][0] == pytest.approx(1.0e3, rel=2e-2)
    # Momentum of the pair grows by the impulse of the thrust, along the craft's axis.
    linear, _ = momenta(flight, body, craft)
    gained = linear[-1] - linear[0]
    assert gained[2] == pytest.approx(flight.thrust_impulse[0, -1], rel=1e-6)
    assert flight.thrust_impulse[0, -1] == pytest.approx(push * (120.0 - touch), rel=2e-3)


def test_moving_frame_is_no_matter(device):
    # The same bounce seen from axes that fly by, and turned: states agree after turning back.
    body = odd()
    turn = frames.quat_from_axis_angle((1.0, 2.0, -0.5), 0.8)
    wind = np.array([3.0, -2.0, 1.0])
    plain = bounce(device, body, method="rk45", tolerance=1e-11)
    motion = MembraneMotion(trampoline(), body, gravity=frames.quat_rotate(turn, DOWN))
    there = motion.run(
        frames.quat_rotate(turn, (0.3, 0.2, 5.0)),
        frames.quat_rotate(turn, (0.0, 0.0, -10.0)) + wind,
        turn,
        (0.5, 1.0, -0.2),
        craft_velocity=wind,
        craft_attitude=turn,
        duration=1.8,
        method="rk45",
        tolerance=1e-11,
        device=device,
    )
    place = frames.quat_rotate_inv(turn, there.last[0, :3] - 1.8 * wind)
    assert np.abs(place - plain.last[0, :3]).max() < 1e-7
    assert np.abs(there.last[0, 10:13] - plain.last[0, 10:13]).max() < 1e-6


def test_line_in_the_plane(device):
    # 2D: a plate stays in its plane, keeps its energy and turns.
    law = Membrane(2000.0, suspension=[[-5.0, 0.0], [5.0, 0.0]])
    body = Captive.polygon([[-1.5, -0.4], [0.2, -0.9], [1.4, 0.1], [0.6, 0.8], [-1.0, 0.6]], 50.0)
    motion = MembraneMotion(law, body, gravity=DOWN)
    flight = motion.run(
        (0.5, 0, 3.0),
        rate=(0, 0.6, 0),
        duration=2.0,
        every=0.05,
        method="rk45",
        tolerance=1e-11,
        device=device,
    )
    assert flight.notes["contacts"][0] == 1
    assert np.abs(flight.position[0, :, 1]).max() == 0.0
    assert np.abs(flight.rate[0, :, ::2]).max() == 0.0
    total = energy(flight, body)[0]
    assert np.abs(total - total[0]).max() < 1e-8 * body.mass * G * 3.0


def test_body_settles_where_weight_and_fabric_balance(device):
    # A point at rest: a dA/dz = m g; damping is enough for ten seconds.
    motion = MembraneMotion(trampoline(30.0, 60.0), POINT, gravity=DOWN)
    flight = motion.run((0, 0, 0.5), duration=30.0, step=0.01, device=device)
    depth = -flight.last[0, 2]
    far = np.hypot(HEIGHT, depth)
    force = 30.0 * 3.0 * SIDE * (far - HEIGHT) * 3.0 * SIDE * depth / far
    assert force == pytest.approx(100.0 * G, rel=1e-6)
    assert np.abs(flight.last[0, 3:6]).max() < 1e-6
