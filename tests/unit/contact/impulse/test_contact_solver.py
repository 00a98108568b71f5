"""Several contacts at once, alone: hits and contact that goes on, on contacts made by hand.

A cube of 1 kg and 0.2 m. Hits: one contact is ``contact.impact``; contacts of one normal that close
alike are one in their middle, so restitution is that asked for; any list of them takes energy out,
within the cone, and leaves none that closes. Holding: the ground carries the weight m g dt, sticks
up to the friction angle, slides with mu beyond it, and never pulls.
"""

import numpy as np
import pytest
import warp as wp

from alight.contact import Impulse, impact
from alight.contact.compliant.clipped_springs import Motion
from alight.contact.hull.contact_list import MOST, HullContact
from alight.contact.hull.feature_pairs import BALL, CORNER
from alight.contact.impulse.contact_solver import (
    SWEEPS,
    HeldContact,
    Holding,
    Strike,
    hold,
    recall,
    strike,
)
from alight.contact.state import CompliantData
from alight.core import devices
from alight.core.types import scalar, vec3
from alight.core.warp_setup import POINT_OPTIONS
from alight.vehicles import RigidLander
from alight.vehicles.rigid.data import RigidBody

DEVICES = [device.name for device in devices.available()]
CUBE = RigidLander.cube(0.2, 1.0)
INERTIA = 1.0 * 0.2**2 / 6.0
FACE = np.array([[x, y, -0.1] for x in (-0.1, 0.1) for y in (-0.1, 0.1)])
UP = np.array([0.0, 0.0, 1.0])
G = 5e-3
DT = 0.2


@wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
def strike_kernel(
    offset: int,
    body: RigidBody,
    contact: wp.array(dtype=CompliantData),
    start: wp.array(dtype=Motion),
    found: wp.array2d(dtype=HullContact),
    count: wp.array(dtype=int),
    near: scalar,
    least: scalar,
    elastic: scalar,
    strike_out: wp.array(dtype=Strike),
) -> None:
    i = wp.tid() + offset
    strike_out[i] = strike(
        contact[i], body, body.inverse_inertia, vec3(), start[i], found, count[i], i, near, least,
        elastic,
    )  # fmt: skip


@wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
def hold_kernel(
    offset: int,
    body: RigidBody,
    contact: wp.array(dtype=CompliantData),
    start: wp.array(dtype=Motion),
    found: wp.array2d(dtype=HullContact),
    before: wp.array2d(dtype=HeldContact),
    held: wp.array2d(dtype=HeldContact),
    count: wp.array(dtype=int),
    dt: scalar,
    share: scalar,
    holding_out: wp.array(dtype=Holding),
) -> None:
    i = wp.tid() + offset
    recall(found, before, held, count[i], i, share)
    holding_out[i] = hold(
        contact[i], body, body.inverse_inertia, vec3(), start[i], found, held, count[i],
        i, dt, dt, vec3(), scalar(0.0), SWEEPS,
    )  # fmt: skip


def lists(points, normals, gaps=0.0, kind=CORNER):
    """Contacts (n lists, k each) as the array that kernels read, and how many each list has."""
    n, k = points.shape[:2]
    table = np.zeros((MOST, n), dtype=HullContact.numpy_dtype())
    table["point"][:k] = points.transpose(1, 0, 2)
    table["normal"][:k] = np.broadcast_to(normals, points.shape).transpose(1, 0, 2)
    table["gap"][:k] = np.broadcast_to(gaps, (n, k)).T
    table["feature"][:k] = np.arange(k)[:, None]
    table["kind"][:k] = kind
    return table, np.full(n, k, np.int32)


def motions(v, w):
    table = np.zeros(len(v), dtype=Motion.numpy_dtype())
    table["v"], table["w"] = v, w
    return table


