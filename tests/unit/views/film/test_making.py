"""Films: frames, cameras, titles and files."""

import os

import numpy as np
import pytest
from PIL import Image
from tests.unit.views.film.conftest import HALF, RADIUS, track

from alight.core import devices
from alight.core.errors import AlightError, FileError, InputError, MissingExtraError
from alight.views.film import encoding, ink
from alight.views.film.making import Settings, Shots, make

SMALL = {"size": (96, 54), "fps": 5.0, "seconds": 1.0}


def shots(playback, **settings):
    given = Settings(**{**SMALL, **settings}).checked(len(playback.tracks) > 1, gif=False)
    return Shots(playback, given, devices.resolve("cpu"))


def test_a_gif_has_all_frames_and_its_size(playback, tmp_path):
    out = tmp_path / "fall.gif"
    made = make(playback(), out, Settings(**{**SMALL, "seconds": 2.0}), device="cpu", show="silent")
    with Image.open(out) as found:
        assert (found.n_frames, found.size) == (10, (96, 54))
        assert found.info["duration"] == 200
    assert (made.frames, made.camera) == (10, "follow")
    assert os.listdir(tmp_path) == ["fall.gif"]


def test_a_gif_has_the_colours_of_all_its_frames(tmp_path):
    """A film that begins in the dark: what comes later is not shown in the colours of the dark, nor
    a mark of a few pixels in those of the ground."""
    rows = np.linspace(90.0, 200.0, 54)[:, None, None]
    bright = np.broadcast_to(rows * [1.0, 0.95, 0.9], (54, 96, 3)).astype(np.uint8)
    bright[20:40, 30:50] = [225, 190, 110]
    bright[6:9, 6:9] = [255, 107, 76]
    shown = [np.full((54, 96, 3), 8, np.uint8), *[bright] * 3]
    out = tmp_path / "dawn.gif"
    with encoding.writer(out, (96, 54), 5.0) as file:
        for frame in shown:
            file.add(frame)
    with Image.open(out) as found:
        found.seek(found.n_frames - 1)
        last = np.asarray(found.convert("RGB"), float)
    assert np.abs(last - bright).max() < 16.0


@pytest.mark.parametrize("ending", [".mp4", ".webm"])
def test_ffmpeg_files_have_all_frames(playback, tmp_path, ending):
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    out = tmp_path / f"fall{ending}"
    make(playback(), out, Settings(**SMALL), device="cpu", show="silent")
    frames = imageio_ffmpeg.read_frames(str(out))
    assert next(frames)["size"] == (96, 54)
    assert sum(1 for _ in frames) == 5


@pytest.mark.parametrize("camera", ["orbit", "follow", "ground", "lander"])
def test_every_camera_sees_ground_and_stands_above_it(playback, camera):
    found = shots(playback(), camera=camera)
    for lens in found.lenses:
        assert np.linalg.norm(lens.eye) > RADIUS + HALF
    for k in (0, 2, 4):
        picture = found[k].astype(float)
        assert picture.std() > 5.0  # neither black nor one grey
        assert picture.mean() > 10.0


@pytest.mark.parametrize("seconds", [4.0, 1.0])  # slowly, and in much less time than it takes
@pytest.mark.parametrize("camera", ["orbit", "follow", "ground"])
def test_the_lander_is_in_the_picture_and_not_hidden(playback, camera, seconds):
    found = shots(playback(), camera=camera, seconds=seconds)
    for time, lens in zip(found.timing.time, found.lenses, strict=True):
        place = found.stage.playback.tracks[0].at(time)[0][0, 0]
        (column, row), away = lens.project(place)
        assert 0.0 <= column <= lens.columns
        assert 0.0 <= row <= lens.rows
        toward = (lens.eye - place) / away
        start = (place + 2.0 * HALF * toward)[None]
        assert found.stage.is_open(start, toward[None], np.array([away - 3.0 * HALF]))[0]


def test_in_the_inertial_frame_the_camera_stands_still_while_the_body_turns(playback):
    rate = 2.0 * np.pi / 160.0

    def turning(times):
        half = 0.5 * rate * np.atleast_1d(times)
        zero = np.zeros_like(half)
        return np.stack([zero, zero, np.sin(half), np.cos(half)], axis=1)

    found = shots(playback(attitude=turning), frame="inertial", camera="orbit", slow_motion=0.0)
    eyes = np.array([lens.eye for lens in found.lenses])
    angle = rate * found.timing.time
    # Back in space only the slow turn of the orbit is left: 70 degrees over the film.
    x = np.cos(angle) * eyes[:, 0] - np.sin(angle) * eyes[:, 1]
    y = np.sin(angle) * eyes[:, 0] + np.cos(angle) * eyes[:, 1]
    turned = np.unwrap(np.arctan2(y, x))
    assert np.degrees(turned[-1] - turned[0]) == pytest.approx(70.0, abs=1e-6)


def test_light_of_the_scenario_and_light_that_is_chosen(playback):
    def sun(height):
        way = np.array([np.sin(height), np.cos(height), 0.0])
        return lambda times: np.tile(way, (len(np.atleast_1d(times)), 1))

    day = shots(playback(sun=sun(0.6)))
    assert day.light.note == ""
    assert day.light.sun[0] == pytest.approx([np.sin(0.6), np.cos(0.6), 0.0])
    night = shots(playback(sun=sun(-0.6)))
    assert "night" in night.light.note
    assert night.light.sun[0, 0] > 0.3  # above the focus, on the x axis
    assert "chosen" in shots(playback()).light.note
    kept = shots(playback(sun=sun(-0.6)), light="scenario")
    assert kept.light.night.all()


