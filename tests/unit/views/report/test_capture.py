"""The report of captures: it says what the tables hold, and the page needs nothing else."""

import json
import pathlib
import re
import sys

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from alight.analysis import captures
from alight.analysis.bins import binned
from alight.analysis.intervals import wilson
from alight.campaign.reader import open_campaign
from alight.cli import report as cli
from alight.cli.report_capture import looks_of
from alight.core.errors import FileError, InputError
from alight.core.outcomes import Outcome
from alight.core.progress import Silent
from alight.views import report
from alight.views.figures.capture.courses import picture_times
from alight.views.figures.capture.scene import Poses, pieces, upright
from alight.views.figures.pieces import placed
from alight.views.report.capture.data import read, thrust_of
from alight.views.report.capture.findings import CaptureFindings

sys.path.insert(0, str(pathlib.Path(__file__).parent))  # tests are no package

from capture_case import LIMIT, make_captures, plain_look


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_captures(tmp_path_factory.mktemp("captures") / "c", 300, 100, trajectories=(0, 5))


@pytest.fixture(scope="module")
def found(folder):
    return CaptureFindings(read(open_campaign(folder)))


@pytest.fixture(scope="module")
def written(folder):
    return report.write(folder, look=plain_look)


# -- what it says -----------------------------------------------------------------------------


def test_answers_are_those_of_the_table(found, told):
    table = found.data.table
    rim = table["mass_kg"] > 9e5
    share = wilson(int((~rim).sum()), 300)
    held, loads, rest, slip, spin, propellant = (a for _, a in told(found, "answers"))
    assert f"{int((~rim).sum())} of 300" in held
    assert f"{100 * share.value:.0f}" in held
    assert "reached past the rim" in held
    assert "after 180 s" in held
    assert "limit of 1765 N m" in loads
    assert "None of 300 goes beyond it" in loads
    median = np.median((100.0 - 50.0 * table["friction"])[~rim & (table["friction"] >= 0.3)])
    assert rest.startswith(f"{median:.1f} s (")
    assert "still moving at the end" in rest
    assert slip.startswith(f"{np.median(1.0 / table['friction'][~rim]):.2f} m (")
    over = (1000.0 * table["spin_rpm"] > 475.0)[~rim].mean()
    assert f"more than the 475 N available in {100 * over:.1f} %" in spin
    assert propellant.startswith(f"{np.median(28.0 + table['spin_rpm'][~rim]):.1f} kg")


def test_runs_cut_short_count_in_loads_alone(found):
    rim = found.data.table["mass_kg"] > 9e5
    assert np.isfinite(found.known["bending_nm"]).all()
    assert np.isnan(found.known["slip_m"][rim]).all()
    assert np.isnan(found.known["settle_s"][found.data.table["friction"] < 0.3]).all()
    assert found.limit == LIMIT
    assert found.spread("bending_nm").most == found.data.table["bending_nm"].max()


def test_ends_are_all_runs_and_no_run_twice(found):
    total = np.sum([hit.astype(int) for hit in found.ends.values()], axis=0)
    assert (total == 1).all()
    assert list(found.ends) == ["HELD", "UNSETTLED", "RIM"]


def test_what_varies_is_named_once(found):
    # Spin, mass and friction are dispersed, and columns of their own too; length goes with mass.
    assert list(found.drivers) == ["spin", "mass", "friction", "length",
                                   "approach offset, x", "approach offset, y"]  # fmt: skip
    assert list(found.panels) == ["spin", "mass", "friction", "length"]
    told = found.sensitivity
    slip = told.outputs.index("slip")
    assert told.value[told.inputs.index("friction"), slip] == pytest.approx(-1.0)
    assert told.strongest("being held")[0] in ("mass", "length")


def test_numbers_are_plain_json(written, found):
    numbers = json.loads(json.dumps(written.numbers, allow_nan=False))
    assert numbers["runs"] == 300
    assert numbers["success_share"]["value"] == found.data.success.mean()
    assert numbers["bending_limit_nm"] == LIMIT
    assert numbers["beyond_limit_share"]["value"] == 0.0
    assert numbers["bending_nm"]["p95"]["value"] == pytest.approx(
        np.quantile(found.data.table["bending_nm"], 0.95)
    )
    assert sum(b["runs"] for b in numbers["success_by"]["friction"]) == 300
    heavy = numbers["success_by"]["mass"][-1]
    assert heavy["unit"] == "t"
    assert heavy["high"] == pytest.approx(found.data.table["mass_kg"].max() / 1e3)


