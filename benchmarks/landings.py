"""Landings to rest: the reference landing, on every device, and what finer ground costs."""

import time
from typing import Any

import numpy as np
from scipy.stats import ks_2samp

from alight import gravity, surfaces
from alight.cli.bench import Row, turn_by_turn
from alight.contact import Compliant
from alight.core.devices import Device
from alight.core.outcomes import Outcome
from alight.engine import Batch, BatchResult, Stop, run_batch
from alight.flight import UniformRotation
from alight.motions import Model, Release
from alight.scenario import bodies, landers
from alight.shapes import Mesh
from benchmarks.shapes import MESH, shapes_dir

TITLE = "Landings"

NOTES = """\
The reference landing: MINERVA-II-1 (32 contact points, 1.1 kg) released 60 m above Ryugu (shape
series, 20 480 facets) with 5 cm/s of scatter in each direction and 0.1 rad/s of spin, restitution
0.6, friction 0.6, C_RR 7.5 mm, four octaves of noise (0.3 m high, 20 m long and shorter), to rest.
Ground: distance field of 4 m; gravity: SmoothField of 8 m, linearised over 5 m. *peer* is paper
004's own scheme (smooth) on the same runs. Before a time counts: every run has ended and none has
failed, no contact has returned more than it took by a thousandth of the run's hardest hit, and the
distances and times to rest agree with those of steps and dents that are two and five times finer
(*error* is the two-sample Kolmogorov-Smirnov statistic of the worse of the two over its value at
p = 0.001). The ratio for 67P is the cost of a landing on 6 000 facets over that on 1.5 million.
"""

#: Landings timed on one core, on a GPU, and for the statistics.
CORE, GPU, STATISTICS = 300, 1_000_000, 600
#: Rolling resistance as in paper 004.
ROLLING: dict[str, Any] = {
    "rolling_resistance": 7.5e-3,
    "patch_radius": 7.5e-3,
    "rolling_law": "compensated",
}


def reference(count: int, **contact: float | str) -> tuple[Model, Release]:
    """The model and ``count`` releases of the reference landing."""
    body = bodies.find("ryugu")
    mesh = body.mesh(20480)
    ground = surfaces.DistanceField.from_mesh(mesh, spacing=4.0)
    hills = surfaces.FractalNoise(amplitude=0.3, wavelength=20.0, octaves=4, seed=3)
    field = gravity.SmoothField(gravity.Polyhedron(mesh, gm=body.gm), spacing=8.0)
    law = Compliant(0.6, 0.6, **ROLLING, **contact)  # type: ignore[arg-type]
    model = Model(
        gravity.Linearised(field, 5.0),
        surfaces.Rough(ground, hills),
        landers.find("minerva-ii-1").rigid(32),
        law,
        UniformRotation(omega=body.spin_vector),
    )
    return model, releases(ground, np.radians(20.0), np.radians(40.0), 60.0, count)


def releases(
    ground: surfaces.Surface, latitude: float, longitude: float, height: float, count: int
) -> Release:
    """Scattered by 5 cm/s and 0.1 rad/s, turned any way."""
    rng = np.random.default_rng(20_181_003)
    return Release.above(
        ground,
        latitude,
        longitude,
        height,
        velocity=rng.normal(0.0, 0.05, (count, 3)),
        attitude=rng.normal(0.0, 1.0, (count, 4)),
        rate=rng.normal(0.0, 0.1, (count, 3)),
    )


def wrong(model: Model, result: BatchResult) -> float:
    """1 where a run failed or a contact gained a thousandth of its own hardest hit, else 0."""
    final = result.final
    failed = np.any(result.outcome >= Outcome.STEP_FLOOR) or np.any(result.outcome == 0)
    hit = 0.5 * model.lander.mass * final["hardest"] ** 2
    return float(failed or np.any(final["gain"] > 1e-3 * hit))


def rows(device: Device, repeats: int = 3) -> list[Row]:
    """Every figure of the table."""
    return [*_reference_rows(device, repeats), *_comet_rows(repeats)]


