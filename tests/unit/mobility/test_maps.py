"""Mobility maps: cells, commands, the campaign behind them, plans and plans flown; the command.

On flat ground that stops a lander where it comes down, hops of one and two cells along x and y take
ceil(|i| / 2) + ceil(|j| / 2) hops from the cell (i, j) to the goal: the plan must find that.
"""

import json
import math
import pathlib
import sys
from dataclasses import fields

import numpy as np
import pytest
from typer.testing import CliRunner

from alight import motions, scenario
from alight.analysis.rest_light import RestLight
from alight.analysis.sun import SunPath
from alight.campaign.dispersions.sampling import sample
from alight.cli.main import app
from alight.core.errors import InputError
from alight.engine import run_batch
from alight.mobility import Cells, Commands, DarkGround, Disc, MobilityMap, ThrowErrors
from alight.mobility.maps.decisions import arrivals, success
from alight.mobility.maps.transitions import Hops, joined, judges_of, outcomes_of
from alight.shapes.icosphere import icosphere

sys.path.insert(0, str(pathlib.Path(__file__).parent))  # tests are no package

from ball import FLAT, RADIUS, ball

G = 1e-3


# -- cells and commands ---------------------------------------------------------------------------


def test_cells_are_of_about_equal_area():
    cells = Cells.on_mesh(icosphere(4, RADIUS), 80, starts=6)
    points = np.random.default_rng(1).normal(size=(20_000, 3))
    points *= RADIUS / np.linalg.norm(points, axis=1)[:, None]
    share = np.bincount(cells.of(points), minlength=80) / len(points) * 80
    assert share.min() > 0.5
    assert share.max() < 1.6
    assert (cells.of(cells.starts.reshape(-1, 3)) == np.repeat(np.arange(80), 6)).all()


def test_commands_are_all_combinations():
    made = Commands.grid([0.1, 0.2], 4, [0.5])
    assert len(made) == 8
    assert np.degrees(np.unique(made.throws[:, 1])) == pytest.approx([0.0, 90.0, 180.0, 270.0])


@pytest.mark.parametrize(
    ("speeds", "angles", "said"),
    [([], [0.5], "at least one"), ([-0.1], [0.5], "speed of a command"),
     ([0.1], [-0.5], "into the ground"), ([0.1], [2.0], "at most 90")],
)  # fmt: skip
def test_impossible_commands_are_refused(speeds, angles, said):
    with pytest.raises(InputError, match=said):
        Commands.grid(speeds, 4, angles)


# -- what commands lead to ------------------------------------------------------------------------


def some_hops(cell, rest, settled=None, left=0):
    count = len(cell)
    none = np.zeros(count, dtype=int)
    good = np.ones(count, bool) if settled is None else np.asarray(settled)
    return Hops(np.asarray(cell), none, np.zeros((count, 3)), good, ~good,
                np.asarray(rest, float), np.ones(count), none, np.full(count, left))  # fmt: skip


def line():
    """Three cells along x, 1 m apart, from x = 1 on."""
    centres = np.array([[1.0, 0, 0], [2.0, 0, 0], [3.0, 0, 0]])
    return Cells(centres, centres[:, None])


def test_runs_are_counted_by_how_they_end():
    rest = [[3.0, 0, 0], [2.1, 0, 0], [2.9, 0, 0], [np.nan] * 3]
    hops = some_hops([0, 0, 0, 0], rest, [True, True, True, False])
    found = outcomes_of(hops, line(), 1, Disc((3.0, 0.0, 0.0), 0.05), [Disc((2.9, 0, 0), 0.05)])
    assert found.arrive[0, 0] == 0.25
    assert found.fail[0, 0] == 0.5  # one is lost, one rests where it must not
    assert found.move.toarray()[0].tolist() == [0.0, 0.25, 0.0]
    assert found.runs[:, 0].tolist() == [4, 0, 0]


