"""One picture of a film: the scene in its light, paths and marks, and what is written on it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from alight.core import frames
from alight.core.checks import Array
from alight.core.progress import duration
from alight.views import words
from alight.views.film.ink import Canvas, Line, darkened, write
from alight.views.film.stage import Stage
from alight.views.playback import Track
from alight.views.render.exposure import Exposure, Lamps, Light
from alight.views.render.lens import Lens

#: The Sun, what fills its shadows, and the sky; linear light of the empty sky.
LIGHT, SPACE = Light(sun=1.1, fill=0.07, sky=0.06), (0.0022, 0.0026, 0.0038)
#: At night: as the eye would see it after a while.
NIGHT = Light(sun=1.1, fill=0.12, sky=0.14)

#: Colours of text.
WHITE, PALE, SLOW = (0.98, 0.98, 0.99), (0.88, 0.90, 0.93), (1.0, 0.78, 0.30)
#: Of contacts and of sites.
CONTACT = (1.0, 0.42, 0.30)
OUTCOMES = {"settled": (1.0, 0.95, 0.80)}
OTHER = (0.45, 0.72, 1.0)

STARS = 900

#: Speeds beneath this are not told apart [m/s].
STILL = 1e-5


@dataclass(frozen=True)
class Wording:
    """What is written, and which marks are drawn."""

    title: str
    subtitle: str = ""
    note: str = ""
    """At the lower right: where light comes from."""
    clock: bool = True
    """Time, speed and rate of the picture at the lower left."""
    trails: bool = True
    contacts: bool = True
    sites: bool = True
    ring: bool = True
    """Round a lander that would be too small to be seen."""
    whole: bool = False
    """Paths to their ends, not only to the time of the picture: for stills."""


@dataclass
class Illustrator:
    """Draws pictures of a stage."""

    stage: Stage
    wording: Wording
    inertial: bool = False
    grid: int = 2
    sun_rays: int = 1
    stars: Array = field(init=False)
    starlight: Array = field(init=False)

    def __post_init__(self) -> None:
        chance = np.random.default_rng(4)
        away = chance.normal(size=(STARS, 3))
        self.stars = away / np.linalg.norm(away, axis=1, keepdims=True)
        self.starlight = 0.18 + 0.6 * chance.random(STARS) ** 4

    def picture(
        self, time: float, rate: float, lens: Lens, sun: Array, night: bool = False
    ) -> npt.NDArray[np.uint8]:
        """(rows, columns, 3) bytes at a time [s]; ``rate`` is how fast it passes on screen."""
        scene = self.stage.at(time)
        # Light that fills shadows comes from beside the viewer: nothing is lost in the dark.
        fill = np.array([-0.45, 0.55, 0.70]) @ lens.axes
        lamps = Lamps(sun, fill, 0.0047 if self.sun_rays > 1 else 0.0, self.sun_rays)
        shot = Exposure(scene, lens, lamps, self.grid)
        canvas = Canvas(shot.show(NIGHT if night else LIGHT, SPACE), shot.depth, lens)
        canvas.sky(self._stars(time), self.starlight)
        self._marks(canvas, time, lens)
        return self._written(canvas.picture, time, rate, night)

    def _stars(self, time: float) -> Array:
        turns = self.stage.playback.attitude
        if turns is None:
            return self.stars
        return np.asarray(frames.quat_rotate_inv(turns(np.array([time]))[0], self.stars))

    def _marks(self, canvas: Canvas, time: float, lens: Lens) -> None:
        play, wording = self.stage.playback, self.wording
        if wording.sites and play.sites is not None:
            known = np.isfinite(play.sites.place).all(axis=1)
            outcome = np.array(play.sites.outcome)
            lift = 0.3 * play.lander_size
            place = play.sites.place + lift * _outward(play.sites.place)
            for word in np.unique(outcome[known]):
                canvas.dots(place[known & (outcome == word)], OUTCOMES.get(word, OTHER), 3.0, 0.85)
        several = len(play.tracks) > 1
        for number, track in enumerate(play.tracks):
            colour = self.stage.colour(number)
            now = track.end if wording.whole else time
            if wording.trails:
                points, age = self._trail(track, now, time)
                canvas.path(points, colour, 2.2 if several else 2.9, 0.35 + 0.6 * age)
            if wording.contacts and not several:
                met = track.contacts
                canvas.dots(met.place[met.time <= now], CONTACT, 6.0, 0.9)
            here = track.at(time)[0][0, 0]
            if wording.ring and self._is_small(here, lens):
                canvas.ring(here, colour, 11.0)

    def _trail(self, track: Track, now: float, shown: float) -> tuple[Array, Array]:
        """Points of a path until a time, and how late each is, 0 to 1."""
        times = track.time
        start = float(times[0])
        wanted = np.union1d(times[times <= now], np.linspace(start, max(now, start), 400))
        points = track.at(wanted)[0][:, 0]
        turns = self.stage.playback.attitude
        if self.inertial and turns is not None:
            q = frames.quat_multiply(frames.quat_conjugate(turns(np.array([shown]))), turns(wanted))
            points = frames.quat_rotate(q, points)
        late = (wanted - start) / max(now - start, 1e-12)
        return points, late

    def _is_small(self, place: Array, lens: Lens) -> bool:
        away = float(np.linalg.norm(place - lens.eye))
        pixels = 2.0 * self.stage.playback.lander_size / (away * lens.pixel)
        return pixels < 0.022 * lens.rows

    def _written(
        self, picture: npt.NDArray[np.uint8], time: float, rate: float, night: bool
    ) -> npt.NDArray[np.uint8]:
        wording = self.wording
        top: list[Line] = [(wording.title, 25.0, True, WHITE)] if wording.title else []
        if subtitle := self._subtitle(time):
            top.append((subtitle, 16.0, False, PALE))
        if top:
            picture = write(darkened(picture, top=True), top, "top left")
        if wording.clock:
            picture = darkened(picture, top=False)
            picture = write(picture, self._clock(time, rate), "bottom left")
        note = wording.note or ("night" if night else "")
        if note:
            picture = write(picture, [(note, 12.0, False, PALE)], "bottom right")
        return picture

    def _subtitle(self, time: float) -> str:
        """What stands beneath the title; how a single run ended, once it has."""
        tracks = self.stage.playback.tracks
        told = [self.wording.subtitle] if self.wording.subtitle else []
        if len(tracks) == 1 and time >= tracks[0].end and self.wording.clock:
            told.append(tracks[0].outcome.replace("_", " "))
        return ", ".join(told)

    def _clock(self, time: float, rate: float) -> list[Line]:
        """Time, speed of the first lander, and how fast the picture plays."""
        lines: list[Line] = []
        tracks = self.stage.playback.tracks
        told = f"t = {duration(time)}"
        if len(tracks) == 1:
            speed = float(tracks[0].speed_at(time))
            told += f"   speed {_speed(speed)}"
        lines.append((told, 18.0, True, WHITE))
        slow = rate < 0.6 * self.usual if self.usual else False
        said = f"{words.number(rate)} × real time" + ("  slow motion" if slow else "")
        lines.append((said, 14.0, False, SLOW if slow else PALE))
        return lines

    #: Rate of the even part of a film; slower pictures are marked as slow motion.
    usual: float = 0.0


def _speed(speed: float) -> str:
    if speed < STILL:
        return "below 0.01 mm/s"
    unit = words.speed(speed)
    return f"{words.number(speed / unit.size)} {unit.name}"


def _outward(points: Array) -> Array:
    away = np.linalg.norm(points, axis=1, keepdims=True)
    return np.asarray(points / np.where(away > 0.0, away, 1.0))
