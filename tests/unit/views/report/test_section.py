"""Sections: of other packages, of stops that users wrote, of studies that name no body."""

import importlib.metadata
import json
import pathlib
import re
import sys
from types import SimpleNamespace

import pytest

from alight.campaign.reader import open_campaign
from alight.core import registry as names
from alight.core.outcomes import Ending
from alight.core.registry import Registry
from alight.views import report, style
from alight.views.report import Figure, Paragraph, Section, Table, registered
from alight.views.report.landing.data import read
from alight.views.report.landing.findings import LandingFindings

sys.path.insert(0, str(pathlib.Path(__file__).parent))  # tests are no package

from landing_case import make_campaign


def _draw(*files):
    with style.figure(3.0, 2.0) as fig:
        fig.add_subplot().plot([0.0, 1.0])
        style.save(fig, *files)


def heights(data):
    """A section of another package: any column, words, a table, a figure."""
    height = data.column("release.height_m")
    return Section(
        "Heights of release",
        [
            Paragraph(f"{data.runs} runs were let go."),
            Table(["what", "m"], [["mean", f"{height.mean():.3f}"]], (1,)),
            Figure("../../heights", _draw, "A line", "Made up."),
        ],
        answers=[("From how high?", f"From {height.mean():.1f} m.")],
        numbers={"mean_m": float(height.mean())},
    )


def broken(data):
    raise ZeroDivisionError("no <b>lander</b>\nat all")


def undrawn(data):
    def draw(*files):
        raise RuntimeError("no pen")

    return Section("Undrawn", [Figure("x", draw, "", "")], answers=[("What?", "That.")])


@pytest.fixture
def known(monkeypatch):
    """A registry to which a package has added sections."""
    found = Registry()
    point = SimpleNamespace(
        name="made", value="made:up", dist=SimpleNamespace(name="made-up", version="1"),
        load=lambda: _register,
    )  # fmt: skip
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [point])
    monkeypatch.setattr(registered, "registry", found)
    assert names.registry is not found
    return found


def _register(registry):
    for name, make in (
        ("heights", heights),
        ("broken", broken),
        ("undrawn", undrawn),
        ("text", lambda data: "words"),
        ("nan", lambda data: Section("nan", numbers={"x": float("nan")})),
    ):
        registry.add("report section", name, make)


def _report(place, *sections):
    made = report.write(make_campaign(place, 40, 40, report={"sections": list(sections)}))
    return made, made.page.read_text(encoding="utf-8")


def test_section_of_another_package(tmp_path, known):
    made, text = _report(tmp_path / "c", "heights")
    titles = re.findall(r"<h2[^>]*>(.*?)</h2>", text)
    assert titles[-3:] == ["Heights of release", "How it was computed", "The scenario"]
    assert "40 runs were let go." in text
    mean = made.numbers["sections"]["heights"]["mean_m"]
    assert mean == pytest.approx(60.0, rel=0.05)
    assert ("From how high?", f"From {mean:.1f} m.") in made.answers
    assert not made.warnings
    own = [file for file in made.figures if file.stem == "heights_heights"]
    assert [file.parent for file in own] == [made.page.parent / "figures"] * 2
    assert all(file.is_file() for file in own)
    json.dumps(made.numbers, allow_nan=False)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("broken", "ZeroDivisionError: no &lt;b&gt;lander&lt;/b&gt; at all"),
        ("undrawn", "RuntimeError: no pen"),
        ("text", "TypeError: it made a str"),
        ("nan", "ValueError"),
    ],
)
def test_a_section_that_fails_is_one_line(tmp_path, known, name, why):
    made, text = _report(tmp_path / "c", name, "heights")
    line = f"The section &#34;{name}&#34; of package made-up could not be made: {why}"
    assert text.count(line) == 2  # in its place, and above all
    assert any(f'"{name}" of package made-up' in warning for warning in made.warnings)
    assert ("What?", "That.") not in made.answers
    assert "Heights of release" in text  # the others are there
    assert "How it was computed" in text


def test_a_section_that_nobody_has(tmp_path, known):
    made, text = _report(tmp_path / "c", "hights")
    assert "unknown report section" in text
    assert "heights" in made.warnings[0]  # did you mean


# -- stops of users ---------------------------------------------------------------------------


def test_endings_of_users_are_told_by_name_and_sentence(tmp_path):
    """Codes that core.outcomes does not know have their words in the plan."""
    pond = Ending(70, "in_pond", "came into the <pond>")
    place = make_campaign(tmp_path / "c", 60, 60, escaped=0.2, ending=70, endings={70: pond})
    made = report.write(place)
    count = open_campaign(place).count()[70]
    assert 0 < count < 60
    assert made.numbers["outcomes"]["in_pond"] == count
    lost = dict(made.answers)["How often is it lost?"]
    assert f"({count}) ended by a stop, in pond: came into the <pond>." in lost
    text = made.page.read_text(encoding="utf-8")
    assert "<td>in pond</td>" in text
    assert "<td>came into the &lt;pond&gt;</td>" in text
    assert not any("failed" in line for line in made.warnings)


# -- studies ----------------------------------------------------------------------------------


def test_a_campaign_that_names_no_body(tmp_path):
    """Made in Python, of a surface that only its author knows: no map, and no latitudes."""
    ground = {"kind": "MyDunes"}
    place = make_campaign(tmp_path / "c", 60, 60, body={}, ground=ground, study={"model": {}})
    made = report.write(place)
    text = made.page.read_text(encoding="utf-8")
    assert "There is no map: the campaign names no body" in text
    assert "landings of MINERVA-II-1 on the ground" in text
    assert "Made in Python." in text
    assert not any(file.stem == "rest_map" for file in made.figures)
    assert dict(made.answers)["Where does it come to rest?"].startswith("Around x = ")
    assert made.numbers["rest"]["latitude_deg"] is None


def test_a_body_may_have_a_label(tmp_path):
    place = make_campaign(tmp_path / "c", 40, 40, body={"mesh": "body.ply", "label": "the body"})
    data = read(open_campaign(place))
    assert data.body == "the body"
    assert not data.nameless
    assert LandingFindings(data).on_globe