def test_loads_beyond_the_limit_are_told(tmp_path, told):
    def change(rows):
        rows["bending_nm"][:7] = 2000.0
        rows["margin"] = LIMIT / rows["bending_nm"] - 1.0
        rows["success"] &= rows["margin"] >= 0.0

    found = CaptureFindings(read(open_campaign(make_captures(tmp_path, 100, 100, change=change))))
    said = dict(told(found, "answers"))
    assert (
        "7.0 % go beyond the limit (7 of 100"
        in said["How close do the arrays come to their limit?"]
    )
    assert "OVERLOADED" in found.ends
    assert (np.sum([hit.astype(int) for hit in found.ends.values()], axis=0) == 1).all()
    assert "loaded beyond the limit" in said["How often is the asteroid held?"]


# -- the page ---------------------------------------------------------------------------------


def test_page_needs_nothing_else(written):
    text = written.page.read_text(encoding="utf-8")
    assert "<title>Made-up captures</title>" in text
    assert "<script" not in text
    links = re.findall(r'(?:src|href)="([^"]{1,40})', text)
    assert links
    assert all(link.startswith(("data:", "#")) for link in links)
    stems = {file.stem for file in written.figures}
    assert stems == {"ends", "success", "bending", "rest", "pair", "others", "film", "trajectories",
                     "sensitivity", "convergence", "loss_not_held"}  # fmt: skip
    assert all(file.is_file() for file in written.figures)
    for question, answer in written.answers:
        assert question in text
        assert answer.replace("'", "&#39;") in text
    assert "nan" not in re.sub(r'src="[^"]*"', "", text)


class Counting(Silent):
    """A progress that remembers."""

    def __init__(self):
        self.seen = []

    def start(self, title, total=None):
        self.seen.append((title, total))

    def advance(self, n=1, **facts):
        self.seen.append(n)


def test_figures_are_counted(tmp_path):
    """Before the first, and after each."""
    bar = Counting()
    made = report.write(make_captures(tmp_path, 30, 30), show=bar)
    total = len(made.figures) // 2
    assert bar.seen == [("Drawing", total), *[1] * total]


@pytest.mark.validate
def test_the_same_campaign_gives_the_same_page(folder, written, tmp_path):
    again = report.write(folder, tmp_path / "again.html", look=plain_look)
    assert again.page.read_bytes() == written.page.read_bytes()


def test_unfinished_and_failed_are_told(tmp_path, told):
    def change(rows):
        rows["outcome"][:3], rows["success"][:3] = Outcome.STEP_FLOOR, False

    place = make_captures(tmp_path / "c", 200, 50, shards=2, change=change)
    said = told(CaptureFindings(read(open_campaign(place))), "warnings")
    assert "100 of 200 captures" in said[0]
    assert "6 of 100 runs failed" in said[1]
    assert "reaches past the rim" in said[2]


def test_runs_that_stops_ended_are_no_failures(tmp_path):
    def change(rows):
        rows["outcome"][:3], rows["success"][:3] = (64, Outcome.SPIN_ABOVE, 64), False

    found = CaptureFindings(read(open_campaign(make_captures(tmp_path, 50, 50, change=change))))
    assert found.failed.sum() == 0
    assert found.ends["STOPPED"].sum() == 3
    assert sum(int(hit.sum()) for hit in found.ends.values()) == 50
    assert found.count(64) == 2


def _one_held(rows):
    rows["outcome"], rows["success"] = Outcome.HELD, True


def _one_missed(rows):
    rows["outcome"], rows["success"] = Outcome.MISSED, False
    rows["bending_nm"], rows["margin"] = 0.0, np.inf
    rows["contact_s"] = rows["settle_s"] = np.nan


@pytest.mark.parametrize(("runs", "change"), [(1, _one_held), (3, _one_missed)])
def test_few_runs_have_a_page(tmp_path, runs, change):
    made = report.write(make_captures(tmp_path, runs, 10, change=change, trajectories=(0,)))
    assert made.page.is_file()
    json.dumps(made.numbers, allow_nan=False)
    assert {"loads"} == {file.stem for file in made.figures} & {"loads", "film"}
    if change is _one_missed:
        assert made.answers[0][1].startswith(f"Never in {runs} capture")
        assert made.answers[1][1].startswith("They are not loaded")


def test_a_kind_that_nobody_knows(tmp_path):
    campaign = open_campaign(make_captures(tmp_path, 3, 10))
    campaign.plan.scenario["kind"] = "flyby"
    try:
        with pytest.raises(InputError, match="flyby"):
            report.write(campaign)
    finally:
        campaign.plan.scenario["kind"] = "capture"


# -- the command ------------------------------------------------------------------------------

app = typer.Typer()
app.command()(cli.command)


