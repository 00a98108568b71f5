"""The law alone: power, closed forms, shares of the normal force, friction, profiles.

Power: v.F + w.tau + (the same of the carrier) + a dA/dt = 0 without friction (003-2, 003-3, 003-8).
Closed forms: FACTS F.6, a point at the middle of a hexagon of side s and height h0 = s sqrt(3)/2,
A = 3 s sqrt(h0^2 + z^2), and of a line of half span L, l = 2 sqrt(L^2 + z^2).
"""

import numpy as np
import pytest
import warp as wp
from scipy.spatial.transform import Rotation

from alight.core import devices
from alight.core.errors import InputError
from alight.core.types import scalar
from alight.membrane import Captive, Membrane, hexagon, hull, normal_shares
from alight.membrane.forces import MembraneRow
from alight.membrane.ring import APART

DEVICES = [device.name for device in devices.available()]
RIGID = np.diag([120.0, 150.0, 190.0])
POINT = Captive(100.0, np.eye(3), np.zeros((1, 3)))
STATES = 400

pytestmark = pytest.mark.parametrize("device", DEVICES)


def odd(count=40, seed=1, size=(2.2, 1.8, 1.5)):
    points = np.random.default_rng(seed).normal(size=(count, 3))
    return Captive(100.0, RIGID, points / np.linalg.norm(points, axis=1)[:, None] * size)


def plate():
    return Captive.polygon([[-1.5, -0.4], [0.2, -0.9], [1.4, 0.1], [0.6, 0.8], [-1.0, 0.6]], 50.0)


def trampoline(damping=1.5, friction=0.0, **options):
    return Membrane(30.0, damping, friction, suspension=hexagon(7.5), **options)


def line(damping=40.0, friction=0.0, **options):
    return Membrane(800.0, damping, friction, suspension=[[-5.0, 0.0], [5.0, 0.0]], **options)


def states(planar=False, seed=3):
    """Random poses and motions of a body about the membrane."""
    rng = np.random.default_rng(seed)
    x = rng.uniform((-2.0, -2.0, -4.0), (2.0, 2.0, 0.5), (STATES, 3))
    v, w = rng.normal(size=(2, STATES, 3))
    q = Rotation.random(STATES, random_state=seed)
    if planar:
        x[:, 1], v[:, 1], w[:, ::2] = 0.0, 0.0, 0.0
        q = Rotation.from_rotvec(np.outer(rng.uniform(0.0, 6.0, STATES), (0.0, 1.0, 0.0)))
    return x, v, q, w


def dots(a, b):
    return np.einsum("ni,ni->n", a, b)


def paper_area_rate(shape, x, v, w):
    """dA/dt by paper 003 with its dot (003-2), over triangles with one or two suspension points.

    rho run from suspension points to vertices of the body, r from its centre of mass to these.
    """
    total = 0.0
    for row in shape.triangles:
        bodies, hung = row[row < shape.vertices], row[row >= shape.vertices]
        if not len(hung):
            continue
        ends, starts = shape.points[np.resize(bodies, 2)], shape.points[np.resize(hung, 2)]
        (rho1, rho2), (r1, r2) = ends - starts, ends - x
        normal = np.cross(rho1, rho2)
        move = np.cross(rho1 - rho2, v)
        turn = np.cross(rho2, np.cross(r1, w)) - np.cross(rho1, np.cross(r2, w))
        total += normal @ (move + turn) / (2.0 * np.linalg.norm(normal))
    return total


def paper_length_rate(shape, x, v, w):
    """dl/dt = e_L.(v + w x r_L) + e_R.(v + w x r_R)."""
    total = 0.0
    for row in shape.triangles:
        one, hung = row[row < shape.vertices], row[row >= shape.vertices]
        if len(one) == len(hung) == 1:
            along = (shape.points[one] - shape.points[hung])[0]
            speed = v + np.cross(w, shape.points[one[0]] - x)
            total += along @ speed / np.linalg.norm(along)
    return total


@pytest.mark.parametrize("planar", [False, True])
def test_power_balance(device, planar):
    # The rate is the paper's, from the triangles; force and torque are the kernel's.
    law, body = (line(), plate()) if planar else (trampoline(), odd())
    x, v, q, w = states(planar)
    load = law.load(body, x, v, q.as_quat(), w, device=device).load
    shapes = hull(body, law.ring, x, q.as_quat(), device=device)
    spin = q.apply(w)
    of_paper = paper_length_rate if planar else paper_area_rate
    rate = np.array([of_paper(*each) for each in zip(shapes, x, v, spin, strict=True)])
    given = dots(v, load["force"]) + dots(spin, load["torque"])
    # Terms of the sum are as large as force times speed, however small the sum is.
    speed = np.linalg.norm(v, axis=1) + np.linalg.norm(w, axis=1) * body.reach
    size = np.abs(load["tension"] * rate) + np.linalg.norm(load["force"], axis=1) * speed
    assert (np.abs(given + load["tension"] * rate) <= 1e-12 * size).all()
    np.testing.assert_allclose(load["rate"], rate, rtol=1e-11, atol=1e-11)
    assert (load["tension"] > 0.0).sum() > 100


