"""Drops of a point onto Ryugu, to rest: paper 001's experiment."""

import numpy as np

from alight import gravity, surfaces
from alight.cli.bench import Row, median_time, seconds
from alight.contact import Sliding
from alight.core import frames
from alight.core.devices import Device
from alight.core.outcomes import Outcome
from alight.engine import BatchResult, Stop, run_batch
from alight.flight import UniformRotation
from alight.motions import Model, Release, Steps
from alight.scenario import bodies
from alight.vehicles import RigidLander

TITLE = "Drops"

NOTES = """\
Paper 001: a point released at rest 60 m above Ryugu at 54° N, 82.8° W, anywhere within 2.5 m, both
restitutions 0.8, friction 5 and 6, hops below 4.5 cm not followed, to rest: 16 bounces and a slide.
Ground: the built-in series of degree 22; gravity: SmoothField of 8 m of 5120 facets. Before a time
counts: every run has come to rest, no contact has returned more than it took by 1e-9 of the hardest
hit, and rest sites agree with those of steps a thousand times finer to 1 mm (*error* is the
largest distance over that). 3.3 ms are 300 drops a second.
"""

#: Drops timed on one core, on a GPU, and compared with finer steps.
CORE, GPU, COMPARED = 500, 65_536, 100


def drops(count: int, tolerance: float = 1e-9) -> tuple[Model, Release]:
    """The model, and ``count`` releases."""
    mesh = bodies.find("ryugu").mesh(5120)
    ground = surfaces.Parametric.from_body("ryugu")
    model = Model(
        gravity.SmoothField(gravity.Polyhedron(mesh, density=1190.0), spacing=8.0),
        ground,
        RigidLander.point(1.0),
        Sliding(0.8, 5.0, static_friction=6.0, tangential_restitution=0.8, hop=4.48e-2),
        rotation=UniformRotation(2.0 * np.pi / (7.627 * 3600.0)),
        stop=Stop(escape_radius=61e3),
        steps=Steps(tolerance=tolerance),
    )
    rng = np.random.default_rng(1)
    angle, r = rng.uniform(0.0, 2.0 * np.pi, count), 2.5 * np.sqrt(rng.uniform(size=count))
    up = frames.direction(np.radians(54.0), np.radians(-82.8))
    disc = np.column_stack([r * np.cos(angle), r * np.sin(angle), np.zeros(count)])
    return model, Release(ground.at(up) + 60.0 * up + disc @ frames.local_frame(up).T)


def rows(device: Device, repeats: int = 3) -> list[Row]:
    """Every figure of the table."""
    print("  drops: tables", flush=True)
    model, release = drops(CORE)
    fine = run_batch(drops(1, 1e-12)[0], release[:COMPARED], device="cpu")
    found = run_batch(model, release, device="cpu", threads=1)
    off = np.linalg.norm(found.position[:COMPARED] - fine.position, axis=1).max()
    time = median_time(lambda: run_batch(model, release, device="cpu", threads=1), repeats)
    error = max(float(off / 1e-3), wrong(found))
    out = [Row("drop, 1 core", 1e3 * time / CORE, "ms", asked=3.3, error=error, error_allowed=1.0)]
    return [*out, _gpu_row(model, device)] if device.is_gpu else out


def wrong(result: BatchResult) -> float:
    """2 where a run did not settle or a contact gained, else 0."""
    final = result.final
    hit = 0.5 * final["hardest"] ** 2
    bad = np.any(result.outcome != Outcome.SETTLED) or np.any(final["gain"] > 1e-9 * hit)
    return 2.0 * float(bad)


def _gpu_row(model: Model, device: Device) -> Row:
    print(f"  drops: {device.label}", flush=True)
    release = drops(GPU)[1]
    run_batch(model, release[:64], device=device.name)  # compile
    result: list[BatchResult] = []
    time = seconds(lambda: result.append(run_batch(model, release, device=device.name)))
    label = f"drop, {GPU} at once, {device.label}"
    return Row(label, 1e3 * time / GPU, "ms", asked=0.02, error=wrong(result[0]), error_allowed=1.0)
