"""RockField: rocks on a mesh. The large, which are few, are kept; others are made when asked for.

A rock larger than its facet overhangs many others, which would all have to be searched for it. But
large rocks are few: what covers no more than the ground, and is larger than facets, is no more
numerous than facets are. So classes of size are made beforehand from the largest down, while there
is room, and a tree holds them. What is left is smaller, and is found from the facets close by.
"""

import functools
import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices
from alight.core.checks import Array, checked_vector, checked_whole
from alight.core.errors import InputError
from alight.core.types import scalar, vec3, vec4
from alight.core.warp_setup import POINT_OPTIONS
from alight.shapes.mesh import Mesh
from alight.surfaces.facets import bvh
from alight.surfaces.facets.bvh import Extent, leaf_starts, median_order
from alight.surfaces.facets.triangles import Triangles, triangles_data
from alight.surfaces.law import Surface
from alight.surfaces.rocks.kernel import MOST_CELLS, Rock, RocksData
from alight.surfaces.rocks.population import Rocks, facet_cells
from alight.surfaces.rocks.search import KeptRocks, facet_rocks
from alight.surfaces.rocks.shapes import icosahedron

#: Rocks kept in a tree, unless there are more facets: some 40 MB.
KEPT = 100_000

#: How much farther facets may lie from the ground than was found at their corners and middles.
_SAFETY = 1.25


class RockTable(NamedTuple):
    """Rocks as arrays, in the order of facets, classes and cells."""

    vertices: Array
    """(n, 12, 3) [m]"""
    ground: Array
    """(n, 3) their places on the ground [m]."""
    up: Array
    """(n, 3) outward normals of their facets."""
    size: Array
    """(n,) [m]"""
    sunk: Array
    """(n,) part of the height that is below ground."""
    facet: npt.NDArray[np.int32]
    """(n,) facet of the mesh that each belongs to."""
    address: npt.NDArray[np.int32]
    """(n, 3) exponent of the class, cell, number in the cell."""

    @property
    def faces(self) -> npt.NDArray[np.int32]:
        """(20, 3) vertices of the faces of every rock, counter-clockwise from outside."""
        return icosahedron()[1]


@functools.cache
def scene_of(base_point: Any, base_data: Any) -> tuple[Any, Any]:
    """The struct of a mesh with rocks, and the function that moves them from facets to a ground.

    Without a ground of its own (None) rocks stay on the facets.
    """
    if base_point is None:

        @wp.struct
        class RockScene:
            mesh: Triangles
            rocks: RocksData
            kept: KeptRocks

        @wp.func
        def stay(scene: RockScene, place: vec3, normal: vec3):
            return place

        return RockScene, stay

    @wp.struct
    class GroundScene:
        mesh: Triangles
        rocks: RocksData
        kept: KeptRocks
        base: base_data
        shift: scalar  # the farthest that rocks are moved [m]

    @wp.func
    def settle(scene: GroundScene, place: vec3, normal: vec3):
        """One step of Newton's method along the normal of the facet."""
        at = base_point(scene.base, place)
        steep = wp.max(wp.dot(at.gradient, normal), scalar(0.5))
        way = wp.clamp(-at.distance / steep, -scene.shift, scene.shift)
        return place + way * normal

    return GroundScene, settle


