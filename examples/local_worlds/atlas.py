"""The atlas: a body's facets by latitude and longitude, in local worlds (paper 000, 4.1 and 4.3).

Two grids of +-45 degrees, one about z and one about x, cover the body with cells of similar size.
The facets seen from the centre in a cell make up its local world, which has a bounding sphere. A
lander needs to be held against the local world under it alone, and against that only where its own
bounding sphere meets the world's.

Cells that hold just what falls into them miss what is nearer beyond their edge. Here their lists
overlap, and every answer knows how far it holds (``kernel``).
"""

import functools
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import warp as wp
from examples.local_worlds import build
from examples.local_worlds.kernel import (
    AtlasData,
    atlas_place,
    atlas_range,
    nearest_in_world,
    nearest_kernel,
)

from alight.core import devices
from alight.core.checks import (
    Array,
    checked_number,
    checked_points,
    checked_vector,
    checked_whole,
)
from alight.core.errors import InputError, unknown_name
from alight.core.types import scalar, vec3
from alight.shapes.mesh import Mesh
from alight.surfaces.facets.surface import Facets

Whole = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: What to do about points whose local world cannot answer for the mesh.
OTHERWISE = ("error", "facets")


@dataclass(frozen=True)
class LocalWorld:
    """A cell of the atlas with all facets that reach into it or its margin."""

    cell: int
    """Its number."""
    chart: str
    """"Z" or "X": the axis that its latitudes are about."""
    latitude: tuple[float, float]
    """From south to north, in its chart [rad], without the margin."""
    longitude: tuple[float, float]
    """From west to east, in its chart [rad]: from x towards y about z, from y towards z about x."""
    facets: Whole
    """(n,) facets of the mesh."""
    center: Array
    """(3,) of its bounding sphere [m]."""
    radius: float
    """Of its bounding sphere [m]; -inf where there are no facets."""


class Near(NamedTuple):
    """What ``Atlas.nearest`` returns."""

    distance: Array
    """(...) to the mesh [m], negative inside."""
    normal: Array
    """(..., 3) unit, pointing out."""
    facet: Whole
    """(...) nearest facet of the mesh; -1 where all facets were asked instead."""
    valid: Array
    """(...) how far the local world answers for the mesh [m]."""
    in_world: Mask
    """(...) True where the local world's answer is the mesh's."""


