"""``Regions``: named parts of the ground with properties of their own."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.contact.compliant.restitution import checked_restitution
from alight.contact.ground_properties.local_law import PROPERTIES, unchanged
from alight.contact.ground_properties.property_map import Corner, GroundLaw, GroundMap, extremes
from alight.contact.ground_properties.region_shapes import (
    AnyShape,
    Ball,
    Box,
    Cap,
    Polygon,
    Shape,
    within,
)
from alight.core import devices
from alight.core.checks import Array, checked_number
from alight.core.errors import InputError
from alight.core.frames import wp_latitude_longitude
from alight.core.types import scalar, vec2, vec3, vec4
from alight.core.warp_setup import POINT_OPTIONS

Number = float | npt.ArrayLike


class Region:
    """A part of the ground: a shape, and for some properties a value or a factor.

    A value replaces what lies beneath, a factor multiplies it. Each is one number, or an array
    with one for each run. Where static friction is not given it goes with friction.

    Parameters
    ----------
    name:
        For messages.
    shape:
        ``Cap``, ``Ball``, ``Box`` or ``Polygon``.
    restitution, friction, static_friction, rolling_resistance:
        Values in the region; rolling resistance in [m].
    restitution_factor, friction_factor, static_friction_factor, rolling_resistance_factor:
        Factors in the region.
    """

    def __init__(self, name: str, shape: AnyShape, **numbers: Number | None) -> None:
        self.name, self.shape = str(name), shape
        if not isinstance(shape, Cap | Ball | Box | Polygon):
            raise InputError(
                f'the shape of the region "{name}" is {shape!r}; it must be a Cap, Ball, Box or '
                "Polygon."
            )
        known = [n + end for n in PROPERTIES for end in ("", "_factor")]
        given = {n: v for n, v in numbers.items() if v is not None}
        for unknown in given.keys() - set(known):
            raise InputError(
                f'the region "{name}" has no property {unknown!r}; known are {", ".join(known)}.'
            )
        if not given:
            listed = ", ".join(known)
            raise InputError(f'the region "{name}" changes nothing; give it one of {listed}.')
        for prop in PROPERTIES:
            if prop in given and f"{prop}_factor" in given:
                raise InputError(
                    f'the region "{name}" has both {prop} and {prop}_factor; give one of them.'
                )
        self.given = {n: self._checked(n, v) for n, v in given.items()}
        sizes = {len(v) for v in self.given.values() if len(v) > 1}
        if len(sizes) > 1:
            raise InputError(
                f'values of the region "{name}" are given for different numbers of runs: '
                f"{sorted(sizes)}."
            )
        self.count = sizes.pop() if sizes else 1

    def _checked(self, name: str, value: Any) -> Array:
        said = f'{name} of the region "{self.name}"'
        flat = np.atleast_1d(np.asarray(value))
        if flat.ndim != 1 or not flat.size:
            raise InputError(
                f"{said} has shape {np.shape(value)}; it must be a number, or one for each run."
            )
        if name == "restitution":
            return np.array([checked_restitution(v.item(), said) for v in flat])
        above = name == "restitution_factor"
        return np.array([checked_number(said, v.item(), above=above) for v in flat])

    @property
    def layer(self) -> tuple[Array, Array]:
        """Factors and values (count, 4)."""
        factor, value = np.ones((self.count, 4)), np.zeros((self.count, 4))
        for k, prop in enumerate(PROPERTIES):
            source = prop
            if prop == "static_friction" and not {prop, f"{prop}_factor"} & self.given.keys():
                source = "friction"
            if source in self.given:
                factor[:, k], value[:, k] = 0.0, self.given[source]
            elif f"{source}_factor" in self.given:
                factor[:, k] = self.given[f"{source}_factor"]
        return factor, value

    def __repr__(self) -> str:
        return f"Region({self.name!r}, {self.shape!r}, {', '.join(self.given)})"


@wp.struct
class NoMapData:
    """Nothing; a struct must have a field."""

    nothing: scalar


@wp.func
def no_map(data: NoMapData, row: int, x: vec3):
    """The contact law's own values."""
    return unchanged()


@functools.cache
def _regions_law(beneath_at: Any, beneath_data: Any) -> tuple[Any, Any]:
    """Data and kernel function of regions on top of another law."""

    @wp.struct
    class RegionsData:
        beneath: beneath_data
        shape: wp.array(dtype=Shape)
        corners: wp.array(dtype=vec2)
        factor: wp.array2d(dtype=vec4)  # (runs or 1, regions)
        value: wp.array2d(dtype=vec4)

    @wp.func
    def regions_at(data: RegionsData, row: int, x: vec3):
        """What the map beneath says, changed by each region that ``x`` lies in, in their order."""
        found = beneath_at(data.beneath, row, x)
        p = wp.normalize(x)
        place = wp_latitude_longitude(x)
        r = wp.min(row, data.factor.shape[0] - 1)
        for k in range(data.shape.shape[0]):
            if within(data.shape[k], data.corners, x, p, place):
                factor = data.factor[r, k]
                found.factor = wp.cw_mul(factor, found.factor)
                found.value = wp.cw_mul(factor, found.value) + data.value[r, k]
        return found

    return RegionsData, regions_at


