"""A membrane: time of a load, of the drop of paper 003 and of its capture, runs a second."""

import functools

import numpy as np
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from alight.cli.bench import Row, median_time
from alight.core.devices import Device, resolve
from alight.membrane import Captive, Membrane, hexagon, pear
from alight.motions.capture import stepping as layout
from alight.motions.capture.approach import approach
from alight.motions.capture.craft import Spacecraft
from alight.motions.capture.model import Capture
from alight.motions.capture.result import CaptureFlight
from alight.motions.membrane.model import MembraneMotion
from alight.shapes import builtin

TITLE = "Membrane"

NOTES = """\
The membrane of paper 003 under Castalia, 4.5 m across and 100 kg. *load*: shape, tension, forces
and friction of one pose in contact, on one core; *peer* is SciPy's convex hull of the same points,
the hull alone, called pose by pose. *drop*: the 3 s of figure 5 on one core, as simulated seconds
over seconds taken; *error* is the energy unaccounted for over that
of the impact. *batch*: drops with dispersed attitude, in runs a second. *capture*: the 170 s of
figure 7, a pear of 1000 t and a craft of 15 t with arrays on hinges, corkscrew, 475 N from contact
on, on one core; *error* is the energy unaccounted for over what the fabric took. *captures*: the
same with dispersed mass, spin and friction, in runs a second.
"""

GRAVITY = (0.0, 0.0, -9.80665)
HEXAGON = hexagon(7.5)


@functools.cache
def body(faces: int) -> Captive:
    mesh = builtin.find("castalia").mesh(faces)
    across = np.linalg.norm(mesh.vertices[:, None] - mesh.vertices[None], axis=-1).max()
    return Captive.from_mesh(mesh.scaled(4.5 / across), 100.0)


def trampoline() -> Membrane:
    return Membrane(30.0, 1.5, 0.2, suspension=HEXAGON)