class Atlas:
    """Local worlds of a closed ``mesh`` in cells of latitude and longitude about the origin.

    ``cells`` is the number of rows from 45 degrees south to 45 north in either chart, each with
    four times as many columns: 8 cells^2 in all. Lists reach beyond their cells by ``overlap``, a
    share of a row's height; at 0 they are those of the paper. The body may have any shape: a facet
    is listed wherever it is seen from the origin, in front of others or behind them.
    """

    Data = AtlasData
    #: Warp functions: ``(data, x) -> Place``, the cell at x and how far its list answers;
    #: ``(data, cell) -> vec2i``, its range in ``data.facet``; ``(data, cell, x) -> int``.
    place = atlas_place
    range = atlas_range
    nearest_facet = nearest_in_world

    def __init__(self, mesh: Mesh, cells: int = 16, overlap: float = 0.25) -> None:
        if not isinstance(mesh, Mesh):
            raise InputError(f"mesh is {type(mesh).__name__}; an atlas is that of a Mesh")
        mesh.health.require("the mesh of an atlas")
        self.mesh = mesh
        self.cells = checked_whole("cells", cells, 1)
        self.overlap = checked_number("overlap", overlap, 0.0, above=False)
        self.margin = self.overlap * self.side
        if self.margin > 0.25 * math.pi:
            raise InputError(
                f"overlap is {overlap!r}; with cells={cells} lists would reach "
                f"{math.degrees(self.margin):.3g} degrees beyond their cells. At most 45 are "
                f"allowed, an overlap of {0.5 * cells:g}: beyond, a world is most of the body"
            )
        self.lists = build.build(mesh, self.cells, self.margin)
        self._devices: dict[str, Any] = {}

    @property
    def side(self) -> float:
        """Height of a row, and width of a column [rad]."""
        return 0.5 * math.pi / self.cells

    @property
    def count(self) -> int:
        """Number of cells in both charts."""
        return 8 * self.cells**2

    @property
    def nbytes(self) -> int:
        """Size on a device [bytes]: lists and spheres, and what is kept of facets and vertices."""
        per_facet, per_vertex, per_cell = 12 + 24 + 12 + 2, 24 + 24, 4 + 24 + 8
        own = 4 * (len(self.lists.facet) + 1) + per_cell * self.count
        return own + per_facet * self.mesh.n_faces + per_vertex * self.mesh.n_vertices

    # -- local worlds ---------------------------------------------------------------------------

    def world(self, point: npt.ArrayLike) -> LocalWorld:
        """The local world that is active at ``point`` (3,) [m]."""
        x = checked_vector("point", point)
        return self.world_of(int(self.cell(x)))

    def world_of(self, cell: int) -> LocalWorld:
        """The local world of a cell, 0 ... count - 1."""
        number = checked_whole("cell", cell, 0)
        if number >= self.count:
            raise InputError(f"cell is {cell}; this atlas has cells 0 to {self.count - 1}")
        lists, turn = self.lists, math.pi
        row, column = divmod(number, 4 * self.cells)
        chart, row = divmod(row, self.cells)
        south, west = row * self.side - 0.25 * turn, column * self.side - turn
        return LocalWorld(
            cell=number,
            chart="ZX"[chart],
            latitude=(south, south + self.side),
            longitude=(west, west + self.side),
            facets=lists.order[lists.facet[lists.start[number] : lists.start[number + 1]]],
            center=np.array(lists.center[number]),
            radius=float(lists.radius[number]),
        )

    def cell(self, points: npt.ArrayLike) -> npt.NDArray[np.int32]:
        """(...) the cells of points (..., 3) [m]."""
        return self._placed(_checked(points))[0]

    def valid(self, points: npt.ArrayLike) -> Array:
        """(...) how far from points (..., 3) their local worlds hold every facet [m].

        At radius r it is at least r sin(margin).
        """
        return self._placed(_checked(points))[1]

    def reaches(self, points: npt.ArrayLike, radius: float) -> Mask:
        """(...) where a ball of ``radius`` [m] meets the bounding sphere of its local world.

        Where it does not, nothing inside the ball can touch the mesh (paper 000, 4.3). A ball that
        is larger than its local world can answer for is an error.
        """
        x = _checked(points)
        size = checked_number("radius", radius, 0.0, above=False)
        cell, valid = self._placed(x)
        short = valid < size
        if short.any():
            worst = float(valid.min())
            raise InputError(
                f"a ball of radius {size:g} m reaches beyond the local worlds of "
                f"{int(short.sum())} of {short.size} points, which hold every facet to "
                f"{worst:.3g} m only where they are smallest: it may touch what they do not hold. "
                "Take fewer cells or more overlap"
            )
        apart = np.linalg.norm(x - self.lists.center[cell], axis=-1)
        return np.asarray(apart <= self.lists.radius[cell] + size)

    # -- distances ------------------------------------------------------------------------------

    def nearest(
        self,
        points: npt.ArrayLike,
        device: str = "auto",
        threads: int | None = None,
        otherwise: str = "error",
    ) -> Near:
        """Distance, normal and nearest facet at points (..., 3) [m] near the surface.

        Exact where it is no longer than ``valid`` (see there). Elsewhere a nearer facet may be in
        another world: an error, or with ``otherwise="facets"`` a warning, and the answer of all
        facets for those points.
        """
        if otherwise not in OTHERWISE:
            raise unknown_name("otherwise", otherwise, OTHERWISE)
        x = _checked(points)
        flat, target = x.reshape(-1, 3), devices.resolve(device)
        launch, out = self.prepared(flat, target, threads)
        launch()
        distance, normal, face, valid = (np.array(a.numpy()) for a in out)
        sure = np.abs(distance) <= valid
        facet = np.where(sure, self.lists.order[face], -1)
        if not sure.all():
            told = _untold(flat, distance, valid, sure)
            if otherwise == "error":
                raise InputError(
                    f"{told}. Ask closer to the ground, take fewer cells or more overlap, or "
                    'otherwise="facets" to ask all facets instead'
                )
            warnings.warn(f"{told}: all facets were asked instead", stacklevel=2)
            distance[~sure], normal[~sure] = self._all.query(flat[~sure], target.name, threads)
        shape = x.shape[:-1]
        return Near(
            distance.reshape(shape),
            normal.reshape(x.shape),
            facet.reshape(shape),
            valid.reshape(shape),
            sure.reshape(shape),
        )

    def prepared(
        self, points: Array, device: devices.Device, threads: int | None = None
    ) -> tuple[Callable[[], None], tuple[wp.array, wp.array, wp.array, wp.array]]:
        """A call that fills arrays on the device, and the arrays.

        Of each point (n, 3) the distance within its local world, infinite where that is empty, the
        normal, the facet in the atlas's order, and how far the world answers [m].
        """
        n = len(points)
        x = wp.array(np.ascontiguousarray(points), dtype=vec3, device=device.name)
        out = (
            wp.zeros(n, dtype=scalar, device=device.name),
            wp.zeros(n, dtype=vec3, device=device.name),
            wp.zeros(n, dtype=int, device=device.name),
            wp.zeros(n, dtype=scalar, device=device.name),
        )
        inputs = [self.data(device), x, *out]

        def launch() -> None:
            if n:
                devices.launch(nearest_kernel, n, inputs, device, threads, min_items=16)

        return launch, out

    def data(self, device: devices.Device) -> Any:
        """The atlas on a device, kept there for the next call."""
        if device.name not in self._devices:
            self._devices[device.name] = build.atlas_data(
                self.mesh, self.lists, self.cells, self.margin, device
            )
        return self._devices[device.name]

    @functools.cached_property
    def _all(self) -> Facets:
        """All facets under a tree, built when points are first too far from the ground."""
        return Facets(self.mesh)

    def _placed(self, x: Array) -> tuple[npt.NDArray[np.int32], Array]:
        """Cells of checked points (..., 3), and how far their lists answer [m]."""
        found, valid = build.placed(x.reshape(-1, 3), self.cells, self.margin)
        return found.reshape(x.shape[:-1]), valid.reshape(x.shape[:-1])

    def __repr__(self) -> str:
        return f"Atlas({self.mesh!r}, cells={self.cells}, overlap={self.overlap:g})"


def _checked(points: npt.ArrayLike) -> Array:
    """Points (..., 3), none of them the origin."""
    x = checked_points(points, "an atlas")
    zero = ~x.any(axis=-1)
    if zero.any():
        first = tuple(int(i) for i in np.argwhere(zero)[0])
        at = f" (first at index {first})" if first else ""
        raise InputError(
            f"{int(zero.sum())} of {zero.size} points are at the origin{at}, the centre of the "
            "atlas, which has no latitude and longitude and so no local world. Ask elsewhere, or "
            "use surfaces.Facets, which has no centre"
        )
    return x


def _untold(x: Array, distance: Array, valid: Array, sure: Mask) -> str:
    """Which points their local worlds cannot answer for, in words."""
    k = int(np.argmin(sure))
    found = f"found facets {abs(distance[k]):.4g} m away" if distance[k] < np.inf else "is empty"
    return (
        f"{int((~sure).sum())} of {sure.size} points are too far from the ground for their local "
        f"worlds; the first is {x[k]} m, whose world {found} and holds every facet to "
        f"{valid[k]:.4g} m only: a nearer one may be in another world"
    )
