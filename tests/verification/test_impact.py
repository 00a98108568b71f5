"""Impulse collisions (paper 000, section 5): closed forms, golden cases, an independent reference.

    dv/dp = m* (-mu cos phi, -mu sin phi, 1),   m* = 1/M - [c] I^-1 [c],   W_r = -e^2 W_c.

The reference integrates the same law in polar coordinates with SciPy (benchmarks/impact_peer.py).
"""

import pathlib
import sys

import numpy as np
import pytest

from alight.contact import ImpactKind, impact
from alight.core import devices

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))  # tests are no package

from benchmarks.impact_peer import plain_impact
from benchmarks.impacts import random_collisions

DEVICES = [device.name for device in devices.available()]

SLID, SWERVED, HALTED = ImpactKind.SLID, ImpactKind.SWERVED, ImpactKind.HALTED
STUCK, RESUMED, JAMMED = ImpactKind.STUCK, ImpactKind.RESUMED, ImpactKind.JAMMED


def body_with(m):
    """A function that collides a body whose inverse mass at the contact is ``m`` [1/kg]."""
    import warp as wp

    from alight.contact.impulse.impact_kernel import ImpactResult, impact_each
    from alight.core.types import mat33, scalar, vec3

    def collide(v, e, mu, device="cpu"):
        inputs = [
            wp.array(np.reshape(m, (1, 3, 3)), dtype=mat33, device=device),
            wp.array([v], dtype=vec3, device=device),
            wp.array([e], dtype=scalar, device=device),
            wp.array([mu], dtype=scalar, device=device),
        ]
        out = wp.empty(1, dtype=ImpactResult, device=device)
        wp.launch(impact_each, 1, [0, *inputs, out], device=device)
        return out.numpy()[0]

    return collide


# -- closed forms ------------------------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
def test_a_frictionless_hit_keeps_the_slip_impulse_free(device):
    """P = (1 + e) |v_3| / m33 along the normal, whatever the lever."""
    e = np.array([0.0, 0.3, 1.0])
    inertia, c = np.array([0.02, 0.05, 0.06]), np.array([0.12, 0.09, -0.16])
    hit = impact(1.0, inertia, c, (0.3, 0.1, -0.2), restitution=e, friction=0.0, device=device)
    m33 = 1.0 + 0.09**2 / 0.02 + 0.12**2 / 0.05
    assert np.allclose(hit.impulse[:, 2], (1.0 + e) * 0.2 / m33, rtol=1e-14)
    assert np.all(hit.impulse[:, :2] == 0.0)
    assert np.allclose(hit.velocity[:, 2], 0.2 * e, rtol=1e-14, atol=1e-16)
    assert np.all(hit.work_friction == 0.0)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("speed", [1e-9, 1e-6, 1.0, 1e3])
def test_a_sphere_slides_or_rolls_off(device, speed):
    """mu_c = (2/7) |v_t| / ((1 + e) |v_n|): below it v_t+ = v_t - 3.5 mu (1 + e) |v_n|, above 0."""
    radius, mass, e = 0.3, 2.5, 0.8
    mu = np.linspace(0.0, 0.5, 51)
    v = speed * np.array([0.6, 0.8, -1.0])
    inertia = 0.4 * mass * radius**2 * np.ones(3)
    hit = impact(mass, inertia, (0, 0, -radius), v, restitution=e, friction=mu, device=device)
    slip = np.maximum(0.0, 1.0 - 3.5 * mu * (1.0 + e))
    after = np.linalg.norm(hit.velocity[:, :2], axis=1) / speed
    assert np.allclose(after, slip, rtol=1e-13, atol=1e-14)
    assert np.allclose(hit.velocity[:, 2], e * speed, rtol=1e-14)
    held = mu > 2.0 / 7.0 / (1.0 + e)
    assert np.array_equal(hit.has(STUCK), held)
    assert not np.any(hit.kind & int(SWERVED | RESUMED | JAMMED))
    assert np.all(hit.velocity[held, :2] == 0.0)
    golden = impact(mass, inertia, (0, 0, -radius), (1, 0, -1), restitution=0.8, friction=0.1)
    assert golden.velocity[0] == pytest.approx(0.37, rel=1e-14)


