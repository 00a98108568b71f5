"""The viewer's page: its size, the time to write it, and how it plays in software rendering."""

import pathlib
import sys
import tempfile
import time
from typing import Any

import numpy as np

from alight.cli import bench
from alight.cli.bench import Row
from alight.core import devices, frames
from alight.core.devices import Device
from alight.core.interpolation import turned
from alight.scenario import bodies
from alight.vehicles import RigidLander
from alight.views.playback import Part, Playback, Track
from alight.views.viewer.container import opened
from alight.views.viewer.page import page_text
from alight.views.viewer.scene import encoded

TITLE = "Viewer"

NOTES = """\
A page with a body of 50 000 facets and 100 tumbling landers over 1200 frames (60 s at 20 Hz, three
bounces each). *error* of the page is the largest error of a decoded position at any of the 120 000
frames and midway between two, and of its attitudes, over what the page states. Frames a second are
those of Chromium with SwiftShader, which draws on the CPU, in a window of 1100 by 800 pixels; the
picture is read back.
"""

FACETS, LANDERS, FRAMES, RATE = 50_000, 100, 1200, 20.0
#: Bytes, seconds and frames a second that are asked for.
MOST_BYTES, MOST_SECONDS, LEAST_FRAMES = 3e6, 2.0, 5.0
TESTS = pathlib.Path(__file__).parents[1] / "tests" / "unit" / "views" / "viewer"


def tumbling(facets: int = FACETS, landers: int = LANDERS, count: int = FRAMES) -> Playback:
    """Landers that are thrown up from the ground, tumble, and bounce."""
    body = bodies.find("Ryugu").mesh(facets)
    lander = RigidLander.box((0.3, 0.25, 0.2), 10.0)
    parts = (Part.of_mesh("box", "lander", lander.hull),)
    rng = np.random.default_rng(5)
    first = rng.choice(body.n_vertices, landers, replace=False)
    tracks = [_track(k, body, int(first[k]), rng, count) for k in range(landers)]
    return Playback("Tumbling landers", parts, tuple(tracks), target=body)


def _track(run: int, body: Any, vertex: int, rng: Any, count: int) -> Track:
    """Four parabolas one after the other, each half as long and half as fast as the one before."""
    time_ = np.arange(count) / RATE
    span = time_[-1] / 1.875
    start = np.cumsum([0.0, *(span / 2.0**k for k in range(3))])
    arc = np.clip(np.searchsorted(start, time_, side="right") - 1, 0, 3)
    s = time_ - start[arc]
    length = span / 2.0**arc
    up, foot = body.vertex_normals[vertex], body.vertices[vertex]
    east, north, _ = np.asarray(frames.local_frame(up)).T
    pull = 8.0 * rng.uniform(2.0, 6.0) / span**2
    height = np.maximum(0.5 * pull * s * (length - s), 0.0)
    drift = rng.uniform(-0.2, 0.2, 2)
    place = foot + height[:, None] * up + time_[:, None] * (drift[0] * east + drift[1] * north)
    axis, wobble = rng.normal(size=3), rng.uniform(0.2, 0.6)
    spin = frames.quat_from_axis_angle(axis, rng.uniform(0.5, 2.0) * time_)
    nod = frames.quat_from_axis_angle((1.0, 0.0, 0.0), wobble * np.sin(0.7 * time_))
    speed = np.gradient(place, time_, axis=0)
    turn = frames.quat_multiply(spin, nod)
    return Track(run, "settled", time_, place[:, None], speed[:, None], turn[:, None])


def errors(playback: Playback, text: str) -> tuple[float, float]:
    """Largest distance [m] and angle [rad] between tracks and what a page shows of them."""
    header, arrays = opened(text)
    far = angle = 0.0
    for track, told in zip(playback.tracks, header["tracks"], strict=True):
        own = slice(told["first"], told["first"] + told["count"])
        t = arrays["time1"][own, 0]
        moments = np.union1d(track.time, 0.5 * (track.time[1:] + track.time[:-1]))
        real_place, real_turn, _ = track.at(moments)
        left = np.clip(np.searchsorted(t, moments, side="right") - 1, 0, len(t) - 2)
        s = np.clip((moments - t[left]) / (t[left + 1] - t[left]), 0.0, 1.0)
        place, turn = arrays["place1"][own], frames.quat_normalize(arrays["turn1"][own])
        shown = place[left] + s[:, None] * (place[left + 1] - place[left])
        far = max(far, float(np.linalg.norm(shown - real_place[:, 0], axis=1).max()))
        even = turned(turn[left][:, None], turn[left + 1][:, None], s)[:, 0]
        dot = np.abs((even * real_turn[:, 0]).sum(axis=1))
        angle = max(angle, float(2.0 * np.arccos(np.clip(dot, 0.0, 1.0)).max()))
    return far, angle


def rows(device: Device, repeats: int = 3) -> list[Row]:
    """Size, time to write and speed of the page."""
    shown = tumbling()
    made = encoded(shown)
    far, angle = errors(shown, made.text)
    error = max(far / made.errors["position_m"], angle / made.errors["angle_rad"])
    took, page = [], ""
    for _ in range(repeats):
        begin = time.perf_counter()
        page = page_text(shown)
        took.append(time.perf_counter() - begin)
    found = [
        Row("page", len(page) / 1e6, "MB", asked=MOST_BYTES / 1e6, error=error, error_allowed=1.0),
        Row("page: written", sorted(took)[repeats // 2], "s", asked=MOST_SECONDS),
    ]
    return found + _played(page)


def _played(page: str) -> list[Row]:
    """Frames a second in a browser; nothing where there is none."""
    import shutil

    sys.path.insert(0, str(TESTS))
    import browser  # type: ignore[import-not-found]

    if not any(shutil.which(name) for name in browser.NAMES):
        return []
    with tempfile.TemporaryDirectory() as folder, browser.browser(1100, 800) as seen:
        file = pathlib.Path(folder) / "page.html"
        file.write_text(page, encoding="utf-8")
        seen.open(file)
        seen.run("(await alightViewers)[0].measure(3)")
        speed = seen.run("(await alightViewers)[0].measure(30)")
    return [Row("page: played", 1.0 / speed, "s a frame", asked=1.0 / LEAST_FRAMES)]


def main() -> int:
    """Measure and print; 1 when the page is wrong."""
    found = rows(devices.resolve("cpu"))
    print(bench.markdown_of(found))
    return 0 if all(row.right for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