class RockField:
    """The rocks of ``rocks`` on the facets of ``mesh``.

    On a ground of its own, ``base``, such as a distance field of the mesh or hills on it, rocks
    are moved from the facets to it, along their normals.
    """

    def __init__(
        self, rocks: Rocks, mesh: Mesh, base: Surface | None = None, kept: int | None = None
    ) -> None:
        if not isinstance(rocks, Rocks):
            raise InputError(f"rocks is {rocks!r}; it must be Rocks")
        if not isinstance(mesh, Mesh):
            raise InputError(f"mesh is {type(mesh).__name__}; rocks lie on the facets of a Mesh")
        mesh.health.require("the ground")
        self.rocks, self.mesh, self.base = rocks, mesh, base
        self._check_cells()
        room = max(KEPT, mesh.n_faces) if kept is None else checked_whole("kept", kept, 0)
        #: How many of the smallest classes are made when they are asked for.
        self.made = self._made(room)
        #: The farthest that rocks are moved from their facets [m].
        self.shift = 0.0 if base is None else self._shift(base)
        self.Scene, self.settle = (
            scene_of(None, None) if base is None else scene_of(base.point, base.Data)
        )
        self._devices: dict[str, Any] = {}

    def _check_cells(self) -> None:
        """Cells are distinguished by 16 bits along each side of a facet."""
        most = float(facet_cells(self.mesh)["across"].max())
        if most > MOST_CELLS * 2.0**self.rocks.octaves.start:
            least = 1.01 * 2.0 ** math.ceil(math.log2(most / MOST_CELLS))
            raise InputError(
                f"rocks of {self.rocks.law.smallest:g} m are too small for facets as large as "
                f"these: give a smallest size of at least {least:.3g} m, or a finer mesh"
            )

    def _made(self, room: int) -> int:
        """Classes that are too numerous to be kept."""
        expected = self.rocks.rates() * self.rocks.most * self.mesh.area
        return int(np.sum(np.cumsum(expected[::-1]) > room))

    def _shift(self, base: Surface) -> float:
        corner = self.mesh.vertices[self.mesh.faces]
        middles = 0.5 * (corner + np.roll(corner, -1, axis=1))
        points = np.concatenate([self.mesh.vertices, middles.reshape(-1, 3), corner.mean(axis=1)])
        off = float(np.abs(base.query(points, "cpu")[0]).max())
        if off > 0.25 * self.mesh.radius:
            raise InputError(
                f"facets of the mesh lie up to {off:.3g} m off the ground that rocks are to stand "
                "on: give the mesh that the ground was made from"
            )
        return 2.0 * _SAFETY * off

    @functools.cached_property
    def tree(self) -> bvh.Built:
        """The tree over the facets."""
        return bvh.build(self.mesh.vertices[self.mesh.faces])

    @property
    def number(self) -> float:
        """Rocks to be expected on the whole body, where no map varies their density."""
        return self.rocks.number(0.0) * self.mesh.area

    @property
    def reaches(self) -> tuple[float, float]:
        """How far kept rocks, and others, reach from their facets [m]; 0 where there are none."""
        top = np.minimum(2.0 ** (np.array(self.rocks.octaves) + 1.0), self.rocks.law.largest)
        reach = self.rocks.reach * top + self.shift
        kept = float(reach[-1]) if self.made < len(reach) else 0.0
        return kept, float(reach[self.made - 1]) if self.made else 0.0

    # -- for kernels --------------------------------------------------------------------------

    def scene(self, device: devices.Device) -> Any:
        """Facets, law and kept rocks on a device, made once."""
        if device.name not in self._devices:
            scene = self._bare_scene(device)
            scene.kept = self._kept(scene, device)
            self._devices[device.name] = scene
        return self._devices[device.name]

    def _bare_scene(self, device: devices.Device) -> Any:
        scene = self.Scene()
        scene.mesh = triangles_data(self.mesh, device, self.tree, self.reaches[1])
        scene.rocks = self.rocks.data(self.mesh, self.tree.order, self.made, self.shift, device)
        if self.base is not None:
            scene.base, scene.shift = self.base.data(device), self.shift
        return scene

    def _kept(self, scene: Any, device: devices.Device) -> Any:
        last = len(self.rocks.octaves)
        found = self._gather(scene, device, np.arange(self.mesh.n_faces), range(self.made, last))
        kept = KeptRocks()
        if not len(found):
            kept.tree = bvh.BoxTree()
            kept.ball = wp.empty(0, dtype=vec4, device=device.name)
            kept.rock = wp.empty(0, dtype=Rock, device=device.name)
            return kept
        built = tree_over(found["corner"], found["up"])
        kept.tree = bvh.tree_data(built, device)
        found = found[built.order]
        ball = np.column_stack([found["center"], found["radius"]])
        kept.ball = wp.array(ball, dtype=vec4, device=device.name)
        kept.rock = wp.array(found, dtype=Rock, device=device.name)
        return kept

    # -- on the host --------------------------------------------------------------------------

    def near(
        self, center: npt.ArrayLike | None = None, radius: float = np.inf, device: str = "auto"
    ) -> RockTable:
        """All rocks whose places are within ``radius`` of ``center`` [m], or all there are."""
        middle = np.zeros(3) if center is None else checked_vector("center [m]", center)
        if not (isinstance(radius, (int, float, np.number)) and radius > 0.0):
            raise InputError(f"radius is {radius!r}; it must be a positive number [m]")
        where = devices.resolve(device)
        scene = self._devices.get(where.name) or self._bare_scene(where)
        corner = self.mesh.vertices[self.mesh.faces[self.tree.order]]
        centroid = corner.mean(axis=1)
        width = np.linalg.norm(corner - centroid[:, None], axis=2).max(axis=1)
        way = np.linalg.norm(centroid - middle, axis=1)
        facets = np.flatnonzero(way < radius + width + self.shift)
        classes = range(len(self.rocks.octaves))
        found = self._gather(scene, where, facets, classes, middle, radius)
        inside = np.linalg.norm(found["ground"] - middle, axis=1) <= radius
        order = np.argsort(found["facet"][inside], kind="stable")
        found = found[inside][order]
        address = np.stack([found["octave"], found["cell"], found["index"]], axis=1)
        return RockTable(
            found["corner"], found["ground"], found["up"], found["size"], found["sunk"],
            found["facet"], address,
        )  # fmt: skip

    def _gather(
        self,
        scene: Any,
        device: devices.Device,
        facets: npt.NDArray[np.int64],
        classes: range,
        center: Array | None = None,
        radius: float = np.inf,
    ) -> Any:
        """Rocks of some classes on facets, in the order of their tree, as rows of a table."""
        kernel, Collect = _gather_kernel(self.Scene, self.settle)
        collect = Collect()
        collect.mesh, collect.rocks, collect.scene = scene.mesh, scene.rocks, scene
        collect.found = wp.empty(0, dtype=Rock, device=device.name)
        where = wp.array(facets.astype(np.int32), dtype=int, device=device.name)
        start = wp.zeros(len(facets), dtype=int, device=device.name)
        count = wp.zeros(len(facets), dtype=int, device=device.name)
        middle = vec3(*(np.zeros(3) if center is None else center))
        given = [where, middle, scalar(radius), classes.start, classes.stop]

        def launch() -> None:
            if len(facets):
                devices.launch(kernel, len(facets), [collect, *given, start, count], device)

        launch()
        number = count.numpy().astype(np.int64)
        total = int(number.sum())
        if total == 0:
            return collect.found.numpy()
        if total > np.iinfo(np.int32).max:
            raise InputError(f"{total} rocks are too many for one table: ask for a smaller place")
        start = wp.array((np.cumsum(number) - number).astype(np.int32), device=device.name)
        collect.found = wp.empty(total, dtype=Rock, device=device.name)
        launch()
        return collect.found.numpy()

    def __repr__(self) -> str:
        return f"RockField({self.rocks!r}, {self.mesh!r})"