ROD = [  # theta, mu, v1, P, v after, p_r/p_c, what happens
    (45.0, 0.3, 0.5, (-0.219512195, 0.731707317), (1.048780488, 0.5), 0.5, SLID),
    (45.0, 0.3, -0.5, (-0.046304498, 0.598792770), (0.282427911, 0.427525178), 0.534406,
     SLID | HALTED | RESUMED),
    (45.0, 0.8, -0.5, (-0.202633068, 0.671055114), (0.0, 0.373688182), 0.533840,
     SLID | HALTED | STUCK),
    (np.degrees(np.arctan(2.0)), 1.3, 0.1, (-0.495200673, 1.319735239), (0.0, 0.517335576),
     0.499699, SLID | HALTED | STUCK),
]  # fmt: skip


def rod(theta, length=1.0, mass=1.0):
    """Inertia and lever of a slender rod whose tip touches, ``theta`` above the horizontal."""
    u = np.array([np.cos(theta), 0.0, -np.sin(theta)])
    across = mass * length**2 / 12.0
    return across * (np.eye(3) - np.outer(u, u)) + 1e-3 * across * np.outer(u, u), 0.5 * length * u


@pytest.mark.parametrize("turned", [0.0, 0.7])
@pytest.mark.parametrize(("theta", "mu", "slip", "P", "v", "ratio", "kind"), ROD)
def test_rod_table(theta, mu, slip, P, v, ratio, kind, turned):
    """Piecewise linear by hand; also in axes turned about the normal, where it only nearly is."""
    inertia, c = rod(np.radians(theta))
    s, k = np.sin(turned), np.cos(turned)
    R = np.array([[k, -s, 0.0], [s, k, 0.0], [0.0, 0.0, 1.0]])
    start = R @ np.array([slip, 0.0, -1.0])
    hit = impact(1.0, R @ inertia @ R.T, R @ c, start, restitution=0.5, friction=mu)
    assert np.allclose((R.T @ hit.impulse)[[0, 2]], P, rtol=0.0, atol=6e-10)
    assert np.allclose((R.T @ hit.velocity)[[0, 2]], v, rtol=0.0, atol=6e-10)
    given_back = hit.impulse[2] / hit.compression_impulse - 1.0
    assert given_back == pytest.approx(ratio, abs=6e-7)
    if turned == 0.0:
        assert hit.kind == int(kind)


def test_rod_jams_beyond_the_painleve_limit():
    """Slip in +t1 jams if mu > (1 + 3 cos^2)/(3 sin cos), at least 4/3, where tan theta = 2."""
    inertia, c = rod(np.arctan(2.0))
    mu = np.array([1.33, 1.34])
    hit = impact(1.0, inertia, c, (0.5, 0.0, -1.0), restitution=0.5, friction=mu)
    assert np.array_equal(hit.has(JAMMED), [False, True])
    assert np.all(hit.has(STUCK))
    # Jammed: s falls at g = m13 - mu m11 and v3 at m33 - mu m13 until the halt, then it sticks.
    m11, m13, m33 = 1.0 + 3.0 * 0.8, 3.0 * 0.4, 1.0 + 3.0 * 0.2
    p = 0.5 / (1.34 * m11 - m13)
    low = -1.0 + p * (m33 - 1.34 * m13)
    lift = m33 - m13**2 / m11
    taken = -0.5 * p * (-1.0 + low) + 0.5 * low**2 / lift
    assert hit.velocity[1, 2] == pytest.approx(0.5 * np.sqrt(2.0 * taken * lift), rel=1e-12)


# -- golden cases (to the digits given) --------------------------------------------------------


