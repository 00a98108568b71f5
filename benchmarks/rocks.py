"""Rocks on a body: time a query beside that of the bare ground, and how long it takes to strew."""

from functools import partial

import numpy as np

from alight.cli.bench import Row, median_time, seconds
from alight.core.devices import Device
from alight.scenario import bodies
from alight.shapes import Mesh
from alight.surfaces import DistanceField, Facets, RockField, Rocks, Rocky, Surface

TITLE = "Rocks"

NOTES = """\
Itokawa of 20 480 facets with the rocks of its boulder count from 0.3 to 20 m, capped at a cover of
0.6: 1.1 million of them, of which those above 1 m are kept and the others made in every query. One
point a query, on one thread (a GPU: on all), at three heights over random places. *bare* is the
ground alone. *error* is the largest difference to all rocks tried one by one [m].
"""

HEIGHTS = (0.1, 1.0, 10.0)


def rows(device: Device, repeats: int = 5) -> list[Row]:
    """Every figure of the table."""
    mesh = bodies.find("itokawa").mesh(20_480)
    rocks = Rocks.counted_on("itokawa", smallest=0.3, largest=20.0, cover=0.6, seed=1)
    grounds: dict[str, Surface] = {
        "facets": Facets(mesh),
        "field of 2 m": DistanceField.from_mesh(mesh, spacing=2.0),
    }
    found = []
    for name, base in grounds.items():
        print(f"  rocks on {name}", flush=True)
        ground = Rocky(base, mesh, rocks)
        ground.query(places(mesh, 0.1, 10), device.name)  # kernels are compiled
        again = Rocky(base, mesh, rocks)
        found.append(Row(f"{name}: strew rocks", seconds(partial(again.data, device)), "s"))
        for height in HEIGHTS:
            points = places(mesh, height, 20_000 if device.is_cpu else 1_000_000)
            error = wrong_by(ground, base, points[:40]) if height == HEIGHTS[0] else None
            for title, law in (("bare", base), ("rocks", ground)):
                time = per_query(law, points, device, repeats)
                row = Row(f"{name}, {height:g} m up, {title}", time, "us/query")
                if title == "rocks" and error is not None:
                    row = Row(row.what, time, row.unit, error=error)
                found.append(row)
    return found


def places(mesh: Mesh, height: float, count: int) -> np.ndarray:
    """Points over random places of a body [m]."""
    rng = np.random.default_rng(1)
    facet = rng.choice(mesh.n_faces, count, p=mesh.face_areas / mesh.area)
    share = rng.dirichlet((1, 1, 1), count)
    base = np.einsum("nk,nki->ni", share, mesh.vertices[mesh.faces[facet]])
    return base + height * mesh.face_normals[facet]


def per_query(ground: Surface, points: np.ndarray, device: Device, repeats: int) -> float:
    """Time of one query [us]."""
    launch, _ = ground.prepared(points, device, 1)

    def call() -> None:
        launch()
        device.synchronize()

    return 1e6 * median_time(call, repeats) / len(points)


def wrong_by(ground: Rocky, base: Surface, points: np.ndarray) -> float:
    """The largest difference [m] to the least over rocks nearby, by planes alone.

    Where a point is inside a rock or over the middle of a face, the highest of its planes is the
    distance, and elsewhere less: rocks must not be nearer than planes say, nor farther than faces.
    """
    found = ground.query(points)[0]
    worst = 0.0
    for x, distance, bare in zip(points, found, base.query(points)[0], strict=True):
        table = RockField(ground.rocks, ground.field.mesh, ground.field.base).near(x, 25.0)
        a, b, c = np.moveaxis(table.vertices[:, table.faces], 2, 0)
        normal = np.cross(b - a, c - a)
        normal /= np.linalg.norm(normal, axis=2)[..., None]
        low = min(bare, np.einsum("nfi,nfi->nf", x - a, normal).max(axis=1).min(initial=np.inf))
        high = min(bare, np.linalg.norm(table.vertices - x, axis=2).min(initial=np.inf))
        worst = max(worst, low - distance, distance - max(high, low))
    return worst
