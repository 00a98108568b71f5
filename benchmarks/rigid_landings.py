"""Rigid landings to rest: the reference landing by impulses, and what more facets cost."""

import math
import time

import numpy as np

from alight import gravity, surfaces
from alight.cli.bench import Row
from alight.contact import Impulse, distance
from alight.core.devices import Device, resolve
from alight.core.outcomes import Outcome
from alight.engine import BatchResult, run_batch
from alight.flight import UniformRotation
from alight.motions import Model, Release
from alight.scenario import bodies, landers
from benchmarks.landings import releases

TITLE = "Rigid landings"

NOTES = """\
The reference landing (see Landings) with rigid contact: the whole hull of MINERVA-II-1, of 60
faces, hits the facets of Ryugu by impulses, restitution 0.6, friction 0.6, C_RR 7.5 mm; bare, and
with rocks from 0.2 to 20 m at a cover of 0.5. Before a time counts every run has settled, and none
is in the ground by more than a thousandth of its radius. *growth* is the cost of a step on the most
facets over that on the fewest; it may be no more than the ratio of their logarithms. The shape is
that of one series at every number of facets; finer ground is rougher, so landings take more steps.
"""

#: Landings timed on one core, and on a GPU.
CORE, GPU = 200, 20_000
#: Facets of the ground for the growth of cost.
FACETS = (20_480, 200_000, 1_500_000)
#: A landing on one core may take so long [ms].
ASKED = 10.0


def reference(count: int, facets: int = 20_480, rocks: bool = False) -> tuple[Model, Release]:
    """The model and ``count`` releases."""
    body = bodies.find("ryugu")
    mesh = body.mesh(facets)
    field = gravity.SmoothField(gravity.Polyhedron(body.mesh(20_480), gm=body.gm), spacing=8.0)
    bare = surfaces.Facets(mesh)
    ground: surfaces.Surface = bare
    if rocks:
        law = surfaces.Rocks(
            slope=2.65, density=1.63e-3, reference=5.0, smallest=0.2, largest=20.0, cover=0.5,
            seed=1,
        )  # fmt: skip
        ground = surfaces.Rocky(bare, mesh, law)
    model = Model(
        gravity.Linearised(field, 5.0),
        ground,
        landers.find("minerva-ii-1").rigid(32),
        Impulse(0.6, 0.6, rolling_resistance=7.5e-3),
        UniformRotation(omega=body.spin_vector),
    )
    return model, releases(bare, np.radians(20.0), np.radians(40.0), 60.0, count)


def wrong(model: Model, result: BatchResult) -> float:
    """1 where a run has not settled, or is in the ground; else 0."""
    final = result.final
    gap = distance(model.surface, model.lander, final["x"], final["q"], device="cpu").distance
    inside = gap < -1e-3 * model.lander.bounding_radius
    return float(np.any(result.outcome != Outcome.SETTLED) or np.any(inside))


def timed(
    model: Model, release: Release, device: Device, repeats: int
) -> tuple[float, float, float]:
    """Least time of one landing [ms], whether anything was wrong, and steps of a landing."""
    threads = 1 if device.is_cpu else None
    run_batch(model, release[:2], device=device.name)  # kernels are compiled
    least, error, steps = math.inf, 0.0, 0.0
    for _ in range(repeats):
        began = time.perf_counter()
        result = run_batch(model, release, device=device.name, threads=threads)
        least = min(least, time.perf_counter() - began)
        error = max(error, wrong(model, result))
        steps = float(result.final["steps"].mean())
    return 1e3 * least / len(release), error, steps


def rows(device: Device, repeats: int = 3) -> list[Row]:
    """Every figure of the table."""
    cpu = resolve("cpu")
    found = []
    for name, rocks in (("facets", False), ("facets and rocks", True)):
        for place in [cpu] if device.is_cpu else [cpu, device]:
            print(f"  {name} on {place.name}", flush=True)
            model, release = reference(CORE if place.is_cpu else GPU, rocks=rocks)
            cost, error, _ = timed(model, release, place, repeats)
            where = "one core" if place.is_cpu else place.name
            found.append(Row(f"landing on {name}, {where}", cost, "ms", asked=ASKED, error=error))
    return found + growth(cpu, repeats)


def growth(cpu: Device, repeats: int) -> list[Row]:
    """The cost of a landing over the number of facets, and the growth from first to last."""
    found, costs, counts = [], [], []
    for facets in FACETS:
        print(f"  {facets} facets", flush=True)
        model, release = reference(CORE, facets)
        cost, error, steps = timed(model, release, cpu, repeats)
        counts.append(model.surface.mesh.n_faces)  # type: ignore[attr-defined]
        costs.append(cost / steps)
        found.append(Row(f"landing on {counts[-1]} facets", cost, "ms", error=error))
    allowed = math.log(counts[-1]) / math.log(counts[0])
    found.append(Row("growth of a step", costs[-1] / costs[0], "", asked=allowed))
    return found
