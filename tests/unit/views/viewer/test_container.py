"""What a page carries: rounding within half a step, lines within tolerances, jumps kept."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from viewer_case import FAR_NAME, bouncing, playback

from alight.core.interpolation import turned
from alight.views.playback import Track
from alight.views.viewer.container import Container, opened
from alight.views.viewer.keyframes import kept_lines
from alight.views.viewer.page import page_text
from alight.views.viewer.scene import MOST_BYTES, encoded


@given(arrays(np.float64, (7, 3), elements=st.floats(-1e4, 1e4)), st.floats(1e-3, 10.0))
def test_numbers_come_back_within_half_a_step(values, step):
    box = Container()
    off = box.put("x", values, step)
    _, found = opened(box.text())
    assert np.abs(found["x"] - values).max() <= 0.5 * step * (1.0 + 1e-9) + 1e-9
    assert off <= 0.5 * step * (1.0 + 1e-9) + 1e-9


@given(arrays(np.int64, 20, elements=st.integers(-(2**30), 2**30)))
def test_whole_numbers_come_back_as_they_are(values):
    box = Container()
    box.whole("x", values)
    assert np.array_equal(opened(box.text())[1]["x"][:, 0], values)


def test_floats_keep_what_is_empty():
    box = Container()
    box.floats("x", [1.5, np.nan, -0.25])
    assert np.array_equal(opened(box.text())[1]["x"], [1.5, np.nan, -0.25], equal_nan=True)


def test_lines_that_are_left_out_are_within_tolerances():
    track = bouncing(0)
    forced = np.zeros(len(track.time), bool)
    forced[[0, -1]] = True
    far, angle = 0.01, 0.02
    kept = kept_lines(track.time, track.position, track.attitude, forced, far, angle)
    assert 10 < kept.sum() < 0.5 * len(kept)
    at = np.flatnonzero(kept)
    left = np.clip(np.searchsorted(at, np.arange(len(kept)), side="right") - 1, 0, len(at) - 2)
    a, b = at[left], at[left + 1]
    s = (track.time - track.time[a]) / (track.time[b] - track.time[a])
    shown = track.position[a] + s[:, None, None] * (track.position[b] - track.position[a])
    assert np.linalg.norm(shown - track.position, axis=2).max() <= far
    even = turned(track.attitude[a], track.attitude[b], s)
    dot = np.abs((even * track.attitude).sum(axis=2)).clip(0.0, 1.0)
    assert 2.0 * np.arccos(dot).max() <= angle + 1e-7


def test_long_steps_are_shown_as_the_curves_that_they_are():
    """A parabola of one step: between lines the page keeps to what it states too."""
    time = np.array([0.0, 60.0, 60.0, 90.0])
    speed = np.array([[1.0, 0.0, 3.0], [1.0, 0.0, -3.0], [1.0, 0.0, 1.5], [1.0, 0.0, -1.5]])
    place = np.array([[0.0, 0.0, 0.0], [60.0, 0.0, 0.0], [60.0, 0.0, 0.0], [90.0, 0.0, 0.0]])
    still = np.tile([0.0, 0.0, 0.0, 1.0], (4, 1, 1))
    track = Track(0, "settled", time, place[:, None], speed[:, None], still, time[1:2])
    made = encoded(dataclasses.replace(playback(), tracks=(track,), sites=None))
    _, arrays = opened(made.text)
    t, x = arrays["time1"][:, 0], arrays["place1"]
    moments = np.linspace(0.0, 90.0, 3001)
    left = np.clip(np.searchsorted(t, moments, side="right") - 1, 0, len(t) - 2)
    s = ((moments - t[left]) / (t[left + 1] - t[left]))[:, None]
    off = np.linalg.norm(x[left] + s * (x[left + 1] - x[left]) - track.at(moments)[0][:, 0], axis=1)
    assert off.max() <= made.errors["position_m"]
    assert made.errors["position_m"] < 0.03  # of a flight 45 m high


def test_both_sides_of_a_jump_stay():
    shown = playback()
    header, found = opened(encoded(shown).text)
    track, told = shown.tracks[0], header["tracks"][0]
    own = found["time1"][told["first"] : told["first"] + told["count"], 0]
    for jump in track.jumps:
        assert (np.abs(own - jump) < 1e-6).sum() == 2


def test_the_page_states_its_errors_and_keeps_them():
    shown = playback()
    made = encoded(shown)
    header, found = opened(made.text)
    for track, told in zip(shown.tracks, header["tracks"], strict=True):
        own = slice(told["first"], told["first"] + told["count"])
        time, place = found["time1"][own, 0], found["place1"][own]
        inside = track.time[np.abs(track.time[:, None] - track.jumps).min(axis=1) > 1e-6]
        shown_at = np.stack([np.interp(inside, time, place[:, k]) for k in range(3)], axis=1)
        off = np.linalg.norm(shown_at - track.at(inside)[0][:, 0], axis=1)
        assert off.max() <= made.errors["position_m"]
    vertices = found["target.v"]
    away = np.linalg.norm(vertices - shown.target.vertices, axis=1)
    assert away.max() <= made.errors["vertices_m"] * (1.0 + 1e-9)
    assert np.array_equal(found["target.f"].reshape(-1, 3), shown.target.faces)


def test_tolerances_grow_until_lines_fit_and_then_tracks_are_left_out(monkeypatch):
    from alight.views.viewer import scene

    fine = encoded(playback())
    monkeypatch.setattr(scene, "LINES", 2 * fine.lines // 3)
    rough = encoded(playback())
    assert rough.lines <= 2 * fine.lines // 3
    assert rough.errors["position_m"] > 1.5 * fine.errors["position_m"]
    assert len(opened(rough.text)[0]["tracks"]) == 3
    monkeypatch.setattr(scene, "LINES", fine.lines // 4)
    few = encoded(playback())
    assert few.lines <= fine.lines // 4
    assert len(opened(few.text)[0]["tracks"]) == 1
    assert any("paths of 2 runs are left out" in note for note in few.notes)


def test_names_reach_the_page_as_text_alone():
    """In the page itself only the title stands, escaped; all other names are in base64."""
    text = page_text(playback())
    assert FAR_NAME not in text
    assert "<img src=x" not in text
    assert "&lt;/script&gt;" in text
    assert text.count("</script>") == 2
    assert "http" not in text
    assert len(text) < MOST_BYTES


def test_a_notebook_shows_the_page_in_a_frame():
    from alight import view

    shown = view(playback())
    html = shown._repr_html_()
    assert html.startswith("<iframe")
    assert "<script" not in html  # escaped, as an attribute of the frame
    assert "Tumbling" in repr(shown)


def test_a_view_is_saved_as_a_page(tmp_path):
    from alight import view
    from alight.core.errors import InputError

    file = view(playback()).save(tmp_path / "new" / "page.html")
    assert file.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    with pytest.raises(InputError, match="must end in"):
        view(playback()).save(tmp_path / "page.pdf")


def test_nothing_is_shown_of_nothing():
    """A playback without tracks, sites or Sun is still a page."""
    bare = dataclasses.replace(playback(), tracks=(), sites=None, sun=None, attitude=None)
    header, _ = opened(encoded(bare).text)
    assert header["tracks"] == []
    assert "<canvas" in page_text(bare)