def poses(count: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    x = rng.uniform((-1.0, -1.0, -2.0), (1.0, 1.0, 0.0), (count, 3))
    return x, Rotation.random(count, random_state=3).as_quat()


def drop(
    captive: Captive, count: int, device: str, threads: int | None, **options: object
) -> object:
    """Drops of figure 5; all but the first in other attitudes."""
    turned = Rotation.random(count, random_state=5).as_quat()
    turned[0] = (0.0, 0.0, 0.0, 1.0)
    return MembraneMotion(trampoline(), captive, gravity=GRAVITY).run(
        (0.0, 0.0, 10.0), attitude=turned, rate=(0.5, 1.0, -0.2), duration=3.0,
        device=device, threads=threads, **options,
    )  # fmt: skip


def unaccounted(captive: Captive, flight: object) -> float:
    """Energy that is neither there nor lost in known ways, over that of the impact."""
    y = flight.last[0]
    moving = 0.5 * captive.mass * y[3:6] @ y[3:6] + 0.5 * y[10:13] @ captive.inertia @ y[10:13]
    before = 0.5 * np.array((0.5, 1.0, -0.2)) @ captive.inertia @ (0.5, 1.0, -0.2)
    height = captive.mass * 9.80665 * (y[2] - 10.0)
    return float(abs(moving + height + y[26] + y[27] - before) / (captive.mass * 9.80665 * 10.0))


SPIN = 0.5 * np.pi / 30.0 * np.array([0.3, 0.2, 0.93]) / np.linalg.norm([0.3, 0.2, 0.93])


@functools.cache
def figure_seven(subdivisions: int) -> Capture:
    craft = Spacecraft()
    asteroid = Captive.from_mesh(pear(10.5, subdivisions=subdivisions), 1e6)
    return Capture(craft.membrane(), asteroid, craft, approach("corkscrew"))


def captured(subdivisions: int, count: int, device: str, threads: int | None, **options: object):
    """Captures of 170 s; all but the first with other mass, spin and friction."""
    rng = np.random.default_rng(7)
    mass, friction = rng.uniform(2e5, 1e6, count), rng.uniform(0.1, 1.0, count)
    axis = rng.normal(size=(count, 3))
    rate = np.linalg.norm(SPIN) * axis / np.linalg.norm(axis, axis=1)[:, None]
    mass[0], friction[0], rate[0] = 1e6, 1.0, SPIN
    return figure_seven(subdivisions).run(
        rate,
        mass=mass,
        friction=friction,
        duration=170.0,
        device=device,
        threads=threads,
        **options,
    )


def capture_unaccounted(flight: CaptureFlight) -> float:
    """Energy neither there, nor lost, nor work of the thrusters, over the fabric's share."""
    inertia, tree = flight.asteroids.inertia[0], flight.craft.tree
    totals, load = [], flight.loads[0]
    for y, stored in (
        (flight.states[0, 0], load["stored"][0]),
        (flight.last[0], load["stored"][-1]),
    ):
        q, v = np.split(y[layout.CRAFT : -layout.SUMS], [tree.n_q])
        craft = tree.energy(q, v, device="cpu")
        own = 0.5 * flight.mass[0] * y[3:6] @ y[3:6] + 0.5 * y[10:13] @ inertia @ y[10:13]
        sums = y[-layout.SUMS :]
        lost = sums[[layout.DAMPED, layout.RUBBED, layout.HINGES]].sum() - sums[layout.WORK]
        totals.append(float(own + craft.kinetic + craft.stored + stored + lost))
    return abs(totals[1] - totals[0]) / float(flight.last[0, -layout.SUMS + layout.DAMPED])


def rows(device: Device, repeats: int = 5) -> list[Row]:
    """Every figure of the table."""
    found = [_load_row(faces, repeats) for faces in (320, 1280)]
    for faces, name, options in (
        (320, "RK4, 0.1 s as in the paper", {"method": "rk4", "step": 0.1}),
        (320, "RK5(4), 1e-8", {}),
        (1280, "RK5(4), 1e-8", {}),
    ):
        found.append(_drop_row(faces, name, options, repeats))
    found.append(_batch_row("cpu", 64, repeats, "1 core", 1))
    for subdivisions, name, options in (
        (2, "RK4, 0.02 s", {"method": "rk4", "step": 0.02}),
        (2, "RK5(4), 1e-6", {}),
        (3, "RK5(4), 1e-6", {}),
    ):
        found.append(_capture_row(subdivisions, name, options, repeats))
    found.append(_captures_row("cpu", 8, repeats, "1 core", 1))
    if device.is_gpu:
        found.append(_batch_row(device.name, 20_000, repeats, device.label, None))
        found.append(_captures_row(device.name, 4096, min(repeats, 2), device.label, None))
    return found


def _load_row(faces: int, repeats: int) -> Row:
    captive, law = body(faces), trampoline()
    count = 2000
    x, q = poses(count)

    still, upright = np.zeros((1, 3)), np.array([[0.0, 0.0, 0.0, 1.0]])
    states = [x, still, q, still, still, still, upright, still]
    ours, _, _ = law.prepared(captive, states, resolve("cpu"), 1)
    placed = [
        a + Rotation.from_quat(b).apply(captive.hull.vertices) for a, b in zip(x, q, strict=True)
    ]
    sets = [np.concatenate([HEXAGON, p[p[:, 2] < 0.0]]) for p in placed[:100]]
    theirs = median_time(lambda: [ConvexHull(points) for points in sets], repeats) / len(sets)
    area = law.load(captive, x[:100], attitude=q[:100], device="cpu").load["area"]
    other = np.array([ConvexHull(points).area for points in sets]) - law.nominal_area
    error = float(np.abs(area / other - 1.0).max())
    took = median_time(ours, repeats) / count
    what = f"load, {len(captive.hull.vertices)} vertices of the hull"
    return Row(what, took * 1e6, "us", None, theirs * 1e6, theirs / took, None, error, 1e-10)


def _drop_row(faces: int, name: str, options: dict[str, object], repeats: int) -> Row:
    captive = body(faces)
    flight = drop(captive, 1, "cpu", 1, **options)
    took = median_time(lambda: drop(captive, 1, "cpu", 1, **options), repeats)
    what = f"drop, {captive.points.shape[0]} vertices, {name}: real time over"
    allowed = 0.1 if "method" in options else 1e-4
    return Row(what, 3.0 / took, "x", error=unaccounted(captive, flight), error_allowed=allowed)


def _batch_row(device: str, count: int, repeats: int, where: str, threads: int | None) -> Row:
    captive = body(320)
    drop(captive, 2, device, threads)
    took = median_time(lambda: drop(captive, count, device, threads), repeats)
    return Row(f"batch of {count} drops, 162 vertices, {where}", count / took, "runs/s")


def _capture_row(subdivisions: int, name: str, options: dict[str, object], repeats: int) -> Row:
    flight = captured(subdivisions, 1, "cpu", 1, every=170.0, **options)
    took = median_time(lambda: captured(subdivisions, 1, "cpu", 1, **options), repeats)
    count = len(figure_seven(subdivisions).asteroid.points)
    what = f"capture, {count} vertices, {name}: real time over"
    error = capture_unaccounted(flight)
    return Row(what, 170.0 / took, "x", error=error, error_allowed=1e-5)


def _captures_row(device: str, count: int, repeats: int, where: str, threads: int | None) -> Row:
    captured(2, 2, device, threads)
    took = median_time(lambda: captured(2, count, device, threads), repeats)
    return Row(f"{count} captures, 162 vertices, {where}", count / took, "runs/s")
