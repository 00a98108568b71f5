"""Collisions by impulses: random bodies, against the same law in plain SciPy."""

import numpy as np

from alight.cli.bench import Row, median_time, turn_by_turn
from alight.contact import impact
from alight.contact.impulse.impact import inverse_mass
from alight.core.devices import Device, launch, resolve
from benchmarks.impact_peer import plain_impact

TITLE = "Impacts"

NOTES = """\
Random bodies (any inertia, levers of 0.2 to 3 radii of gyration), slip as fast as the approach,
restitution 0 to 1, friction 0 to 1.5: a fifth of them halt. Times are of the kernel, arrays in
place. *peer* is the same law in polar coordinates with SciPy's DOP853 at a relative tolerance of
1e-9, one core. *error* is the largest difference of impulses over 200 collisions to that peer at
3e-14 with short steps, as a part of the impulse; before that, over all collisions, energy must not
rise, friction stay in its cone, and velocities and works close.
"""

#: Collisions timed, compared with SciPy at full accuracy, and timed with it.
MANY, FEW, TIMED = 400_000, 200, 40


def random_collisions(count: int, seed: int = 0):
    """Mass, inertia, lever, velocity, restitution and friction of ``count`` collisions."""
    rng = np.random.default_rng(seed)
    spread = rng.uniform(0.1, 1.0, (count, 3)) ** 2  # integrals of x^2, y^2, z^2 over the mass
    moments = spread.sum(axis=1, keepdims=True) - spread
    axes = np.linalg.qr(rng.normal(size=(count, 3, 3)))[0]
    inertia = axes @ (moments[:, :, None] * np.swapaxes(axes, 1, 2))
    inertia = 0.5 * (inertia + np.swapaxes(inertia, 1, 2))
    way = rng.normal(size=(count, 3))
    reach = np.sqrt(moments.mean(axis=1)) * rng.uniform(0.2, 3.0, count)
    lever = way * (reach / np.linalg.norm(way, axis=1))[:, None]
    velocity = rng.normal(size=(count, 3))
    velocity[:, 2] = -np.abs(velocity[:, 2])
    e, mu = rng.uniform(0.0, 1.0, count), rng.uniform(0.0, 1.5, count)
    return np.ones(count), inertia, lever, velocity, e, mu


def wrong(cases, hit) -> float:
    """The largest breach of what must hold of every collision, relative."""
    mass, inertia, lever, v, _, mu = cases
    m = inverse_mass(mass, inertia, lever)
    after = v + np.einsum("nij,nj->ni", m, hit.impulse)
    speed = np.abs(v).max(axis=1) + np.abs(m).max(axis=(1, 2)) * hit.impulse[:, 2]
    energy = 0.5 * np.einsum("ni,ni->n", hit.impulse, v + hit.velocity)
    size = np.abs(hit.work_friction) + np.abs(hit.work_normal) + hit.impulse[:, 2] * -v[:, 2]
    cone = np.hypot(hit.impulse[:, 0], hit.impulse[:, 1]) - mu * hit.impulse[:, 2]
    breaches = (
        np.abs(after - hit.velocity).max(axis=1) / speed,
        np.abs(energy - hit.work) / size,
        np.maximum(0.0, energy) / size,
        np.maximum(0.0, cone) / hit.impulse[:, 2],
        np.maximum(0.0, -hit.velocity[:, 2]) / speed,
    )
    return float(max(b.max() for b in breaches))


def rows(device: Device, repeats: int = 5) -> list[Row]:
    """Every figure of the table."""
    print("  impacts: correctness", flush=True)
    cases = random_collisions(MANY)
    error = max(wrong(cases, _hit(cases, "cpu")), _against_scipy(cases))
    m = inverse_mass(*cases[:3])
    ours = _kernel(cases, resolve("cpu"), threads=1)

    def theirs() -> None:
        for i in range(TIMED):
            plain_impact(m[i], cases[3][i], cases[4][i], cases[5][i], 1e-9)

    print("  impacts: one core, against SciPy", flush=True)
    mine, other, ratio = turn_by_turn(ours, theirs, repeats, MANY / TIMED)
    found = [
        Row(
            "random 3-D impacts, 1 core",
            1e6 * mine / MANY,
            "us",
            peer=1e6 * other / TIMED,
            ratio=ratio,
            error=error,
        )
    ]
    if device.is_gpu:
        time = median_time(_kernel(cases, device), repeats)
        error = max(wrong(cases, _hit(cases, device.name)), _against_scipy(cases, device.name))
        found.append(
            Row(f"random 3-D impacts, {device.label}", 1e6 * time / MANY, "us", error=error)
        )
    return found


def _hit(cases, device: str):
    mass, inertia, lever, v, e, mu = cases
    return impact(mass, inertia, lever, v, restitution=e, friction=mu, device=device)


def _against_scipy(cases, device: str = "cpu") -> float:
    """Largest relative difference of impulses to the reference."""
    some = [a[:FEW] for a in cases]
    hit, m = _hit(some, device), inverse_mass(*some[:3])
    worst = 0.0
    for i in range(FEW):
        same = plain_impact(m[i], some[3][i], some[4][i], some[5][i], 3e-14, 0.15).impulse
        worst = max(worst, np.abs(hit.impulse[i] - same).max() / np.abs(same).max())
    return float(worst)


def _kernel(cases, device: Device, threads: int | None = None):
    """A call that runs the kernel on arrays in place."""
    import warp as wp

    from alight.contact.impulse.impact_kernel import ImpactResult, impact_each
    from alight.core.types import mat33, scalar, vec3

    mass, inertia, lever, v, e, mu = cases
    m = inverse_mass(mass, inertia, lever)
    kinds = ((m, mat33), (v, vec3), (e, scalar), (mu, scalar))
    inputs = [wp.array(a, dtype=kind, device=device.name) for a, kind in kinds]
    out = wp.empty(len(e), dtype=ImpactResult, device=device.name)

    def call() -> None:
        launch(impact_each, len(e), inputs, device, threads, outputs=[out], block=128)
        device.synchronize()

    return call
