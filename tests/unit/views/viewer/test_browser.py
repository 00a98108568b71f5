"""The viewer in a real browser: pictures at set times, keys, clicks, and nothing from elsewhere.

Pictures are compared with those in ``references``. Renderers differ along outlines, by a pixel at
most, and inside by rounding: a picture of W by H pixels may have 4 (W + H) pixels, a border of one
along as much outline as four times around it, that differ by more than a tenth of full scale.
``ALIGHT_REFERENCES=1`` writes the pictures anew; look at them before they are kept.
"""

import io
import os
import pathlib

import numpy as np
import pytest
from PIL import Image
from viewer_case import END, FAR_NAME, playback

from alight.views.viewer.page import page_text
from browser import browser

REFERENCES = pathlib.Path(__file__).parent / "references"
WIDTH, HEIGHT = 480, 320
#: Names of pictures: what is chosen, and the time [s].
SHOTS = {
    "body": {"camera": "body", "t": 0.0},
    "slope": {"camera": "body", "colour": "slope", "sites": "settle_time_s", "t": 7.5},
    "footprint": {"camera": "footprint", "colour": "plain", "sites": "outcome", "t": 15.0},
    "follow": {"camera": "follow", "t": 21.0},
    "inertial": {"camera": "body", "frame": "inertial", "t": END},
}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    file = tmp_path_factory.mktemp("viewer") / "page.html"
    file.write_text(page_text(playback()), encoding="utf-8")
    with browser(900, 760) as seen:
        assert seen.open(file) == 1
        yield seen


def _choose(page, **choice):
    fitted = f"v.canvas.style.cssText = 'width:{WIDTH}px;height:{HEIGHT}px;min-height:0'"
    code = f"v.set({{run: 0, paths: true, frame: 'fixed', ...{choice!r}}}); v.drawNow()"
    return page.run(
        f"await (async () => {{const v = (await alightViewers)[0]; {fitted}; {code}; "
        "return v.canvas.toDataURL('image/png')})()"
    )


def _picture(page, **choice):
    import base64

    data = base64.b64decode(_choose(page, **choice).partition(",")[2])
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), np.int16)


def _differing(one, other):
    """Pixels that differ by more than a tenth of full scale."""
    return int((np.abs(one - other).max(axis=2) > 25).sum())


@pytest.mark.parametrize("name", SHOTS)
def test_pictures_are_as_kept(page, name):
    found = _picture(page, **SHOTS[name])
    assert found.shape == (HEIGHT, WIDTH, 3)
    file = REFERENCES / f"{name}.png"
    if os.environ.get("ALIGHT_REFERENCES"):
        file.parent.mkdir(exist_ok=True)
        Image.fromarray(found.astype(np.uint8)).quantize(128).save(file, optimize=True)
    kept = np.asarray(Image.open(file).convert("RGB"), np.int16)
    allowed = 4 * (WIDTH + HEIGHT)
    assert _differing(found, kept) <= allowed
    # A picture of another time is told apart by this.
    other = _picture(page, **{**SHOTS[name], "t": 11.0, "camera": "follow"})
    assert _differing(other, kept) > allowed


def test_nothing_is_loaded_and_nothing_complains(page):
    strange = [url for url in page.requests if not url.startswith(("file:", "data:", "blob:"))]
    assert strange == []
    assert page.complaints == []
    assert page.run("document.title").startswith("Tumbling landers </script>")


def test_landers_stand_where_their_tracks_are(page):
    """Places that the page computes are those of the playback, within the errors it states."""
    for time in (0.0, 3.3, 14.9, 22.2, END):
        told = page.run(
            "(await alightViewers).map(v => v.motion.tracks.map("
            f"t => v.motion.at(t, 0, {time})))[0]"
        )
        off = page.run("(await alightViewers)[0].header.errors.position_m")
        for track, one in zip(playback().tracks, told, strict=True):
            place = track.at(time)[0][0, 0]
            assert np.linalg.norm(np.array(one["place"]) - place) <= off


def test_the_sun_and_the_turn_are_those_of_the_playback(page):
    shown = playback()
    for time in (0.0, 12.3, END):
        told = page.run(f"(await alightViewers)[0].motion.sky({time})")
        assert np.array(told["sun"]) == pytest.approx(shown.sun(np.array([time]))[0], abs=1e-4)
        turn = shown.attitude(np.array([time]))[0]
        assert abs(np.dot(told["turn"], turn)) == pytest.approx(1.0, abs=1e-6)