@functools.cache
def _within_kernel() -> Any:
    """A kernel that tests one place a thread against all shapes."""

    @wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
    def test_within(
        offset: int,
        shape: wp.array(dtype=Shape),
        corners: wp.array(dtype=vec2),
        points: wp.array(dtype=vec3),
        within_out: wp.array2d(dtype=int),
    ) -> None:
        i = wp.tid() + offset
        x = points[i]
        for k in range(shape.shape[0]):
            within_out[i, k] = 0
            if within(shape[k], corners, x, wp.normalize(x), wp_latitude_longitude(x)):
                within_out[i, k] = 1

    return test_within


class Regions(GroundLaw):
    """Regions with properties of their own; the rest keeps the contact law's, or the map's.

    Parameters
    ----------
    regions:
        In order: where they overlap, the later lies on top.
    beneath:
        A ``GroundMap`` on which they lie.
    """

    def __init__(self, regions: Sequence[Region], beneath: GroundMap | None = None) -> None:
        self.regions = tuple(regions)
        if not self.regions or not all(isinstance(r, Region) for r in self.regions):
            raise InputError(f"regions are {regions!r}; give a list of at least one Region.")
        if beneath is not None and not isinstance(beneath, GroundMap):
            raise InputError(f"beneath the regions lies {beneath!r}; it must be a GroundMap.")
        names = [r.name for r in self.regions]
        if len(set(names)) < len(names):
            raise InputError(f"regions have equal names: {', '.join(names)}.")
        sizes = {r.count for r in self.regions} - {1}
        if len(sizes) > 1:
            raise InputError(
                f"values of regions are given for different numbers of runs: {sorted(sizes)}."
            )
        self.count = sizes.pop() if sizes else 1
        self.beneath = beneath
        given = {n.removesuffix("_factor") for r in self.regions for n in r.given}
        self.varies = tuple(
            n for n in PROPERTIES if n in given or (beneath is not None and n in beneath.varies)
        )
        law = (no_map, NoMapData) if beneath is None else (beneath.at, beneath.Data)
        self.Data, self.at = _regions_law(*law)
        layers = [r.layer for r in self.regions]
        shape = (self.count, 4)
        self.factor = np.stack([np.broadcast_to(f, shape) for f, _ in layers], axis=1)
        self.value = np.stack([np.broadcast_to(v, shape) for _, v in layers], axis=1)

    def _shapes(self, device: devices.Device) -> tuple[Any, Any]:
        corners = [r.shape.corners for r in self.regions]
        starts = np.cumsum([0, *(len(c) for c in corners)])
        kind: Any = Shape
        rows = np.array(
            [r.shape.row(int(n)) for r, n in zip(self.regions, starts, strict=False)],
            dtype=kind.numpy_dtype(),
        )
        flat = np.concatenate([*corners, np.zeros((1, 2))])
        name = device.name
        return wp.array(rows, dtype=Shape, device=name), wp.array(flat, dtype=vec2, device=name)

    def data(self, device: devices.Device) -> Any:
        """Shapes and layers on a device."""
        data = self.Data()
        beneath = self.beneath
        data.beneath = NoMapData() if beneath is None else beneath.data(device)
        data.shape, data.corners = self._shapes(device)
        data.factor = wp.array(self.factor, dtype=vec4, device=device.name)
        data.value = wp.array(self.value, dtype=vec4, device=device.name)
        return data

    def within(self, points: npt.ArrayLike, device: str = "cpu") -> npt.NDArray[np.bool_]:
        """(n, regions) whether points (n, 3) [m] lie in each region."""
        x = np.atleast_2d(np.asarray(points, dtype=np.float64))
        target = devices.resolve(device)
        shape, corners = self._shapes(target)
        out = wp.empty((len(x), len(self.regions)), dtype=int, device=target.name)
        inputs = [shape, corners, wp.array(x, dtype=vec3, device=target.name)]
        devices.launch(_within_kernel(), len(x), inputs, target, outputs=[out])
        return np.asarray(out.numpy() != 0)

    def corners(self) -> list[Corner]:
        """For each set of regions that some place lies in, the extremes of what is beneath."""
        points = np.concatenate([r.shape.looks() for r in self.regions])
        if self.beneath is not None:
            points = np.concatenate([points, self.beneath.nodes])
        beneath = np.ones((len(points), 4))
        if self.beneath is not None:
            beneath = self.beneath.evaluate(points, device="cpu").factor
        sets, which = np.unique(self.within(points), axis=0, return_inverse=True)
        found = []
        for number, inside in enumerate(sets):
            own = beneath[which.reshape(-1) == number]
            found += [self._laid(np.flatnonzero(inside), own[k]) for k in extremes(own)]
        return found

    def _laid(self, inside: Any, beneath: Array) -> Corner:
        """The layers of the regions ``inside`` on top of the factors ``beneath`` (4,)."""
        factor, value = beneath[None], np.zeros((1, 4))
        for k in inside:
            factor = self.factor[:, k] * factor
            value = self.factor[:, k] * value + self.value[:, k]
        names = " and ".join(f'"{self.regions[k].name}"' for k in inside)
        where = f"in the region {names}" if names else "outside all regions"
        return Corner(factor, value, where)

    def __repr__(self) -> str:
        names = ", ".join(r.name for r in self.regions)
        return f"Regions({names}{'' if self.beneath is None else f'; on {self.beneath!r}'})"
