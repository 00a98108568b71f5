"""Twelve pictures and three short films of what Alight does, drawn by the renderer of its films.

Run it with:  python examples/pictures.py [FOLDER] [NAME ...]     (docs/pictures if none is named)

``docs/gallery.md`` shows them and says what each is. All bodies are the built-in ones; two
campaigns are computed first (out/pictures keeps them).
"""

import dataclasses
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

import alight
from alight.core import frames
from alight.views import style
from alight.views.film.frame import Wording
from alight.views.film.stills import Shot, save, still
from alight.views.playback import Playback

ROOT = Path(__file__).parents[1]
SCENARIOS = ROOT / "scenarios"
KEPT = Path("out/pictures")

Picture = np.ndarray

#: Nearly: what is up there is said by the shot.
CENTRE = (0.0, 0.0, 1e-3)


def _play(name: str) -> Playback:
    return alight.playback(SCENARIOS / f"{name}.toml")


def _facing(focus: np.ndarray, east: float, north: float) -> tuple[float, float, float]:
    """A direction over a place, turned east and north of it (tangents)."""
    axes = frames.local_frame(focus)
    way = axes[:, 2] + east * axes[:, 0] + north * axes[:, 1]
    return (float(way[0]), float(way[1]), float(way[2]))


def _bare(play: Playback) -> Playback:
    """A whole body alone: its fine ground, where runs end, would be a patch on it."""
    return dataclasses.replace(play, terrain=None, square=None, wider=None, patches=())


def _words(title: str, told: str, **more: bool) -> Wording:
    given = {"clock": False, "whole": True, "ring": False, **more}
    return Wording(title, told, **given)


def ryugu_landing() -> Picture:
    """The reference landing: one fall from 60 m and what is left of it after each bounce."""
    play = _play("ryugu_minerva")
    told = "Fall from 60 m, twelve contacts, at rest after an hour; shadows show the height"
    first = float(play.tracks[0].contacts.time[0])
    shot = Shot(first + 11.0, 3.2, -75.0, 15.0, (-140.0, 40.0), shift=(-0.08, 0.09))
    return still(play, shot, _words("MINERVA-II-1 on Ryugu", told))


def ryugu_rocks() -> Picture:
    """A rover between rocks that are as they are touched."""
    play = _play("ryugu_minerva_rocks")
    hit = play.tracks[0].contacts.time
    time = float(hit[hit > 2400.0][0]) + 1.0
    shot = Shot(time, 1.6, -60.0, 16.0, (175.0, 30.0), shift=(0.02, 0.02))
    told = "Contact with single rocks of a measured size law: the hull of the rover and theirs"
    return still(play, shot, _words("Among the rocks of Ryugu", told, contacts=False))


def itokawa_runs() -> Picture:
    """Many landings at once, and where all of a campaign end."""
    play = _campaign("itokawa_cube", 120, range(30))
    toward, sunward = _facing(play.focus[0], 0.75, 0.35), _facing(play.focus[0], -0.6, 0.8)
    shot = Shot(0.0, 4.6 * play.size, at=CENTRE, toward=toward, sunward=sunward, wide=32.0)
    told = "30 trajectories and 120 rest sites of one campaign"
    return still(play, shot, _words("A cube on Itokawa", told))


def philae() -> Picture:
    """Philae's bounce over the head of the comet."""
    play = _bare(_play("philae_67p"))
    toward, sunward = (0.8, -1.0, 0.55), (0.9, 0.1, 0.75)
    shot = Shot(60.0, 9000.0, at=CENTRE, toward=toward, sunward=sunward, wide=38.0)
    told = "One touch at 1 m/s, two hours of flight over a kilometre, then the rest"
    return still(play, shot, _words("Philae's first bounce on 67P", told), grain=0.25)


def legs() -> Picture:
    """An articulated lander at its first touch."""
    play = _play("paper002_landing")
    first = float(play.tracks[0].contacts.time[0])
    shot = Shot(first + 0.4, 11.0, -65.0, 13.0, (-130.0, 30.0), shift=(0.0, 0.0), wide=38.0)
    told = "Tree of rigid bodies, dampers and crushable elements; red: pads that touched"
    return still(play, shot, _words("Landing on crushable legs", told, trails=False))


def capture() -> Picture:
    """A tumbling asteroid in a membrane."""
    play = _play("paper003_capture")
    shot = Shot(42.0, 50.0, 100.0, -15.0, (130.0, -5.0), shift=(0.05, -0.09), wide=42.0)
    told = "Spacecraft, membrane on an elastic ring, 13 m asteroid"
    words = _words("Capture of a tumbling asteroid", told, trails=False, contacts=False)
    return still(play, shot, words)


def hop() -> Picture:
    """Two hops by the brake of a flywheel."""
    play = _play("wheel_hop_phobos")
    track = play.tracks[0]
    path = track.position[:, 0]
    low = (path[:, 2] < 1.3) & (path[:, 2] > 0.8) & (path[:, 0] > 0.5 * path[:, 0].max())
    time = float(track.time[np.flatnonzero(low)[0]])
    shot = Shot(time, 7.0, -105.0, 5.0, (-165.0, 28.0), shift=(0.1, -0.02))
    told = "From rest: the wheel spins up in 90 s, the brake throws the cube over its edge"
    return still(play, shot, _words("Hopping with a flywheel on Phobos", told))