def test_a_click_on_a_rest_site_shows_its_row_and_command(page):
    _choose(page, camera="footprint", t=END)
    at = page.run(
        "await (async () => {const v = (await alightViewers)[0]; const a = v.arrays['sites.v'];"
        "const e = v.camera.seen.eye; const f = v.header.focus; const b = v.canvas"
        ".getBoundingClientRect(); for (let i = 10; i < 40; i++) { const p = [0, 1, 2]"
        ".map(k => a[3 * i + k] + f[k] - e[k]); const s = v.onScreen(p);"
        "if (s && s[0] > 20 && s[0] < 460 && s[1] > 60 && s[1] < 300) { const n = v.nearest(...s);"
        "if (n && !n.track && n.run === i) return [i, s[0] + b.x, s[1] + b.y]; } } })()"
    )
    run, x, y = at
    mouse = {"x": x, "y": y, "button": "left", "clickCount": 1}
    page.ask("Input.dispatchMouseEvent", type="mousePressed", **mouse)
    page.ask("Input.dispatchMouseEvent", type="mouseReleased", **mouse)
    text = page.run("document.querySelector('[data-part=row]').innerText")
    assert f"Run {run}:" in text
    assert f"alight view 'out/it'\\''s here' --run {run}" in text
    assert FAR_NAME in text  # as text
    assert page.run("document.querySelectorAll('.alight-viewer img[src=x]').length") == 0
    shown = page.run(f"(await alightViewers)[0].arrays['column settle_time_s'][{run}]")
    assert f"{shown:.5g}" in text
    _key(page, "Escape")
    assert page.run("document.querySelector('[data-part=row]').hidden")


def _key(page, key):
    page.run("document.querySelector('canvas').focus()")
    text = {"text": key} if len(key) == 1 else {}
    page.ask("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
    page.ask("Input.dispatchKeyEvent", type="keyUp", key=key)


def test_keys_turn_zoom_step_and_choose(page):
    _choose(page, camera="body", t=0.0)
    state = "(await alightViewers).map(v => [v.camera.azimuth, v.camera.distance, v.time])[0]"
    before = page.run(state)
    for key in ("ArrowLeft", "+", "."):
        _key(page, key)
    after = page.run(state)
    assert after[0] == pytest.approx(before[0] - 0.1)
    assert after[1] == pytest.approx(0.85 * before[1])
    assert after[2] == pytest.approx(END / 200.0)
    for key, kind in (("f", "follow"), ("g", "ground"), ("l", "footprint"), ("b", "body")):
        _key(page, key)
        assert page.run("(await alightViewers)[0].camera.kind") == kind
    _key(page, "n")
    assert page.run("(await alightViewers)[0].followed.run") == 1


def test_it_plays_and_the_slider_seeks(page):
    _choose(page, camera="body", t=0.0)
    page.run("document.querySelector('[data-part=play]').click()")
    moved = "await new Promise(r => {const w = async () => (await alightViewers)[0].time > 0.5"
    assert page.run(moved + " ? r(true) : requestAnimationFrame(w); w()})")
    page.run(
        "(() => {const s = document.querySelector('[data-part=time]'); s.value = 500;"
        "s.dispatchEvent(new Event('input'))})()"
    )
    assert page.run("(await alightViewers)[0].time") == pytest.approx(END / 2.0)
    assert page.run("(await alightViewers)[0].playing") is False


def test_fingers_turn_and_pinch(page):
    _choose(page, camera="body", t=0.0)
    state = "(await alightViewers).map(v => [v.camera.azimuth, v.camera.distance])[0]"
    box = page.run("(r => [r.x, r.y])(document.querySelector('canvas').getBoundingClientRect())")
    x, y = box[0] + 200.0, box[1] + 150.0
    before = page.run(state)

    def touch(kind, *points):
        given = [{"x": a, "y": b, "id": k} for k, (a, b) in enumerate(points)]
        page.ask("Input.dispatchTouchEvent", type=kind, touchPoints=given)

    page.ask("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
    touch("touchStart", (x, y))
    touch("touchMove", (x + 40.0, y))
    touch("touchEnd")
    turned = page.run(state)
    assert turned[0] < before[0] - 0.1
    touch("touchStart", (x - 20.0, y), (x + 20.0, y))
    touch("touchMove", (x - 60.0, y), (x + 60.0, y))
    touch("touchEnd")
    assert page.run(state)[1] < 0.7 * turned[1]
    page.ask("Emulation.setTouchEmulationEnabled", enabled=False)


def test_the_address_chooses_and_seeks(page, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(page_text(playback()), encoding="utf-8")
    page.open(file, "#t=12.5&camera=follow&run=2")
    told = page.run("(await alightViewers).map(v => [v.time, v.camera.kind, v.followed.run])[0]")
    assert told == [12.5, "follow", 2]


def test_without_webgl_a_still_picture_stays(tmp_path):
    file = tmp_path / "page.html"
    file.write_text(page_text(playback()), encoding="utf-8")
    with browser(600, 500, "--disable-3d-apis") as seen:
        assert seen.open(file) == 0
        said = seen.run("document.querySelector('[data-part=why]').textContent")
        size = seen.run("(i => [i.naturalWidth, i.offsetHeight])(document.querySelector('.still'))")
        hidden = seen.run("getComputedStyle(document.querySelector('.bar')).display")
    assert "still picture" in said
    assert "no WebGL 2" in said
    assert size[0] > 400
    assert size[1] > 100
    assert hidden == "none"
