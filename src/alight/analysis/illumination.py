"""Light at the rest site: horizon, day fraction and longest night.

The Sun, a point, shines on a place when it stands above the ground there, taken as the plane of
the smooth normal, and nothing of the body is in the way, which rays against the mesh tell. The
plane matters because a mesh is coarse where a lander stands: its facets alone would let the Sun
shine through a hill's flank, or keep a level place in the shadow of a single edge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alight.analysis.columns import Array, Bools
from alight.analysis.facets import FacetFinder
from alight.analysis.shadows import Shadows
from alight.core import frames
from alight.core.checks import checked_number, checked_points
from alight.core.errors import InputError
from alight.core.stages import stage
from alight.shapes.mesh import Mesh
from alight.shapes.rays import first_hit

#: Bisections of sunrise and sunset between two samples.
HALVINGS = 10

#: Edges times azimuths that are worked on at once, and rays.
_BLOCK, _RAYS = 2_000_000, 1_000_000


def ground_normals(mesh: Mesh, places: npt.ArrayLike) -> Array:
    """(n, 3) smooth outward normals at places [m]: vertex normals, interpolated over the facet."""
    return FacetFinder(mesh).normals(np.atleast_2d(checked_points(places, "a normal")))[1]


def eyes(mesh: Mesh, places: npt.ArrayLike, height: float = 0.1) -> Array:
    """(n, 3) points ``height`` [m] above the ground at ``places``, along the smooth normal.

    A rest site lies a little above the mesh or, where the ground is finer, below it. The
    nearer of the two facets that it sees along its normal is taken for the ground. Where the
    facet's corners stand above the plane of the smooth normal there, the eye is lifted by as much:
    it stands on the smooth ground, and does not look into a facet that a finer mesh would not have.
    """
    x = np.atleast_2d(checked_points(places, "a view"))
    facet, up = FacetFinder(mesh).normals(x)
    return _eyes(mesh, Shadows(mesh), x, facet, up, height)


def _eyes(
    mesh: Mesh,
    shadows: Shadows,
    x: Array,
    facet: npt.NDArray[np.int64],
    up: Array,
    height: float,
) -> Array:
    checked_number("height [m]", height)
    above, below = shadows.first_hit(x, up), shadows.first_hit(x, -up)
    shift = np.where(above < below, above, -below)
    lost = np.flatnonzero(~np.isfinite(shift))
    if len(lost):
        raise InputError(
            f"{len(lost)} of {len(x)} places see no facet along their normal (first: "
            f"{x[lost[0]]} m); places must be on the body, in the axes of the mesh, in metres"
        )
    foot = x + shift[:, None] * up
    corner = mesh.vertices[mesh.faces[facet]] - foot[:, None]
    lift = np.maximum(np.einsum("nki,ni->nk", corner, up).max(axis=1), 0.0)
    return foot + (lift + height)[:, None] * up


# ---------------------------------------------------------------------------------------------
# Horizon
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Horizon:
    """The skyline of one place."""

    azimuth: Array
    """(n,) from north towards east [rad]."""
    elevation: Array
    """(n,) highest elevation that is hidden, by the body or by the ground's plane [rad]."""
    body: Array
    """(n,) that hidden by the mesh alone [rad]; -pi/2 where it is nowhere in the way."""


def horizon(
    mesh: Mesh,
    eye: npt.ArrayLike,
    up: npt.ArrayLike,
    normal: npt.ArrayLike | None = None,
    azimuths: int = 72,
) -> Horizon:
    """The skyline seen from ``eye`` [m]; elevations are against the plane across ``up``.

    In the half plane of an azimuth the highest point of a mesh is on an edge: all edges that cross
    the half plane are looked at, so that no spike slips between rays. ``normal`` is that of the
    ground (``up`` if None). Under an overhang the zenith is hidden, and the skyline is pi/2.
    """
    o = np.asarray(checked_points(eye, "a horizon")).reshape(3)
    R_TL = frames.local_frame(up)
    azimuth: Array = np.arange(azimuths, dtype=np.float64) * (2.0 * np.pi / azimuths)
    body = _skyline((mesh.vertices - o) @ R_TL, mesh.edges, azimuth)
    if np.isfinite(first_hit(mesh, o[None], R_TL[:, 2][None])[0]):
        body = np.full(azimuths, 0.5 * np.pi)
    tilted = R_TL[:, 2] if normal is None else np.asarray(normal, dtype=np.float64)
    ground = _plane_skyline(tilted @ R_TL, azimuth)
    return Horizon(azimuth, np.maximum(body, ground), body)


