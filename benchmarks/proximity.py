"""Distances of landers to facets: time a query beside coal's, growth with facets, the tree."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from alight.cli.bench import Row, median_time, seconds, turn_by_turn
from alight.contact.hull import gaps
from alight.core.devices import Device, resolve
from alight.core.errors import MissingExtraError
from alight.core.extras import require
from alight.scenario import bodies
from alight.shapes import Mesh
from alight.surfaces import Facets
from alight.vehicles.rigid import hull_meshes
from benchmarks.shapes import MESH, shapes_dir

TITLE = "Facets"

NOTES = """\
The distance between a lander's hull and all facets of a body, exact, in float64, on one core. Poses
come as a landing asks for them: 50 in a row around each of 40 places, in any attitude, 1 mm to 10 m
over the ground. *peer* is coal (its tree of oriented boxes) on the same poses, turn by turn, called
pose by pose from Python. *error* is the largest difference of the two [m]. *anywhere*: each pose
at another place of the body, so that little of it is in the cache; *100 m up*: seen from afar.
*growth* is the time on 1.5 million facets over that on 6 000, which may be no more than the ratio
of their logarithms. Building the tree takes one core but for its last step.
"""

#: Names of meshes, smallest first; the first and last are of one body.
MESHES = ("67P_6000.obj", "Itokawa_196608.npz", MESH)

HULLS = {
    "cube of 12 faces": hull_meshes.box((0.3, 0.3, 0.3)),
    "drum of 60": hull_meshes.prism(16, 1.0, 0.4),
}

Poses = tuple[np.ndarray, Rotation]


def poses(mesh: Mesh, hull: Mesh, places: int, each: int, low: float, high: float) -> Poses:
    """``each`` in a row over random facets, gaps from ``low`` to ``high`` [m]."""
    rng = np.random.default_rng(20_141_112)
    count = places * each
    facet = np.repeat(rng.integers(0, mesh.n_faces, places), each)
    share = rng.dirichlet((1, 1, 1), count)
    turns = Rotation.random(count, random_state=1)
    normal = mesh.face_normals[facet]
    turned = np.einsum("nij,vj->nvi", turns.as_matrix(), hull.vertices)
    lowest = np.einsum("nvi,ni->nv", turned, normal).min(axis=1)
    height = np.exp(rng.uniform(np.log(low), np.log(high), count))
    base = np.einsum("nk,nki->ni", share, mesh.vertices[mesh.faces[facet]])
    return base + (height - lowest)[:, None] * normal, turns


class Peer:
    """The same bodies in the package ``coal``."""

    def __init__(self, module: Any, mesh: Mesh) -> None:
        self.module = module
        self.ground = self._model(mesh)

    def _model(self, mesh: Mesh) -> Any:
        found = self.module.BVHModelOBBRSS()
        found.beginModel(mesh.n_faces, mesh.n_vertices)
        found.addVertices(np.array(mesh.vertices))
        found.addTriangles(mesh.faces.astype(np.int64))
        found.endModel()
        return found

    def call(self, hull: Mesh, given: Poses, out: np.ndarray) -> Callable[[], None]:
        """A call that fills ``out`` with distances."""
        coal, body = self.module, self._model(hull)
        rest, request, result = coal.Transform3s(), coal.DistanceRequest(), coal.DistanceResult()
        places = [
            coal.Transform3s(turn, x)
            for turn, x in zip(given[1].as_matrix(), given[0], strict=True)
        ]

        def run() -> None:
            for i, place in enumerate(places):
                result.clear()
                out[i] = coal.distance(self.ground, rest, body, place, request, result)

        return run


def rows(device: Device, repeats: int = 5) -> list[Row]:
    """Every figure of the table."""
    coal = None
    try:
        coal = require("coal", "dev")
    except MissingExtraError as absent:
        print(f"no comparison: {absent}")
    paths = [shapes_dir() / name for name in MESHES]
    real = [path for path in paths if path.is_file()]
    if len(real) < len(paths):
        print("real shape models are missing: set ALIGHT_SHAPES to their folder")
    if not real:
        return _rows_of(Facets(bodies.find("67p").mesh(100_000)), coal, device, repeats)
    found, grounds = [], []
    for path in real:
        mesh = Mesh.read(path, unit="km")
        grounds.append(Facets(mesh))
        found += _rows_of(grounds[-1], coal, device, repeats)
    if len(real) == len(paths):
        found.append(_growth_row(grounds[0], grounds[-1], repeats))
    return found


def _rows_of(ground: Facets, coal: Any, device: Device, repeats: int) -> list[Row]:
    """The figures of one mesh."""
    mesh, cpu = ground.mesh, resolve("cpu")
    facets = f"{mesh.n_faces} facets"
    print(f"  {facets}: tree", flush=True)
    tree = seconds(lambda: ground.tree)
    whole = tree + seconds(lambda: ground.data(cpu))
    asked = 10.0 if mesh.n_faces > 1e6 else None
    found = [
        Row(f"tree over {facets}", tree, "s"),
        Row(
            f"the same with normals and neighbours, {ground.nbytes / 1e6:.0f} MB", whole, "s", asked
        ),
    ]
    peer = Peer(coal, mesh) if coal else None
    for name, hull in HULLS.items():
        sets = {
            "": poses(mesh, hull, 40, 50, 1e-3, 10.0),
            ", anywhere": poses(mesh, hull, 2000, 1, 1e-3, 10.0),
            ", 100 m up": poses(mesh, hull, 40, 50, 99.0, 101.0),
        }
        for where, given in sets.items():
            title = f"{name}, {facets}{where}"
            print(f"  {title}", flush=True)
            found.append(_query_row(title, ground, hull, given, peer, repeats))
    if device.is_gpu:
        found.append(_gpu_row(ground, device, repeats))
    return found


def _query_row(
    title: str, ground: Facets, hull: Mesh, given: Poses, peer: Peer | None, repeats: int
) -> Row:
    """Time of a query on one core, beside coal's."""
    count, per = len(given[0]), 1e6 / len(given[0])
    cpu = resolve("cpu")
    ours, out = gaps.prepared(ground, hull, given[0], given[1].as_quat(), cpu, threads=1)
    if peer is None:
        return Row(title, median_time(ours, repeats) * per, "us")
    other = np.empty(count)
    theirs = peer.call(hull, given, other)
    mine, time, ratio = turn_by_turn(ours, theirs, repeats, 1.0)
    apart = other > 0.0
    error = float(np.abs(out.numpy()["distance"] - other)[apart].max())
    return Row(title, mine * per, "us", None, time * per, ratio, 1.0, error)


