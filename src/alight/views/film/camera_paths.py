"""Where the camera of a film stands at each frame, and what it looks at.

``orbit`` looks at all paths from afar and turns slowly about them. ``follow`` keeps beside the
first lander, nearer as it comes down. ``ground`` stands near where it ends and turns its head.
``lander`` rides just above it, level. All but ``orbit`` are smoothed over the time on screen, so
that bounces are seen as bounces of the lander, not of the picture.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from alight.core import frames
from alight.core.checks import Array
from alight.core.errors import InputError, unknown_name
from alight.views.film.stage import Stage
from alight.views.film.timing import Timing
from alight.views.playback.model import OfTime
from alight.views.render.lens import Lens, looking

CAMERAS = ("orbit", "follow", "ground", "lander")
FRAMES = ("body", "inertial")

#: Angles across the picture [rad].
WIDE, RIDE = np.radians(42.0), np.radians(75.0)

#: The orbit: how far it turns over the film, and how high above the level it stands [rad].
TURN, HIGH = np.radians(70.0), np.radians(24.0)

#: Distance of ``follow``, in sizes of the lander and in heights above the ground; its height above
#: the level [rad]; the lander strays from the middle by no more than this part of the distance.
SIZES, HEIGHTS, DOWN, STRAY = 11.0, 0.9, np.radians(13.0), 0.10

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
    if camera == "orbit":
        return _orbit(stage, timing, frame, size, sun)
    paths: dict[str, Callable[..., list[Lens]]] = {
        "follow": _follow, "ground": _stand, "lander": _ride,
    }  # fmt: skip
    return paths[camera](stage, timing, size, fps, sun)


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


def _orbit(
    stage: Stage, timing: Timing, frame: str, size: tuple[int, int], sun: Array
) -> list[Lens]:
    play = stage.playback
    middle, reach = _whole(stage) if frame == "inertial" else _seen(stage, timing)
    up = upward(stage, middle[None])[0] if frame == "body" else np.array([0.0, 0.0, 1.0])
    low = min(1.0, size[1] / size[0])
    away = reach / np.tan(0.5 * WIDE) / low * 1.05 + reach
    made = []
    for k, time in enumerate(timing.time):
        turn = TURN * (k / max(1, len(timing.time) - 1) - 0.5)
        level = side(up, sun, np.radians(55.0) + turn)
        eye = middle + away * (np.cos(HIGH) * level + np.sin(HIGH) * up)
        if frame == "inertial" and play.attitude is not None:
            q = _turned(play.attitude, float(timing.time[0]), float(time))
            made.append(looking(frames.quat_rotate(q, eye), middle, frames.quat_rotate(q, up),
                                size, WIDE))  # fmt: skip
        else:
            made.append(looking(eye, middle, up, size, WIDE))
    return made if frame == "inertial" else _clear(stage, made, size, WIDE)


def _turned(attitude_of: OfTime, first: float, now: float) -> Array:
    """Quaternion that keeps a direction of target axes at one time still in space until another."""
    attitude = attitude_of(np.array([first, now]))
    return np.asarray(frames.quat_multiply(frames.quat_conjugate(attitude[1]), attitude[0]))


def _whole(stage: Stage) -> tuple[Array, float]:
    return np.zeros(3), 1.1 * stage.playback.size


def _seen(stage: Stage, timing: Timing) -> tuple[Array, float]:
    """Middle and reach of all paths."""
    places = _paths(stage, timing.time).reshape(-1, 3)
    low, high = places.min(axis=0), places.max(axis=0)
    middle = 0.5 * (low + high)
    away = float(np.quantile(np.linalg.norm(places - middle, axis=1), 0.99))
    return middle, max(away, 4.0 * stage.playback.lander_size)


def _smooth(values: Array, fps: float, seconds: float = SMOOTH) -> Array:
    if len(values) < 3:
        return values
    return np.asarray(gaussian_filter1d(values, seconds * fps, axis=0, mode="nearest"))


def _follow(
    stage: Stage, timing: Timing, size: tuple[int, int], fps: float, sun: Array
) -> list[Lens]:
    path = _paths(stage, timing.time)[0]
    up = upward(stage, path)
    height = _height(stage, path, up)
    reach = stage.playback.lander_size
    # The highest of a while before and after: whole bounces fit, and the picture breathes slowly.
    high = maximum_filter1d(np.maximum(height, 0.0), max(1, round(1.2 * fps)), mode="nearest")
    away = np.exp(_smooth(np.log(SIZES * reach + HEIGHTS * high), fps, 0.6))
    at = _smooth(path, fps)
    off = at - path
    far = np.linalg.norm(off, axis=1) / (STRAY * away)
    at = path + off / np.maximum(far, 1.0)[:, None]
    made = []
    for k, point in enumerate(at):
        turn = np.radians(75.0) + np.radians(35.0) * (k / max(1, len(at) - 1) - 0.5)
        level = side(up[k], sun, turn)
        eye = point + away[k] * (np.cos(DOWN) * level + np.sin(DOWN) * up[k])
        # A little of the ground beneath: there its shadow shows how high it is.
        aim = point - 0.07 * away[k] * up[k]
        made.append(looking(eye, aim, up[k], size, WIDE))
    return _clear(stage, made, size, WIDE)


def _stand(
    stage: Stage, timing: Timing, size: tuple[int, int], fps: float, sun: Array
) -> list[Lens]:
    path = _paths(stage, timing.time)[0]
    end = path[-1]
    up = upward(stage, end[None])[0]
    reach = stage.playback.lander_size
    level = side(up, sun, np.radians(70.0))
    spot = end + 16.0 * reach * level
    rise = stage.ground_above(spot[None], up[None])[0]
    eye = spot + (max(float(rise), 0.0) + 3.0 * reach) * up if np.isfinite(rise) else spot
    at = _smooth(path, fps)
    return [looking(eye, point, up, size, WIDE) for point in at]


def _ride(
    stage: Stage, timing: Timing, size: tuple[int, int], fps: float, sun: Array
) -> list[Lens]:
    path = _paths(stage, timing.time)[0]
    up = upward(stage, path)
    reach = stage.playback.lander_size
    ahead = path[-1] - path
    ahead = ahead - np.einsum("ni,ni->n", ahead, up)[:, None] * up
    far = np.linalg.norm(ahead, axis=1) > 10.0 * reach
    level = np.array([side(u, sun, np.radians(120.0)) for u in up])
    level[far] = ahead[far] / np.linalg.norm(ahead[far], axis=1)[:, None]
    level = _smooth(level, fps, 1.5)
    at = _smooth(path, fps, 0.15)
    eyes = at + 2.2 * reach * up - 2.5 * reach * level
    made = [
        looking(e, e + v - 0.42 * u, u, size, RIDE) for e, v, u in zip(eyes, level, up, strict=True)
    ]
    return _clear(stage, made, size, RIDE)


def _height(stage: Stage, points: Array, up: Array) -> Array:
    """(n,) of points above the ground; their distance from the focus where there is none."""
    rise = stage.ground_above(points, up)
    apart = np.linalg.norm(points - stage.middle, axis=1)
    return np.asarray(np.where(np.isfinite(rise), -rise, apart))


def _clear(stage: Stage, made: list[Lens], size: tuple[int, int], wide: float) -> list[Lens]:
    """The same, lifted where a camera would stand in the ground; it looks at the same point."""
    eyes = np.stack([lens.eye for lens in made])
    up = upward(stage, eyes)
    need = CLEAR * stage.playback.lander_size
    rise = stage.ground_above(eyes, up) + need
    lift = np.where(np.isfinite(rise), np.maximum(rise, 0.0), 0.0)
    if not lift.any():
        return made
    out = []
    for lens, raised, u in zip(made, _smooth(lift, 10.0), up, strict=True):
        eye = lens.eye + max(float(raised), 0.0) * u
        out.append(looking(eye, eye - lens.axes[2], lens.axes[1], size, wide))
    return out