def test_rehearsals_take_the_place_of_the_runs_of_a_map():
    first = some_hops([0] * 10 + [1] * 10, np.tile([[2.0, 0, 0]], (20, 1)))
    more = some_hops([0] * 8 + [1] * 2, np.tile([[1.0, 0, 0]], (10, 1)))
    both = joined(first, more, 1)
    assert np.bincount(both.cell).tolist() == [8, 12]


def test_a_plan_is_judged_by_hops_left():
    """Half of the landers arrive with their first hop, all others with their second, from the same
    cell: as a chain of cells alone has it, a ninth of them would not."""
    here, goal = [1.0, 0, 0], [3.0, 0, 0]
    first = some_hops([0] * 20, [here, goal] * 10, left=2)
    second = some_hops([0] * 10, [goal] * 10, left=1)
    met = Hops(*(np.concatenate([vars(first)[k], vars(second)[k]]) for k in vars(first)))
    area = Disc((3.0, 0.0, 0.0), 0.05)
    known = judges_of(some_hops([0, 1, 2], [here] * 3), met, line(), 1, area, [], 2)
    plan, share = np.zeros((2, 3), dtype=int), np.array([1.0, 0.0, 0.0])
    assert arrivals(known, plan, share).tolist() == [0.0, 0.5, 1.0]
    assert success(known, plan)[2, 0] == 1.0
    alone = (outcomes_of(met, line(), 1, area),) * 2
    assert arrivals(alone, plan, share)[2] == pytest.approx(1.0 - 1.0 / 9.0)


# -- light ----------------------------------------------------------------------------------------


def sun(declination, span=4 * 3600.0):
    """The Sun's way over a ball that turns once in ``span`` [s]."""
    hour = np.linspace(0.0, 2.0 * math.pi, 720, endpoint=False)
    level = math.cos(declination)
    way = np.stack([level * np.cos(hour), -level * np.sin(hour),
                    np.full(720, math.sin(declination))], -1)  # fmt: skip
    return RestLight(None, SunPath(way, span))


def test_ground_in_too_long_a_night_is_that_of_the_closed_form():
    """cos H = -tan(latitude) tan(declination) at sunset; the night is (1 - H / pi) of a turn."""
    cells, tilt = Cells.on_mesh(icosphere(4, RADIUS), 80, starts=8), math.radians(25.0)
    dark = DarkGround.of(cells, sun(tilt), 2.5 * 3600.0)
    up = dark.places / np.linalg.norm(dark.places, axis=1)[:, None]
    edge = np.clip(-np.tan(np.arcsin(up[:, 2])) * math.tan(tilt), -1.0, 1.0)
    known = (1.0 - np.arccos(edge) / math.pi) * 4 * 3600.0
    sees = edge < 1.0
    assert dark.night[sees] == pytest.approx(known[sees], abs=2 * 4 * 3600.0 / 720)
    assert np.isinf(dark.night[~sees]).all()
    assert (~sees).any()
    assert dark.share == pytest.approx((known > dark.most).mean(), abs=0.01)
    held = dark.holds(np.array([[0.0, 0.0, -RADIUS], [0.0, 0.0, RADIUS], [np.nan] * 3]))
    assert held.tolist() == [True, False, False]


def test_runs_that_rest_in_the_dark_are_lost_but_not_at_the_goal():
    rest = [[3.0, 0, 0], [2.0, 0, 0], [1.0, 0, 0], [np.nan] * 3]
    hops = some_hops([0, 0, 0, 0], rest, [True, True, True, False])
    dark = DarkGround(line().centres, np.array([1.0, 9.0, 9.0]), 5.0)
    found = outcomes_of(hops, line(), 1, Disc((3.0, 0.0, 0.0), 0.05), [dark])
    assert (found.arrive[0, 0], found.fail[0, 0]) == (0.25, 0.5)
    assert found.move.toarray()[0].tolist() == [0.25, 0.0, 0.0]