def test_command_gives_numbers_and_pictures(tmp_path):
    place = make_captures(tmp_path / "c", 30, 30, trajectories=(1,))
    done = CliRunner().invoke(app, [str(place), "--json"])
    assert done.exit_code == 0, done.exception
    told = json.loads(done.stdout)
    assert told["kind"] == "capture"
    assert "light_table" not in told
    assert any(file.endswith("film.svg") for file in told["figures"])
    assert not any("pictures" in note for note in told["notes"])


def test_why_there_are_no_pictures(tmp_path, monkeypatch):
    place = make_captures(tmp_path / "c", 30, 30, trajectories=(1,))

    def missing(table, source):
        raise FileError("asteroid.mesh is gone")

    monkeypatch.setattr("alight.scenario.from_dict", missing)
    look, note = looks_of(open_campaign(place))
    assert look is None
    assert note == "there are no pictures of captures: asteroid.mesh is gone"


def test_captures_have_no_light(tmp_path):
    place = make_captures(tmp_path / "c", 3, 3)
    done = CliRunner().invoke(app, [str(place), "--date", "2020-01-01"])
    assert isinstance(done.exception, InputError)
    assert "captures" in str(done.exception)


# -- what it is made of -----------------------------------------------------------------------


def test_bins_hold_every_run_once():
    rng = np.random.default_rng(1)
    values = rng.uniform(0.1, 1.0, 500)
    bins = binned(values, values > 0.5)
    assert sum(b.share.n for b in bins) == 500
    assert np.array_equal(np.sort(np.concatenate([b.members for b in bins])), np.arange(500))
    assert bins[0].share.value == 0.0
    assert bins[-1].share.value == 1.0
    assert all(b.low - 1e-12 <= values[b.members].min() for b in bins)
    assert all(values[b.members].max() <= b.high + 1e-12 for b in bins)


def test_a_few_values_are_a_bin_each():
    bins = binned(np.repeat([0.1, 0.5, 1.0], 4), np.arange(12) < 6)
    assert [b.middle for b in bins] == pytest.approx([0.1, 0.5, 1.0], rel=1e-15)
    assert [(b.low, b.share.n) for b in bins] == [(0.1, 4), (0.5, 4), (1.0, 4)]
    assert [b.share.value for b in bins] == [1.0, 0.5, 0.0]


def test_multiples_are_the_same_input():
    a, b = np.array([1.0, 2.0, 4.0]), np.array([3.0, 1.0, 2.0])
    found = captures.distinct({"a": a, "same": np.ones(3)}, [("b", b), ("2a", 2.0 * a)])
    assert list(found) == ["a", "b"]


def test_thrust_is_read_where_it_is_one_number():
    assert thrust_of({"approach": {"thrust": "475 N"}}) == 475.0
    assert thrust_of({"approach": {"thrust": "0.4 kN"}}) == 400.0
    assert thrust_of({"approach": {}}) is None
    assert thrust_of({"approach": {"thrust": "9 N"}, "dispersions": {"approach.thrust": 1}}) is None


@pytest.mark.parametrize("end", [170.0, 180.0, 60.0, 7.3, 1200.0])
def test_pictures_are_a_round_time_apart(end):
    times = picture_times(end)
    assert 9 <= len(times) <= 18
    assert times[0] == 0.0
    assert 0.8 * end <= times[-1] <= end
    apart = times[1]
    assert f"{apart:g}".strip("0.").replace(".", "") in ("1", "15", "2", "25", "3", "4", "5", "6",
                                                         "8")  # fmt: skip


def test_picture_shows_the_craft_above_the_asteroid():
    still = np.array([[0.0, 0.0, 0.0, 1.0]])
    bent = np.tile(still, (2, 1))[None]
    poses = Poses(np.zeros(1), np.zeros((1, 3)), still, np.array([[0.0, 0.0, -14.0]]), still, bent)
    viewer = upright(np.array([0.0, 0.0, -1.0]))
    stone, bus, rim, *_, cloth = pieces(plain_look(), poses, 0)
    seen = {name: viewer.project(placed(one)) for name, one in (("bus", bus), ("stone", stone))}
    assert seen["bus"][:, 1].min() > seen["stone"][:, 1].mean()
    assert cloth.veil
    # Rigid parts: the rim of the membrane is as long as it is made.
    points = plain_look().ring
    ends = placed(rim)[-6 * 14 :].reshape(6, 14, 3)[:, -2:]
    size = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    assert size == pytest.approx(np.linalg.norm(np.roll(points, -1, axis=0) - points, axis=1))
    assert size.sum() == pytest.approx(6 * 7.5)