def test_both_kinds_of_triangles_take_part(device):
    # The states of the test above have triangles with one and with two suspension points.
    x, _, q, _ = states()
    kinds = np.zeros(3, dtype=int)
    for shape in hull(odd(), trampoline().ring, x[:50], q.as_quat()[:50], device=device):
        several = (shape.triangles >= shape.vertices).sum(axis=1)
        kinds += np.bincount(several, minlength=3)[:3]
    assert (kinds > 100).all()


@pytest.mark.parametrize("planar", [False, True])
def test_rate_of_the_area_is_its_derivative(device, planar):
    law, body = (line(), plate()) if planar else (trampoline(), odd())
    x, v, q, w = states(planar)
    rate = law.load(body, x, v, q.as_quat(), w, device=device).load["rate"]
    h = 1e-5
    moved = []
    for t in (-h, h):
        turned = (q * Rotation.from_rotvec(t * w)).as_quat()
        moved.append(law.load(body, x + t * v, v, turned, w, device=device).load["area"])
    # Second derivatives jump where the hull changes: a central difference is then off by about h.
    error = np.abs((moved[1] - moved[0]) / (2.0 * h) - rate)
    assert np.quantile(error, 0.9) < 1e-6
    assert error.max() < 1e-2


def test_moving_suspension_points(device):
    # Power of body and carrier together; forces and torques are equal and opposite.
    law, body = trampoline(friction=0.3), odd()
    x, v, q, w = states()
    rng = np.random.default_rng(8)
    carrier = Rotation.random(STATES, random_state=9)
    origin, speed, spin = rng.normal(size=(3, STATES, 3))
    place = origin + carrier.apply(x)
    found = law.load(
        body,
        place,
        v,
        (carrier * q).as_quat(),
        w,
        carrier_position=origin,
        carrier_velocity=speed,
        carrier_attitude=carrier.as_quat(),
        carrier_rate=spin,
        device=device,
    )
    load = found.load
    np.testing.assert_array_equal(load["carrier_force"], -load["force"])
    about = load["torque"] + np.cross(place, load["force"])
    about += load["carrier_torque"] + np.cross(origin, load["carrier_force"])
    scale = np.abs(np.cross(place, load["force"])).max(axis=1) + 1.0
    assert (np.abs(about).max(axis=1) <= 1e-13 * scale).all()
    power = dots(v, load["force"]) + dots((carrier * q).apply(w), load["torque"])
    power += dots(speed, load["carrier_force"]) + dots(carrier.apply(spin), load["carrier_torque"])
    lost = load["tension"] * load["rate"] + load["rubbed"]
    size = np.linalg.norm(load["force"], axis=1) * 10.0 + 1.0
    assert (np.abs(power + lost) <= 1e-12 * size).all()
    # The pose relative to the carrier alone decides the area; its motion alone the rate.
    alone = law.load(body, x, attitude=q.as_quat(), device=device).load
    np.testing.assert_allclose(load["area"], alone["area"], rtol=1e-13)
    # Pulls at the suspension points balance the normal forces.
    rest = found.normal.sum(axis=1) + found.pull.sum(axis=1)
    assert (np.abs(rest).max(axis=1) <= 1e-13 * size).all()


def test_point_in_the_middle_of_a_hexagon(device):
    s, k, h0 = 7.5, 30.0, 7.5 * np.sqrt(3.0) / 2.0
    z = np.array([1e-3, 0.1, 1.0, 4.0, 20.0])
    x = np.stack([0.0 * z, 0.0 * z, -z], axis=1)
    load = trampoline(0.0).load(POINT, x, device=device).load
    area = 3.0 * s * np.hypot(h0, z)
    np.testing.assert_allclose(load["area"], area, rtol=4 * APART)
    stretch = 3.0 * s * z * z / (np.hypot(h0, z) + h0)  # without the loss of a difference
    # The area is rounded, and the stretch is what is left of it above that of the flat membrane.
    found = load["force"][:, 2] / (k * stretch * 3.0 * s * z / np.hypot(h0, z)) - 1.0
    assert (np.abs(found) < 1e-10 + 4.0 * np.finfo(float).eps * area / stretch).all()
    # F.6 for small depths: A - A0 = sqrt(3) z^2, energy (3/2) k z^4, force 6 k z^3.
    assert load["stored"][1] == pytest.approx(1.5 * k * z[1] ** 4, rel=1e-3)
    assert load["force"][1, 2] == pytest.approx(6.0 * k * z[1] ** 3, rel=1e-3)
    assert np.abs(load["force"][:, :2]).max() <= 1e-9 * np.abs(load["force"]).max()


