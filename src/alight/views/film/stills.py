"""Single pictures of a playback, with soft shadows and whole paths: for print and documents."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from alight.core import devices, frames
from alight.core.checks import Array
from alight.core.errors import InputError
from alight.views.film.camera_paths import side, upward
from alight.views.film.frame import Illustrator, Wording
from alight.views.film.stage import Stage
from alight.views.playback import Playback
from alight.views.render.lens import looking


@dataclass(frozen=True)
class Shot:
    """Where a still is taken from: angles about the point it looks at."""

    time: float
    """Of the runs [s]."""
    away: float
    """Distance of the camera [m]."""
    turn: float = 0.0
    """Of the camera from east, counter-clockwise [deg]."""
    down: float = 0.0
    """How high it stands above the level [deg]."""
    sun: tuple[float, float] = (150.0, 30.0)
    """Where the Sun stands: from east and above the level [deg]."""
    at: tuple[float, float, float] | None = None
    """Looked at [m]; the lander if None."""
    toward: tuple[float, float, float] | None = None
    """To the camera, in place of ``turn`` and ``down``: for whole bodies, whose axis is up then."""
    sunward: tuple[float, float, float] | None = None
    """To the Sun, in place of ``sun``."""
    shift: tuple[float, float] = (0.0, 0.0)
    """What is looked at stands so far right of and above the middle, over the distance."""
    wide: float = 40.0
    """Angle across the picture [deg]."""
    size: tuple[int, int] = (1440, 810)


def still(
    playback: Playback,
    shot: Shot,
    wording: Wording,
    *,
    device: str = "auto",
    grain: float = 0.2,
    rays: int = 8,
    colours: Array | None = None,
) -> npt.NDArray[np.uint8]:
    """(rows, columns, 3) bytes of a picture; ``colours`` (n, 3) are sRGB values of the target's
    vertices, ``rays`` go to the disc of the Sun from every point."""
    stage = Stage(playback, devices.resolve(device), grain, colours)
    place = playback.tracks[0].at(shot.time)[0][0, 0] if shot.at is None else np.array(shot.at)
    up = upward(stage, place[None])[0] if shot.toward is None else np.array([0.0, 0.0, 1.0])
    level = _way(up, shot.turn, shot.down) if shot.toward is None else _unit(shot.toward)
    sun = _way(up, *shot.sun) if shot.sunward is None else _unit(shot.sunward)
    eye = place + shot.away * level
    aside = np.cross(up, side(up, level, 0.0))
    aim = place - shot.away * (shot.shift[0] * aside + shot.shift[1] * up)
    lens = looking(eye, aim, up, shot.size, np.radians(shot.wide))
    artist = Illustrator(stage, wording, grid=3, sun_rays=rays)
    return artist.picture(shot.time, 1.0, lens, sun)


def _unit(v: tuple[float, float, float]) -> Array:
    return np.asarray(np.array(v) / np.linalg.norm(v))


def _way(up: Array, turn: float, height: float) -> Array:
    """Unit vector at an angle from east and above the level [deg]."""
    level = side(up, frames.local_frame(up)[:, 0], np.radians(turn))
    return np.asarray(np.cos(np.radians(height)) * level + np.sin(np.radians(height)) * up)


def save(picture: npt.NDArray[np.uint8], file: Path, most: int = 250_000) -> int:
    """Write a JPEG of at most ``most`` bytes, as good as fits; its quality."""
    from PIL import Image

    for quality in (92, 88, 84, 80, 75, 70, 64, 58, 50):
        held = io.BytesIO()
        Image.fromarray(picture).save(held, "JPEG", quality=quality, optimize=True)
        if held.tell() <= most:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(held.getvalue())
            return quality
    raise InputError(f"{file.name} does not fit into {most} bytes: make it smaller.")
