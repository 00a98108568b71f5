"""The chain of forces of a capture, derived a second time (paper 003, FACTS 003-*, B3-3).

Fabric: it stores U = k/2 (A - A0)^2, with A the area of SciPy's convex hull. Virtual work: a small
motion of asteroid or craft changes U by minus the work of force and torque on it.

Pair: the craft's momentum changes by thrust and by what the membrane gives it; the pair's angular
momentum changes by the moment of the thrust about the common centre of mass, and by nothing else.

Slip: asteroid and craft as one stiff body ask for a force and a torque at the membrane (Newton
and Euler). In the spin w of a pair whose craft is r away with its axis at an angle a to the spin,
that is m w^2 r sin a cos a across the axis, at an arm of the ring's height. Friction can give it if
there are forces across the normal ones, each within mu N: a matter of statics. Where the least such
mu exceeds the friction, the fabric must slip whatever the law of friction.
"""

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from alight.core import frames
from alight.membrane import Captive, pear
from alight.motions.capture.approach import approach
from alight.motions.capture.balance import friction_to_hold, needed_wrench
from alight.motions.capture.craft import Spacecraft
from alight.motions.capture.model import Capture

RPM = np.pi / 30.0
AXIS = np.array([0.3, 0.2, 0.93]) / np.linalg.norm([0.3, 0.2, 0.93])
CRAFT = Spacecraft()
ROCK = Captive.from_mesh(pear(10.5, subdivisions=2), 1e6)
THRUST, EVERY = 475.0, 0.25


@pytest.fixture(scope="module")
def flight():
    """Figure 7's capture up to 120 s."""
    motion = Capture(CRAFT.membrane(), ROCK, CRAFT, approach("corkscrew"))
    return motion.run(0.5 * RPM * AXIS, duration=120.0, every=EVERY, tolerance=1e-8, device="cpu")


# -- fabric: virtual work ---------------------------------------------------------------------


def area(body, carrier):
    """Of the membrane, from SciPy: ``body`` and ``carrier`` are (place, Rotation)."""
    corners = body[1].apply(ROCK.points) + body[0]
    low = carrier[1].inv().apply(corners - carrier[0])
    low = low[low[:, 2] < CRAFT.ring_height]
    points = np.concatenate([CRAFT.suspension, low])
    found = ConvexHull(points)
    inner = (found.simplices >= len(CRAFT.suspension)).any(axis=1)
    a, b, c = (points[found.simplices[inner, k]] for k in range(3))
    return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()


def energy(body, carrier, k=1.5):
    flat = 1.5 * np.sqrt(3.0) * CRAFT.side**2
    return 0.5 * k * (area(body, carrier) - flat) ** 2


def moved(pose, axis, size):
    """A pose shifted along (0-2) or turned about (3-5) an inertial axis by ``size``."""
    step = np.zeros(3)
    step[axis % 3] = size
    if axis < 3:
        return pose[0] + step, pose[1]
    return pose[0], Rotation.from_rotvec(step) * pose[1]


@pytest.mark.parametrize("time", [30.0, 60.0, 90.0, 120.0])
def test_forces_are_virtual_work(flight, time):
    i = round(time / EVERY)
    x, q = flight.position[0, i], flight.attitude[0, i]
    bus, turn = flight.q[0, i, 0:3], flight.q[0, i, 3:7]
    law = CRAFT.membrane(damping=0.0, friction=0.0)
    load = law.load(ROCK, x, attitude=q, carrier_position=bus, carrier_attitude=turn).load[0]
    poses = [(x, Rotation.from_quat(q)), (bus, Rotation.from_quat(turn))]
    small = 1e-4  # central differences: off by its square, relative to sizes of metres
    for who, names in enumerate((("force", "torque"), ("carrier_force", "carrier_torque"))):
        wanted = np.empty(6)
        for axis in range(6):
            ends = []
            for sign in (1.0, -1.0):
                now = list(poses)
                now[who] = moved(poses[who], axis, sign * small)
                ends.append(energy(*now))
            wanted[axis] = (ends[1] - ends[0]) / (2.0 * small)
        found = np.concatenate([load[names[0]], load[names[1]]])
        # Central differences straddle kinks of the area: second derivatives jump there.
        assert found == pytest.approx(wanted, rel=1e-5, abs=1e-4 * np.abs(wanted).max())


# -- the pair: momentum -----------------------------------------------------------------------


def test_momentum_of_the_craft_changes_by_thrust_and_membrane(flight):
    craft = CRAFT.tree.momentum(flight.q[0], flight.v[0], about=(0, 0, 0), device="cpu")
    z = frames.quat_to_matrix(flight.q[0, :, 3:7])[..., :, 2]
    touched = flight.time > flight.rows["contact_s"][0] + EVERY
    force = flight.loads["carrier_force"][0] + np.where(touched[:, None], THRUST * z, 0.0)
    since = round(30.0 / EVERY)
    # Simpson's rule over the records; arrays swing at 0.1 Hz and the fabric settles within seconds.
    weights = EVERY / 3.0 * np.array([1.0, *([4.0, 2.0] * 179), 4.0, 1.0])
    gained = craft.linear[since : since + 361][[0, -1]]
    impulse = (weights[:, None] * force[since : since + 361]).sum(axis=0)
    assert gained[1] - gained[0] == pytest.approx(impulse, abs=2e-3 * THRUST * 90.0 / 10.0)