def test_point_in_the_middle_of_a_line(device):
    L, k = 5.0, 800.0
    z = np.array([0.01, 0.5, 3.0, 9.0])
    body = Captive(1.0, np.asarray(1.0), [[0.0, 0.0]])
    x = np.stack([0.0 * z, 0.0 * z, -z], axis=1)
    load = line(0.0).load(body, x, device=device).load
    long = np.hypot(L, z)
    np.testing.assert_allclose(load["area"], 2.0 * long, rtol=4 * APART)
    wanted = 4.0 * k * (z * z / (long + L)) * z / long
    np.testing.assert_allclose(load["force"][:, 2], wanted, rtol=1e-6)


def test_force_is_the_slope_of_the_energy(device):
    law, body = trampoline(0.0), odd()
    x, _, q, _ = states()
    load = law.load(body, x, attitude=q.as_quat(), device=device).load
    h = 1e-5
    for i in range(3):
        step = h * np.eye(3)[i]
        ahead = law.load(body, x + step, attitude=q.as_quat(), device=device).load["stored"]
        back = law.load(body, x - step, attitude=q.as_quat(), device=device).load["stored"]
        error = np.abs((ahead - back) / (2.0 * h) + load["force"][:, i])
        assert (error <= 1e-5 * (np.linalg.norm(load["force"], axis=1) + 1.0)).mean() > 0.95


def test_forces_are_continuous(device):
    # Along a path through many changes of the hull, forces differ by less the finer it is cut.
    law, body = trampoline(0.0), odd(150)
    largest = []
    for count in (2_000, 20_000):
        t = np.linspace(0.0, 1.0, count)
        x = np.stack([0.5 * t, -0.3 * t, 1.5 - 3.5 * t], axis=1)
        q = Rotation.from_rotvec(np.outer(2.0 * t, (0.3, 0.8, -0.5))).as_quat()
        found = law.load(body, x, attitude=q, device=device)
        jumps = np.abs(np.diff(found.load["force"], axis=0)).max()
        spots = np.abs(np.diff(found.normal, axis=0)).max()
        largest.append((jumps, spots))
        contacts = found.load["contacts"]
    assert (np.diff(contacts) != 0).sum() > 20
    coarse, fine = np.array(largest)
    assert (coarse / fine > 7.0).all()  # ten, for what is Lipschitz


def test_tension_is_never_negative(device):
    # 003-7: with c dA/dt below -k (A - A0) the fabric is slack, and does nothing at all.
    load = (
        trampoline(1.5)
        .load(POINT, [[0, 0, -0.5], [0, 0, -0.5]], [[0, 0, 9.0], [0, 0, -9.0]], device=device)
        .load
    )
    assert load["rate"][0] == -load["rate"][1] < -30.0 / 1.5 * (load["area"][0] - 146.15)
    assert load["tension"][0] == 0.0
    assert (load["force"][0] == 0.0).all()
    assert load["tension"][1] > 0.0
    # What was stored is lost then: damped is the power it gives up.
    assert (load["damped"] > 0.0).all()


@pytest.mark.parametrize("planar", [False, True])
def test_normal_shares(device, planar):
    """Fabric and least squares are exact and never negative; the pseudoinverse pulls at times."""
    law, body = (line(0.0), plate()) if planar else (trampoline(0.0), odd(size=(4.0, 1.0, 1.0)))
    x, _, q, _ = states(planar)
    negative = met = 0
    for place, turn in zip(x[:120], q.as_quat()[:120], strict=True):
        shares = normal_shares(law, body, place, turn)
        if not len(shares.vertex):
            continue
        met += 1
        assert (shares.fabric >= 0.0).all()
        assert (shares.least >= 0.0).all()
        assert max(shares.residual.values()) < 1e-10
        negative += (shares.pseudoinverse < -1e-9 * np.abs(shares.pseudoinverse).max()).any()
        # Vertex by vertex the fabric's shares are the kernel's forces.
        result = law.load(body, place, attitude=turn, device=device)
        sums = np.zeros_like(result.normal[0])
        np.add.at(sums, shares.vertex, shares.fabric[:, None] * shares.normal)
        scale = np.linalg.norm(result.load["force"][0])
        # In flat parts of the body's hull forces cancel to rounding.
        assert np.abs(sums - result.normal[0]).max() <= 1e-9 * max(scale, 1e-3)
    assert met > 60
    assert planar or negative > 0