# -- a plan on flat ground ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def flat(tmp_path_factory):
    """Nine by nine squares of 1 m; hops of one and two metres along x and y that stick."""
    text = FLAT.replace("restitution = 0.3", "restitution = 0.02\nfriction = 3.0")
    speeds = [math.sqrt(G * d) for d in (1.0, 2.0)]
    centres = Cells.on_plane(9, 1.0).centres
    made = MobilityMap(
        scenario.loads(text), Cells(centres, centres[:, None]),
        Commands.grid(speeds, 4, [0.25 * math.pi]), repeats=2,
        errors=ThrowErrors(0.001, 0.001),
    )  # fmt: skip
    made.run(tmp_path_factory.mktemp("flat") / "hops", "cpu")
    return made


def test_the_plan_on_flat_ground_is_the_closed_form(flat):
    plan = flat.plan(flat.disc((0.0, 0.0, 0.0), 0.3), hops=5, objective="hops", rehearsals=0)
    x, y = np.round(np.abs(flat.cells.centres[:, :2])).T
    known = np.ceil(x / 2.0) + np.ceil(y / 2.0)
    outside = known > 0
    assert plan.success[outside] == pytest.approx(1.0)
    assert plan.expected_hops[outside] == pytest.approx(known[outside], rel=1e-12)


def test_a_plan_with_too_few_hops_does_not_arrive(flat):
    plan = flat.plan(flat.disc((0.0, 0.0, 0.0), 0.3), hops=3, objective="risk", rehearsals=0)
    corner = int(flat.cells.of(np.array([[4.0, 4.0, 0.0]]))[0])
    assert plan.success[corner] == 0.0
    with pytest.raises(InputError, match="no plan exists from there"):
        plan.fly(10, np.array([4.0, 4.0, 0.0]))


def test_a_plan_keeps_off_what_is_to_be_avoided(flat):
    goal, bad = flat.disc((0.0, 0.0, 0.0), 0.3), flat.disc((2.0, 0.0, 0.0), 0.4)
    plan = flat.plan(goal, [bad], hops=5, objective="hops", rehearsals=0)
    far = int(flat.cells.of(np.array([[4.0, 0.0, 0.0]]))[0])
    assert plan.expected_hops[far] == pytest.approx(3.0)  # by steps of 1, 2 and 1


def test_what_cannot_be_is_refused(flat):
    with pytest.raises(InputError, match="not on it"):
        flat.disc((0.0, 0.0, 900.0), 1.0)
    with pytest.raises(InputError, match="no plan exists"):
        flat.plan(flat.disc((0.4, 0.4, 0.0), 0.01), rehearsals=0)
    dark = DarkGround(flat.cells.centres, np.full(len(flat.cells), np.inf), 60.0)
    with pytest.raises(InputError, match="at the goal the Sun does not rise"):
        flat.plan(flat.disc((0.0, 0.0, 0.0), 0.3), [dark], rehearsals=0)
    with pytest.raises(InputError, match="unknown objective"):
        flat.plan(flat.disc((0.0, 0.0, 0.0), 0.3), objective="fuel")
    with pytest.raises(InputError, match="even"):
        MobilityMap(scenario.loads(FLAT), flat.cells, flat.commands, repeats=3)


def test_the_campaign_resumes_and_keeps_no_contacts(flat, tmp_path):
    flat.run(tmp_path / "hops", "cpu")
    again = flat.run(tmp_path / "hops", "cpu")
    assert len(again) == 81 * 8 * 2
    assert again.complete
    assert "peak_force_N" not in again.read("runs").column_names


def test_no_records_of_contacts_leave_the_device(flat):
    (group,) = flat.study.maker.groups(sample(flat.study, np.arange(6)))
    found = run_batch(group.model, group.release, device="cpu")
    plain = motions.Model(**{f.name: getattr(group.model, f.name) for f in fields(group.model)})
    whole = run_batch(plain, group.release, device="cpu")
    assert not len(found.touches)
    assert len(whole.touches) == whole.final["touches"].sum() > 0
    assert found.final.tobytes() == whole.final.tobytes()


