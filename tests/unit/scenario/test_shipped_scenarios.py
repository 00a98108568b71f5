"""The scenarios that come with Alight: each opens with two lines, loads, builds and flies."""

import pathlib

import numpy as np
import pytest

from alight.core.errors import InputError
from alight.core.outcomes import Outcome
from alight.engine import simulate
from alight.scenario import load, loads, prepare, shipped_scenarios

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "scenarios"
NAMES = sorted(file.stem for file in FOLDER.glob("*.toml"))
#: Captures and drops on membranes are flown in ``test_capture``.
LANDINGS = [name for name in NAMES if not name.startswith("paper003")]
FLOWN = ("ryugu_minerva", "paper002_landing")
EXPECTED = {
    "hayabusa_itokawa",
    "itokawa_cube",
    "mascot_ryugu",
    "minerva_hop_ryugu",
    "paper001_ryugu_drop",
    "paper001_ryugu_liftoff",
    "paper001_ryugu_printed",
    "paper001_ryugu_throw",
    "paper001_ryugu_wide",
    "paper002_dispersed",
    "paper002_landing",
    "paper003_2d",
    "paper003_capture",
    "paper003_dispersed",
    "paper003_drop",
    "paper003_low_friction",
    "paper004_cube_67p",
    "paper004_cube_itokawa",
    "paper004_cube_phobos",
    "paper004_minerva_67p",
    "philae_67p",
    "ryugu_minerva",
    "ryugu_minerva_rocks",
    "wheel_hop_phobos",
}


def coarse(scenario):
    """The same with a small mesh and coarse fields, and cut short where it is costly."""
    if scenario.body.name is None:
        return scenario
    changes = {"body.facets": 320}
    if scenario.ground.kind == "distance-field":
        spacing = max(scenario.body.entry.size) / 40.0
        changes |= {"ground.spacing": spacing, "ground.band": None}
    if scenario.gravity.law == "reduced":
        changes["gravity.vertices"] = 42
    return scenario.replaced(changes)


def test_all_are_there():
    assert set(NAMES) >= EXPECTED
    assert list(shipped_scenarios.shipped()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_it_opens_with_two_lines_that_say_what_it_shows(name):
    lines = (FOLDER / f"{name}.toml").read_text().splitlines()
    assert lines[0].startswith("# ")
    assert lines[1].startswith("# ")
    assert not lines[2].startswith("#")
    assert shipped_scenarios.find(name).about == f"{lines[0][2:]} {lines[1][2:]}"


@pytest.mark.parametrize("name", NAMES)
def test_it_reads_and_reads_back(name):
    scenario = load(FOLDER / f"{name}.toml")
    assert scenario.title
    assert scenario.dispersions
    assert loads(scenario.to_toml()) == scenario


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.validate if name.startswith("paper001") else ())
        for name in LANDINGS
    ],
)
def test_it_builds(name):
    """Those of paper 001, whose gravity takes long to tabulate, with the slow studies."""
    run = prepare(coarse(load(FOLDER / f"{name}.toml")), "cpu").nominal()
    assert run.rows.tolist() == [0]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in FLOWN else pytest.mark.validate) for name in LANDINGS],
)
def test_it_flies(name):
    """A few each time; most have laws of their own, and kernels take long to compile."""
    run = prepare(coarse(load(FOLDER / f"{name}.toml")), "cpu").nominal()
    found = simulate(run.model, run.release)
    ends = {Outcome.SETTLED, Outcome.TIMED_OUT}
    assert found.outcome in ({Outcome.ESCAPED} if name == "paper001_ryugu_printed" else ends)
    assert len(found.events) > 0
    assert np.isfinite(found.position).all()


@pytest.mark.validate
def test_the_first_fall_of_mascot_takes_350_s():
    """To 5 %: its place on Ryugu is assumed, and gravity with it (41 m at 1.2 to 1.5e-4 m/s^2)."""
    run = prepare(load(FOLDER / "mascot_ryugu.toml"), "cpu").nominal()
    found = simulate(run.model, run.release)
    assert found.events["start"][0] == pytest.approx(350.0, rel=0.05)


def test_cubes_differ_in_gravity_alone():
    """Heights follow v^2/g, settling times 1/g: the three files are one experiment."""
    bodies = ("phobos", "67p", "itokawa")
    found = [load(FOLDER / f"paper004_cube_{body}.toml") for body in bodies]
    for one in found:
        g = -one.number("gravity.acceleration")[2]
        height = one.number("release.position")[2] - 0.18
        assert height == pytest.approx(0.05**2 / (2.0 * g), rel=1e-3)
        assert one.number("stop.settle_time") == pytest.approx(0.02 / g, rel=5e-3)
        rest = ("lander", "contact", "steps")
        assert all(getattr(one, name) == getattr(found[0], name) for name in rest)


def test_an_unknown_name_suggests_the_nearest(monkeypatch, tmp_path):
    with pytest.raises(InputError, match='Did you mean "ryugu_minerva"'):
        shipped_scenarios.find("ryugu_minerv")
    monkeypatch.setenv(shipped_scenarios.VARIABLE, str(tmp_path / "none"))
    assert shipped_scenarios.shipped() == {}
    with pytest.raises(InputError, match="there is no folder"):
        shipped_scenarios.find("ryugu_minerva")


def test_the_landing_of_paper_002_is_the_papers():
    """Its section 5 (B2-4): 0.96 m/s, below 2.5 m/s^2, crushed at 400 N by less than 0.20 m."""
    run = prepare(load(FOLDER / "paper002_landing.toml"), "cpu").nominal()
    found = simulate(run.model, run.release)
    assert found.outcome is Outcome.SETTLED
    assert found.peaks.speed[0] == pytest.approx(0.96, abs=0.005)
    assert 2.3 < found.peaks.acceleration[0] < 2.5
    assert found.crush_force.max() == pytest.approx(400.0, rel=1e-3)
    assert 0.15 < found.peaks.stroke.max() < 0.20
    assert found.peaks.slosh[0, 0] == pytest.approx(np.radians(2.2), rel=0.05)