def test_cube_on_its_corner():
    inertia = np.full(3, 0.2**2 / 6.0)
    c = (0.032553293489, -0.054949229927, -0.160999581408)
    hit = impact(1.0, inertia, c, (0.1, 0.05, -0.2), restitution=0.6, friction=[0.3, 0.6])
    P = [(-0.052195387504, 0.048405385361, 0.259239434035),
         (-0.064459069128, 0.069024053486, 0.287165865225)]  # fmt: skip
    v = [(0.038013867072, -0.063714721750, 0.112591461147), (0.0, 0.0, 0.120602633701)]
    assert np.allclose(hit.impulse, P, rtol=0.0, atol=2e-11)
    assert np.allclose(hit.velocity, v, rtol=0.0, atol=5e-11)
    assert np.allclose(hit.work, (-0.0152636469, -0.0128974588), rtol=0.0, atol=6e-11)
    assert np.array_equal(hit.has(STUCK), [False, True])


def test_general_body():
    hit = impact(
        1.0,
        (0.02, 0.05, 0.06),
        (0.12, 0.09, -0.16),
        (-0.022911468258, -0.037640872162, -1.0),
        restitution=0.5,
        friction=[0.1, 0.9],
    )
    P = [(-0.041998629638, -0.072417414860, 0.924320255242),
         (-0.270703898519, -0.311465375038, 1.074731827116)]  # fmt: skip
    v = [(0.275890901415, 0.452937579501, 0.496606179644), (0.0, 0.0, 0.491315616249)]
    assert np.allclose(hit.impulse, P, rtol=0.0, atol=2e-12)
    assert np.allclose(hit.velocity, v, rtol=0.0, atol=2e-12)
    assert list(hit.kind) == [SLID | SWERVED, SLID | SWERVED | HALTED | STUCK]


def test_halt_then_resume_in_space():
    """The slip dies along an attracting direction during restitution and leaves along 90 deg."""
    args = 1.0, (2.0, 1.5, 1.5), (0.0, 2.8, -0.9), (0.148, -0.478, -1.0)
    hit = impact(*args, restitution=0.5, friction=0.4)
    assert hit.has(HALTED | RESUMED)
    assert np.degrees(np.arctan2(hit.velocity[1], hit.velocity[0])) == pytest.approx(90.0, abs=1e-9)
    assert hit.compression_impulse < 0.264308
    # Until the halt only the slip counts: the same with less restitution ends before it.
    less = impact(*args, restitution=np.linspace(0.0, 0.5, 2001), friction=0.4)
    last = less.impulse[~less.has(HALTED), 2].max()
    first = less.impulse[less.has(HALTED), 2].min()
    assert last < 0.264308 + 5e-7 < first + 1e-3
    _closes(hit, *args, 0.5, 0.4)


def test_jam_and_second_compression():
    """v3 = 0 at p = 0.7018 and again at 0.9316; slip stops at 0.9500 with v3 = -0.0207."""
    m = np.array([[4.77, -0.186, 1.622], [-0.186, 5.34, -0.992], [1.622, -0.992, 1.89]])
    v, mu = np.array([4.21, 7.26, -1.0]), 1.9
    collide = body_with(m)
    assert collide(v, 0.0, mu)["impulse"][2] == pytest.approx(0.7018, abs=6e-5)
    hit = collide(v, 0.9, mu)
    assert hit["flags"] & int(ImpactKind.RECOMPRESSED)
    assert hit["flags"] & int(JAMMED)
    # From the halt on it sticks: v3 rises by det(m*)/gamma.
    gamma = m[0, 0] * m[1, 1] - m[0, 1] ** 2
    lift = np.linalg.det(m) / gamma
    assert hit["compression"] == pytest.approx(0.7018 + 0.95 - 0.9316 + 0.0207 / lift, abs=2e-4)
    same = plain_impact(m, v, 0.9, mu, 3e-14, 0.1)
    assert same.story == ("slip", "recompress", "halt", "stick")
    assert np.allclose(hit["impulse"], same.impulse, rtol=1e-10)