def test_runs_begin_as_single_push_offs_do():
    """Stands are found once for each place of a cell: places, attitudes and velocities are those of
    push-offs that are each put on the ground by themselves."""
    given = scenario.loads(ball(hours=6.0))
    made = MobilityMap(given, 20, Commands.grid([0.05, 0.09], 3, [0.4, 0.9]), repeats=2, starts=3)
    maker = made.study.maker
    values = sample(made.study, np.arange(0, 480, 7))
    (quick,) = maker.groups(values)
    turned = {**values, "release.rate": np.zeros((len(quick.rows), 3))}
    (whole,) = maker.groups(turned)
    for name in ("position", "velocity", "attitude", "rate"):
        first, second = getattr(quick.release, name), getattr(whole.release, name)
        assert first == pytest.approx(second, rel=1e-12, abs=1e-9), name
    assert np.array_equal(quick.rows, whole.rows)


# -- a plan on a ball -----------------------------------------------------------------------------

DISPERSED = '[dispersions]\n"contact.restitution" = { kind = "uniform", low = 0.2, high = 0.4 }\n'


@pytest.mark.validate  # a kernel of its own
def test_what_is_predicted_is_what_is_flown(tmp_path):
    commands = Commands.grid([0.05, 0.09], 6, [0.25 * math.pi])
    errors = ThrowErrors(0.05, math.radians(4.0))
    made = MobilityMap(scenario.loads(ball() + DISPERSED), 60, commands, repeats=10, errors=errors)
    made.run(tmp_path / "hops", "cpu")
    plan = made.plan(made.disc((0.3, 0.2), 60.0), hops=3, rehearsals=600)
    flown, predicted = plan.fly(600)
    assert 0.2 < predicted < 1.0
    # Both are estimates, of 600 runs each: four standard deviations of both.
    spread = math.sqrt(predicted * (1.0 - predicted) * 2.0 / 600)
    assert flown.success.value == pytest.approx(predicted, abs=4.0 * spread)
    cells, starts = plan.starts(600)
    assert np.array_equal([track[0] for track in flown.tracks], starts)
    assert plan.arrivals(cells)[-1] == predicted
    ends = np.array([track[-1] for track in flown.tracks])
    assert (plan.goal.holds(ends) == flown.arrived).all()


def test_the_command_writes_a_page_and_mistakes_are_one_sentence(tmp_path, monkeypatch):
    (tmp_path / "ball.toml").write_text(ball() + DISPERSED)
    monkeypatch.chdir(tmp_path)
    words = ["mobility", "ball.toml", "--radius", "60", "--out", "map", "--cells", "40",
             "--repeats", "6", "--speed", "5 cm/s", "--speed", "9 cm/s", "--azimuths", "4",
             "--hops", "4", "--fly", "40", "--rehearsals", "100",
             "--device", "cpu", "--json"]  # fmt: skip
    done = CliRunner().invoke(app, [*words, "--goal", "10,20", "--avoid", "40,60,50"])
    assert done.exit_code == 0, (done.output, done.exception)
    told = json.loads(done.stdout)
    assert told["runs"] == 40 * 8 * 6
    assert set(told["rules"]) == {"plan", "greedy"}
    assert "data:image/svg+xml" in (tmp_path / "map" / "report.html").read_text("utf-8")
    wrong = {"--goal": ("100,0", "no place"), "--avoid": ("1,2", "no place"),
             "--speed": ("5", "--speed"), "--elevation": ("-10", "into the ground"),
             "--max-night": ("20 h", "give --date"), "--date": ("2020-01-01", "not given"),
             "--start": ("5", "no place"),
             "--objective": ("fuel", "unknown objective")}  # fmt: skip
    for option, (value, said) in wrong.items():
        more = [] if option == "--goal" else ["--goal", "10,20"]
        failed = CliRunner().invoke(app, [*words, *more, f"{option}={value}"])
        assert isinstance(failed.exception, InputError), (option, failed.output)
        assert said in str(failed.exception)
    monkeypatch.setattr("alight.mobility.MobilityMap.run", None)  # it is found before the hops
    failed = CliRunner().invoke(app, [*words, "--goal", "10,20", "--start", "10.1,20"])
    assert 'lies in the goal, within 60 m of "10,20"' in str(failed.exception)