def test_the_shadow_lies_beneath_the_lander(playback):
    """Lit from straight above, the ground beneath a cube is darker than beside it."""
    overhead = lambda times: np.tile([1.0, 0.0, 0.0], (len(np.atleast_1d(times)), 1))  # noqa: E731
    found = shots(playback(sun=overhead), camera="orbit", size=(320, 180), grain=0.0)
    scene, lens = found.stage.at(5.0), found.lenses[0]
    from alight.views.render.exposure import Exposure, Lamps, Light

    sun = np.array([1.0, 0.0, 0.0])
    lit = Exposure(scene, lens, Lamps(sun, sun), 1).develop(Light(1.0, 0.0, 0.0))[..., 0]
    beneath, _ = lens.project(np.array([[RADIUS, 0.0, 0.0], [RADIUS - 0.1, 1.2, 0.0]]))
    (c0, r0), (c1, r1) = beneath.astype(int)
    assert lit[r0, c0] == 0.0
    assert lit[r1, c1] > 0.2


def test_paths_behind_the_ground_are_faint(playback):
    depth = np.full((54, 96), 5.0, dtype=np.float32)
    lens = shots(playback()).lenses[0]
    for far, bright in ((4.0, True), (6.0, False)):
        canvas = ink.Canvas(np.zeros((54, 96, 3), np.uint8), depth, lens)
        ahead = lens.eye - far * lens.axes[2]
        canvas.path(np.array([ahead, ahead + 0.1 * lens.axes[0]]), (1.0, 1.0, 1.0), 40.0)
        assert (canvas.picture.max() > 150) == bright
        assert canvas.picture.max() > 20


def test_hostile_titles_are_drawn_plainly(playback):
    wild = "<b>$x^2$</b>\n\x1b[31m\u202e {boom} " + "W" * 400
    line = ink.plain(wild)
    assert "\n" not in line
    assert "\x1b" not in line
    assert "\\u001b" in line
    assert "\\u202e" in line
    picture = shots(playback(title=wild), size=(320, 180))[0]
    assert picture.shape == (180, 320, 3)
    # Cut at the margin: nothing of it stands at the right edge.
    assert picture[:20, -6:].max() < 60


def test_several_runs_have_colours_and_are_seen_from_an_orbit(playback):
    found = shots(playback(tracks=[track(0), track(1, 1.0), track(2, -1.0)]))
    assert found.settings.camera == "orbit"
    colours = {found.stage.colour(k) for k in range(3)}
    assert len(colours) == 3
    assert len(found.stage.scene.things) == 1 + 3


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"camera": "orbits"}, "orbit"),
        ({"frame": "fixed"}, "inertial"),
        ({"frame": "inertial", "camera": "ground"}, "orbit"),
        ({"size": (8, 8)}, "16 to 7680"),
        ({"fps": 0.0}, "fps"),
        ({"seconds": -1.0}, "seconds"),
        ({"slow_motion": 1.0}, "0.95"),
        ({"light": "lamp"}, "chosen"),
        ({"light": "scenario"}, "names no Sun"),
        ({"end": 1e9}, "last from 0 s to 40 s"),
    ],
)
def test_impossible_settings_are_explained(playback, given, said):
    with pytest.raises(InputError, match=said):
        shots(playback(), **given)


def test_nothing_moves(playback, tmp_path):
    with pytest.raises(InputError, match="needs a run"):
        make(playback(tracks=()), tmp_path / "a.gif", Settings(**SMALL), device="cpu")


def test_names_that_cannot_be_written(tmp_path):
    with pytest.raises(InputError, match=r"\.mp4, \.webm, \.gif"):
        encoding.checked_out(tmp_path / "film.avi")
    with pytest.raises(FileError, match="no folder"):
        encoding.checked_out(tmp_path / "nowhere" / "film.gif")
    with pytest.raises(InputError, match="even"):
        encoding.writer(tmp_path / "film.mp4", (97, 54), 24.0)


def test_without_ffmpeg_one_line_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "imageio_ffmpeg", None)
    with pytest.raises(MissingExtraError, match=r"alight\[film\].*\.gif") as error:
        encoding.checked_out(tmp_path / "film.mp4")
    assert "\n" not in str(error.value)
    assert encoding.checked_out(tmp_path / "film.gif")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_full_disk_is_an_error_and_leaves_nothing(playback, tmp_path):
    out = tmp_path / "film.gif"
    file = encoding.writer(out, (96, 54), 5.0)
    file._file.part.symlink_to("/dev/full")
    file.add(np.random.default_rng(0).integers(0, 255, (54, 96, 3), np.uint8))
    with pytest.raises(AlightError, match="could not be written"):
        file.__exit__(None, None, None)
    assert not os.listdir(tmp_path)


def test_what_was_there_stays_when_a_film_breaks_off(tmp_path):
    out = tmp_path / "film.gif"
    out.write_bytes(b"before")
    file = encoding.writer(out, (96, 54), 5.0)
    file.add(np.zeros((54, 96, 3), np.uint8))
    file.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert out.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["film.gif"]
