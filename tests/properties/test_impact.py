"""Whatever body hits the ground in whatever way: what must hold of every collision.

Energy never rises; the point leaves, or stays; friction is in its cone; impulse, velocity and works
close; restitution returns e^2 of what compression took.
"""

import numpy as np
import pytest

from alight.contact import ImpactKind, impact
from alight.contact.impulse.impact import inverse_mass
from alight.core import devices

DEVICES = [device.name for device in devices.available()]


def collisions(count, seed):
    """Bodies from balls to needles and plates, levers of 0.01 to 30 radii of gyration, speeds of
    1e-6 to 10 m/s, slip none, along an axis, head-on with b, fast or slow; frictions and
    restitutions with their ends among them.
    """
    rng = np.random.default_rng(seed)
    mass = 10.0 ** rng.uniform(-1.0, 3.0, count)
    spread = 10.0 ** rng.uniform(-3.0, 0.0, (count, 3))
    spread[::7] = spread[::7, :1]
    moments = spread.sum(axis=1, keepdims=True) - spread
    axes = np.linalg.qr(rng.normal(size=(count, 3, 3)))[0]
    axes[::5] = np.eye(3)
    inertia = mass[:, None, None] * (axes @ (moments[:, :, None] * np.swapaxes(axes, 1, 2)))
    inertia = 0.5 * (inertia + np.swapaxes(inertia, 1, 2))
    way = rng.normal(size=(count, 3))
    way[::11, :2] = 0.0  # balanced: the centre of mass above the contact
    way[1::11, 1] = 0.0  # planar, where the axes are those of the contact
    reach = np.sqrt(moments.mean(axis=1)) * 10.0 ** rng.uniform(-2.0, 1.5, count)
    lever = way * (reach / np.linalg.norm(way, axis=1))[:, None]
    v = rng.normal(size=(count, 3))
    v[:, 2] = -np.abs(v[:, 2])
    v[:, :2] *= 10.0 ** rng.uniform(-4.0, 3.0, (count, 1))
    v[2::13, :2] = 0.0
    v[1::11, 1] = 0.0
    m = inverse_mass(mass, inertia, lever)
    b = m[:, :2, 2]
    head = slice(3, None, 13)
    v[head, :2] = -b[head] / m[head, 2, 2, None] * np.abs(v[head, :1])
    v *= 10.0 ** rng.uniform(-6.0, 1.0, (count, 1))
    e = rng.uniform(0.0, 1.0, count)
    e[::9], e[1::9] = 0.0, 1.0
    mu = 10.0 ** rng.uniform(-3.0, 1.0, count)
    mu[::10] = 0.0
    critical = np.linalg.norm(np.linalg.solve(m[:, :2, :2], b[:, :, None])[:, :, 0], axis=1)
    mu[5::10] = critical[5::10]
    mu[6::10] = critical[6::10] * (1.0 + rng.normal(size=critical[6::10].shape) * 1e-6)
    return m, (mass, inertia, lever, v, e, mu)


def check(count, seed, device):
    """Everything that must hold of them; returns the collisions."""
    m, (mass, inertia, lever, v, e, mu) = collisions(count, seed)
    hit = impact(mass, inertia, lever, v, restitution=e, friction=mu, device=device)
    P, after = hit.impulse, hit.velocity
    assert np.isfinite(P).all()
    assert np.isfinite(after).all()
    # Identities, as parts of the larger of what is added.
    change = np.einsum("nij,nj->ni", m, P)
    scale = np.abs(v).max(axis=1) + np.abs(m).max(axis=(1, 2)) * np.linalg.norm(P, axis=1)
    assert (np.abs(v + change - after).max(axis=1) / scale).max() < 1e-11
    energy = 0.5 * np.einsum("ni,ni->n", P, v + after)
    size = np.linalg.norm(P, axis=1) * (np.linalg.norm(v, axis=1) + np.linalg.norm(after, axis=1))
    assert (np.abs(energy - hit.work) / size).max() < 1e-11
    # Inequalities, none of which needs a tolerance but the cone and that for rounding.
    assert np.all(hit.work_normal <= 0.0)
    assert np.all(hit.work_friction <= 0.0)
    assert np.all(after[:, 2] >= 0.0)
    slide = np.hypot(P[:, 0], P[:, 1])
    assert ((slide - mu * P[:, 2]) <= 1e-11 * (slide + P[:, 2])).all()
    assert np.all(P[:, 2] > 0.0)
    assert np.all((hit.compression_impulse > 0.0) & (hit.compression_impulse <= P[:, 2]))
    stuck = hit.has(ImpactKind.STUCK)
    assert np.all(after[stuck, :2] == 0.0)
    # Restitution from the normal speed alone, where dv3/dp is constant: without friction, and in
    # sticking from the first. There e is Newton's and Poisson's as well.
    plain = (mu == 0.0) | (stuck & ~hit.has(ImpactKind.SLID))
    assert np.allclose(after[plain, 2], -e[plain] * v[plain, 2], rtol=1e-12, atol=0.0)
    ratio = P[plain, 2] / hit.compression_impulse[plain] - 1.0
    assert np.allclose(ratio, e[plain], rtol=0.0, atol=1e-12)
    return hit