def test_a_turning_that_nearly_stops_is_no_end_of_slip():
    """Where h comes close to 0 without reaching it, no direction lets slip die: it swerves on."""
    m = np.array(
        [
            [10.472041118563448, 2.5867577840832205, 2.885754569988418],
            [2.5867577840832205, 0.695630052702115, 0.758940451093139],
            [2.885754569988418, 0.758940451093139, 1.0],
        ]
    )
    v, e, mu = (0.021710110061519516, -0.01965885287080877, -1.0), 0.73, 0.2892130578413982
    hit = body_with(m)(v, e, mu)
    same = plain_impact(m, v, e, mu, 3e-14, 0.1)
    assert same.story == ("slip",)
    assert hit["flags"] == int(SLID | SWERVED)
    assert np.allclose(hit["impulse"], same.impulse, rtol=1e-9)


def _closes(hit, mass, inertia, lever, v, e, mu):
    from alight.contact.impulse.impact import inverse_mass

    m = inverse_mass(np.asarray(mass), np.diag(inertia), np.asarray(lever))
    assert np.allclose(v + m @ hit.impulse, hit.velocity, rtol=0.0, atol=1e-12)
    assert hit.work == pytest.approx(0.5 * hit.impulse @ (v + hit.velocity), rel=1e-11)
    assert np.hypot(*hit.impulse[:2]) <= mu * hit.impulse[2]


# -- against the reference -----------------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
def test_random_collisions_agree_with_the_reference(device):
    """The reference counts slip below 1e-13 of the closing speed as none and errs by some 1e-12 a
    collision; levers of ten radii of gyration multiply that: 1e-10 of the largest impulse.
    """
    count = 100
    mass, inertia, c, v, e, mu = random_collisions(count, seed=7)
    hit = impact(mass, inertia, c, v, restitution=e, friction=mu, device=device)
    from alight.contact.impulse.impact import inverse_mass

    m = inverse_mass(mass, inertia, c)
    stories = set()
    for i in range(count):
        same = plain_impact(m[i], v[i], e[i], mu[i], 3e-14, 0.15)
        stories.add(same.story)
        size = np.abs(same.impulse).max()
        assert np.allclose(hit.impulse[i], same.impulse, rtol=0.0, atol=1e-10 * size), i
        speed = np.abs(v[i]).max() + np.abs(m[i]).max() * size
        assert np.allclose(hit.velocity[i], same.v, rtol=0.0, atol=1e-10 * speed), i
        energy = abs(same.work_c) + abs(same.friction)
        assert abs(hit.work_friction[i] - same.friction) < 1e-10 * energy, i
        assert abs(hit.work_normal[i] - same.work_c - same.work_r) < 1e-10 * energy, i
        assert abs(hit.compression_impulse[i] - same.compression) < 1e-9 * size, i
        assert bool(hit.has(STUCK)[i]) == ("stick" in same.story), i
    assert len(stories) >= 2


def test_slip_that_all_but_halts_equals_slip_that_does():
    """Slip into s = 0 along a repelling direction: a nudge of 1e-12 changes nothing by more."""
    inertia, c = rod(np.radians(45.0))
    slip = np.zeros((3, 3))
    slip[:, 0], slip[:, 2], slip[:, 1] = -0.5, -1.0, (0.0, 1e-12, 1e-8)
    hit = impact(1.0, inertia, c, slip, restitution=0.5, friction=0.3)
    assert np.abs(hit.impulse[1] - hit.impulse[0]).max() < 4e-12
    assert np.abs(hit.impulse[2] - hit.impulse[0]).max() < 4e-8


def test_friction_at_its_critical_value_is_a_smooth_place():
    """Around mu-bar stick turns into slip that leaves s = 0 ever more slowly."""
    inertia, c = np.array([0.02, 0.05, 0.06]), np.array([0.12, 0.09, -0.16])
    critical = 0.40480852
    mu = critical + np.array([-1e-5, -1e-6, -1e-7, 1e-7, 1e-6])
    for slip in ((0.0, 0.0), (0.01, 0.02)):
        hit = impact(1.0, inertia, c, (*slip, -1.0), restitution=0.5, friction=mu)
        if slip == (0.0, 0.0):
            assert np.array_equal(hit.has(STUCK), [False, False, False, True, True])
        assert np.abs(np.diff(hit.impulse, axis=0)).max() < 2e-5
        assert np.abs(hit.impulse[3] - hit.impulse[2]).max() < 1e-6