def _skyline(vertex: Array, edges: npt.NDArray[np.int32], azimuth: Array) -> Array:
    """Highest elevation at which each half plane crosses an edge; local axes."""
    out = np.empty(len(azimuth))
    block = max(1, _BLOCK // max(len(edges), 1))
    for begin in range(0, len(azimuth), block):
        part = azimuth[begin : begin + block]
        forward = np.stack([np.sin(part), np.cos(part)])
        aside = np.stack([np.cos(part), -np.sin(part)])
        s, f = vertex[:, :2] @ aside, vertex[:, :2] @ forward
        s0, s1 = s[edges[:, 0]], s[edges[:, 1]]
        e, k = np.nonzero((s0 <= 0.0) != (s1 <= 0.0))
        t = s0[e, k] / (s0[e, k] - s1[e, k])
        i, j = edges[e, 0], edges[e, 1]
        ahead = f[i, k] + t * (f[j, k] - f[i, k])
        high = vertex[i, 2] + t * (vertex[j, 2] - vertex[i, 2])
        angle = np.where(ahead > 0.0, np.arctan2(high, ahead), -0.5 * np.pi)
        found = np.full(len(part), -0.5 * np.pi)
        np.maximum.at(found, k, angle)
        out[begin : begin + block] = found
    return out


def _plane_skyline(normal: Array, azimuth: Array) -> Array:
    """Elevation at which a plane through the eye ends, its normal in local axes."""
    toward = normal[0] * np.sin(azimuth) + normal[1] * np.cos(azimuth)
    return np.arctan2(-toward, normal[2])


# ---------------------------------------------------------------------------------------------
# Day and night
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Illumination:
    """Light at n places over one turn of the body."""

    day_fraction: Array
    """(n,) part of the turn with the Sun in sight."""
    longest_night: Array
    """(n,) longest time without it [s]; inf where it does not rise in the whole turn."""
    longest_day: Array
    """(n,) longest time with it [s]; inf where it does not set."""
    mean_cosine: Array
    """(n,) mean over the turn of the cosine of incidence on the ground, 0 in the dark."""
    lit: Bools
    """(n, samples) whether it was in sight at each sample."""


def illumination(
    mesh: Mesh | LitGround,
    places: npt.ArrayLike,
    sun_T: npt.ArrayLike,
    period: float,
    normals: npt.ArrayLike | None = None,
    height: float = 0.1,
    halvings: int = HALVINGS,
) -> Illumination:
    """Day fraction and longest night at ``places`` (n, 3) [m].

    Args:
        mesh: The body, in the axes of the places; a ``LitGround`` of it where it is asked often.
        places: Rest sites, target axes [m].
        sun_T: (samples, 3) directions to the Sun in target axes, evenly over one turn: see
            ``sun_over_rotation``. A tumbling body's may come from its attitudes over any time.
        period: Time that they span [s].
        normals: (n, 3) of the ground, such as the distance field's; of the mesh, smooth, if None.
        height: Of the eye above the mesh [m].
        halvings: Bisections of sunrise and sunset: 10 know them to a thousandth of a sample.
    """
    x = np.atleast_2d(checked_points(places, "light"))
    sun = np.atleast_2d(checked_points(sun_T, "light"))
    checked_number("period [s]", period)
    up = None if normals is None else np.atleast_2d(checked_points(normals))
    ground = mesh if isinstance(mesh, LitGround) else LitGround(mesh)
    n, block = len(x), max(1, _RAYS // len(sun))
    spans, cosine = np.empty((3, n)), np.empty(n)
    lit = np.empty((n, len(sun)), dtype=bool)
    with stage("Computing light", n) as now:
        for begin in range(0, n, block):
            part = slice(begin, begin + block)
            view = ground.view(x[part], None if up is None else up[part], height)
            lit[part] = view.over(sun)
            cosine[part] = np.where(lit[part], view.normal @ sun.T, 0.0).mean(axis=1)
            spans[:, part] = _spans(lit[part], *_changes(view, lit[part], sun, halvings))
            now.advance(len(x[part]))
    day, night, longest = spans / len(sun)
    return Illumination(day, night * period, longest * period, cosine, lit)


class LitGround:
    """What looking at one mesh from many places needs once."""

    def __init__(self, mesh: Mesh) -> None:
        self.mesh, self.shadows, self.finder = mesh, Shadows(mesh), FacetFinder(mesh)

    def view(self, places: Array, normals: Array | None, height: float) -> _View:
        """Eyes at places; normals are those of the mesh where none are given."""
        facet, up = self.finder.normals(places)
        eye = _eyes(self.mesh, self.shadows, places, facet, up, height)
        return _View(self.shadows, eye, up if normals is None else normals)


@dataclass(frozen=True)
class _View:
    shadows: Shadows
    eye: Array
    normal: Array

    def over(self, sun: Array) -> Bools:
        """(places, directions) whether each place sees the Sun along each direction."""
        out = self.normal @ sun.T > 0.0
        who, when = np.nonzero(out)
        out[who, when] = ~self.shadows.hidden(self.eye[who], sun[when])
        return np.asarray(out)

    def lit(self, who: npt.NDArray[np.int64], sun: Array) -> Bools:
        """Whether place ``who[i]`` sees the Sun along ``sun[i]``: above its plane, and no hit."""
        out = np.einsum("ri,ri->r", self.normal[who], sun) > 0.0
        cast = np.flatnonzero(out)
        out[cast] = ~self.shadows.hidden(self.eye[who[cast]], sun[cast])
        return np.asarray(out)


def _changes(
    view: _View, lit: Bools, sun: Array, halvings: int
) -> tuple[npt.NDArray[np.int64], Array]:
    """Places of sunrises and sunsets, and their times in samples, by bisection; in order."""
    who, when = np.nonzero(lit != np.roll(lit, -1, axis=1))
    before, after = sun[when], sun[(when + 1) % len(sun)]
    low, high = np.zeros(len(who)), np.ones(len(who))
    for _ in range(halvings if len(who) else 0):
        middle = 0.5 * (low + high)
        between = before + middle[:, None] * (after - before)
        same = view.lit(who, between) == lit[who, when]
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return who, when + 0.5 * (low + high)


def _spans(lit: Bools, who: npt.NDArray[np.int64], times: Array) -> Array:
    """(3, n) all days together, the longest night and the longest day of each place, in samples.

    ``times`` [samples] of the changes of place ``who`` ascend; light and dark take turns between
    them, and the last span continues over the start of the turn.
    """
    n, samples = lit.shape
    day, night, longest = np.zeros(n), np.zeros(n), np.zeros(n)
    still = np.bincount(who, minlength=n) == 0
    day[still & lit[:, 0]], longest[still & lit[:, 0]] = samples, np.inf
    night[still & ~lit[:, 0]] = np.inf
    if len(who):
        first = np.append(True, who[1:] != who[:-1])
        last = np.append(first[1:], True)
        begin = np.flatnonzero(first)[np.cumsum(first) - 1]
        after = np.where(last, times[begin] + samples, np.append(times[1:], 0.0))
        length = after - times
        # Sample 0 lies in the span before a place's first change: after it, light is the other way.
        number = np.arange(len(who)) - begin
        light = lit[who, 0] ^ (number % 2 == 0)
        day += np.bincount(who, np.where(light, length, 0.0), minlength=n)
        np.maximum.at(night, who[~light], length[~light])
        np.maximum.at(longest, who[light], length[light])
    return np.stack([day, night, longest])