def test_shares_past_the_rim(device):
    with pytest.raises(InputError, match="past the rim"):
        normal_shares(trampoline(), odd(), (7.0, 0.0, 0.0))


def test_friction_opposes_slip_and_never_adds_energy(device):
    law = trampoline(0.0, friction=0.4, stick_stiffness=1e5, relaxation=1e-2)
    x, v, q, w = states()
    load = law.load(odd(), x, v, q.as_quat(), w, device=device).load
    assert (load["rubbed"] >= 0.0).all()  # nothing is strained yet that could give back
    assert (load["lost"] >= 0.0).all()
    given = dots(v, load["friction"]) + dots(q.apply(w), load["friction_torque"])
    np.testing.assert_allclose(given, -load["rubbed"], rtol=1e-10, atol=1e-9)
    # A contact just made resists with its damper alone, up to Coulomb's limit, which is exact.
    one = law.load(POINT, (0.0, 0.0, -1.0), (1.0, 0.0, 0.0), device=device).load[0]
    assert one["friction"][0] == pytest.approx(-0.4 * one["pressed"], rel=1e-12)
    assert one["grip"] == pytest.approx(1.0, rel=1e-12)
    assert one["slip"] > 0.9
    slow = law.load(POINT, (0.0, 0.0, -1.0), (1e-3, 0.0, 0.0), device=device).load[0]
    assert slow["friction"][0] == pytest.approx(-1e5 * 1e-2 * 1e-3, rel=1e-9)
    assert slow["slip"] == 0.0


@wp.func
def stiffening(row: MembraneRow, stretch: scalar, rate: scalar):
    return row.stiffness * stretch + row.more[0] * stretch * stretch * stretch


@wp.func
def stiffening_stored(row: MembraneRow, stretch: scalar):
    square = stretch * stretch
    return scalar(0.5) * row.stiffness * square + scalar(0.25) * row.more[0] * square * square


class Stiffening(Membrane):
    """k s + k3 s^3."""

    tension = stiffening
    stored = stiffening_stored


def test_profile_of_your_own(device):
    law = Stiffening(30.0, suspension=hexagon(7.5), more=(0.2, 0.0, 0.0))
    load = law.load(POINT, (0.0, 0.0, -3.0), device=device).load[0]
    stretch = load["area"] - law.nominal_area
    assert load["tension"] == pytest.approx(30.0 * stretch + 0.2 * stretch**3, rel=1e-12)
    assert load["stored"] == pytest.approx(15.0 * stretch**2 + 0.05 * stretch**4, rel=1e-12)


def test_one_value_for_each_run(device):
    law = Membrane([10.0, 20.0, 30.0], 0.0, suspension=hexagon(7.5))
    load = law.load(POINT, (0.0, 0.0, -1.0), device=device).load
    np.testing.assert_allclose(load["tension"] / load["tension"][0], [1.0, 2.0, 3.0], rtol=1e-14)
    with pytest.raises(InputError, match="1 or for 3 runs"):
        law.load(POINT, np.zeros((2, 3)), device=device)


def test_bad_states(device):
    for options, words in (
        ({"position": (0.0, 0.0)}, "shape"),
        ({"position": (0.0, 0.0, np.nan)}, "finite"),
        ({"position": (0.0, 0.0, 0.0), "attitude": (0.0, 0.0, 0.0, 0.0)}, "no attitude"),
    ):
        with pytest.raises(InputError, match=words):
            trampoline().load(POINT, **options, device=device)
    with pytest.raises(InputError, match="in 2D and the body is in 3D"):
        line().load(POINT, (0.0, 0.0, 0.0), device=device)


def test_in_2d_forces_of_vertices_add_up_also_where_the_line_leads_over_the_plane(device):
    """Beyond the left point, its right corner the shallower one: the line crosses the plane."""
    over = [[-1.6, -0.01], [-2.0, 0.3], [-2.4, -0.1]]
    body = Captive.polygon(over, 50.0)
    law = Membrane(800.0, 0.0, 0.0, suspension=[[-1.0, 0.0], [1.0, 0.0]])
    middle = np.mean(over, axis=0)
    x = np.array([[middle[0], 0.0, middle[1]]])
    one = law.load(body, x, device=device)
    assert one.load["rim"][0] > 0
    assert one.load["tension"][0] > 0.0
    assert (np.linalg.norm(one.normal[0], axis=1) > 0.0).sum() == 3, "that above the plane, too"
    np.testing.assert_allclose(one.normal[0].sum(axis=0), one.load["force"][0], atol=1e-9)
    again = law.load(body, np.repeat(x, 3, axis=0), device=device)
    np.testing.assert_allclose(again.load["force"], np.repeat(one.load["force"], 3, axis=0))
