"""Random landings: bodies, rotations, landers, contacts and releases to try the engine with.

A ``Case`` is one model with a release and contact parameters for each of its runs. A *family* fixes
the kinds of laws (and so the kernel); everything else is drawn from a seed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import alight
from alight import flight, gravity, surfaces
from alight.contact import Compliant
from alight.core.constants import G
from alight.core.devices import resolve
from alight.engine import Stop
from alight.motions import Model, Release
from alight.motions.rigid.release import gaps
from alight.scenario import landers
from alight.vehicles import RigidLander

Random = np.random.Generator

#: Height [m] from which the fall onto a plane gives what is taken for its escape speed.
FLAT_SIZE = 100.0

#: Steps after which a run is given up.
STEPS = 400_000


@dataclass(frozen=True, eq=False)
class Case:
    """Runs of one model."""

    name: str
    model: Model
    release: Release
    calm: bool  # motion must die out, unless the ground is too steep


@dataclass(frozen=True, eq=False)
class Place:
    """A body to land on; ``escape`` [m/s] and ``size`` [m] set the speeds and the way out."""

    gravity: gravity.Gravity
    surface: surfaces.Surface
    rotation: flight.Rotation
    size: float
    escape: float

    @property
    def pull(self) -> float:
        """Gravity at the surface [m/s^2], about."""
        return self.escape**2 / (2.0 * (self.size or FLAT_SIZE))


# -- landers ----------------------------------------------------------------------------------


def random_lander(r: Random) -> RigidLander:
    """Any shape, from 1 cm to 2 m across; one in three with its centre of mass off the middle."""
    makers = (_cube, _box, _plate, _rod, _cylinder, _prism, _ball, _pointed_ball, _lump, _hedgehog)
    pick = int(r.integers(len(makers) + 1))
    if pick == len(makers):
        return alight.lander(str(r.choice(landers.names()))).rigid()
    return makers[pick](r, _log(r, 0.03, 1.0))


def _log(r: Random, low: float, high: float) -> float:
    return float(np.exp(r.uniform(math.log(low), math.log(high))))


def _mass(r: Random, volume: float) -> float:
    return volume * _log(r, 100.0, 3000.0)


def _offset(r: Random, sides: Any) -> dict[str, Any]:
    """A centre of mass up to a fifth of the sides off the middle, in one case of three."""
    if r.random() > 1 / 3:
        return {}
    return {"center_of_mass": 0.2 * np.asarray(sides) * r.uniform(-1.0, 1.0, 3) / math.sqrt(3.0)}


def _sided(r: Random, sides: Any, name: str) -> RigidLander:
    sides = np.asarray(sides, dtype=np.float64)
    mass = _mass(r, float(np.prod(sides)))
    return RigidLander.box(r.permutation(sides), mass, name=name, **_offset(r, sides.min()))


def _cube(r: Random, size: float) -> RigidLander:
    return _sided(r, [size] * 3, "cube")


def _box(r: Random, size: float) -> RigidLander:
    return _sided(r, size * r.uniform(0.3, 1.0, 3), "box")


def _plate(r: Random, size: float) -> RigidLander:
    return _sided(r, [size, size * r.uniform(0.5, 1.0), size * _log(r, 0.01, 0.1)], "plate")


def _rod(r: Random, size: float) -> RigidLander:
    thin = size * _log(r, 0.01, 0.1)
    return _sided(r, [size, thin, thin * r.uniform(0.5, 1.0)], "rod")


def _cylinder(r: Random, size: float) -> RigidLander:
    height = size * _log(r, 0.1, 3.0)
    mass = _mass(r, 0.8 * size**2 * height)
    low = 0.5 * min(size, height)
    return RigidLander.cylinder(
        size, height, mass, sides=int(r.integers(6, 25)), **_offset(r, [low] * 3)
    )


def _prism(r: Random, size: float) -> RigidLander:
    height = size * _log(r, 0.1, 3.0)
    return RigidLander.prism(int(r.integers(3, 9)), size, height, _mass(r, 0.6 * size**2 * height))


def _ball(r: Random, size: float) -> RigidLander:
    return RigidLander.sphere(size, _mass(r, 0.5 * size**3), **_offset(r, [0.5 * size] * 3))


def _pointed_ball(r: Random, size: float) -> RigidLander:
    points = int(r.integers(12, 65))
    return RigidLander.sphere(size, _mass(r, 0.5 * size**3), name="pointed ball", points=points)


def _lump(r: Random, size: float) -> RigidLander:
    """An irregular hull: a small ball-like mesh with its vertices moved in and out."""
    ball = RigidLander.sphere(size, 1.0).hull
    where = ball.vertices / np.linalg.norm(ball.vertices, axis=1, keepdims=True)
    waves = r.normal(size=(4, 3)) * 2.0
    push = 1.0 + 0.12 * np.cos(where @ waves.T + r.uniform(0.0, 6.0, 4)).sum(axis=1)
    mesh = alight.Mesh(ball.vertices * push[:, None] * r.uniform(0.5, 1.0, 3), ball.faces)
    points = int(r.integers(16, 65))
    return RigidLander.from_mesh(mesh, _mass(r, mesh.volume), points=points, name="lump")


def _hedgehog(r: Random, size: float) -> RigidLander:
    """A cube with a spike at each corner."""
    corner = 0.5 * size * r.uniform(1.05, 1.6)
    spikes = corner * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    return RigidLander.cube(size, _mass(r, size**3), name="hedgehog", extra=spikes)


# -- bodies -----------------------------------------------------------------------------------


def _noise(r: Random) -> surfaces.FractalNoise:
    wavelength = _log(r, 0.5, 20.0)
    return surfaces.FractalNoise(
        amplitude=wavelength * _log(r, 0.003, 0.05),
        wavelength=wavelength,
        octaves=int(r.integers(1, 6)),
        roughness=r.uniform(0.3, 0.6),
        seed=int(r.integers(1000)),
    )


def _spin(r: Random, fastest: float, calm: bool) -> flight.UniformRotation:
    """At rest, or up to nine tenths (calm: four) of what would lift things off the equator."""
    rate = 0.0 if r.random() < 0.25 else fastest * r.uniform(0.05, 0.4 if calm else 0.9)
    return flight.UniformRotation(rate, axis=r.normal(size=3))


def round_place(r: Random, calm: bool) -> Place:
    """A ball of 50 m to 10 km with the gravity of a point."""
    radius, density = _log(r, 50.0, 1e4), r.uniform(1000.0, 3500.0)
    gm = G * density * 4.0 / 3.0 * math.pi * radius**3
    spin = _spin(r, math.sqrt(gm / radius**3), calm)
    ball = surfaces.Sphere(radius=radius)
    return Place(gravity.PointMass(gm), ball, spin, radius, math.sqrt(2.0 * gm / radius))


def tumbling_place(r: Random, calm: bool) -> Place:
    """The same, rotating about no fixed axis."""
    base = round_place(r, calm)
    fastest = base.escape / base.size / math.sqrt(2.0)
    moments = np.array([1.0, r.uniform(1.2, 1.4), r.uniform(1.5, 2.0)])
    axis = np.array([1.0, 0.3, 0.2]) if r.random() < 0.5 else np.array([0.2, 0.3, 1.0])
    rate = fastest * r.uniform(0.05, 0.4 if calm else 0.7) * axis / np.linalg.norm(axis)
    tumbling = flight.Tumbling(moments, rate)
    return Place(base.gravity, base.surface, tumbling, base.size, base.escape)


def flat_place(r: Random, calm: bool) -> Place:
    """A plane, level or inclined by up to half a right angle."""
    g = _log(r, 1e-5, 1e-2)
    tilt = 0.0 if calm else r.uniform(0.0, 0.8)
    normal = (math.sin(tilt), 0.0, math.cos(tilt))
    plane = surfaces.Plane(normal=normal)
    pull = gravity.Uniform((0.0, 0.0, -g))
    return Place(pull, plane, flight.UniformRotation(0.0), 0.0, math.sqrt(2.0 * g * FLAT_SIZE))


def rough(place: Place, r: Random) -> Place:
    """``place`` with hills."""
    hills = surfaces.Rough(place.surface, _noise(r))
    return Place(place.gravity, hills, place.rotation, place.size, place.escape)


_SHAPES: dict[tuple[str, int], tuple[Any, Any]] = {}


def real_place(r: Random, law: str) -> Place:
    """A body of the catalogue with the gravity of its shape."""
    name, faces = str(r.choice(["itokawa", "ryugu", "bennu", "castalia"])), 1280
    body = alight.body(name)
    if (name, faces) not in _SHAPES:
        mesh = body.mesh(faces)
        spacing = float(np.max(mesh.extent)) / 128.0
        _SHAPES[name, faces] = mesh, surfaces.DistanceField.from_mesh(mesh, spacing, device="cpu")
    mesh, field = _SHAPES[name, faces]
    full: gravity.Gravity = gravity.Reduced(mesh, body.density_of(mesh), vertices=150)
    if law == "linearised":
        full = gravity.Linearised(full, reach=0.01 * float(np.max(mesh.extent)))
    rotation = flight.UniformRotation(omega=body.spin_vector)
    return Place(full, field, rotation, mesh.bounding_radius, body.escape_speed)


#: How to make the place of each family, from a generator and whether it is to be calm.
FAMILIES = {
    "round": round_place,
    "round rough": lambda r, calm: rough(round_place(r, calm), r),
    "tumbling": tumbling_place,
    "flat": flat_place,
    "flat rough": lambda r, calm: rough(flat_place(r, calm), r),
    "real": lambda r, calm: real_place(r, "reduced"),
    "real linearised": lambda r, calm: real_place(r, "linearised"),
    "real rough": lambda r, calm: rough(real_place(r, "linearised"), r),
}


# -- contact and release ----------------------------------------------------------------------


def random_contact(r: Random, n: int, size: float, calm: bool) -> Compliant:
    """Parameters for each of ``n`` runs; unless ``calm``, with those that let motion go on.

    Rolling resistance goes with the ``size`` [m] of the lander where calm, and is up to 2 cm
    where not: there it holds small landers on a corner.
    """
    frictions = [0.3, 0.6, 1.0, 2.0] if calm else [0.0, 0.05, 0.3, 0.6, 1.0, 2.0]
    friction = r.choice(frictions, n) * r.uniform(0.8, 1.0, n)
    elastic = 0.0 if calm else 0.1
    rolling = size * r.choice([3e-3, 1e-2, 3e-2, 0.1], n)
    if not calm:
        rolling = r.choice([0.0, 5e-4, 2e-3, 7.5e-3, 2e-2], n)
    return Compliant(
        restitution=np.where(r.random(n) < elastic, 1.0, r.uniform(0.02, 0.95 + 0.5 * elastic, n)),
        friction=friction,
        static_friction=friction * np.where(r.random(n) < 0.5, 1.0, r.uniform(1.0, 1.5, n)),
        rolling_resistance=rolling,
        patch_radius=rolling if calm else r.choice([0.0, 5e-3, 2e-2], n),
        depth=_log(r, 1e-4, 5e-3),
    )


def random_release(r: Random, place: Place, lander: RigidLander, n: int, calm: bool) -> Release:
    """From the ground or up to 200 m (calm) or 5 m above it, at 0.1 mm/s or more.

    The fastest go at nine tenths of the escape speed, or so that they rise by as much as 5 m.
    """
    top = 200.0 if calm else 5.0
    height = np.where(r.random(n) < 0.1, 0.0, np.exp(r.uniform(-6.0, math.log(top), n)))
    up = r.normal(size=(n, 3))
    up /= np.linalg.norm(up, axis=1, keepdims=True)
    if place.size == 0.0:
        up[:] = place.surface.query(np.zeros(3), device="cpu")[1]
        feet = r.uniform(-50.0, 50.0, (n, 3))
    else:
        feet = up * place.size
    position = feet + up * (height + 1.01 * lander.bounding_radius)[:, None]
    fastest = 0.9 * place.escape if calm else math.sqrt(2.0 * place.pull * top)
    speed = np.exp(r.uniform(math.log(1e-4), math.log(max(fastest, 2e-4)), n))
    velocity = r.normal(size=(n, 3))
    velocity *= (speed / np.linalg.norm(velocity, axis=1))[:, None]
    attitude = r.normal(size=(n, 4))
    rate = r.normal(size=(n, 3))
    rate *= (r.choice([0.0, 0.01, 0.3, 3.0], n) * r.random(n))[:, None] / np.linalg.norm(
        rate, axis=1, keepdims=True
    )
    position = _placed(place, lander, position, up, attitude, height)
    return Release(position, velocity, attitude, rate)


def _placed(place: Place, lander: RigidLander, x: Any, up: Any, attitude: Any, height: Any) -> Any:
    """``x`` moved along ``up`` until the least gap is at least the height, and about that."""
    ghost = Model(place.gravity, place.surface, lander, Compliant(restitution=0.5))
    device = resolve("cpu")
    slope = place.surface.bounds.slope
    for _ in range(300):
        gap = gaps(ghost, Release(x, attitude=attitude), device, 1)
        off = gap - height
        if (np.abs(off) < 1e-10 * (1.0 + height)).all():
            break
        x = x - up * (off / slope)[:, None]
    return x + up * np.maximum(0.0, 1e-9 - gap)[:, None] * slope


def random_case(family: str, seed: int, n: int) -> Case:
    """Case ``seed`` of a family, of ``n`` runs.

    Two of three are calm: everything brakes, so that landers come to rest unless the ground is
    steeper than friction holds. The others may bounce, slide, roll or spin for ever and get a time
    limit of four falls from 5 m.
    """
    r = np.random.default_rng([sum(family.encode()), seed])
    calm = seed % 3 != 2
    place, lander = FAMILIES[family](r, calm), random_lander(r)
    contact = random_contact(r, n, lander.bounding_radius, calm)
    release = random_release(r, place, lander, n, calm)
    away = math.inf if place.size == 0.0 else 20.0 * place.size
    most = 1e5 if calm else 4.0 * math.sqrt(2.0 * 5.0 / place.pull)
    stop = Stop(max_time=most, max_steps=STEPS, escape_radius=away)
    model = Model(place.gravity, place.surface, lander, contact, rotation=place.rotation, stop=stop)
    return Case(f"{family} {seed}: {lander.name}", model, release, calm)


def picked(contact: Compliant, rows: Any) -> Compliant:
    """The contact parameters of some of the runs."""
    return Compliant(
        restitution=np.asarray(contact.restitution)[rows],
        friction=contact.friction[rows],
        static_friction=contact.static_friction[rows],
        rolling_resistance=contact.rolling_resistance[rows],
        patch_radius=contact.patch_radius[rows],
        depth=contact.depth,
    )