def returned(case, hit, device):
    """|W_r + e^2 W_c| / |W_c| from two collisions: the same with e = 0 ends where compression does.

    W_r is what the energy balance leaves of the work of both, so that an end of restitution in the
    wrong place shows.
    """
    _, (mass, inertia, lever, v, e, mu) = case
    half = impact(mass, inertia, lever, v, restitution=0.0, friction=mu, device=device)
    taken = -half.work_normal
    once = ~hit.has(ImpactKind.RECOMPRESSED)
    assert np.allclose(half.impulse[once, 2], hit.compression_impulse[once], rtol=1e-9)
    assert np.all(half.velocity[:, 2] == 0.0)
    energy = 0.5 * np.einsum("ni,ni->n", hit.impulse, v + hit.velocity)
    given = energy - hit.work_friction + taken
    size = taken + np.linalg.norm(hit.impulse, axis=1) * np.linalg.norm(v, axis=1)
    return (np.abs(given - e**2 * taken) / size)[once]


@pytest.mark.parametrize("device", DEVICES)
def test_twenty_thousand_random_collisions(device):
    hit = check(20_000, 1, device)
    for kind in ImpactKind:
        assert hit.has(kind).any(), f"none of them {kind.name.lower()}"
    assert returned(collisions(20_000, 1), hit, device).max() < 1e-9


@pytest.mark.parametrize("device", DEVICES)
def test_any_axes_about_the_normal_will_do(device):
    """Impulses turn with the axes; the rest does not change."""
    _, (mass, inertia, lever, v, e, mu) = collisions(4_000, 2)
    s, c = np.sin(1.1), np.cos(1.1)
    R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    one = impact(mass, inertia, lever, v, restitution=e, friction=mu, device=device)
    other = impact(
        mass, R @ inertia @ R.T, lever @ R.T, v @ R.T, restitution=e, friction=mu, device=device
    )
    size = np.linalg.norm(one.impulse, axis=1, keepdims=True)
    # mu = mu-bar to the last digit sticks or does not by rounding; both end the same.
    assert (np.abs(one.impulse @ R.T - other.impulse) / size).max() < 1e-8


@pytest.mark.parametrize("device", DEVICES)
def test_units_do_not_matter(device):
    """Speeds times k scale impulses by k and works by k^2; masses likewise."""
    _, (mass, inertia, lever, v, e, mu) = collisions(4_000, 3)
    one = impact(mass, inertia, lever, v, restitution=e, friction=mu, device=device)
    k = 2.0**-40
    slow = impact(mass, inertia, lever, k * v, restitution=e, friction=mu, device=device)
    assert np.array_equal(slow.impulse, k * one.impulse)
    assert np.array_equal(slow.work_friction, k * k * one.work_friction)
    heavy = impact(8 * mass, 8 * inertia, lever, v, restitution=e, friction=mu, device=device)
    assert np.array_equal(heavy.impulse, 8 * one.impulse)


@pytest.mark.validate
@pytest.mark.parametrize("device", DEVICES)
def test_a_million_random_collisions(device, capsys):
    met = {kind.name: 0 for kind in ImpactKind}
    worst = 0.0
    for seed in range(10, 20):
        hit = check(100_000, seed, device)
        worst = max(worst, returned(collisions(100_000, seed), hit, device).max())
        for kind in ImpactKind:
            met[kind.name] += int(hit.has(kind).sum())
    with capsys.disabled():
        print(f"\n1 000 000 collisions on {device}: {met}, W_r + e^2 W_c closes to {worst:.1e}")
    assert worst < 1e-8