def struck(
    law, points, normals, v, w, *, gaps=0.0, near=1e300, least=0.0, elastic=0.0, device="cpu"
):
    """Every list of contacts hit."""
    target = devices.resolve(device)
    found, count = lists(points, normals, gaps)
    n = len(v)
    rows = np.resize(law.rows(CUBE), n)
    inputs = [
        CUBE.kernel_data(target),
        wp.array(rows, dtype=CompliantData, device=target.name),
        wp.array(motions(v, w), dtype=Motion, device=target.name),
        wp.array(found, dtype=HullContact, device=target.name),
        wp.array(count, dtype=int, device=target.name),
        scalar(near),
        scalar(least),
        scalar(elastic),
    ]
    out = wp.zeros(n, dtype=Strike, device=target.name)
    devices.launch(strike_kernel, n, inputs, target, outputs=[out])
    return out.numpy()


def held(law, points, normals, v, w, *, gaps=0.0, steps=1, kind=CORNER, device="cpu"):
    """One list of contacts held, ``steps`` times over from what held before."""
    target = devices.resolve(device)
    table, count = lists(points[None], normals, gaps, kind)
    nothing = np.zeros((MOST, 1), dtype=HeldContact.numpy_dtype())
    nothing["kind"] = -1
    before = wp.array(nothing, dtype=HeldContact, device=target.name)
    now = wp.array(nothing, dtype=HeldContact, device=target.name)
    out = wp.zeros(1, dtype=Holding, device=target.name)
    for k in range(steps):
        inputs = [
            CUBE.kernel_data(target),
            wp.array(law.rows(CUBE), dtype=CompliantData, device=target.name),
            wp.array(motions([v], [w]), dtype=Motion, device=target.name),
            wp.array(table, dtype=HullContact, device=target.name),
            before,
            now,
            wp.array(count, dtype=int, device=target.name),
            scalar(DT),
            scalar(float(k > 0)),
        ]
        devices.launch(hold_kernel, 1, inputs, target, outputs=[out])
        kept = nothing.copy()
        kept[: len(points)] = now.numpy()[: len(points)]
        before = wp.array(kept, dtype=HeldContact, device=target.name)
    return out.numpy()[0], now.numpy()[: len(points), 0]


def energy(v, w):
    return 0.5 * np.sum(np.square(v), axis=-1) + 0.5 * INERTIA * np.sum(np.square(w), axis=-1)


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


# -- hits -----------------------------------------------------------------------------------------


def test_one_contact_is_one_impact(device):
    rng = np.random.default_rng(1)
    n = 200
    points = rng.normal(size=(n, 1, 3)) * 0.1
    v, w = rng.normal(size=(n, 3)), rng.normal(size=(n, 3)) * 5.0
    law = Impulse(
        rng.uniform(0, 1, n), rng.uniform(0, 2, n), rolling_resistance=0.0, patch_radius=0.0
    )
    out = struck(law, points, UP, v, w, device=device)
    lever = points[:, 0]
    contact = v + np.cross(w, lever)
    single = impact(
        1.0, INERTIA * np.eye(3), lever, contact,
        restitution=law.restitution, friction=law.friction,
    )  # fmt: skip
    closing = contact[:, 2] < 0.0
    assert (out["hits"] == closing).all()
    assert out["impulse"] == pytest.approx(np.where(closing[:, None], single.impulse, 0), abs=1e-11)


@pytest.mark.parametrize("places", [FACE, FACE[:2], FACE[:1] * [0, 0, 1]])
def test_what_lands_flat_is_one_hit(places, device):
    """Face, edge and one point under the centre: v_n+ = -e v_n, and friction as of one point."""
    e = np.array([0.0, 0.3, 0.7, 1.0])
    places = places - places.mean(axis=0) * [1, 1, 0]
    points = np.tile(places, (4, 1, 1))
    out = struck(Impulse(e, 0.0), points, UP, np.tile([0, 0, -0.1], (4, 1)), np.zeros((4, 3)),
                 device=device)  # fmt: skip
    assert out["hits"].tolist() == [1] * 4
    assert out["motion"]["v"] == pytest.approx(np.outer(0.1 * e, UP), abs=1e-16)
    assert out["motion"]["w"] == pytest.approx(np.zeros((4, 3)), abs=1e-15)
    assert out["weight"] == pytest.approx(0.1 * (1 + e))