def tree_over(vertices: Array, up: Array) -> bvh.Built:
    """A tree over rocks with vertices (n, 12, 3) [m]; discs lie along the mean of ``up`` (n, 3)."""
    count = len(vertices)
    leaves = 1 << max(0, -(-count // bvh.LEAF) - 1).bit_length()
    order = median_order(vertices.mean(axis=1), leaves)
    flat = vertices.reshape(-1, 3)
    origin = 0.5 * (flat.min(axis=0) + flat.max(axis=0))
    points, up = vertices[order] - origin, up[order]
    node = np.zeros((2 * leaves, 12), np.float32)
    starts = leaf_starts(count, leaves)[:-1]
    width = 1
    while width <= leaves:
        first = leaves // width
        node[first : 2 * first] = _level(points, up, starts[::width])
        width *= 2
    return bvh.Built(order, leaves, origin, node)


def _level(points: Array, up: Array, starts: Any) -> Array:
    """(k, 12) nodes of one level, each over the rocks from its start to the next."""
    low = np.minimum.reduceat(points.min(axis=1), starts)
    high = np.maximum.reduceat(points.max(axis=1), starts)
    # By so much rounding may move anything here.
    slack = bvh.SLACK * (np.linalg.norm(low, axis=1) + np.linalg.norm(high, axis=1))[:, None]
    low, high = (low - slack).astype(np.float32), (high + slack).astype(np.float32)
    axis = np.add.reduceat(up, starts)
    length = np.linalg.norm(axis, axis=1, keepdims=True)
    axis = np.where(length > 0.0, axis / np.maximum(length, 1e-300), [0.0, 0.0, 1.0])
    axis = axis.astype(np.float32).astype(np.float64)
    which = np.repeat(np.arange(len(starts)), np.diff([*starts, len(points)]))
    way = points - (0.5 * (low.astype(np.float64) + high))[which][:, None]
    height = np.einsum("nki,ni->nk", way, axis[which])
    # The axis is of unit length to single precision only.
    mend = (2.0 - np.sum(axis * axis, axis=1))[which]
    aside = np.sum(way * way, axis=2) - height**2 * mend[:, None]
    bottom = np.minimum.reduceat(height.min(axis=1), starts)
    top = np.maximum.reduceat(height.max(axis=1), starts)
    radius = np.sqrt(np.maximum(np.maximum.reduceat(aside.max(axis=1), starts), 0.0))
    ends = np.column_stack([bottom, top, radius]) + slack * [-1.0, 1.0, 1.0]
    return np.column_stack([low, high, axis, ends])


@functools.cache
def _gather_kernel(RockScene: Any, settle: Any) -> tuple[Any, Any]:
    """A kernel that counts the rocks of a facet, or writes them down once there is room."""

    @wp.struct
    class Gathering:
        extent: Extent
        limit2: scalar
        at: int

    @wp.struct
    class Collect:
        mesh: Triangles
        rocks: RocksData
        scene: RockScene
        found: wp.array(dtype=Rock)

    @wp.func
    def settle_in(collect: Collect, place: vec3, normal: vec3):
        return settle(collect.scene, place, normal)

    @wp.func
    def write_down(collect: Collect, given: Gathering, rock: Rock):
        now = given
        if collect.found.shape[0] > 0:
            collect.found[given.at] = rock
        now.at += 1
        return now

    on_facet = facet_rocks(Collect, Gathering, settle_in, write_down)

    @wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
    def gather(
        offset: int,
        collect: Collect,
        facets: wp.array(dtype=int),
        center: vec3,
        radius: scalar,
        first: int,
        last: int,
        start: wp.array(dtype=int),
        count_out: wp.array(dtype=int),
    ) -> None:
        i = wp.tid() + offset
        given = Gathering()
        given.extent.center = center
        given.limit2 = radius * radius
        given.at = start[i]
        given = on_facet(collect, given, facets[i], first, last)
        count_out[i] = given.at - start[i]

    return gather, Collect
