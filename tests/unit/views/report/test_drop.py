"""The report of drops: it says what the tables hold, in the manner of the others."""

import json
import pathlib
import re
import sys

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from alight.analysis.intervals import wilson
from alight.campaign.reader import open_campaign
from alight.cli import report as cli
from alight.core.errors import InputError
from alight.views import report
from alight.views.report.drop.data import LATER, read
from alight.views.report.drop.findings import DropFindings

sys.path.insert(0, str(pathlib.Path(__file__).parent))  # tests are no package

from drop_case import BROUGHT, CONTACT, IMPACT, RIM, make_drops, rows_of

RUNS = 200


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_drops(tmp_path_factory.mktemp("drops") / "c", RUNS, trajectories=(0, 5))


@pytest.fixture(scope="module")
def found(folder):
    return DropFindings(read(open_campaign(folder)))


@pytest.fixture(scope="module")
def written(folder):
    return report.write(folder)


def test_answers_are_those_of_the_table(found, told):
    rows = rows_of(RUNS)
    left, rim = np.isfinite(rows["release_s"]), rows["outcome"] == RIM
    said = dict(told(found, "answers"))
    off = said["Does it come off again?"]
    share = wilson(int(left.sum()), RUNS)
    assert off.startswith(f"{100 * share.value:.0f} % of the drops do ({left.sum()} of {RUNS}; 95")
    lasted = np.median(rows["release_s"][left] - CONTACT)
    assert f"{lasted:.2f} s (" in off
    assert f"{100 * np.median(rows['rebound_m_s'][left]) / IMPACT:.0f} % of the speed" in off
    stay = int((~left & ~rim).sum())
    assert f"({stay}) are still on the membrane after 3.00 s" in off
    assert f"({rim.sum()}) reach past its rim" in off
    deep = said["How deep does it go?"]
    assert deep.startswith(f"{np.median(rows['depth_m']):.2f} m (")
    assert f"{rows['depth_m'].max():.2f} m at most" in deep
    assert f"{np.median(rows['force_n']):.0f} N" in said["How hard is it caught?"]
    assert said["How long does it take?"].startswith("It is deepest 0.500 s after contact")
    assert said["How far does it slip?"].startswith(f"{np.median(rows['slip_m'][~rim]):.2f} m (")
    energy = said["Where does its energy go?"]
    assert "40.0 % is lost in the fabric" in energy
    assert "strain" not in energy


def test_shares_of_energy_are_all_of_it(found):
    rim = found.rim
    shares = [found.known[f"{name}_share"] for name in ("fabric", "friction", "motion", "stored")]
    assert np.sum(shares, axis=0)[~rim] == pytest.approx(np.ones(int((~rim).sum())), rel=1e-12)
    assert np.isnan(shares[0][rim]).all()
    friction = found.data.column("membrane.friction")
    assert found.known["friction_share"][~rim] == pytest.approx(0.5 * friction[~rim], rel=1e-12)
    assert (found.known["stored_share"][~rim] == 0.0).all()


def test_strain_is_what_is_left(tmp_path, told):
    def change(rows):
        rows["moving_j"] -= 0.2 * BROUGHT

    found = DropFindings(read(open_campaign(make_drops(tmp_path, 60, change=change))))
    assert found.spread("stored_share").quantiles[0.5].value == pytest.approx(0.2, rel=1e-12)
    assert "is strain of the fabric" in dict(told(found, "answers"))["Where does its energy go?"]


def test_page_has_the_sections_of_every_report(written):
    text = written.page.read_text(encoding="utf-8")
    titles = re.findall(r"<h2[^>]*>(.*?)</h2>", text)
    assert titles == [
        "How drops go", "Where the energy goes", "Single drops", "What the numbers rest on",
        "What drives the outcome", "Are the runs enough?", "How runs ended",
        "How it was computed", "The scenario",
    ]  # fmt: skip
    assert {file.stem for file in written.figures} == {
        "drops", "energy", "trajectories", "sensitivity", "convergence",
    }  # fmt: skip
    assert "200 drops of a body shaped like Castalia on a membrane" in text
    assert "reach past the rim" not in text  # as a warning it is in the singular
    assert any("reaches past the rim" in line for line in written.warnings)
    assert "nan" not in re.sub(r'src="[^"]*"', "", text)
    assert "the body reached past the rim of the membrane" in text  # among the endings


def test_numbers_are_plain_json(written, found):
    numbers = json.loads(json.dumps(written.numbers, allow_nan=False))
    assert numbers["kind"] == "drop"
    assert numbers["left_share"]["value"] == found.left.mean()
    assert numbers["rim_share"]["value"] == 4 / RUNS
    assert numbers["force_n"]["p95"]["value"] == pytest.approx(
        np.quantile(found.data.table["force_n"], 0.95), rel=1e-14
    )
    assert numbers["outcomes"] == {"timed_out": RUNS - 4, "rim": 4}


def test_what_drives_drops(found):
    seen = found.sensitivity
    friction = seen.inputs.index("membrane friction")
    for name, sign in (("depth", -1.0), ("force", 1.0), ("slip", -1.0), ("rebound speed", -1.0)):
        assert seen.value[friction, seen.outputs.index(name)] == pytest.approx(sign)


def test_tables_of_old_have_a_page(tmp_path):
    """Without speeds and energies: what is not known is said, and not drawn."""
    made = report.write(make_drops(tmp_path, 40, without=LATER))
    assert dict(made.answers)["Where does its energy go?"].startswith("Not known")
    assert not any(file.stem == "energy" for file in made.figures)
    assert "rebound_m_s" not in made.numbers


def _missed(rows):
    for name in ("first_contact_s", "slack_s", "release_s", "impact_m_s", "rebound_m_s"):
        rows[name] = np.full(len(rows["run"]), np.nan)
    rows["outcome"][:] = 3


@pytest.mark.parametrize(("runs", "change"), [(1, None), (3, _missed)])
def test_few_drops_have_a_page(tmp_path, runs, change):
    made = report.write(make_drops(tmp_path, runs, trajectories=(0,), change=change))
    json.dumps(made.numbers, allow_nan=False)
    text = made.page.read_text(encoding="utf-8")
    assert "nan" not in re.sub(r'src="[^"]*"', "", text)
    if change is _missed:
        said = dict(made.answers)
        assert "(3) never touch it" in said["Does it come off again?"]
        assert said["How deep does it go?"] == "None touched the membrane."


def test_command(folder, tmp_path):
    app = typer.Typer()
    app.command()(cli.command)
    done = CliRunner().invoke(app, [str(folder), "--json", "--out", str(tmp_path / "page.html")])
    assert done.exit_code == 0, done.exception
    assert json.loads(done.stdout)["kind"] == "drop"
    refused = CliRunner().invoke(app, [str(folder), "--date", "2020-01-01"])
    assert isinstance(refused.exception, InputError)
    assert "drops" in str(refused.exception)