def _growth_row(few: Facets, many: Facets, repeats: int) -> Row:
    """How much longer a query takes on many facets than on few, turn by turn."""
    hull, cpu = HULLS["cube of 12 faces"], resolve("cpu")
    calls = []
    for ground in (many, few):
        x, turns = poses(ground.mesh, hull, 40, 50, 1e-3, 10.0)
        calls.append(gaps.prepared(ground, hull, x, turns.as_quat(), cpu, threads=1)[0])
    ratio = 1.0 / turn_by_turn(calls[0], calls[1], 4 * repeats, 1.0)[2]
    counts = [ground.mesh.n_faces for ground in (few, many)]
    most = math.log(counts[1]) / math.log(counts[0])
    return Row(f"growth, {counts[0]} to {counts[1]} facets", ratio, "x", most)


def _gpu_row(ground: Facets, device: Device, repeats: int) -> Row:
    """Many poses at once."""
    hull = HULLS["cube of 12 faces"]
    x, turns = poses(ground.mesh, hull, 5000, 50, 1e-3, 10.0)
    launch, _ = gaps.prepared(ground, hull, x, turns.as_quat(), device)

    def run() -> None:
        launch()
        device.synchronize()

    title = f"cube of 12 faces, {ground.mesh.n_faces} facets, {len(x)} at once, {device.label}"
    return Row(title, median_time(run, repeats) * 1e6 / len(x), "us")
