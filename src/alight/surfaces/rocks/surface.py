"""Rocky: a surface with rocks on it."""

import functools
from typing import Any

import warp as wp

from alight.core import devices
from alight.core.errors import InputError
from alight.core.types import scalar, vec3
from alight.shapes.mesh import Mesh
from alight.surfaces.facets.bvh import Extent
from alight.surfaces.facets.surface import Facets
from alight.surfaces.law import Bounds, Surface, SurfacePoint
from alight.surfaces.rocks.field import RockField
from alight.surfaces.rocks.kernel import Rock, rock_point
from alight.surfaces.rocks.population import Rocks
from alight.surfaces.rocks.search import rocks_walk

#: Within this many reaches of a class the distance to its rocks is exact.
FAR = 2.0

#: Squared limit [m^2] of a point inside a rock: others that hold it are still looked at.
_INSIDE = wp.constant(scalar(1e-200))


@wp.struct
class RockQuery:
    """A point, and the nearest rock found so far."""

    extent: Extent
    limit2: scalar
    found: SurfacePoint


@wp.func
def no_spread(query: RockQuery, axis: vec3):
    """A point does not reach anywhere."""
    return scalar(0.0)


@functools.cache
def _rocky_law(base_point: Any, base_data: Any, Scene: Any, settle: Any) -> tuple[Any, Any]:
    """Data and kernel function of rocks on one kind of surface."""

    @wp.struct
    class RockyData:
        base: base_data
        scene: Scene
        slope: scalar  # of the base
        off: scalar  # how far places of rocks may lie above it [m]
        kept_reach: scalar  # how far rocks reach from their places [m]; 0 where there are none
        made_reach: scalar

    @wp.func
    def visit(scene: Scene, query: RockQuery, rock: Rock):
        """The rock, if it is nearer than those before."""
        now = query
        at = rock_point(scene.rocks.face, rock, query.extent.center, query.found.distance)
        if at.distance < query.found.distance:
            now.found = at
            near = wp.max(at.distance, scalar(0.0))
            now.limit2 = wp.max(near * near, _INSIDE)
        return now

    over_kept, over_made = rocks_walk(Scene, RockQuery, no_spread, settle, visit)

    @wp.func
    def query_at(x: vec3, found: SurfacePoint, reach: scalar):
        """Nothing beyond ``found``, nor beyond what is exact, matters."""
        query = RockQuery()
        query.extent.center = x
        query.extent.lower = x
        query.extent.upper = x
        query.found = found
        query.found.distance = wp.min(found.distance, wp.static(scalar(FAR)) * reach)
        near = wp.max(query.found.distance, scalar(0.0))
        query.limit2 = wp.max(near * near, _INSIDE)
        return query

    @wp.func
    def point(data: RockyData, x: vec3):
        """The least of base and rocks; far off, a bound that no rock can be nearer than."""
        found = base_point(data.base, x)
        way = (found.distance - data.off) / data.slope
        # No rock is nearer than ``way`` less its reach, which is all that is said from far off.
        # Closer in that is no more than what is exact: the two meet without a jump.
        far = wp.static(scalar(FAR + 1.0))
        zero = scalar(0.0)
        if data.kept_reach > zero and way < far * data.kept_reach:
            near = over_kept(data.scene, query_at(x, found, data.kept_reach)).found
            if near.distance < found.distance:
                found = near
        elif data.kept_reach > zero:
            found.distance = wp.min(found.distance, way - data.kept_reach)
        if data.made_reach > zero and way < far * data.made_reach:
            near = over_made(data.scene, query_at(x, found, data.made_reach)).found
            if near.distance < found.distance:
                found = near
        elif data.made_reach > zero:
            found.distance = wp.min(found.distance, way - data.made_reach)
        return found

    return RockyData, point


class Rocky(Surface):
    """``base`` with ``rocks`` on it: the least of its distance and theirs.

    Rocks belong to the facets of ``mesh``, that of the body; the base may be the ``Facets``
    themselves, a distance field made from them, or hills on one. Near rocks the distance is a true
    one. Farther off, from twice their reach on, what it says of them is a lower bound.

    ``kept`` is how many rocks may be kept in memory, the largest first; the others are made when
    they are asked for. It changes the time a query takes, not what it finds.
    """

    def __init__(
        self, base: Surface, mesh: Mesh | Facets, rocks: Rocks, kept: int | None = None
    ) -> None:
        if not isinstance(base, Surface):
            raise InputError(f"base is {base!r}; rocks need a Surface to lie on")
        body = mesh.mesh if isinstance(mesh, Facets) else mesh
        self.base, self.rocks = base, rocks
        # On the facets themselves rocks stay where they are.
        same = isinstance(base, Facets) and base.mesh == body
        self.field = RockField(rocks, body, None if same else base, kept)
        self.Data, self.point = _rocky_law(
            base.point, base.Data, self.field.Scene, self.field.settle
        )

    def bounds_to(self, depth: float) -> Bounds:
        """The slope is that of the base, or of rocks, 1; edges of rocks bend without bound."""
        return Bounds(slope=max(1.0, self.base.bounds_to(depth).slope), curvature=float("inf"))

    def data(self, device: devices.Device) -> Any:
        """Data of base and rocks."""
        data = self.Data()
        data.base, data.scene = self.base.data(device), self.field.scene(device)
        data.slope = max(1.0, self.base.bounds.slope)
        data.off = self.field.shift
        data.kept_reach, data.made_reach = self.field.reaches
        return data

    def __repr__(self) -> str:
        return f"Rocky({self.base!r}, {self.rocks!r})"
