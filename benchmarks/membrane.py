"""A membrane: time of a load, of the drop of paper 003 and of an axial capture, runs a second."""

import functools

import numpy as np
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from alight.cli.bench import Row, median_time
from alight.core.devices import Device, resolve
from alight.engine.membrane_flight import MembraneOutcome
from alight.engine.membrane_motion import Craft, MembraneMotion
from alight.engine.membrane_thrust import ConstantThrust
from alight.membrane import Captive, Membrane, hexagon
from alight.shapes import builtin

TITLE = "Membrane"

NOTES = """\
The membrane of paper 003 under Castalia, 4.5 m across and 100 kg. *load*: shape, tension, forces
and friction of one pose in contact, on one core; *peer* is SciPy's convex hull of the same points,
the hull alone, called pose by pose. *drop*: the 3 s of figure 5 on one core, as simulated seconds
over seconds taken; *error* is the energy unaccounted for over that
of the impact. *batch*: drops with dispersed attitude, in runs a second. *capture*: 170 s of 1000 t
and 15 t, 475 N from contact on, without solar arrays, on one core.
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


def capture() -> object:
    """1000 t and 10 m across against 15 t, one core."""
    captive, scale = body(320), 2.2
    heavy = Captive(1e6, 1e4 * scale**2 * captive.inertia, scale * captive.points)
    law = Membrane(1.5, 15.0, 1.0, suspension=HEXAGON + np.array([0.0, 0.0, 6.0]))
    craft = Craft(15e3, np.diag([6e4, 6e4, 2e4]))
    motion = MembraneMotion(law, heavy, craft, thrust=ConstantThrust((0.0, 0.0, 475.0)))
    return motion.run(
        (0.0, 0.0, 9.5), (0.0, 0.0, -0.05), rate=(0.0, 0.02, 0.05), duration=170.0, step=0.1,
        method="rk4", device="cpu", threads=1,
    )  # fmt: skip


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
    held = capture().outcome[0] is MembraneOutcome.TIMED_OUT
    took = median_time(capture, repeats)
    what = "capture, 162 vertices, RK4 0.1 s: real time over"
    found.append(Row(what, 170.0 / took, "x", error=0.0 if held else 1.0))
    if device.is_gpu:
        found.append(_batch_row(device.name, 20_000, repeats, device.label, None))
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
