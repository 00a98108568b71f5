"""``alight view``: writes a page of a campaign or a scenario, and refuses clearly."""

import json
import pathlib
import sys

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import alight
from alight.cli import view as cli
from alight.core.errors import AlightError
from alight.views.viewer.container import opened

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "views" / "report"))

from landing_case import make_campaign

ROOT = pathlib.Path(__file__).parents[3]

app = typer.Typer()
app.command()(cli.command)


@pytest.fixture
def folder(tmp_path):
    body = {"name": "Ryugu", "facets": 1280}
    return make_campaign(tmp_path / "campaign", 40, 40, body=body, title="<b>here</b>")


def _invoke(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


def _mistake(*arguments):
    done = _invoke(*arguments)
    assert isinstance(done.exception, AlightError), done.exception or done.stdout
    return str(done.exception)


def test_a_campaign_becomes_a_page_with_all_rest_sites(folder, monkeypatch):
    launched = []
    monkeypatch.setattr(typer, "launch", launched.append)
    done = _invoke(folder, "--json")
    assert done.exit_code == 0, done.exception
    told = json.loads(done.stdout)
    page = pathlib.Path(told["page"])
    assert page == pathlib.Path(folder) / "view.html"
    assert told["rest_sites"] == 40
    assert told["runs"] == []
    assert any("no trajectory was kept" in note for note in told["notes"])
    assert launched == [page.resolve().as_uri()]
    text = page.read_text(encoding="utf-8")
    assert "&lt;b&gt;here" in text
    assert "<b>here" not in text
    header, arrays = opened(text.split('<script type="text/plain">')[1].partition("<")[0])
    assert header["title"] == "<b>here</b>"
    assert len(arrays["sites.run"]) == header["sites"]["count"]
    assert {one["name"] for one in header["target"]["colours"]} >= {"slope", "gravity"}


def test_mistakes(folder, tmp_path):
    assert "has runs 0 to 39" in _mistake(folder, "--run", 99, "--no-open")
    assert "is a scenario" in _mistake("ryugu_minerva", "--run", 1)
    assert "--release is for scenarios" in _mistake(folder, "--release")
    assert "watches the folder of a campaign" in _mistake("ryugu_minerva", "--live")
    wrong = _invoke(folder, "--out", tmp_path / "none" / "of" / "these" / "p.html").exception
    assert isinstance(wrong, AlightError)


def test_a_live_view_names_its_extra(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    said = _mistake(folder, "--live")
    assert 'pip install "alight[viser]"' in said


def test_a_live_view_follows_a_campaign(tmp_path):
    """More rest sites are there after another shard."""
    pytest.importorskip("viser", reason="the extra viser is not installed")
    from alight.campaign.reader import open_campaign
    from alight.staging.live import Live

    body = {"name": "Ryugu", "facets": 1280}
    place = make_campaign(tmp_path / "growing", 40, 20, shards=1, body=body, title="x<y")
    live = Live(pathlib.Path(place), 0)
    try:
        assert live.runs == 20
        assert "20 of 40 runs" in live.words.content
        assert "<" not in live.words.content
        assert live.show(open_campaign(place)) is False
        make_campaign(tmp_path / "growing", 40, 20, body=body, title="x<y")
        assert live.look() is True
        assert live.runs == 40
    finally:
        live.stop()


def test_flat_ground_is_watched_too(tmp_path):
    """Without a body there are rest sites, in lengths of how far they lie apart."""
    pytest.importorskip("viser", reason="the extra viser is not installed")
    from alight.staging.live import Live

    place = make_campaign(tmp_path / "flat", 20, 20, body={}, ground={"kind": "plane"})
    live = Live(pathlib.Path(place), 0)
    try:
        assert "20 of 20 runs" in live.words.content
        assert "No trajectory is kept" in live.words.content
        assert live.origin is not None
        assert live.moment.visible is False
    finally:
        live.stop()


@pytest.mark.validate
@pytest.mark.parametrize("name", ["paper002_dispersed", "paper003_dispersed", "paper003_drop"])
def test_what_moves_is_watched(tmp_path, name):
    """The latest kept run of legs, captures and drops, at the time of the slider."""
    pytest.importorskip("viser", reason="the extra viser is not installed")
    from alight.staging.live import Live

    folder = tmp_path / name
    alight.run_campaign(ROOT / f"scenarios/{name}.toml", runs=4, out=folder)
    live = Live(folder, 0)
    try:
        assert live.moment.visible
        track = live.playback.tracks[-1]
        assert str(track.run) in live.words.content
        start = [np.array(one.position) for one in live.parts]
        live.moment.value = 0.0
        live.move()
        moved = [np.array(one.position) for one in live.parts]
        assert not np.allclose(start, moved)
        place, _, _ = track.at(float(track.time[0]))
        wanted = (place[0] - place[0][0]) * live.scale
        assert np.array(moved) - moved[0] == pytest.approx(wanted, abs=1e-6)
    finally:
        live.stop()
