"""``Playback``: runs as bodies that move, in one frame, with what stands around them.

All places are in the axes of the playback: those fixed in the target for landings, inertial ones
for captures and drops. Quaternions are xyzw and turn a part's own axes into those. A playback is
plain data, arrays and two functions of time: who draws or exports it needs no physics.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.core.checks import Array
from alight.core.errors import InputError
from alight.shapes.mesh import Mesh
from alight.views.playback.interpolation import between

Index = npt.NDArray[np.int64]
#: A function of times (n,) [s]: rows, such as directions (n, 3) or quaternions (n, 4).
OfTime = Callable[[Array], Array]
#: A function of times (n,) [s]: attitudes (n, P, 4) and rates (n, P, 3).
Turning = Callable[[Array], tuple[Array, Array]]

#: A square of ground: middle (3,) [m], axes as rows (3, 3) (east, north, up), half a side [m].
Square = tuple[Array, Array, float]

#: What parts may be; who draws them chooses colours by it.
ROLES = (
    *("lander", "leg", "pad", "asteroid", "bus", "array", "ring", "membrane"),
    *("rocks", "terrain"),
)


@dataclass(frozen=True, eq=False)
class Part:
    """A rigid piece, in its own axes."""

    name: str
    role: str
    """One of ``ROLES``."""
    vertices: Array
    """(V, 3) [m]"""
    faces: Index
    """(F, 3) counter-clockwise from outside."""
    colour: tuple[float, float, float] | None = None
    """sRGB from 0 to 1, where it has one of its own."""

    @classmethod
    def of_mesh(cls, name: str, role: str, mesh: Mesh) -> Part:
        """A mesh as a part."""
        return cls(name, role, mesh.vertices, np.asarray(mesh.faces, np.int64))

    @classmethod
    def of_corners(cls, name: str, role: str, corners: Array) -> Part:
        """Triangles (n, 3, 3), which share no vertices: they look flat."""
        points = np.asarray(corners, np.float64).reshape(-1, 3)
        return cls(name, role, points, np.arange(len(points)).reshape(-1, 3))

    @property
    def radius(self) -> float:
        """Of the ball about its origin that holds it [m]."""
        return float(np.linalg.norm(self.vertices, axis=1).max(initial=0.0))


@dataclass(frozen=True, eq=False)
class Surface:
    """A piece that bends: its vertices are those of a track, ``Track.surface``."""

    name: str
    role: str
    faces: Index
    """(F, 3), the same at all times."""
    note: str = ""
    """How well it follows what was simulated, for readers."""


@dataclass(frozen=True, eq=False)
class Contacts:
    """k contacts of a run, in order of time."""

    time: Array
    """(k,) when each began [s]."""
    place: Array
    """(k, 3) where [m]."""
    normal: Array
    """(k, 3) outward normal there."""
    speed: Array
    """(k,) towards the ground before it [m/s]."""
    force: Array
    """(k,) the largest [N]; NaN where the law of contact has none."""

    @classmethod
    def none(cls) -> Contacts:
        """No contact."""
        return cls(np.zeros(0), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0), np.zeros(0))

    def __len__(self) -> int:
        return len(self.time)


@dataclass(frozen=True, eq=False)
class Track:
    """One run at T times; P parts."""

    run: int
    outcome: str
    """How it ended, in a word: settled, escaped, ..."""
    time: Array
    """(T,) [s], never falling. At a jump there are two lines of the same time, before and after."""
    position: Array
    """(T, P, 3) origins of parts [m]."""
    velocity: Array
    """(T, P, 3) of these origins, in and relative to the axes of the playback [m/s]."""
    attitude: Array
    """(T, P, 4)"""
    jumps: Array = field(default_factory=lambda: np.zeros(0))
    """(j,) times [s] at which velocities jump: nothing may be interpolated across them."""
    contacts: Contacts = field(default_factory=Contacts.none)
    row: Mapping[str, Any] = field(default_factory=dict)
    """Its stored row, by the names of columns; empty where there is none."""
    surface: Array | None = None
    """(T, V, 3) vertices of ``Playback.surface`` [m]."""
    parts: tuple[Part, ...] | None = None
    """Its own parts, where runs differ in them; those of the playback if None."""
    exact: Turning | None = None
    """Attitudes (n, P, 4) and rates (n, P, 3) at times, relative to the axes of the playback and in
    those of the parts [rad/s], where they are known better than by even turns between lines: of
    rigid landers."""

    def __post_init__(self) -> None:
        t, p = self.position.shape[:2]
        shapes = {"time": (t,), "velocity": (t, p, 3), "attitude": (t, p, 4)}
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                found = getattr(self, name).shape
                raise InputError(f"{name} of a track has shape {found}; positions ask for {shape}.")

    @property
    def end(self) -> float:
        """When it ends [s]."""
        return float(self.time[-1])

    @cached_property
    def segments(self) -> list[slice]:
        """Lines between jumps: each begins and ends at its own side of one."""
        cuts = np.flatnonzero(np.diff(self.time) == 0.0) + 1
        edges = [0, *cuts.tolist(), len(self.time)]
        return [slice(a, b) for a, b in itertools.pairwise(edges) if b > a]

    def at(self, times: npt.ArrayLike) -> tuple[Array, Array, Array | None]:
        """Positions (m, P, 3), attitudes (m, P, 4) and the surface (m, V, 3) at times [s].

        Places are cubic between lines, from positions and velocities, attitudes turn evenly, a
        surface moves evenly. Before the first line and after the last all stand still. At the time
        of a jump it is the line after it that counts.
        """
        t = np.clip(np.atleast_1d(np.asarray(times, np.float64)), self.time[0], self.time[-1])
        return between(t, self.time, self.position, self.velocity, self.attitude, self.surface)

    def speed_at(self, times: npt.ArrayLike) -> Array:
        """(m,) speed of the first part [m/s], linear between lines."""
        size = np.linalg.norm(self.velocity[:, 0], axis=1)
        return np.asarray(np.interp(np.asarray(times, np.float64), self.time, size))


@dataclass(frozen=True, eq=False)
class Sites:
    """Where n runs of a campaign ended: those that have no track, too."""

    run: Index
    """(n,) numbers of the runs."""
    place: Array
    """(n, 3) where each rests, or was when it ended [m]."""
    outcome: list[str]
    """(n,) in a word."""
    columns: dict[str, Array] = field(default_factory=dict)
    """(n,) each: numbers to colour them by, by the names of columns; NaN where empty."""
    units: dict[str, str] = field(default_factory=dict)
    total: int | None = None
    """Runs of the campaign, where these are some of them."""


@dataclass(frozen=True, eq=False)
class Playback:
    """Runs that can be shown together."""

    title: str
    parts: tuple[Part, ...]
    tracks: tuple[Track, ...]
    frame: str = "target"
    """``target``: axes fixed in the target; ``inertial``: of captures and drops."""
    target: Mesh | None = None
    """The body that is landed on, as fine as it is; None on flat ground and without one."""
    terrain: Part | None = None
    """Ground near the footprint that ``target`` does not show: hills, a plane, a patch."""
    square: Square | None = None
    """Where the terrain stands in place of the target: middle (3,) [m], axes as rows (3, 3) (east,
    north, up), half a side [m]."""
    patches: tuple[tuple[Part, Square], ...] = ()
    """The same ground about the rest of each track, in their order; none where the target shows it
    as it is."""
    wider: Callable[[Array, float, int], Any] | None = None
    """Terrain of another size, by its middle, half a side [m] and cells along a side: ``terrain``
    and ``square`` of what it returns. None where ground is that of the target."""
    rocks: Part | None = None
    """Rocks near the footprint."""
    attitude: OfTime | None = None
    """q_NT: the target's axes to inertial ones; None where it does not turn."""
    sun: OfTime | None = None
    """Unit vectors to the Sun in the axes of the playback; None where the scenario has none."""
    sites: Sites | None = None
    surface: Surface | None = None
    up: Array | None = None
    """(3,) away from flat ground; None on a body, where it is the way outward."""
    kind: str = "landing"
    folder: str = ""
    """Of the campaign, as given; empty of a single run."""
    notes: tuple[str, ...] = ()
    """What could not be shown, and why, for readers."""
    colours: Mapping[str, tuple[Array, str]] = field(default_factory=dict)
    """Numbers on the vertices of ``target`` to colour it by, (V,) with their unit, by name."""

    @property
    def end(self) -> float:
        """When the last run ends [s]."""
        return max((track.end for track in self.tracks), default=0.0)

    @property
    def lander_size(self) -> float:
        """Reach of what moves, about its first part [m]."""
        reach = [0.0]
        for track in self.tracks:
            own = track.parts if track.parts is not None else self.parts
            if len(track.time) and own:
                away = np.linalg.norm(track.position[0] - track.position[0, :1], axis=1)
                reach.append(max(float(a) + p.radius for a, p in zip(away, own, strict=True)))
        return max(reach)

    @property
    def focus(self) -> tuple[Array, float]:
        """Middle (3,) and reach [m] of where runs touch the ground and end: what to look at."""
        met = [track.contacts.place for track in self.tracks]
        ends = [track.position[-1:, 0] for track in self.tracks]
        if self.sites is not None:
            ends.append(self.sites.place[np.isfinite(self.sites.place).all(axis=1)])
        if not ends or not sum(map(len, ends)):
            return np.zeros(3), self.size
        rest = np.concatenate(ends)
        middle = rest[np.argmin(np.abs(rest - np.median(rest, axis=0)).sum(axis=1))]
        away = np.linalg.norm(np.concatenate([rest, *met]) - middle, axis=1)
        return middle, float(max(np.quantile(away, 0.9), 4.0 * self.lander_size))

    @property
    def size(self) -> float:
        """Reach of everything about the origin [m]."""
        if self.target is not None:
            return float(self.target.bounding_radius)
        far = [float(np.linalg.norm(t.position, axis=2).max()) for t in self.tracks]
        return max([1e-9, *far])
