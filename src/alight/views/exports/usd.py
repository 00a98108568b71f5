"""USD scenes, by the package usd-core: the body, rocks, landers that move, their paths.

Z is up, a unit is a metre, a time code is a second of the animation. Names of prims are letters,
digits and ``_``; what things are called stands in their display names.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from alight.core.checks import Array
from alight.core.errors import FileError
from alight.core.extras import require
from alight.views.exports import keys
from alight.views.exports.epoch import Epoch
from alight.views.exports.names import file_stem, one_line
from alight.views.exports.palette import colour_of
from alight.views.exports.spice.ids import parts_of
from alight.views.playback import Playback, Track

#: Time codes in a second: frames, for tools that step through them.
RATE = 24.0


class _Stage:
    """A USD stage that grows; ``at`` makes the parts of paths valid and distinct."""

    def __init__(self, path: Path) -> None:
        parts = [require(f"pxr.{name}", "usd") for name in ("Usd", "Gf", "UsdGeom", "Vt")]
        self.Gf, self.UsdGeom, self.Vt = parts[1:]
        path.unlink(missing_ok=True)
        made = parts[0].Stage.CreateNew(str(path))
        if made is None:
            raise FileError(f"USD could not make {path}.")
        self.stage = made

    def at(self, above: Any, name: str) -> str:
        """A path below a prim."""
        word = file_stem(name, "part").replace("-", "_")
        word = f"_{word}" if word[0].isdigit() else word
        base = "" if above is None else str(above.GetPath())
        path, count = f"{base}/{word}", 1
        while self.stage.GetPrimAtPath(path):
            count += 1
            path = f"{base}/{word}_{count}"
        return path

    def group(self, above: Any, name: str) -> Any:
        """A place for others."""
        made = self.UsdGeom.Xform.Define(self.stage, self.at(above, name))
        made.GetPrim().SetMetadata("displayName", one_line(name))
        return made

    def points(self, values: Array) -> Any:
        """Points as USD holds them."""
        return self.Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(values, np.float32))

    def mesh(self, above: Any, name: str, vertices: Array, faces: Any, colour: Any) -> Any:
        """Triangles."""
        made = self.UsdGeom.Mesh.Define(self.stage, self.at(above, name))
        made.CreatePointsAttr(self.points(vertices))
        made.CreateFaceVertexCountsAttr(
            self.Vt.IntArray.FromNumpy(np.full(len(faces), 3, np.int32))
        )
        flat = np.ascontiguousarray(np.asarray(faces).reshape(-1), np.int32)
        made.CreateFaceVertexIndicesAttr(self.Vt.IntArray.FromNumpy(flat))
        made.CreateSubdivisionSchemeAttr("none")
        made.CreateDoubleSidedAttr(True)
        self._coloured(made, vertices, colour)
        return made

    def line(self, above: Any, name: str, points: Array, colour: Any, width: float) -> None:
        """A path."""
        made = self.UsdGeom.BasisCurves.Define(self.stage, self.at(above, name))
        made.CreateTypeAttr("linear")
        made.CreatePointsAttr(self.points(points))
        made.CreateCurveVertexCountsAttr([len(points)])
        made.CreateWidthsAttr([width])
        made.SetWidthsInterpolation("constant")
        self._coloured(made, points, colour)

    def dots(self, above: Any, name: str, points: Array, colour: Any, width: float) -> None:
        """Points that are seen."""
        made = self.UsdGeom.Points.Define(self.stage, self.at(above, name))
        made.CreatePointsAttr(self.points(points))
        made.CreateWidthsAttr([width])
        made.SetWidthsInterpolation("constant")
        self._coloured(made, points, colour)

    def _coloured(self, made: Any, points: Array, colour: Any) -> None:
        made.CreateDisplayColorAttr([self.Gf.Vec3f(*(float(c) for c in colour))])
        low, high = points.min(axis=0), points.max(axis=0)
        made.CreateExtentAttr(self.points(np.stack([low, high])))


def write_usd(
    playback: Playback,
    path: Path,
    epoch: Epoch,
    axes: str,
    notes: Sequence[str],
    speed: float = 1.0,
) -> None:
    """Write a scene; axes that do not turn have an origin near where runs end, as in glTF."""
    file = _Stage(path)
    still, origin = keys.origin_of(playback, axes)
    geom = file.UsdGeom
    geom.SetStageUpAxis(file.stage, geom.Tokens.z)
    geom.SetStageMetersPerUnit(file.stage, 1.0)
    file.stage.SetTimeCodesPerSecond(RATE)
    file.stage.SetStartTimeCode(0.0)
    file.stage.SetEndTimeCode(playback.end / speed * RATE)
    root = file.group(None, "Alight")
    file.stage.SetDefaultPrim(root.GetPrim())
    where = ", ".join(f"{x!r}" for x in origin.tolist())
    said = [*notes, f"Origin at ({where}) m. Epoch {epoch.text()} TDB. {speed:g} s in a second."]
    root.GetPrim().SetMetadata("comment", "\n".join(map(one_line, said)))
    if not still:
        _turning(file, root, playback, speed)
    _surroundings(file, root, playback, origin)
    for track in playback.tracks:
        _moving(file, root, playback, track, origin, speed)
    file.stage.GetRootLayer().Save()


def _surroundings(file: _Stage, root: Any, playback: Playback, origin: Array) -> None:
    if (body := playback.target) is not None:
        file.mesh(root, "body", body.vertices - origin, body.faces, colour_of("body"))
    for part in (playback.terrain, playback.rocks):
        if part is not None and len(part.faces):
            file.mesh(root, part.role, part.vertices - origin, part.faces, colour_of(part.role))
    if playback.sites is not None:
        place = playback.sites.place
        shown = place[np.isfinite(place).all(axis=1)] - origin
        if len(shown):
            file.dots(root, "rest_sites", shown, colour_of("site"), 0.5 * playback.lander_size)


def _moving(
    file: _Stage, root: Any, playback: Playback, track: Track, origin: Array, speed: float
) -> None:
    """A run: its parts, its path and what bends."""
    run = file.group(root, f"run {track.run}")
    fine = keys.place_tolerance(playback)
    for k, part in enumerate(parts_of(playback, track)):
        node = file.group(run, part.name or part.role)
        place, turn = keys.place_keys(track, k, fine), keys.turn_keys(track, k)
        move = node.AddTranslateOp(file.UsdGeom.XformOp.PrecisionDouble)
        for t, x in zip(place.time / speed * RATE, place.value - origin, strict=True):
            move.Set(file.Gf.Vec3d(*x.tolist()), float(t))
        _turn(file, node, turn.time / speed * RATE, turn.value)
        if len(part.faces):
            colour = part.colour or colour_of(part.role)
            file.mesh(node, "shape", part.vertices, part.faces, colour)
        if k == 0 and len(place.time) > 1:
            way = place.value - origin
            file.line(run, "path", way, colour_of("path"), 0.1 * playback.lander_size)
    if track.surface is not None and playback.surface is not None:
        _bending(file, run, playback, track, origin, speed)


def _turn(file: _Stage, node: Any, codes: Array, value: Array) -> None:
    op = node.AddOrientOp(file.UsdGeom.XformOp.PrecisionDouble)
    for t, (x, y, z, w) in zip(codes, value.tolist(), strict=True):
        op.Set(file.Gf.Quatd(w, x, y, z), float(t))


def _bending(
    file: _Stage, run: Any, playback: Playback, track: Track, origin: Array, speed: float
) -> None:
    """A surface that bends: points at times."""
    surface = playback.surface
    assert surface is not None
    time = np.linspace(track.time[0], track.time[-1], 48)
    shape = track.at(time)[2]
    assert shape is not None
    first = shape[0] - origin
    made = file.mesh(run, surface.name, first, surface.faces, colour_of(surface.role))
    for t, points in zip(time / speed * RATE, shape - origin, strict=True):
        made.GetPointsAttr().Set(file.points(points), float(t))
        made.GetExtentAttr().Set(
            file.points(np.stack([points.min(axis=0), points.max(axis=0)])), float(t)
        )


def _turning(file: _Stage, root: Any, playback: Playback, speed: float) -> None:
    """Let the body turn, with all that is on it."""
    time, value = keys.body_keys(playback)
    _turn(file, root, time / speed * RATE, value)