def test_almost_flat_is_almost_one_hit():
    """The outcome is continuous in a rate of turning that makes corners close unevenly."""
    law = Impulse(0.5, 0.6)
    w = np.array([[0.0, 0.0, 0.0], [1e-9, -2e-9, 0.0]])
    out = struck(law, np.tile(FACE, (2, 1, 1)), UP, np.tile([0.01, 0, -0.1], (2, 1)), w)
    assert out["motion"]["v"][1] == pytest.approx(out["motion"]["v"][0], abs=1e-8)
    assert out["motion"]["w"][1] == pytest.approx(out["motion"]["w"][0], abs=1e-6)


def test_only_what_is_near_and_closes_fast_enough_is_hit():
    v = np.array([[0.0, 0.0, -0.1]])
    points = FACE[None]
    gaps = np.array([0.0, 1e-3, 1.0, 1.0])
    first = struck(Impulse(0.5), points, UP, v, [[0, 0, 0]], gaps=gaps, near=1e-4)
    assert first["hits"][0] == 1
    assert first["lever"][0] == pytest.approx(FACE[0])
    none = struck(Impulse(0.5), points, UP, v, [[0, 0, 0]], least=0.2)
    assert none["hits"][0] == 0
    assert none["motion"]["v"][0].tolist() == v[0].tolist()


@pytest.mark.parametrize(("elastic", "e"), [(0.09, 0.5), (0.11, 0.0)])
def test_slow_hits_give_nothing_back(elastic, e):
    out = struck(
        Impulse(0.5), FACE[None], UP, [[0, 0, -0.1]], [[0, 0, 0]], elastic=elastic
    )  # fmt: skip
    assert out["motion"]["v"][0, 2] == pytest.approx(0.1 * e, abs=1e-15)


def test_any_list_takes_energy_out_and_leaves_nothing_closing(device):
    """Up to 8 contacts anywhere on a ball, normals within 60 degrees of up."""
    rng = np.random.default_rng(2)
    n, k = 2000, 8
    points = rng.normal(size=(n, k, 3))
    points *= 0.17 / np.linalg.norm(points, axis=2, keepdims=True)
    normals = UP + 0.8 * rng.uniform(-1, 1, (n, k, 3)) * [1, 1, 0]
    normals /= np.linalg.norm(normals, axis=2, keepdims=True)
    v, w = rng.normal(size=(n, 3)) * 0.1, rng.normal(size=(n, 3))
    e = rng.uniform(0, 0.9, n)
    law = Impulse(
        e, rng.uniform(0, 1.5, n),
        rolling_resistance=rng.choice([0.0, 2e-3, 2e-2], n), patch_radius=rng.choice([0, 1e-2], n),
    )  # fmt: skip
    out = struck(law, points, normals, v, w, device=device)
    after, before = energy(out["motion"]["v"], out["motion"]["w"]), energy(v, w)
    assert (after <= before * (1 + 1e-12)).all()
    left = np.einsum("nki,nki->nk", normals, out["motion"]["v"][:, None]
                     + np.cross(out["motion"]["w"][:, None], points)).min(axis=1)  # fmt: skip
    assert out["least"] == pytest.approx(left, abs=1e-12)
    speed = np.linalg.norm(v, axis=1) + 0.17 * np.linalg.norm(w, axis=1)
    assert (left / speed > -1e-2).all()  # hits may have run out; contact goes on takes the rest
    assert (left / speed > -1e-9).mean() > 0.9
    assert v + out["impulse"] == pytest.approx(out["motion"]["v"], abs=1e-12)


# -- contact that goes on -------------------------------------------------------------------------


def test_the_ground_carries_the_weight(device):
    """Sweeps end when one changes the motion by no more than 1e-9 of what the weight would do."""
    law = Impulse(0.5, 0.6, rolling_resistance=0.0)
    done, each = held(law, FACE, UP, [0, 0, -G * DT], [0, 0, 0], device=device)
    assert done["motion"]["v"] == pytest.approx([0, 0, 0], abs=1e-8 * G * DT)
    assert done["motion"]["w"] == pytest.approx([0, 0, 0], abs=1e-8 * G * DT / 0.1)
    assert done["impulse"] == pytest.approx([0, 0, G * DT], abs=1e-8 * G * DT)
    assert each["impulse"][:, 2].min() >= 0.0
    assert done["pressed"]["active"] == 4


