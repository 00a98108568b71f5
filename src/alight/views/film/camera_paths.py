"""Where the camera of a film stands at each frame, and what it looks at.

``orbit`` looks at all paths from afar and turns slowly about them. ``follow`` keeps beside the
first lander, nearer as it comes down. ``ground`` stands near where it ends and turns its head.
``lander`` rides just above it, level. All but ``orbit`` are smoothed over the time on screen, so
that bounces are seen as bounces of the lander, not of the picture.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from alight.core import frames
from alight.core.checks import Array
from alight.core.errors import InputError, unknown_name
from alight.views.film.stage import Stage
from alight.views.film.timing import Timing
from alight.views.render.lens import Lens, looking

CAMERAS = ("orbit", "follow", "ground", "lander")
FRAMES = ("body", "inertial")

#: Angles across the picture [rad].
WIDE, RIDE = np.radians(42.0), np.radians(75.0)

#: The orbit: how far it turns over the film, and how high above the level it stands [rad].
TURN, HIGH = np.radians(70.0), np.radians(24.0)

#: Distance of ``follow``, in sizes of the lander, in heights above the ground, and in sizes where
#: there is no ground; the lander strays from the middle by no more than a part of the distance.
SIZES, HEIGHTS, ALONE, STRAY = 8.0, 0.9, 3.6, 0.05

#: Least reach of what ``orbit`` shows, and distances of ``ground`` from where the lander ends with
#: ground and without, in sizes of the lander.
ROOM, STAND, STAND_ALONE = 2.2, 13.0, 5.0

#: Heights of ``follow`` above the level [rad]: the first from which nothing hides the lander.
DOWNS = tuple(np.radians([13.0, 24.0, 40.0, 60.0, 80.0]))

#: Time on screen over which paths of cameras are smoothed [s].
SMOOTH = 0.45

#: Cameras stand above the ground by at least so many sizes of the lander.
CLEAR = 1.5


def lenses(
    stage: Stage,
    timing: Timing,
    camera: str,
    frame: str,
    size: tuple[int, int],
    fps: float,
    sun: Array,
) -> list[Lens]:
    """A lens for every frame; ``sun`` (3,) is where light comes from at the middle of the film."""
    if camera not in CAMERAS:
        raise unknown_name("camera", camera, CAMERAS)
    if frame not in FRAMES:
        raise unknown_name("frame", frame, FRAMES)
    if frame == "inertial" and camera != "orbit":
        raise InputError(
            f'camera "{camera}" moves with the lander; frame "inertial" is for camera "orbit".'
        )
    if frame == "inertial":
        path = _in_space(stage, timing, size, sun)
    elif camera == "orbit":
        path = _clear(stage, _orbit(stage, timing, size, sun))
    else:
        paths: dict[str, Callable[..., Path]] = {
            "follow": _follow,
            "ground": _stand,
            "lander": _ride,
        }
        path = _clear(stage, paths[camera](stage, timing, fps, sun))
    wide = RIDE if camera == "lander" else WIDE
    shown = zip(path.eye, path.at, path.up, strict=True)
    return [looking(eye, at, up, size, wide) for eye, at, up in shown]


class Path(NamedTuple):
    """(n, 3) each: where a camera stands, what it looks at, and what is up for it."""

    eye: Array
    at: Array
    up: Array


def upward(stage: Stage, points: Array) -> Array:
    """(n, 3) unit vectors away from the ground at points."""
    play = stage.playback
    if play.up is not None:
        return np.broadcast_to(play.up, points.shape)
    if play.target is None:
        return np.broadcast_to([0.0, 0.0, 1.0], points.shape)
    return np.asarray(points / np.linalg.norm(points, axis=-1, keepdims=True))


def side(up: Array, sun: Array, turn: float) -> Array:
    """A level direction, ``turn`` [rad] from that of the Sun."""
    flat = sun - (sun @ up) * up
    if np.linalg.norm(flat) < 1e-3:
        flat = frames.local_frame(up)[:, 0]
    flat = flat / np.linalg.norm(flat)
    return np.asarray(np.cos(turn) * flat + np.sin(turn) * np.cross(up, flat))


def _paths(stage: Stage, times: Array) -> Array:
    """(tracks, n, 3) places of first parts."""
    return np.stack([track.at(times)[0][:, 0] for track in stage.playback.tracks])


def _orbit(stage: Stage, timing: Timing, size: tuple[int, int], sun: Array) -> Path:
    middle, reach = _seen(stage, timing)
    return _about(middle, reach, upward(stage, middle[None])[0], len(timing.time), size, sun)


def _about(
    middle: Array, reach: float, up: Array, count: int, size: tuple[int, int], sun: Array
) -> Path:
    """Slowly about a point, as far away as it takes to see all of it."""
    low = min(1.0, size[1] / size[0])
    away = reach / np.tan(0.5 * WIDE) / low * 1.05 + reach
    turns = np.radians(55.0) + TURN * (np.arange(count) / max(1, count - 1) - 0.5)
    level = np.array([side(up, sun, turn) for turn in turns])
    eyes = middle + away * (np.cos(HIGH) * level + np.sin(HIGH) * up)
    return Path(eyes, np.tile(middle, (count, 1)), np.tile(up, (count, 1)))


def _in_space(stage: Stage, timing: Timing, size: tuple[int, int], sun: Array) -> Path:
    """Slowly about the target, which turns."""
    play, count = stage.playback, len(timing.time)
    path = _about(np.zeros(3), 1.1 * play.size, np.array([0.0, 0.0, 1.0]), count, size, sun)
    if play.attitude is None:
        return path
    # What stands still in space since the first frame, in axes of the target now.
    then = play.attitude(timing.time[:1])[0]
    q = frames.quat_multiply(frames.quat_conjugate(play.attitude(timing.time)), then)
    return Path(*(frames.quat_rotate(q, each) for each in path))


def _seen(stage: Stage, timing: Timing) -> tuple[Array, float]:
    """Middle and reach of all paths."""
    places = _paths(stage, timing.time).reshape(-1, 3)
    low, high = places.min(axis=0), places.max(axis=0)
    middle = 0.5 * (low + high)
    away = float(np.quantile(np.linalg.norm(places - middle, axis=1), 0.99))
    return middle, max(away, ROOM * stage.playback.lander_size)


def _smooth(values: Array, fps: float, seconds: float = SMOOTH) -> Array:
    if len(values) < 3:
        return values
    return np.asarray(gaussian_filter1d(values, seconds * fps, axis=0, mode="nearest"))


def _near(path: Array, points: Array, most: Array) -> Array:
    """Points (n, 3), drawn back to a distance ``most`` (n,) from a path where they are farther."""
    off = points - path
    far = np.linalg.norm(off, axis=1) / most
    return np.asarray(path + off / np.maximum(far, 1.0)[:, None])


def _follow(stage: Stage, timing: Timing, fps: float, sun: Array) -> Path:
    path = _paths(stage, timing.time)[0]
    up = upward(stage, path)
    height = _height(stage, path, up)
    reach = stage.playback.lander_size
    # The highest of a while before and after: whole bounces fit, and the picture breathes slowly.
    high = maximum_filter1d(np.maximum(height, 0.0), max(1, round(1.2 * fps)), mode="nearest")
    near = SIZES * reach if stage.has_ground else ALONE * reach
    away = np.exp(_smooth(np.log(near + HEIGHTS * high * stage.has_ground), fps, 0.6))
    at = _near(path, _smooth(path, fps), STRAY * away)
    turns = np.radians(62.0) + np.radians(35.0) * (np.arange(len(at)) / max(1, len(at) - 1) - 0.5)
    level = np.array([side(u, sun, turn) for u, turn in zip(up, turns, strict=True)])
    down = _seen_from(stage, at, level, up, away, fps)[:, None]
    eyes = at + away[:, None] * (np.cos(down) * level + np.sin(down) * up)
    # A little of the ground beneath: there its shadow shows how high it is.
    return Path(eyes, at - 0.07 * away[:, None] * up * stage.has_ground, up)


def _seen_from(stage: Stage, at: Array, level: Array, up: Array, away: Array, fps: float) -> Array:
    """(n,) heights of a camera above the level [rad] from which no rock or hill hides a point."""
    best = np.full(len(at), DOWNS[-1])
    for down in DOWNS[-2::-1]:
        toward = np.cos(down) * level + np.sin(down) * up
        begin = at + 1.2 * stage.playback.lander_size * toward
        best[stage.is_open(begin, toward, away)] = down
    held = maximum_filter1d(best, max(1, round(0.8 * fps)), mode="nearest")
    return _smooth(held, fps, 0.4)


def _stand(stage: Stage, timing: Timing, fps: float, sun: Array) -> Path:
    path = _paths(stage, timing.time)[0]
    end = path[-1]
    up = upward(stage, end[None])[0]
    reach = stage.playback.lander_size
    away = (STAND if stage.has_ground else STAND_ALONE) * reach
    spot = end + away * side(up, sun, np.radians(70.0))
    rise = float(stage.ground_above(spot[None], up[None])[0])
    eye = spot + (2.5 * reach + (max(rise, 0.0) if np.isfinite(rise) else 0.0)) * up
    count = len(path)
    # Where it flies fast the head turns with it, so that it stays in the picture.
    at = _near(path, _smooth(path, fps, 0.2), 2.0 * STRAY * np.linalg.norm(path - eye, axis=1))
    return Path(np.tile(eye, (count, 1)), at, np.tile(up, (count, 1)))


def _ride(stage: Stage, timing: Timing, fps: float, sun: Array) -> Path:
    path = _paths(stage, timing.time)[0]
    up = upward(stage, path)
    reach = stage.playback.lander_size
    ahead = path[-1] - path
    ahead = ahead - np.einsum("ni,ni->n", ahead, up)[:, None] * up
    far = np.linalg.norm(ahead, axis=1) > 10.0 * reach
    level = np.array([side(u, sun, np.radians(120.0)) for u in up])
    level[far] = ahead[far] / np.linalg.norm(ahead[far], axis=1)[:, None]
    level = _smooth(level, fps, 1.5)
    # Smooth, but no farther off than half its size: its top stays in the lower part of the picture.
    ride = _near(path, _smooth(path, fps, 0.15), np.full(len(path), 0.5 * reach))
    eyes = ride + 1.9 * reach * up - 3.2 * reach * level
    return Path(eyes, eyes + level - 0.42 * up, up)


def _height(stage: Stage, points: Array, up: Array) -> Array:
    """(n,) of points above the ground; their distance from the focus where there is none."""
    rise = stage.ground_above(points, up)
    apart = np.linalg.norm(points - stage.middle, axis=1)
    return np.asarray(np.where(np.isfinite(rise), -rise, apart))


def _clear(stage: Stage, path: Path) -> Path:
    """The same, lifted where a camera would stand in the ground; it looks at the same points."""
    up = upward(stage, path.eye)
    rise = stage.ground_above(path.eye, up) + CLEAR * stage.playback.lander_size
    lift = _smooth(np.where(np.isfinite(rise), np.maximum(rise, 0.0), 0.0), 10.0)
    return path._replace(eye=path.eye + lift[:, None] * up)
