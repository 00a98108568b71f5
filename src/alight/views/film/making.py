"""Making a film of a playback: times, cameras and light of its frames, then one after the other."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from alight.core import devices, frames
from alight.core.checks import Array, checked_whole
from alight.core.errors import InputError, unknown_name
from alight.core.progress import Progress, progress
from alight.views.film import encoding
from alight.views.film.camera_paths import lenses, side, upward
from alight.views.film.frame import Illustrator, Wording
from alight.views.film.stage import Stage
from alight.views.film.timing import Timing, timing
from alight.views.playback import Playback
from alight.views.render.lens import Lens

LIGHTS = ("auto", "scenario", "chosen")

#: The Sun is lower than this at night [sine of its height].
LOW = 0.03

#: Where more than this part of the frames would be at night, light is chosen.
DARK = 0.35

#: Light chosen for a picture: this high [rad].
CHOSEN = np.radians(32.0)


@dataclass(frozen=True)
class Settings:
    """How a film is made."""

    camera: str = ""
    """orbit, follow, ground or lander; follow of one run and orbit of several if not given."""
    frame: str = "body"
    """body (fixed in the target) or inertial (the target turns; with orbit)."""
    size: tuple[int, int] = (0, 0)
    """Columns and rows; 1280 x 720, or 640 x 360 of a gif, if not given."""
    fps: float = 24.0
    """Frames a second."""
    seconds: float = 10.0
    """Length of the film."""
    slow_motion: float = 0.5
    """Part of the film that is spent around the hardest contacts, 0 to 0.95."""
    start: float | None = None
    """First time that is shown [s]."""
    end: float | None = None
    """Last time that is shown [s]."""
    light: str = "auto"
    """scenario: the Sun of the scenario; chosen: one that shows the ground; auto: the former
    unless it is night where runs end."""
    grain: float = 0.2
    """Slopes of a fine roughness drawn on the ground for scale; 0 for none."""

    def checked(self, several: bool, gif: bool) -> Settings:
        """The same with defaults filled in; anything impossible is an error."""
        size = self.size if any(self.size) else ((640, 360) if gif else (1280, 720))
        for side_of in size:
            if not 16 <= checked_whole("size", side_of, 1) <= 7680:
                raise InputError(f"size {size[0]}x{size[1]}: both numbers must be 16 to 7680.")
        _between("fps", self.fps, 1.0, 120.0)
        _between("seconds", self.seconds, 0.1, 600.0)
        _between("slow_motion", self.slow_motion, 0.0, 0.95)
        _between("grain", self.grain, 0.0, 1.0)
        if self.light not in LIGHTS:
            raise unknown_name("light", self.light, LIGHTS)
        camera = self.camera or ("orbit" if several or self.frame == "inertial" else "follow")
        return dataclasses.replace(self, size=size, camera=camera)


def _between(name: str, value: float, low: float, high: float) -> None:
    if not low <= float(value) <= high:
        raise InputError(f"{name} is {value}; it must be a number from {low:g} to {high:g}.")


@dataclass(frozen=True, eq=False)
class Film:
    """A film that was written."""

    path: Path
    frames: int
    size: tuple[int, int]
    fps: float
    camera: str
    light: str
    """Where light came from, in words."""
    device: str

    def __str__(self) -> str:
        long, (columns, rows) = self.frames / self.fps, self.size
        return f"{self.path}: {self.frames} frames, {long:.1f} s, {columns}x{rows}, {self.camera}"


@dataclass(frozen=True, eq=False)
class Light:
    """Where the Sun stands at each frame, and what is said of it."""

    sun: Array
    """(n, 3) unit vectors."""
    night: npt.NDArray[np.bool_]
    note: str


def make(
    playback: Playback,
    out: str | os.PathLike[str],
    settings: Settings | None = None,
    *,
    device: str = "auto",
    show: str | Progress = "auto",
    wording: Wording | None = None,
) -> Film:
    """Write a film of a playback; its name must end in .mp4, .webm or .gif."""
    path = encoding.checked_out(out)
    given = (settings or Settings()).checked(
        len(playback.tracks) > 1, path.suffix.lower() == ".gif"
    )
    place = devices.resolve(device)
    shots = Shots(playback, given, place, wording)
    count = len(shots)
    with encoding.writer(path, given.size, given.fps) as file, progress(show) as bar:
        bar.start("Frames", total=count)
        for picture in shots:
            file.add(picture)
            bar.advance()
    return Film(path, count, given.size, given.fps, given.camera, shots.light.note, place.name)


class Shots:
    """The frames of a film, drawn as they are asked for."""

    def __init__(
        self,
        playback: Playback,
        settings: Settings,
        device: devices.Device,
        wording: Wording | None = None,
    ) -> None:
        given = self.settings = settings
        self.stage = Stage(_moving(playback), device, given.grain)
        start, end = _span(playback, given)
        number = max(1, round(given.fps * given.seconds))
        self.timing = timing(playback, number, given.seconds, given.slow_motion, start, end)
        self.light = light(self.stage, self.timing, given)
        middle = self.light.sun[number // 2]
        self.lenses: list[Lens] = lenses(
            self.stage, self.timing, given.camera, given.frame, given.size, given.fps, middle
        )
        self.artist = Illustrator(
            self.stage, wording or _wording(playback, self.light.note), given.frame == "inertial"
        )
        share = given.slow_motion if len(np.unique(self.timing.rate)) > 1 else 0.0
        self.artist.usual = (end - start) / given.seconds / (1.0 - share)

    def __len__(self) -> int:
        return len(self.timing.time)

    def __iter__(self) -> Iterator[npt.NDArray[np.uint8]]:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, k: int) -> npt.NDArray[np.uint8]:
        """Frame number k."""
        return self.artist.picture(
            float(self.timing.time[k]),
            float(self.timing.rate[k]),
            self.lenses[k],
            self.light.sun[k],
            bool(self.light.night[k]),
        )


def _moving(playback: Playback) -> Playback:
    if not playback.tracks:
        why = f" ({'; '.join(playback.notes)})" if playback.notes else ""
        raise InputError(f"nothing moves in {playback.title!r}: a film needs a run{why}.")
    return playback


def _span(playback: Playback, settings: Settings) -> tuple[float, float]:
    """First and last time that is shown."""
    first = min(float(track.time[0]) for track in playback.tracks)
    start = first if settings.start is None else float(settings.start)
    end = playback.end if settings.end is None else float(settings.end)
    if not (first <= start <= end <= playback.end * (1.0 + 1e-9)):
        raise InputError(
            f"times from {start:g} s to {end:g} s are asked for; the runs last from {first:g} s "
            f"to {playback.end:g} s."
        )
    return start, min(end, playback.end)


def _wording(playback: Playback, note: str) -> Wording:
    tracks = playback.tracks
    if len(tracks) > 1:
        told = f"{len(tracks)} runs"
    else:
        told = f"run {tracks[0].run}" if playback.folder else ""
    return Wording(playback.title, told, note)


def light(stage: Stage, timing: Timing, settings: Settings) -> Light:
    """The Sun of the scenario, or one that was chosen."""
    play = stage.playback
    up = upward(stage, stage.middle[None])[0]
    if settings.light == "scenario" and play.sun is None:
        raise InputError(
            'light "scenario": the scenario names no Sun (environment.sun); use "auto" or "chosen".'
        )
    if play.sun is not None and settings.light != "chosen":
        sun = np.atleast_2d(play.sun(timing.time))
        night = np.zeros(len(sun), dtype=np.bool_) if play.target is None else sun @ up < LOW
        if settings.light == "scenario" or night.mean() < DARK:
            return Light(sun, night, "")
        note = "night at the site: light chosen for the picture"
    else:
        note = "light chosen for the picture" if play.sun is None else "chosen light"
    return Light(_chosen(stage, timing, settings, up), np.zeros(len(timing.time), np.bool_), note)


def _chosen(stage: Stage, timing: Timing, settings: Settings, up: Array) -> Array:
    """A Sun that stands still in the frame of the film, well above the focus."""
    level = side(up, frames.local_frame(up)[:, 0], 0.0)
    fixed = np.cos(CHOSEN) * level + np.sin(CHOSEN) * up
    turns = stage.playback.attitude
    if settings.frame == "inertial" and turns is not None:
        first = frames.quat_rotate(turns(timing.time[:1])[0], fixed)
        return np.asarray(frames.quat_rotate_inv(turns(timing.time), first))
    return np.tile(fixed, (len(timing.time), 1))
