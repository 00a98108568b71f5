"""A playback as a scene for the ray tracer: ground, rocks and what moves, in colours by role."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from alight.analysis.shadows import Shadows
from alight.core import devices
from alight.core.checks import Array
from alight.shapes.mesh import Mesh
from alight.views.figures.solid import sky_view
from alight.views.looks import COLOURS, ROUND, colour_of, exploded, surface_of
from alight.views.playback import Part as Piece
from alight.views.playback import Playback, Track
from alight.views.playback.joining import SEAM, joined, touched_ground
from alight.views.render.exposure import linear_light
from alight.views.render.scene import Hole, Part, Scene, Thing

#: Facets of a hull differ by so much in reflectance, so that it is seen to tumble.
PANELS = 0.35

#: Hulls of more facets than this look round; so that they are seen to turn, octants differ.
MANY = 200

#: Roles that are of one colour all over.
PLAIN = (*ROUND, "leg", "pad")

#: Colours of runs that are shown together: distinct also for colour-blind viewers.
RUNS = (
    (0.99, 0.71, 0.20), (0.35, 0.71, 0.95), (0.30, 0.80, 0.55), (0.95, 0.45, 0.38),
    (0.80, 0.60, 0.95), (0.95, 0.92, 0.35), (0.55, 0.90, 0.90), (0.98, 0.65, 0.80),
)  # fmt: skip

#: Vertices at most for which the light of the sky is found by rays.
SKY_VERTICES = 120_000


class Stage:
    """What a film shows: the scene, and how it changes with time."""

    def __init__(
        self,
        playback: Playback,
        device: devices.Device,
        grain: float = 0.2,
        colours: Array | None = None,
    ) -> None:
        """Build the scene of a playback.

        Args:
            playback: What moves, and what stands around it.
            device: Where rays are traced.
            grain: Slopes of the roughness that is drawn on the ground for scale.
            colours: (n, 3) sRGB values of the vertices of the target; grey if not given.
        """
        self.playback = playback
        self._painted = None if colours is None else linear_light(colours)
        self.middle, self.reach = playback.focus
        self._parts: list[Part] = []
        self._still: list[Thing] = []
        hole = self._ground(grain)
        self._first = [self._pieces(track) for track in playback.tracks]
        self._surfaces = [self._fabric(track) for track in playback.tracks]
        things = [*self._still, *self._moving(0.0)]
        self.scene = Scene(self._parts, things, device, self.middle, hole)

    def at(self, time: float) -> Scene:
        """The scene at a time [s]; every run that has ended stands where it ended."""
        for part, track in zip(self._surfaces, self.playback.tracks, strict=True):
            if part is not None:
                bent = track.at(time)[2]
                assert bent is not None
                self.scene.deform(part, Mesh(bent[0], self._faces, check=False))
        self.scene.move([*self._still, *self._moving(time)])
        return self.scene

    def colour(self, number: int) -> tuple[float, float, float]:
        """sRGB of the run of that place among those shown."""
        return RUNS[number % len(RUNS)]

    @property
    def has_ground(self) -> bool:
        """Whether there is a body or a plane to land on."""
        return bool(self._solid)

    def is_open(self, points: Array, ways: Array, far: Array) -> npt.NDArray[np.bool_]:
        """(n,) whether no ground or rock stands in the way from points along unit vectors [m]."""
        clear = np.ones(len(points), dtype=np.bool_)
        for ground in self._solid:
            clear &= ground.first_hit(points, ways) > far
        return clear

    def ground_above(self, points: Array, up: Array) -> Array:
        """(n,) height of ground over points along unit vectors, negative beneath them [m]; -inf
        where there is none."""
        reach = 4.0 * max(self.playback.size, self.reach)
        found = np.full(len(points), -np.inf)
        for ground in self._solid:
            # From beyond everything, so that a point inside the ground is found to be there.
            start = points + reach * up
            drop = ground.first_hit(start, -up)
            found = np.maximum(found, np.where(np.isfinite(drop), reach - drop, -np.inf))
        return found

    def _ground(self, grain: float) -> Hole | None:
        """Body, terrain and rocks; the body is left out where terrain stands for it."""
        play = self.playback
        self._solid: list[Shadows] = []
        colour = linear_light(COLOURS["terrain"])
        terrain, square = touched_ground(play)
        if play.target is not None:
            painted = colour if self._painted is None else self._painted
            self._add_still(_without(play.target, square), painted, grain)
        hole = None
        if terrain is not None:
            if play.target is not None and square is not None:
                middle, axes, half = square
                terrain = joined(terrain, play.target, square, SEAM)
                # As deep as it is wide: neither hills nor the body stick out of each other.
                hole = Hole(0, middle, axes, np.full(3, 0.999 * half))
            mesh = Mesh(terrain.vertices, terrain.faces, check=False)
            self._add_still(mesh, colour, grain)
        if play.rocks is not None:
            rocks = exploded(play.rocks)
            self._add_still(rocks, linear_light(COLOURS["rocks"]), 0.6 * grain)
        return hole

    def _add_still(self, mesh: Mesh, colour: Array, grain: float) -> None:
        sky = sky_view(mesh) if mesh.n_vertices <= SKY_VERTICES else None
        colours = np.broadcast_to(colour, (mesh.n_vertices, 3))
        self._still.append(Thing(len(self._parts)))
        self._parts.append(Part(mesh, colours, sky, grain=grain))
        self._solid.append(Shadows(mesh))

    def _pieces(self, track: Track) -> list[int]:
        """Numbers of the parts that a track moves; those of the playback are made once."""
        if track.parts is None:
            if not hasattr(self, "_shared"):
                self._shared = [self._add_piece(p) for p in self.playback.parts]
            return self._shared
        return [self._add_piece(p) for p in track.parts]

    def _add_piece(self, piece: Piece) -> int:
        stone = piece.role == "asteroid"
        grey = linear_light(colour_of(piece))
        if piece.role in PLAIN:
            mesh, shades = surface_of(piece), np.ones(1)
        elif len(piece.faces) > MANY:
            mesh = Mesh(piece.vertices, piece.faces, check=False)
            shades = 1.0 - PANELS * _quarters(mesh)
        else:
            mesh = exploded(piece)
            shades = _panels(mesh)
        colours = np.broadcast_to(grey * shades[:, None], (mesh.n_vertices, 3))
        lunar = 0.35 if stone else 0.0
        self._parts.append(Part(mesh, colours, None, lunar, 0.15 if stone else 0.0))
        return len(self._parts) - 1

    def _fabric(self, track: Track) -> int | None:
        """The part of a surface that bends."""
        surface = self.playback.surface
        if surface is None or track.surface is None:
            return None
        self._faces = surface.faces
        mesh = Mesh(track.surface[0], surface.faces, check=False)
        colour = linear_light(COLOURS.get(surface.role, COLOURS["membrane"]))
        colours = np.broadcast_to(colour, (mesh.n_vertices, 3))
        self._parts.append(Part(mesh, colours, None, 0.0))
        return len(self._parts) - 1

    def _moving(self, time: float) -> list[Thing]:
        made = []
        several = len(self.playback.tracks) > 1
        for number, (track, parts) in enumerate(
            zip(self.playback.tracks, self._first, strict=True)
        ):
            place, attitude, _ = track.at(time)
            tint = _tint(self.colour(number)) if several else np.ones(3)
            for k, part in enumerate(parts):
                made.append(Thing(part, place[0, k], attitude[0, k], tint))
        made += [Thing(part) for part in self._surfaces if part is not None]
        return made


def _without(mesh: Mesh, square: tuple[Array, Array, float] | None) -> Mesh:
    """A body without the facets that lie wholly inside a square of terrain; rays leave out what is
    there of others, and need not look for these."""
    if square is None:
        return mesh
    middle, axes, half = square
    inside = np.asarray((np.abs((mesh.vertices - middle) @ axes.T) < half).all(axis=1))
    kept = ~inside[mesh.faces].all(axis=1)
    used, faces = np.unique(mesh.faces[kept], return_inverse=True)
    return Mesh(mesh.vertices[used], faces.reshape(-1, 3), check=False)


def _tint(colour: tuple[float, float, float]) -> Array:
    """Factors that give a hull the colour of its run."""
    wanted = linear_light(colour) / linear_light(COLOURS["lander"])
    return np.asarray(wanted / max(1.0, float(wanted.max()) / 1.4))


def _quarters(mesh: Mesh) -> Array:
    """(n,) 1 and 0 in turn in the octants of a round hull."""
    return np.asarray(np.prod(np.sign(mesh.vertices + 1e-12), axis=1) > 0.0, dtype=np.float64)


def _panels(mesh: Mesh) -> Array:
    """(n,) factors on the vertices of separate facets: those of one direction are alike."""
    normal = np.round(mesh.vertex_normals, 3)
    mixed = np.abs(np.sin(normal @ np.array([12.9898, 78.233, 37.719])) * 43758.5453) % 1.0
    factors: npt.NDArray[np.float64] = 1.0 - PANELS * mixed
    return factors