def _reference_rows(device: Device, repeats: int) -> list[Row]:
    print("  reference landing: tables", flush=True)
    model, release = reference(max(STATISTICS, CORE))
    error = _statistics(model, release[:STATISTICS])
    paper, _ = reference(1, scheme="smooth")
    few = 24

    def ours() -> BatchResult:
        return run_batch(model, release[:CORE], device="cpu", threads=1)

    def theirs() -> BatchResult:
        return run_batch(paper, release[:few], device="cpu", threads=1)

    print("  reference landing: one core, against the paper's scheme", flush=True)
    error = max(error, wrong(model, ours()))
    mine, other, ratio = turn_by_turn(ours, theirs, repeats, CORE / few)
    found = [
        Row(
            "reference landing, 1 core",
            1e3 * mine / CORE,
            "ms",
            asked=10.0,
            peer=1e3 * other / few,
            ratio=ratio,
            error=error,
            error_allowed=1.0,
        )
    ]
    if device.is_gpu:
        found += _gpu_rows(model, device)
    return found


def _statistics(model: Model, release: Release) -> float:
    """Kolmogorov-Smirnov distance to runs of finer steps and dents, over that at p = 0.001."""
    fine, _ = reference(1, resolution=0.1, depth=2e-4)
    results = [run_batch(m, release, device="cpu").final for m in (model, fine)]
    start = release.position[0]
    away = [np.linalg.norm(r["x"] - start, axis=1) for r in results]
    worst = max(ks_2samp(*away).statistic, ks_2samp(*[r["t"] for r in results]).statistic)
    return float(worst / (1.95 * np.sqrt(2.0 / len(release))))


def _gpu_rows(model: Model, device: Device) -> list[Row]:
    """Time to the end of nine tenths of the landings, and of all."""
    print(f"  reference landing: {device.label}", flush=True)
    release = reference(GPU)[1]
    run_batch(model, release[:4096], device=device.name)  # compile
    batch = Batch(model, release, device=device.name)
    times, ended = [], []
    start = time.perf_counter()
    while batch.advance():
        times.append(time.perf_counter() - start)
        ended.append(GPU - batch.left)
    error = wrong(model, batch.result())
    most = times[int(np.searchsorted(ended, 0.9 * GPU))]
    return [
        Row(
            f"reference landing, {name} of {GPU:,}, {device.label}".replace(",", " "),
            1e3 * spent / count,
            "ms",
            asked=0.05,
            error=error,
            error_allowed=0.5,
        )
        for name, spent, count in (("90 %", most, 0.9 * GPU), ("all", times[-1], GPU))
    ]


def _comet_rows(repeats: int) -> list[Row]:
    """The same lander on 67P with few and with very many facets."""
    paths = [shapes_dir() / "67P_6000.obj", shapes_dir() / MESH]
    if not all(path.is_file() for path in paths):
        print("no meshes of 67P: set ALIGHT_SHAPES to the folder of real shape models")
        return []
    print("  67P: distance fields", flush=True)
    body = bodies.find("67p")
    field = gravity.Reduced(Mesh.read(paths[0], unit="km"), gm=body.gm, vertices=642)
    runs = []
    for path in paths:
        ground = surfaces.DistanceField.from_mesh(Mesh.read(path, unit="km"), spacing=10.0)
        hills = surfaces.FractalNoise(amplitude=0.3, wavelength=20.0, octaves=4, seed=3)
        model = Model(
            gravity.Linearised(field, 10.0),
            surfaces.Rough(ground, hills),
            landers.find("minerva-ii-1").rigid(32),
            Compliant(0.6, 0.6, **ROLLING),
            UniformRotation(omega=body.spin_vector),
            stop=Stop(max_time=2e5),
        )
        runs.append((model, releases(ground, np.radians(-10.0), np.radians(150.0), 50.0, CORE)))

    def landed(which: int) -> BatchResult:
        return run_batch(*runs[which], device="cpu", threads=1)

    print("  67P: landings", flush=True)
    error = max(wrong(runs[i][0], landed(i)) for i in (0, 1))
    many, few, ratio = turn_by_turn(lambda: landed(1), lambda: landed(0), repeats, 1.0)
    return [
        Row(
            "67P, 1 549 344 facets, 1 core (against 6 000 facets)",
            1e3 * many / CORE,
            "ms",
            peer=1e3 * few / CORE,
            ratio=ratio,
            ratio_asked=0.9,
            error=error,
            error_allowed=0.5,
        )
    ]