@pytest.mark.parametrize("theta", [5.0, 25.0, 30.0])
def test_it_sticks_below_the_friction_angle(theta):
    """mu = 0.6 holds up to 31 degrees, to what sweeps leave: close to it they end slowly."""
    s, c = np.sin(np.radians(theta)), np.cos(np.radians(theta))
    law = Impulse(0.5, 0.6, rolling_resistance=0.0)
    pull = np.array([s, 0.0, -c]) * G * DT
    done, _ = held(law, FACE, UP, pull, [0, 0, 0], steps=20)
    assert np.abs(done["motion"]["v"]).max() < 1e-7 * G * DT
    assert np.abs(done["motion"]["w"]).max() < 1e-7 * G * DT / 0.1


def test_beyond_it_slides_with_mu():
    """a = g (sin - mu cos)."""
    theta, mu = np.radians(25.0), 0.2
    law = Impulse(0.5, mu, rolling_resistance=0.0)
    pull = np.array([np.sin(theta), 0.0, -np.cos(theta)]) * G * DT
    done, each = held(law, FACE, UP, pull, [0, 0, 0], steps=5)
    expected = G * DT * (np.sin(theta) - mu * np.cos(theta))
    assert done["motion"]["v"] == pytest.approx([expected, 0, 0], abs=1e-9 * G * DT)
    flat = np.linalg.norm(each["impulse"][:, :2], axis=1)
    assert (flat <= mu * each["impulse"][:, 2] * (1 + 1e-12)).all()


def test_it_never_pulls():
    done, each = held(Impulse(0.5), FACE, UP, [0, 0, 0.1], [0.1, 0, 0])
    assert not each["impulse"].any()
    assert done["motion"]["v"].tolist() == [0, 0, 0.1]
    assert done["pressed"]["active"] == 0


def test_a_gap_may_close_but_not_beyond_zero():
    """By the time it can be looked at again, after one and a half steps."""
    done, _ = held(Impulse(0.5), FACE, UP, [0, 0, -0.1], [0, 0, 0], gaps=3e-4)
    assert done["motion"]["v"][2] == pytest.approx(-3e-4 / (1.5 * DT), abs=1e-9 * 0.1)


def test_turning_meets_the_torque_of_rolling_resistance():
    """C_RR times the load: the rate of a ball that rolls on one point under its centre."""
    law = Impulse(0.5, 0.0, rolling_resistance=1e-3)
    point = np.array([[0.0, 0.0, -0.1]])
    done, _ = held(law, point, UP, [0, 0, -G * DT], [0, 1.0, 0], kind=BALL)
    assert done["motion"]["w"][1] == pytest.approx(1.0 - 1e-3 * G * DT / INERTIA, rel=1e-9)


def test_resistance_of_a_hit_is_within_its_limits(device):
    """An angular impulse across the normal of C_RR P at most and about it of 2/3 mu p P at most.

    Those of push and friction are known: c x P. Between the rates before and after, both take
    energy out. Where the lander turns far faster than the hit changes it, as it does here, both are
    at their limits and against the rate.
    """
    rng = np.random.default_rng(7)
    n, crr, patch = 400, 2e-3, 5e-3
    points = rng.normal(size=(n, 1, 3)) * 0.1
    w = rng.normal(size=(n, 3))
    v = rng.normal(size=(n, 3)) * 1e-4 - np.cross(w, points[:, 0])
    mu = rng.uniform(0.1, 2, n)
    law = Impulse(rng.uniform(0, 1, n), mu, rolling_resistance=crr, patch_radius=patch)
    out = struck(law, points, UP, v, w, device=device)
    hit = out["hits"] == 1
    P, end = out["impulse"], out["motion"]["w"]
    torque = INERTIA * (end - w) - np.cross(points[:, 0], P)
    flat, about = np.linalg.norm(torque[:, :2], axis=1), torque[:, 2]
    rounding = 1e-12 * np.linalg.norm(w, axis=1)
    assert (flat[hit] <= (crr * P[:, 2] * (1 + 1e-9) + rounding)[hit]).all()
    assert (np.abs(about)[hit] <= (2 / 3 * mu * patch * P[:, 2] * (1 + 1e-9) + rounding)[hit]).all()
    assert (energy(out["motion"]["v"], end) <= energy(v, w) * (1 + 1e-12)).all()
    turned = np.linalg.norm(end - w, axis=1)
    fast = hit & (turned < 0.01 * np.minimum(np.linalg.norm(w[:, :2], axis=1), np.abs(w[:, 2])))
    assert fast.sum() > 50
    way = w[fast] / np.linalg.norm(w[fast, :2], axis=1)[:, None]
    expected = -crr * P[fast, 2:] * way[:, :2]
    assert torque[fast, :2] == pytest.approx(expected, rel=1e-9, abs=0.011 * crr * P[fast, 2].max())
    spun = -2 / 3 * mu[fast] * patch * P[fast, 2] * np.sign(w[fast, 2])
    assert about[fast] == pytest.approx(spun, rel=1e-3)  # second order in C_RR over the size


