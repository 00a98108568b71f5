"""Rigid landings of any hull on any ground: what must hold of every run.

Each ends, in a state that is finite and not inside the ground; no contact gains energy; and a
lander at rest stays when it is let go again. Hulls and a ball on facets of a lumpy body, bare and
with rocks; contact points on a plane, and on a distance field whose gradient jumps. Restitution
from 0 to 1, both among them; ground without friction.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from alight import contact, engine, gravity, motions, surfaces, vehicles
from alight.core import devices
from alight.core.outcomes import Outcome
from alight.motions.rigid.release import gaps
from alight.shapes import Mesh, icosphere

DEVICES = [device.name for device in devices.available()]
RADIUS = 20.0
HEIGHT = 0.5

TETRAHEDRON = Mesh(
    0.1 * np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], float),
    [[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]],
)
HULLS = {
    "cube": vehicles.RigidLander.cube(0.2, 1.0),
    "tetrahedron": vehicles.RigidLander.from_mesh(
        TETRAHEDRON, mass=1.0, points=TETRAHEDRON.vertices
    ),
    "plate": vehicles.RigidLander.box((0.4, 0.4, 0.02), 1.0),
    "rod": vehicles.RigidLander.box((0.02, 0.02, 0.5), 1.0),
    "prism": vehicles.RigidLander.prism(6, 0.3, 0.1, 1.0),
}
BALL = vehicles.RigidLander.sphere(0.2, 1.0)

#: Deepest that a lander may be in the ground at the end [shares of its radius]: where it moves in
#: contact, what is on its way to a hit in the middle of the next step; at rest, rounding and what
#: the ground pushes back at a tenth of the speed of a hop (the worst of 14 000: 1.5e-3, a ball).
MOVING, RESTING = 2e-2, 2e-3
#: Most energy that steps of finite length may add to one contact, over all that the lander had (the
#: worst of 14 000: 2e-3, a prism that slid over rocks without friction for 20 000 steps). The
#: engine takes it back.
GAIN = 3e-3
#: Way that a lander at rest may go when it is let go again [shares of its radius], and how many may
#: go farther: where friction just holds, rest is a matter of luck.
STAYS, LUCK = 1e-3, 0.02


@functools.cache
def lumpy(seed: int) -> Mesh:
    """A body of 1280 facets, each vertex moved by up to a tenth of an edge."""
    ball = icosphere(3)
    bumps = np.random.default_rng(seed).uniform(-1.0, 1.0, ball.n_vertices)
    return Mesh(ball.vertices * (RADIUS * (1.0 + 0.01 * bumps))[:, None], ball.faces)


@functools.cache
def ground_of(kind: str, seed: int) -> Any:
    if kind == "plane":
        return surfaces.Plane()
    if kind == "field":
        return surfaces.DistanceField.from_mesh(lumpy(seed), 1.0, interpolation="trilinear")
    facets = surfaces.Facets(lumpy(seed))
    if kind == "facets":
        return facets
    rocks = surfaces.Rocks(
        slope=2.5, density=0.1, reference=0.5, smallest=0.2, largest=2.0, cover=0.4, seed=seed
    )
    return surfaces.Rocky(facets, facets.mesh, rocks, kept=500)


def case(kind: str, name: str, seed: int, count: int) -> tuple[motions.Model, motions.Release]:
    """A model and releases."""
    rng = np.random.default_rng([seed, sum(f"{kind}{name}".encode())])
    lander = BALL if name == "ball" else HULLS[name]
    g = 10.0 ** rng.uniform(-5.0, -2.0)
    law = contact.Impulse(
        rng.choice([0.0, 1.0, *rng.uniform(0.0, 1.0, 6)], count),
        rng.choice([0.0, *rng.uniform(0.0, 2.0, 6)], count),
        rolling_resistance=rng.choice([0.0, 2e-3], count),
    )
    fast = np.sqrt(2.0 * g * HEIGHT)
    ground = ground_of(kind, seed)
    up = np.tile([0.0, 0.0, 1.0], (count, 1))
    pull: Any = gravity.Uniform((0.0, 0.0, -g))
    base = 0.3
    if kind != "plane":
        up = rng.normal(size=(count, 3))
        up /= np.linalg.norm(up, axis=1, keepdims=True)
        pull = gravity.PointMass(g * RADIUS**2)
        base = RADIUS + (2.5 if kind == "rocks" else 0.5)
    release = motions.Release(
        up * (base + HEIGHT),
        rng.normal(size=(count, 3)) * fast,
        rng.normal(size=(count, 4)),
        rng.normal(size=(count, 3)) * fast / lander.bounding_radius,
    )
    # By the slope of the ground alone, the way to a touch and away from it is a hundred steps.
    stop = engine.Stop(
        max_time=min(1e5, 400.0 * fast / g),
        max_steps=200_000 if kind == "field" else 20_000,
        escape_radius=50.0 * RADIUS,
    )
    return motions.Model(pull, ground, lander, law, stop=stop), release


def least_gap(model: motions.Model, x: Any, q: Any) -> Any:
    """(n,) [m], negative inside."""
    if model.lander is BALL:
        return model.surface.query(x, device="cpu")[0] - BALL.radii[0]
    if isinstance(model.surface, surfaces.Facets | surfaces.Rocky):
        return contact.distance(model.surface, model.lander, x, q, device="cpu").distance
    return gaps(model, motions.Release(x, attitude=q), devices.resolve("cpu"), 1)


def wrong_with(kind: str, name: str, seed: int, count: int, device: str) -> list[str]:
    """What does not hold, one line each."""
    model, release = case(kind, name, seed, count)
    result = engine.run_batch(model, release, device=device)
    final, size = result.final, model.lander.bounding_radius
    state = np.concatenate([final[field] for field in "xvqw"], axis=1)
    speed = np.linalg.norm(final["v"], axis=1) + size * np.linalg.norm(final["w"], axis=1)
    law, settled = model.contact, result.outcome == Outcome.SETTLED
    ended = np.isin(result.outcome, (Outcome.SETTLED, Outcome.TIMED_OUT, Outcome.ESCAPED))
    # Without friction, or rolling, or losing next to nothing (a thousand hits and more), nothing
    # has to end; a ball rolls for long.
    slippery = law.friction < 0.01
    free = (law.rolling_resistance == 0.0) | (law.restitution > 0.97) | (model.lander is BALL)
    moves = speed > 1e-4 * speed.max()
    ended |= (result.outcome == Outcome.OUT_OF_STEPS) & (slippery | (free & moves))
    gap = least_gap(model, final["x"], final["q"]) / size
    had = 0.5 * model.lander.mass * np.median(np.sum(release.velocity**2, axis=1))
    wrong = {
        "did not end": ~ended,
        "not finite": ~np.isfinite(state).all(axis=1),
        "inside": gap < np.where(settled, -RESTING, -MOVING),
        "gained energy": final["gain"] > GAIN * had,
        "moves at rest": settled & (speed > 0.0),
    }
    rows = np.flatnonzero(settled)
    if len(rows):
        way, creep = np.zeros(count), np.zeros(count)
        gone_by, took = way_when_let_go(model, final, rows, device)
        way[rows] = gone_by / size
        # A ball on a slope that its resistance just does not hold: at rest is what is slow enough.
        if model.lander is BALL:
            creep[rows] = model.stop.settle_speed * took / size
        # A ball that nothing slows rolls to and fro, and was caught where it was slow.
        endless = (model.lander is BALL) & (law.rolling_resistance == 0.0)
        gone = (way > STAYS + creep) & ~slippery & ~endless
        wrong["does not stay"] = gone & (gone.sum() > LUCK * count + 1)
    return [
        f"{kind}, {name}, seed {seed}, run {i}: {what} (outcome {result.outcome[i]}, "
        f"{final['steps'][i]} steps, gap {gap[i]:.2g}, gain {final['gain'][i] / had:.2g}, "
        f"e {law.restitution[i]:.2g}, mu {law.friction[i]:.2g})"
        for what, flags in wrong.items()
        for i in np.flatnonzero(flags)
    ]


def way_when_let_go(model: motions.Model, final: Any, rows: Any, device: str) -> tuple[Any, Any]:
    """How far [m] and for how long [s] landers at rest go, put down where they are."""
    law = model.contact
    same = contact.Impulse(
        law.restitution[rows], law.friction[rows], rolling_resistance=law.rolling_resistance[rows]
    )
    again = motions.Model(model.gravity, model.surface, model.lander, same, stop=model.stop)
    start = motions.Release(final["x"][rows], attitude=final["q"][rows])
    later = engine.run_batch(again, start, device=device)
    return np.linalg.norm(later.position - final["x"][rows], axis=1), later.time


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "kind",
    ["plane", *(pytest.param(kind, marks=pytest.mark.validate) for kind in ("facets", "rocks"))],
)
def test_some_rigid_hulls(kind: str, device: str) -> None:
    count = {"plane": 20, "facets": 12, "rocks": 8}[kind]
    wrong = [line for name in HULLS for line in wrong_with(kind, name, 1, count, device)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.validate
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("slots", [1, 3])
def test_rocks_on_shelves_do_not_change_bits(slots: int, device: str, paced: Any) -> None:
    """Whatever shelves a run finds in its slot, and whenever what is on them is lost."""
    model, release = case("rocks", "cube", 1, 6)
    whole = engine.run_batch(model, release, device=device)
    assert len(whole.touches) > 12
    assert same(engine.Batch(model, release, device=device, slots=slots).run(), whole)
    paced(motions.Model, steps=5)
    forgetful = engine.Batch(model, release, device=device, slots=slots)
    assert len(forgetful._memory.shelves.shelf) == slots
    while forgetful.advance():
        forgetful._memory.shelves.shelf.zero_()
    assert same(forgetful.result(), whole)


def same(one: engine.BatchResult, other: engine.BatchResult) -> bool:
    """Equal to the last bit in state and contacts."""
    pairs = [(one.final[name], other.final[name]) for name in "txvqw"]
    pairs += [(one.touches[name], other.touches[name]) for name in ("start", "place", "impulse")]
    return all(a.tobytes() == b.tobytes() for a, b in pairs)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("plane", "ball"),
        pytest.param("facets", "ball", marks=pytest.mark.validate),
        pytest.param("field", "cube", marks=pytest.mark.validate),
    ],
)
def test_rigid_balls_and_points(kind: str, name: str, device: str) -> None:
    """A ball touches as one, whatever the ground; points need no bound on how the ground bends."""
    wrong = wrong_with(kind, name, 1, 12, device)
    assert not wrong, "\n".join(wrong)


@pytest.mark.validate
@pytest.mark.parametrize("seed", range(2, 12))
@pytest.mark.parametrize("kind", ["plane", "field", "facets", "rocks"])
def test_many_rigid_landings(kind: str, seed: int) -> None:
    wrong = [line for name in (*HULLS, "ball") for line in wrong_with(kind, name, seed, 60, "cpu")]
    assert not wrong, "\n".join(wrong)
