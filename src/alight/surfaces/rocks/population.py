"""Rocks: strewn over a body by a law of sizes, from the seed alone (paper 000, section 4.2)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import warp as wp

from alight.core import devices, random
from alight.core.checks import Array, checked_number
from alight.core.errors import InputError
from alight.core.random import vec2u
from alight.core.types import vec3
from alight.shapes.mesh import Mesh
from alight.surfaces.noise.amplitude_map import AmplitudeMap
from alight.surfaces.rocks.kernel import (
    WIDTH,
    FacetCells,
    RocksData,
    RockShape,
    SizeClass,
    SizeCurve,
)
from alight.surfaces.rocks.shapes import buried_share, icosahedron, templates
from alight.surfaces.rocks.size_law import BENT, MOST_ROUGH, Counted, SizeLaw, counted

#: Exponents of sizes that rocks can be told apart by: 2^-100 to 2^100 m.
_EXPONENTS = 100


class Rocks:
    """Rocks on the facets of a body: how many, how large, of what shape.

    The same seed gives the same rock on the same facet of a mesh, whatever is asked for first or on
    which device. A smaller ``smallest`` size adds rocks and leaves those there are as they are;
    with another density they stay in their places and are larger or smaller.

    Parameters
    ----------
    slope:
        Of the cumulative count: rocks of at least the size D number as D^-slope.
    density, reference:
        Rocks of at least the size ``reference`` [m], and at most ``largest``, on a square metre.
    smallest, largest:
        Sizes [m]. The size of a rock is its long axis.
    cover:
        The most ground that rocks may cover. Below some size the law then bends to a slope of 1.
        Without it, a law that covers more than all the ground is an error.
    seed:
        Whole number.
    burial:
        Part of its height by which a rock is sunk: a number, or two between which it is drawn;
        0 rests on the ground, 0.5 is sunk by half.
    shape:
        Ratios of the three axes; the third stands upright. Counted blocks are near 2 : sqrt 2 : 1.
    variety:
        Share by which the second and third axis vary from rock to rock, either way.
    roughness:
        Share by which vertices lie farther out or in, either way, up to sqrt 5 - 2 = 0.236, where
        rocks cease to be convex.
    density_map:
        An ``AmplitudeMap`` by whose factor the density varies over the body, or None.
    """

    def __init__(
        self,
        *,
        slope: float,
        density: float,
        reference: float,
        smallest: float,
        largest: float,
        cover: float | None = None,
        seed: int = 0,
        burial: float | tuple[float, float] = (0.15, 0.5),
        shape: tuple[float, float, float] = (2.0, math.sqrt(2.0), 1.0),
        variety: float = 0.15,
        roughness: float = 0.2,
        density_map: AmplitudeMap | None = None,
    ) -> None:
        self.burial = _checked_burial(burial)
        self.shape = _checked_shape(shape)
        self.variety = _checked_share("variety", variety, 0.5)
        self.roughness = _checked_share("roughness", roughness, MOST_ROUGH)
        if density_map is not None and not isinstance(density_map, AmplitudeMap):
            raise InputError(f"density_map is {density_map!r}; it must be an AmplitudeMap or None")
        self.density_map, self.seed = density_map, seed
        self._key = random.key_of(seed, "rocks")
        share = self.shape[1] / self.shape[0] * buried_share(*self.burial)
        #: The law of sizes.
        self.law = SizeLaw(slope, density, reference, smallest, largest, cover, share)
        self._check_map()
        low = math.frexp(self.law.smallest)[1] - 1
        high = math.frexp(self.law.largest)[1]
        if low < -_EXPONENTS or high > _EXPONENTS:
            raise InputError(f"sizes from {smallest!r} to {largest!r} m are no sizes of rocks")
        #: Classes of size: from 2^e to 2^(e + 1) m for each of these e.
        self.octaves = range(low, high)

    @classmethod
    def counted_on(cls, body: str, *, smallest: float, **options: Any) -> Rocks:
        """Rocks by the boulder count of a body: itokawa, ryugu or bennu.

        ``options`` are those of the class; its slope, density, reference and largest size stand
        in where they are not given.
        """
        found: Counted = counted(body)
        known = {k: getattr(found, k) for k in ("slope", "density", "reference", "largest")}
        return cls(**{**known, "smallest": smallest, **options})

    def _check_map(self) -> None:
        if self.density_map is not None and self.law.cover * self.most > 1.0:
            raise InputError(
                f"where the density map is {self.most:g}, rocks would cover "
                f"{self.law.cover * self.most:.3g} times the ground, more than all of it: scale "
                f"the map down, or give a cover of at most {1.0 / self.most:.3g}"
            )

    # -- figures ------------------------------------------------------------------------------

    @property
    def cover(self) -> float:
        """Share of the ground under rocks, where no map varies it; overlaps count twice."""
        return self.law.cover

    @property
    def most(self) -> float:
        """Largest factor of the density map; 1 without one."""
        return 1.0 if self.density_map is None else self.density_map.largest

    def number(self, size: float) -> float:
        """Rocks of at least ``size`` [m] on a square metre [1/m^2], where no map varies it."""
        return self.law.number(size)

    @property
    def spread(self) -> tuple[float, float]:
        """The farthest that a rock reaches along the ground, and up or down, over its size."""
        half = np.array(self.shape) / (2.0 * self.shape[0])
        half[1:] *= 1.0 + self.variety
        longest = float(np.linalg.norm(templates(self.roughness)[0, 0])) * (1.0 + self.roughness)
        part = max(self.burial[1], 1.0 - self.burial[0])
        return longest * float(max(half[0], half[1])), longest * float(2.0 * half[2] * part)

    @property
    def reach(self) -> float:
        """The farthest that a rock reaches from its place on the ground, over its size."""
        return math.hypot(*self.spread)

    def rates(self) -> Array:
        """(classes,) rocks on a square metre of each class, where no map varies them [1/m^2]."""
        edge = 2.0 ** np.arange(self.octaves.start, self.octaves.stop + 1)
        number = np.array([self.law.number(size) for size in edge])
        return np.asarray(number[:-1] - number[1:])

    # -- for kernels --------------------------------------------------------------------------

    def data(self, mesh: Mesh, order: Any, made: int, shift: float, device: devices.Device) -> Any:
        """The law and how facets are cut, on a device.

        ``order`` is that of the facets in their tree. The ``made`` smallest classes are made when
        they are asked for. Rocks stand up to ``shift`` [m] above or below their facets.
        """

        def put(array: Any, kind: Any) -> wp.array:
            return wp.array(np.ascontiguousarray(array), dtype=kind, device=device.name)

        data = RocksData()
        data.made, data.first = made, self.octaves[0]
        data.octave, data.curve = put(self._classes(shift), SizeClass), self._curve()
        data.shape = self._made_from(shift, put)
        data.face = put(icosahedron()[1], wp.vec3i)
        data.varies, data.most = int(self.density_map is not None), self.most
        if self.density_map is not None:
            data.variation = self.density_map.data(device)
        data.facet = put(facet_cells(mesh)[order], FacetCells)
        return data

    def _made_from(self, shift: float, put: Any) -> Any:
        """What rocks are made from."""
        shape = RockShape()
        shape.key = vec2u(*(int(k) for k in self._key))
        shape.sunk_low, shape.sunk_span = self.burial[0], self.burial[1] - self.burial[0]
        shape.axes = vec3(*(np.array(self.shape) / (2.0 * self.shape[0])))
        shape.vary, shape.rough, shape.shift = self.variety, self.roughness, shift
        shape.wide, shape.tall = self.spread
        shape.form = put(templates(self.roughness).reshape(-1, 3), vec3)
        return shape

    def _curve(self) -> Any:
        """The law turned around."""
        law, curve = self.law, SizeCurve()
        curve.power, curve.amount = -1.0 / law.slope, self.most * law.amount
        curve.least, curve.bend = law.largest**-law.slope, np.inf
        if law.bend > 0.0:
            curve.bend, curve.bent_power = self.most * law.number(law.bend), -1.0 / BENT
            curve.bent_amount, curve.bent_least = self.most * law.bent_amount, law.bend**-BENT
        return curve

    def _classes(self, shift: float) -> Any:
        """The rows of ``SizeClass``."""
        rows = empty_rows(SizeClass, len(self.octaves))
        size = 2.0 ** np.array(self.octaves, float)
        top = np.minimum(2.0 * size, self.law.largest)
        rows["size"], rows["rate"] = size, self.most * self.rates()
        rows["above"] = [self.most * self.law.number(2.0 * x) for x in size]
        wide, tall = self.spread
        rows["wide"], rows["tall"] = wide * top, tall * top + shift
        return rows

    def __repr__(self) -> str:
        law = self.law
        return (
            f"Rocks(slope={law.slope:g}, density={law.density:g}, reference={law.reference:g}, "
            f"smallest={law.smallest:g}, largest={law.largest:g}, seed={self.seed})"
        )


def empty_rows(kind: Any, count: int) -> Any:
    """Rows of a struct, all 0."""
    return np.zeros(count, kind.numpy_dtype())


def facet_cells(mesh: Mesh) -> Any:
    """How each facet is cut into cells, as rows of ``FacetCells``.

    Cells run along the two sides at the widest corner, where they are nearest to squares; their
    numbers are for the class of 1 to 2 m. Single precision, and made on the host only: no device
    may round a number of cells another way.
    """
    corner = mesh.vertices[mesh.faces]
    side = np.linalg.norm(np.roll(corner, -1, axis=1) - corner, axis=2)  # 01, 12, 20
    # The widest corner faces the longest side; of sides alike the first one counts.
    across = np.roll(side, -1, axis=1)
    start = np.argmax(across > across.max(axis=1, keepdims=True) * (1.0 - 1e-6), axis=1)
    facet = np.arange(len(start))
    ab, ac = side[facet, start], side[facet, (start + 2) % 3]
    rows = empty_rows(FacetCells, len(start))
    rows["number"], rows["start"] = facet, start
    height = 2.0 * mesh.face_areas[:, None] / np.column_stack([ac, ab])
    rows["across"] = height / (2.0 * WIDTH)
    return rows


# -- checks of what is given ------------------------------------------------------------------


def _checked_share(name: str, value: float, most: float) -> float:
    share = checked_number(name, value, above=False)
    if share > most:
        raise InputError(f"{name} is {value!r}; it must be from 0 to {most:.3g}")
    return share


def _checked_burial(burial: Any) -> tuple[float, float]:
    try:
        pair = np.asarray(burial, dtype=np.float64)
    except (TypeError, ValueError):
        pair = np.empty(0)
    if pair.shape == ():
        pair = np.array([pair, pair])
    if pair.shape != (2,) or not (0.0 <= pair[0] <= pair[1] <= 0.95):
        raise InputError(
            f"burial is {burial!r}; it must be a part of the height, or two between which it is "
            "drawn, from 0 (resting on the ground) to 0.95 (all but buried)"
        )
    return float(pair[0]), float(pair[1])


def _checked_shape(shape: Any) -> tuple[float, float, float]:
    try:
        axes = np.asarray(shape, dtype=np.float64)
    except (TypeError, ValueError):
        axes = np.empty(0)
    right = axes.shape == (3,) and np.isfinite(axes).all() and axes.min(initial=1.0) > 0.0
    if not right or not axes[0] >= axes[1] >= axes[2] or axes[0] > 20.0 * axes[2]:
        raise InputError(
            f"shape is {shape!r}; it must be three ratios of axes, longest first, the longest at "
            "most 20 times the shortest, such as (2, 1.41, 1)"
        )
    return float(axes[0]), float(axes[1]), float(axes[2])
