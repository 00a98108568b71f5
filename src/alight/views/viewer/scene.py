"""A playback as a container: what is reported to the page, and how far it may be from the truth."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from alight.core import frames
from alight.core.checks import Array
from alight.core.errors import AlightError
from alight.shapes.mesh import Mesh
from alight.views import style
from alight.views.figures.solid import carried
from alight.views.looks import COLOURS
from alight.views.playback import Part, Playback, Track
from alight.views.playback.model import Square
from alight.views.viewer.container import Container
from alight.views.viewer.keyframes import STRAIGHT, kept_lines, refined

#: Text of a page that a viewer may add, at most [bytes].
MOST_BYTES = 3_000_000
#: Facets of the body and rest sites that a page carries at most.
FACETS, SITES = 60_000, 4_000
#: Lines of all tracks together at most; tolerances grow until they fit, so many times.
LINES, COARSER = 160_000, 4
#: Distance that a part may be shown off, over the lander's size, also where it has joints, and
#: angle [rad].
FAR, FAR_JOINTS, ANGLE = 0.01, 0.002, 0.03
#: Steps of quaternions, and of vertices over the size of what they belong to.
TURN_STEP, VERTEX_STEP = 1.0 / 8192.0, 1.0 / 65535.0
#: Frames of a membrane at most; steps of its vertices over its size.
FRAMES, CLOTH_STEP = 450, 1.0 / 4096.0
#: Samples of how the target turns: at most this angle apart [rad].
SPIN_TURN, SPIN_MOST = 0.2, 4_000
#: Contacts of a run that are marked at most: the hardest of them.
MARKS = 200


@dataclass(frozen=True)
class Encoded:
    """A container, and what to know of it."""

    text: str
    """Deflated, in base64."""
    errors: dict[str, float]
    """Largest errors: ``vertices_m``, ``position_m``, ``angle_rad``, and so on."""
    notes: tuple[str, ...]
    lines: int
    """Of all tracks together."""


def encoded(playback: Playback) -> Encoded:
    """Everything a page needs to show a playback."""
    writer = _Writer(playback)
    return writer.done()


class _Writer:
    def __init__(self, playback: Playback) -> None:
        self.shown, self.box = playback, Container()
        self.errors: dict[str, float] = {}
        self.notes = list(playback.notes)
        self.lines = 0
        self.size = max(playback.lander_size, 1e-6 * playback.size, 1e-9)

    def done(self) -> Encoded:
        head = self.box.header
        middle, reach = self.shown.focus
        head |= self._about(middle, reach)
        head["target"] = self._target()
        head["grounds"] = self._grounds()
        head["rocks"] = self._solid("rocks", self.shown.rocks)
        head["tracks"], head["sets"] = self._tracks()
        head["sites"] = self._sites()
        self._sky()
        self.notes.append(self._accuracy())
        head["notes"] = self.notes
        head["errors"] = self.errors
        return Encoded(self.box.text(), self.errors, tuple(self.notes), self.lines)

    def _about(self, middle: Array, reach: float) -> dict[str, Any]:
        one = self.shown
        return {
            "title": one.title,
            "kind": one.kind,
            "frame": one.frame,
            "folder": one.folder,
            "end": one.end,
            "size": one.size,
            "lander": self.size,
            "focus": middle.tolist(),
            "reach": reach,
            "up": None if one.up is None else one.up.tolist(),
            "looks": COLOURS,
        }

    # -- what stands still ---------------------------------------------------------------------

    def _target(self) -> dict[str, Any] | None:
        mesh, colours = self.shown.target, dict(self.shown.colours)
        if mesh is None:
            return None
        if mesh.n_faces > FACETS:
            fine = mesh
            mesh, off = _fewer(fine, FACETS)
            self.errors["facets_m"] = off
            colours = {name: (carried(fine, v, mesh), unit) for name, (v, unit) in colours.items()}
            self.notes.append(f"the body is drawn with {mesh.n_faces} facets.")
        step = min(VERTEX_STEP * float(mesh.extent.max()), 0.05 * self.size)
        off = self.box.put("target.v", mesh.vertices, max(step, 1e-9 * mesh.bounding_radius))
        self.errors["vertices_m"] = math.sqrt(3.0) * off
        self.box.whole("target.f", mesh.faces.ravel())
        told = [self._colour(name, *found) for name, found in colours.items()]
        return {"facets": mesh.n_faces, "colours": told}

    def _colour(self, name: str, values: Array, unit: str) -> dict[str, Any]:
        low, high = (float(x) for x in np.quantile(values, [0.01, 0.99]))
        high = high if high > low else low + 1.0
        whole = np.rint(255.0 * np.clip((values - low) / (high - low), 0.0, 1.0))
        self.box.whole(f"target.{name}", whole)
        chosen = {"slope": style.SLOPE, "light": style.LIGHT}.get(name, style.GRAVITY)
        return {"name": name, "unit": unit, "low": low, "high": high, "map": ladder(chosen)}

    def _grounds(self) -> list[dict[str, Any]]:
        """Pieces of ground with the squares that they take from the target, flat ones without."""
        one = self.shown
        pieces: list[tuple[Part, Square | None]] = list(one.patches)
        if one.terrain is not None:
            pieces = [(one.terrain, one.square), *pieces]
        return [self._ground(k, *piece) for k, piece in enumerate(pieces)]

    def _ground(self, number: int, part: Part, square: Square | None) -> dict[str, Any]:
        told: dict[str, Any] = {"origin": self._mesh(f"ground{number}", part, 1.0 / 32768.0)}
        if square is not None:
            middle, axes, half = square
            told |= {"middle": middle.tolist(), "axes": axes.tolist(), "half": half}
            told["wide"] = part is self.shown.terrain
        return told

    def _solid(self, name: str, part: Part | None) -> dict[str, Any] | None:
        if part is None or not len(part.faces):
            return None
        return {"origin": self._mesh(name, part, 1.0 / 32768.0), "role": part.role}

    def _mesh(self, name: str, part: Part, share: float) -> list[float]:
        """Vertices about their middle, and faces; the middle."""
        low, high = part.vertices.min(axis=0), part.vertices.max(axis=0)
        middle = 0.5 * (low + high)
        step = max(float((high - low).max()), 1e-9) * share
        self.box.put(f"{name}.v", part.vertices - middle, step)
        self.box.whole(f"{name}.f", part.faces.ravel())
        return [float(x) for x in middle]

    # -- what moves ----------------------------------------------------------------------------

    def _tracks(self) -> tuple[list[dict[str, Any]], list[list[dict[str, Any]]]]:
        tracks = [track for track in self.shown.tracks if len(track.time)]
        sets: list[list[dict[str, Any]]] = []
        known: dict[int, int] = {}
        told = []
        groups: dict[int, list[tuple[Track, list[int]]]] = {}
        for track in tracks:
            parts = self.shown.parts if track.parts is None else track.parts
            poses, which = _poses(track)
            if id(parts) not in known:
                known[id(parts)] = len(sets)
                sets.append([self._part(len(sets), k, p) for k, p in enumerate(parts)])
            told.append(self._track(track, known[id(parts)], which))
            groups.setdefault(len(poses), []).append((track, poses))
        for count, members in groups.items():
            self._lines(count, members, told, tracks)
        shown = [k for k, entry in enumerate(told) if "first" in entry]
        if len(shown) < len(tracks):
            left = len(tracks) - len(shown)
            self.notes.append(f"paths of {left} runs are left out: they would take too much room.")
        tracks, told = [tracks[k] for k in shown], [told[k] for k in shown]
        self._contacts(tracks, told)
        self._cloth(tracks, told)
        return told, sets

    def _part(self, number: int, k: int, part: Part) -> dict[str, Any]:
        origin = self._mesh(f"part{number}.{k}", part, 1.0 / 8192.0)
        about = {"name": part.name, "role": part.role, "origin": origin, "radius": part.radius}
        return {**about, "colour": part.colour}

    def _track(self, track: Track, which: int, pose: list[int]) -> dict[str, Any]:
        row = {name: _plain(value) for name, value in track.row.items()}
        told = {"run": track.run, "outcome": track.outcome, "set": which, "pose": pose}
        return {**told, "end": track.end, "row": row}

    def _lines(self, poses: int, members: Any, told: Any, tracks: list[Track]) -> None:
        """Lines of the tracks with that number of poses, thinned together to fit the room."""
        far = self._far(poses)
        fine = [
            refined(t.time, t.position[:, own], t.velocity[:, own], t.attitude[:, own], far)
            for t, own in members
        ]
        time, place = (np.concatenate([one[k] for one in fine]) for k in (0, 1))
        turn = np.concatenate([_continuous(one[2]) for one in fine])
        ends = np.cumsum([0, *(len(one[0]) for one in fine)])
        kept, far, angle = self._thinned(poses, time, place, turn, ends)
        before = np.concatenate([[0], np.cumsum(kept)])
        fits = max(1, int((before[ends[1:]] * poses <= LINES).sum()))
        kept[ends[fits] :] = False
        self._store(poses, time[kept], place[kept], turn[kept], far, angle)
        places = {id(track): k for k, (track, _) in enumerate(members[:fits])}
        for track, entry in zip(tracks, told, strict=True):
            if (k := places.get(id(track))) is not None:
                first, last = int(before[ends[k]]), int(before[ends[k + 1]])
                entry |= {"poses": poses, "first": first, "count": last - first}

    def _thinned(
        self, poses: int, time: Array, place: Array, turn: Array, ends: Any
    ) -> tuple[Any, float, float]:
        """Which lines stay, and the tolerances that it takes: they grow where there are many."""
        forced = np.zeros(len(time), bool)
        forced[ends[:-1]] = forced[ends[1:] - 1] = True
        same = np.flatnonzero(np.diff(time) == 0.0)
        forced[same] = forced[same + 1] = True
        far, angle = self._far(poses), ANGLE
        for coarser in range(COARSER + 1):
            kept = kept_lines(time, place, turn, forced, far, angle)
            if kept.sum() * poses <= LINES or coarser == COARSER:
                break
            far, angle = 2.0 * far, 1.6 * angle
        return kept, far, angle

    def _far(self, poses: int) -> float:
        """Error of places that is aimed at [m]."""
        return (FAR if poses == 1 else FAR_JOINTS) * self.size

    def _store(
        self, poses: int, time: Array, place: Array, turn: Array, far: float, angle: float
    ) -> None:
        clock = max(self.shown.end, 1e-9) / 2**30
        self.box.put(f"time{poses}", time, clock)
        off = self.box.put(f"place{poses}", place.reshape(len(place), -1), 0.25 * far)
        self.box.put(f"turn{poses}", turn.reshape(len(turn), -1), TURN_STEP)
        self.lines += len(time) * poses
        sag = STRAIGHT * self._far(poses)  # between the lines that were thinned
        self._worst("position_m", far + sag + math.sqrt(3.0) * off)
        self._worst("angle_rad", angle + 2.0 * TURN_STEP)

    def _worst(self, name: str, value: float) -> None:
        self.errors[name] = max(self.errors.get(name, 0.0), value)

    def _contacts(self, tracks: list[Track], told: list[dict[str, Any]]) -> None:
        middle = self.shown.focus[0]
        found: list[Array] = []
        at = 0
        for track, entry in zip(tracks, told, strict=True):
            met = track.contacts
            hardest = np.sort(np.argsort(-np.nan_to_num(met.speed), kind="stable")[:MARKS])
            columns = (met.time, *(met.place - middle).T, met.speed, met.force)
            found.append(np.stack(columns, axis=1)[hardest])
            entry |= {"marks": [at, len(hardest)], "contacts": len(met)}
            at += len(hardest)
        if at:
            self.box.floats("marks", np.concatenate(found))

    def _cloth(self, tracks: list[Track], told: list[dict[str, Any]]) -> None:
        """Frames of the surface that bends."""
        if self.shown.surface is None:
            return
        self.box.whole("cloth.f", self.shown.surface.faces.ravel())
        share = max(FRAMES // max(len(tracks), 1), 40)
        for k, (track, entry) in enumerate(zip(tracks, told, strict=True)):
            if track.surface is None:
                continue
            cloth = _carried_cloth(track)
            some = _frames_of(cloth, share)
            place = cloth[some]
            size = float(np.ptp(place[0], axis=0).max())
            self.box.put(f"cloth{k}.t", track.time[some], max(track.end, 1e-9) / 2**30)
            off = self.box.put(f"cloth{k}.v", place.reshape(len(place), -1), CLOTH_STEP * size)
            self._worst("membrane_m", math.sqrt(3.0) * off + _between_frames(track, cloth, some))
            entry["cloth"] = [k, int(place.shape[1])]
        self.notes.append(f"{self.shown.surface.note}.")

    # -- tables and sky ------------------------------------------------------------------------

    def _sites(self) -> dict[str, Any] | None:
        sites = self.shown.sites
        if sites is None or not len(sites.run):
            return None
        seen = np.flatnonzero(np.isfinite(sites.place).all(axis=1))
        # Runs far off, as those that escape, would make all others one point.
        near = np.linalg.norm(sites.place[seen], axis=1) < 20.0 * self.shown.size
        seen = seen[near][:SITES]
        total = sites.total or len(sites.run)
        if len(seen) < total:
            self.notes.append(f"of {total} runs, {len(seen)} are shown where they ended.")
        if not len(seen):
            return None
        words = sorted(set(sites.outcome))
        self.box.put("sites.v", sites.place[seen] - self.shown.focus[0], 0.05 * self.size)
        self.box.whole("sites.run", sites.run[seen])
        self.box.whole("sites.outcome", [words.index(sites.outcome[k]) for k in seen])
        names = []
        for name, values in sites.columns.items():
            self.box.floats(f"column {name}", values[seen])
            names.append([name, sites.units.get(name, "")])
        return {
            "count": len(seen),
            "outcomes": words,
            "columns": names,
            "map": ladder(style.GRAVITY),
        }

    def _sky(self) -> None:
        """How the target turns and where the Sun stands, at times near enough."""
        one, end = self.shown, max(self.shown.end, 1e-9)
        times = np.linspace(0.0, end, 65)
        head = self.box.header
        head["turns"], head["sun"] = one.attitude is not None, one.sun is not None
        if one.attitude is not None:
            q = one.attitude(times)
            step = 2.0 * np.arccos(np.clip(np.abs((q[1:] * q[:-1]).sum(axis=1)), 0.0, 1.0))
            # Fast spins alias at first: take twice as many until the largest step falls.
            while step.max(initial=0.0) > SPIN_TURN and len(times) < SPIN_MOST:
                times = np.linspace(0.0, end, 2 * len(times) - 1)
                q = one.attitude(times)
                step = 2.0 * np.arccos(np.clip(np.abs((q[1:] * q[:-1]).sum(axis=1)), 0.0, 1.0))
            self.box.put("sky.turn", _continuous(q[:, None])[:, 0], 1e-6)
        if one.sun is not None:
            self.box.put("sky.sun", one.sun(times), 1e-6)
        head["sky"] = {"count": len(times), "end": end}

    def _accuracy(self) -> str:
        """What the page says of its own errors."""
        found = self.errors
        told = []
        if "position_m" in found:
            turn = math.degrees(found["angle_rad"])
            far = _length(found["position_m"])
            told.append(f"what moves is shown within {far} and {turn:.2g}°")
        if "vertices_m" in found:
            told.append(f"vertices of the body within {_length(found['vertices_m'])}")
        if "facets_m" in found:
            told.append(f"its facets within {_length(found['facets_m'])} of the shape model")
        if "membrane_m" in found:
            told.append(f"the membrane within {_length(found['membrane_m'])} of the grid's own")
        return f"{'; '.join(told)}." if told else "nothing is rounded."


def _carried_cloth(track: Track) -> Array:
    """(T, V, 3) the surface in the axes of what carries it: how it moves with that is left out."""
    assert track.surface is not None
    away = track.surface - track.position[:, 1][:, None]
    return frames.quat_rotate_inv(track.attitude[:, 1][:, None], away)


def _frames_of(cloth: Array, count: int) -> Any:
    """Numbers of ``count`` frames at most, more of them where the surface moves faster."""
    way = np.linalg.norm(np.diff(cloth, axis=0), axis=2).max(axis=1, initial=0.0)
    # Some everywhere: a fifth of them by time alone.
    along = np.concatenate([[0.0], np.cumsum(way + 0.25 * max(float(way.mean()), 1e-12))])
    wanted = np.linspace(0.0, along[-1], count)
    return np.unique([0, *np.searchsorted(along, wanted[1:-1]), len(cloth) - 1])


def _between_frames(track: Track, own: Array, some: Any) -> float:
    """How far the surface is from even motion between frames, at most."""
    piece = np.clip(np.searchsorted(some, np.arange(len(own)), side="right") - 1, 0, None)
    piece = np.minimum(piece, len(some) - 2) if len(some) > 1 else piece
    if len(some) < 2:
        return 0.0
    a, b = some[piece], some[piece + 1]
    span = np.where(track.time[b] > track.time[a], track.time[b] - track.time[a], 1.0)
    s = ((track.time - track.time[a]) / span)[:, None, None]
    return float(np.linalg.norm(own[a] + s * (own[b] - own[a]) - own, axis=2).max())


def _poses(track: Track) -> tuple[list[int], list[int]]:
    """Parts that stand alike share a pose: the first part of each, and the pose of every part."""
    first: list[int] = []
    which = []
    for p in range(track.position.shape[1]):
        for k, other in enumerate(first):
            same = np.array_equal(track.position[:, p], track.position[:, other])
            if same and np.array_equal(track.attitude[:, p], track.attitude[:, other]):
                which.append(k)
                break
        else:
            which.append(len(first))
            first.append(p)
    return first, which


def _continuous(q: Array) -> Array:
    """Quaternions (n, P, 4) with signs that do not flip from line to line."""
    flips = (q[1:] * q[:-1]).sum(axis=2) < 0.0
    sign = np.where(np.cumsum(flips, axis=0) % 2 == 1, -1.0, 1.0)
    out = q.copy()
    out[1:] *= sign[:, :, None]
    return out


def _fewer(mesh: Mesh, most: int) -> tuple[Mesh, float]:
    """A mesh of fewer facets, and how far its vertices are from the shape at most [m]."""
    from alight.analysis.facets import FacetFinder

    try:
        small = mesh.simplified(most)
    except AlightError:
        return mesh, 0.0
    facet, _ = FacetFinder(small).find(mesh.vertices)
    corner = small.vertices[small.faces[facet, 0]]
    off = np.abs(((mesh.vertices - corner) * small.face_normals[facet]).sum(axis=1))
    return small, float(off.max())


def ladder(chosen: Any, count: int = 17) -> list[list[int]]:
    """Colours of a map from its low to its high end, 0 to 255."""
    return [[round(255 * c) for c in chosen(x)[:3]] for x in np.linspace(0.0, 1.0, count)]


def _length(metres: float) -> str:
    if metres < 9.5e-5:
        return f"{1e6 * metres:.2g} µm"
    if metres < 0.095:
        return f"{1e3 * metres:.2g} mm"
    return f"{metres:.2g} m"


def _plain(value: Any) -> Any:
    """A value of a row as JSON has it."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, bool | int | str) or value is None:
        return value
    return str(value)