def density() -> Picture:
    """Where a thousand landings end, as a density on the body."""
    play = _campaign("ryugu_minerva", 1000, [0])
    bare = _bare(play)
    assert bare.target is not None
    assert bare.sites is not None
    place = bare.sites.place[np.isfinite(bare.sites.place).all(axis=1)]
    fine = alight.body("ryugu").mesh(81_920)
    bare = dataclasses.replace(bare, target=fine)
    near = cKDTree(place).query_ball_point(fine.vertices, 18.0, return_length=True)
    share = (near / max(1, near.max()))[:, None] ** 0.5
    grey = np.array([0.70, 0.685, 0.66])
    ink = np.asarray(style.SLOPE(0.15 + 0.75 * share[:, 0]))[:, :3]
    colours = np.where(share > 0.02, (1.0 - share) * grey + share * ink, grey)
    focus, _ = bare.focus
    toward, sunward = _facing(focus, 0.3, -0.15), _facing(focus, -0.55, 0.7)
    at = tuple(0.5 * focus)
    shot = Shot(0.0, 1000.0, at=at, toward=toward, sunward=sunward, wide=40.0)
    told = "Rest sites of 1 000 landings; colour: how many lie within 18 m"
    words = _words("Where does it come to rest?", told, trails=False, contacts=False)
    return still(bare, shot, words, colours=colours, grain=0.12)


def dimorphos() -> Picture:
    """A cubesat at Dimorphos, whose companion fills a part of its sky."""
    play = _play("juventas_dimorphos")
    first = float(play.tracks[0].contacts.time[0])
    shot = Shot(first + 20.0, 4.5, -70.0, 24.0, (20.0, 35.0), shift=(-0.05, 0.02))
    told = "A 6U cubesat after its first contact, under the tide of Didymos"
    return still(play, shot, _words("Juventas on Dimorphos", told))


def mascot() -> Picture:
    """A whole landing in one picture."""
    play = _play("mascot_ryugu")
    track = play.tracks[0]
    shot = Shot(float(track.contacts.time[0]) + 60.0, 34.0, -75.0, 24.0, (-140.0, 35.0), wide=42.0)
    told = "Path and contacts; the box is a minute into its first bounce"
    return still(play, shot, _words("MASCOT bounces on Ryugu", told, ring=True))


def idefix() -> Picture:
    """A rover with leg-wheels, fallen from 40 m."""
    play = _play("idefix_drop_phobos")
    first = float(play.tracks[0].contacts.time[0])
    shot = Shot(first + 0.6, 4.2, -60.0, 14.0, (-135.0, 32.0), shift=(0.0, 0.04), wide=38.0)
    told = "Dropped from 40 m at 0.67 m/s; its four leg-wheels right it afterwards"
    return still(play, shot, _words("IDEFIX drops on Phobos", told, trails=False))


def trampoline() -> Picture:
    """A body that falls on a membrane."""
    play = _play("paper003_drop")
    shot = Shot(1.75, 29.0, 35.0, 20.0, (80.0, 30.0), shift=(0.0, -0.04), wide=38.0)
    told = "100 kg fallen from 10 m, half a second after contact with the fabric"
    words = _words("A drop on a membrane", told, trails=False, contacts=False)
    return still(play, shot, words)


PICTURES: dict[str, Callable[[], Picture]] = {
    one.__name__: one
    for one in (
        ryugu_landing, ryugu_rocks, itokawa_runs, philae, legs, capture, hop, density,
        dimorphos, mascot, idefix, trampoline,
    )
}  # fmt: skip

#: Scenarios of films, and how they are filmed.
FILMS: dict[str, dict[str, Any]] = {
    "ryugu_minerva": {"camera": "follow"},
    "paper002_landing": {"camera": "follow", "end": 12.0},
    "paper003_capture": {"camera": "follow", "end": 120.0},
}


def film(name: str, file: Path) -> None:
    """A short film of a scenario, small enough for a page."""
    given = {"size": (320, 180), "fps": 10.0, "seconds": 5.0, "grain": 0.0, "progress": "silent"}
    made = alight.film(SCENARIOS / f"{name}.toml", file, **given, **FILMS[name])
    print(f"wrote {made}", flush=True)


def _campaign(name: str, runs: int, shown: "range | list[int]") -> Playback:
    """Runs of a campaign, which is computed if it is not there."""
    folder = KEPT / name
    alight.run_campaign(SCENARIOS / f"{name}.toml", runs=runs, out=folder)
    return alight.playback(folder, runs=list(shown))


def main(folder: Path, names: list[str]) -> None:
    """Draw the pictures and films that are named, or all."""
    for name in names or [*PICTURES, *FILMS]:
        if name in FILMS:
            film(name, folder / f"{name}.gif")
            continue
        file = folder / f"{name}.jpg"
        quality = save(PICTURES[name](), file)
        print(f"wrote {file} (quality {quality})", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs/pictures"), sys.argv[2:])
