"""The atlas of paper 000 beside the tree: time of a query near the ground, memory, build."""

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from examples.local_worlds.atlas import Atlas

from alight.cli.bench import Row, seconds, turn_by_turn
from alight.core.devices import Device, resolve
from alight.scenario import bodies
from alight.shapes import Mesh
from alight.surfaces import Facets
from benchmarks.shapes import MESH, shapes_dir

TITLE = "Atlas"

NOTES = """\
The signed distance of points 1 mm to 10 m over the ground, exact, in float64, on one core: by the
worlds of `examples/local_worlds` (*Alight*) beside the tree of `surfaces.Facets` (*peer*) on the
same points, turn by turn. *in a row*: 50 around each of 40 places, as a landing asks; *anywhere*:
each at another place. *error* is the largest difference of the two [m] where local worlds answer
for the mesh; the share of points at which they do, and how many facets a point's world has on
average, are reported in the case. Memory is that on a device.
"""

#: Names of meshes, and numbers of rows in a chart to try.
CASES = (
    ("67P_6000.obj", (16,)),
    ("67P_96834.npz", (16, 64)),
    (MESH, (64, 256)),
)


class Points(NamedTuple):
    """Over random facets, in two orders."""

    in_a_row: np.ndarray
    anywhere: np.ndarray


def points(mesh: Mesh, low: float = 1e-3, high: float = 10.0) -> Points:
    """2000 of each, ``low`` to ``high`` [m] along facets' normals."""
    rng = np.random.default_rng(20_141_112)
    found = []
    for places, each in ((40, 50), (2000, 1)):
        count = places * each
        facet = np.repeat(rng.integers(0, mesh.n_faces, places), each)
        share = rng.dirichlet((1, 1, 1), count)
        height = np.exp(rng.uniform(np.log(low), np.log(high), count))
        base = np.einsum("nk,nki->ni", share, mesh.vertices[mesh.faces[facet]])
        found.append(base + height[:, None] * mesh.face_normals[facet])
    return Points(*found)


def rows(device: Device, repeats: int = 5) -> list[Row]:
    """Every figure of the table."""
    paths = [shapes_dir() / name for name, _ in CASES]
    real = [(path, cells) for path, (_, cells) in zip(paths, CASES, strict=True) if path.is_file()]
    if len(real) < len(CASES):
        print("real shape models are missing: set ALIGHT_SHAPES to their folder")
    if not real:
        return _rows_of(bodies.find("67p").mesh(100_000), (16, 64), device, repeats)
    found = []
    for path, cells in real:
        found += _rows_of(Mesh.read(path, unit="km"), cells, device, repeats)
    return found


def _rows_of(mesh: Mesh, cells: tuple[int, ...], device: Device, repeats: int) -> list[Row]:
    """The figures of one mesh."""
    ground, cpu, given, found = Facets(mesh), resolve("cpu"), points(mesh), []
    tree = seconds(lambda: ground.data(cpu))
    for bands in cells:
        start = time.perf_counter()
        atlas = Atlas(mesh, bands)
        atlas.data(cpu)
        build, name = time.perf_counter() - start, f"{mesh.n_faces} facets, {bands} rows"
        print(f"  {name}", flush=True)
        found += [
            _query_row(f"{name}, in a row", atlas, ground, given.in_a_row, cpu, 4 * repeats),
            _query_row(f"{name}, anywhere", atlas, ground, given.anywhere, cpu, 4 * repeats),
            Row(f"{name}, memory", atlas.nbytes / 1e6, "MB", peer=ground.nbytes / 1e6),
            Row(f"{name}, build", build, "s", peer=tree),
        ]
        if device.is_gpu:
            many = np.tile(given.anywhere, (500, 1))
            where = f"{name}, {len(many)} at once, {device.label}"
            found.append(_query_row(where, atlas, ground, many, device, repeats))
    return found


def _query_row(
    title: str, atlas: Atlas, ground: Facets, x: np.ndarray, device: Device, repeats: int
) -> Row:
    """Time of a query by the atlas beside that by the tree, on one core or a GPU."""
    ours, (distance, _, _, valid) = atlas.prepared(x, device, threads=1)
    theirs, (true, _, _) = ground.prepared(x, device, threads=1)

    def whole(call: Callable[[], None]) -> Callable[[], None]:
        def run() -> None:
            call()
            device.synchronize()

        return run

    mine, tree, ratio = turn_by_turn(whole(ours), whole(theirs), repeats, 1.0)
    sure = np.abs(distance.numpy()) <= valid.numpy()
    error = float(np.abs(distance.numpy() - true.numpy())[sure].max())
    lengths = np.diff(atlas.lists.start)[atlas.cell(x)].mean()
    told = f"{title} ({lengths:.0f} facets a world, {100.0 * sure.mean():.4g} % answered)"
    per = 1e6 / len(x)
    return Row(told, mine * per, "us", None, tree * per, ratio, None, error, 1e-12)