def test_thrust_alone_changes_the_spin_of_the_pair(flight):
    tree, m = CRAFT.tree, 1e6
    spun = frames.quat_rotate(flight.attitude[0], flight.rate[0] @ ROCK.inertia)
    whole = CRAFT.mass + m
    place = (CRAFT.mass * _middle(flight) + m * flight.position[0]) / whole
    speed = tree.momentum(flight.q[0], flight.v[0], about=(0, 0, 0), device="cpu").linear
    speed = (speed + m * flight.velocity[0]) / whole
    about = [
        tree.momentum(flight.q[0, i], flight.v[0, i], about=place[i], device="cpu")
        for i in (120, 480)
    ]
    h = []
    for one, i in zip(about, (120, 480), strict=True):
        own = m * np.cross(flight.position[0, i] - place[i], flight.velocity[0, i])
        h.append(one.angular + own + spun[i])
    # The moving centre takes no part: its own momentum is along its velocity.
    z = frames.quat_to_matrix(flight.q[0, :, 3:7])[..., :, 2]
    moment = np.cross(flight.q[0, :, 0:3] - place, THRUST * z)[120:481]
    weights = EVERY / 3.0 * np.array([1.0, *([4.0, 2.0] * 179), 4.0, 1.0])
    gained = (weights[:, None] * moment).sum(axis=0)
    assert np.linalg.norm(gained) > 1e4
    assert h[1] - h[0] == pytest.approx(gained, abs=1e-3 * np.linalg.norm(gained))
    # It spins the pair up: the thrust passes its centre of mass by more than a metre.
    unit = h[0] / np.linalg.norm(h[0])
    assert 50.0 < gained @ unit / 90.0 < 400.0


def _middle(flight):
    """(r, 3) centre of mass of the craft."""
    return np.array([_first(CRAFT.tree, q) for q in flight.q[0]])


def _first(tree, q):
    """Place of the craft's centre of mass, from angular momenta of three translations."""
    out = np.zeros(3)
    for k in range(3):
        v = np.zeros(tree.n_v)
        v[k] = 1.0
        spun = tree.momentum(q, v, about=(0, 0, 0), device="cpu").angular / tree.mass
        # spun = c x e_k
        out[(k + 1) % 3] -= 0.5 * spun[(k + 2) % 3]
        out[(k + 2) % 3] += 0.5 * spun[(k + 1) % 3]
    return out


# -- slip: physics, or the model of friction? ---------------------------------------------------


def test_the_pair_asks_for_a_force_across_the_axis(flight):
    i = round(90.0 / EVERY)
    S = frames.quat_to_matrix(flight.q[0, i, 3:7])
    wanted = S.T @ needed_wrench(flight, i, THRUST * S[:, 2])[:3]
    w, angle = flight.pair_rate[0, i], flight.axis_angle[0, i]
    r = np.linalg.norm(flight.q[0, i, 0:3] - flight.position[0, i]) * 1e6 / 1.015e6
    across = CRAFT.mass * w**2 * r * np.sin(angle) * np.cos(angle)
    assert np.linalg.norm(wanted[:2]) == pytest.approx(across, rel=0.25)
    # And the membrane gives it: what it does to the craft is what the stiff pair asks for.
    given = S.T @ flight.loads["carrier_force"][0, i]
    assert np.linalg.norm(given[:2]) == pytest.approx(np.linalg.norm(wanted[:2]), rel=0.25)


def test_slip_is_physics(flight):
    law = CRAFT.membrane()
    needed = []
    for time in (60.0, 75.0, 90.0, 105.0, 120.0):
        i = round(time / EVERY)
        z = frames.quat_to_matrix(flight.q[0, i, 3:7])[:, 2]
        needed.append(friction_to_hold(flight, law, i, THRUST * z))
    # Friction is 1: statics alone says that it cannot hold, while it gives nearly all it can.
    assert min(needed) > 1.1
    assert needed[-1] > 1.5
    late = flight.loads["grip"][0, round(60.0 / EVERY) :]
    assert late.mean() > 0.8
    assert late.max() <= 1.0 + 1e-12


def test_statics_knows_what_holds():
    """A block on a slope: the least friction is the slope's tangent."""
    from alight.motions.capture.balance import _least_part

    slope = np.radians(20.0)
    normal = np.array([np.sin(slope), 0.0, np.cos(slope)])
    arms = np.array([[1.0, 1.0, 0.0], [1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [-1.0, -1.0, 0.0]])
    forces = np.tile(0.25 * np.cos(slope) * normal, (4, 1))
    weight = np.array([0.0, 0.0, 1.0])  # to be carried, about the middle
    left = np.concatenate([weight - forces.sum(axis=0), -np.cross(arms, forces).sum(axis=0)])
    assert _least_part(left, forces, arms) == pytest.approx(np.tan(slope), rel=2e-2)