def test_a_point_that_sticks_to_the_end_of_a_hit_does_so_with_resistance():
    """Friction that is large enough leaves no slip, and restitution is that asked for.

    To second order in C_RR over the size: 1e-4 of the speeds here.
    """
    rng = np.random.default_rng(8)
    n = 200
    points = rng.normal(size=(n, 1, 3)) * [0.02, 0.02, 0] - [0, 0, 0.1]
    v, w = rng.normal(size=(n, 3)) * [0.1, 0.1, 0] - [0, 0, 1], rng.normal(size=(n, 3))
    out = struck(Impulse(0.5, 5.0, rolling_resistance=1e-3), points, UP, v, w)
    plain = struck(Impulse(0.5, 5.0, rolling_resistance=0.0, patch_radius=0.0), points, UP, v, w)
    hit = out["hits"] == 1
    assert hit.sum() > 150
    left = [o["motion"]["v"] + np.cross(o["motion"]["w"], points[:, 0]) for o in (plain, out)]
    assert np.abs(left[0][hit, :2]).max() < 1e-12
    assert np.abs(left[1][hit, :2]).max() < 3e-4
    assert np.linalg.norm(out["motion"]["w"] - plain["motion"]["w"], axis=1)[hit].mean() > 0.05


def test_a_single_point_is_held_whatever_friction_does():
    """Complementarity and the cone, also where friction lifts the point more than the push."""
    rng = np.random.default_rng(6)
    slid = 0
    for mu in rng.uniform(0.0, 3.0, 150):
        point = rng.normal(size=(1, 3))
        point *= 0.2 / np.linalg.norm(point)
        v, w = rng.normal(size=3), 5.0 * rng.normal(size=3)
        law = Impulse(0.5, mu, rolling_resistance=0.0)
        done, each = held(law, point, UP, v, w, kind=BALL)
        moved = done["motion"]["v"] + np.cross(done["motion"]["w"], point[0])
        P, scale = each["impulse"][0], np.linalg.norm(v) + 0.2 * np.linalg.norm(w)
        assert moved[2] > -1e-6 * scale
        assert P[2] >= 0.0
        assert P[2] * moved[2] < 1e-6 * scale**2
        assert np.hypot(P[0], P[1]) <= mu * P[2] * (1.0 + 1e-9)
        slid += P[2] > 0.0 and np.hypot(moved[0], moved[1]) > 1e-3 * scale
    assert slid > 20


def test_a_corner_that_swings_is_not_followed_in_a_straight_line():
    """In the time to the next look its arc must not enter the ground, to second order."""
    w, until = np.array([0.0, 3.0, 3.0]), 1.5 * DT
    point = np.array([[0.3, 0.0, -0.01]])
    done, _ = held(Impulse(0.5, 0.0, rolling_resistance=0.0), point, UP, -np.cross(w, point[0]), w)
    m = done["motion"]
    arc = np.cross(m["w"], np.cross(m["w"], point[0]))
    rise = (m["v"] + np.cross(m["w"], point[0]))[2] * until + 0.5 * arc[2] * until**2
    assert rise > -1e-3 * abs(arc[2]) * until**2
