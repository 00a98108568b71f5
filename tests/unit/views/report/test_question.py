"""Reports follow the question: what is lost first, requirements before it, clusters, sweeps."""

import json
import pathlib
import re
import sys
import types

import matplotlib.pyplot
import numpy as np
import pytest

from alight.analysis.intervals import wilson
from alight.analysis.requirements import decide
from alight.campaign.reader import open_campaign
from alight.core.outcomes import Outcome
from alight.core.requirements import Requirement
from alight.views import report
from alight.views.estimates import most_of_none
from alight.views.figures.landing import maps
from alight.views.report.common import readable
from alight.views.report.data import Trajectory
from alight.views.report.landing import data as landing_data
from alight.views.report.landing import words as text
from alight.views.report.landing.findings import LandingFindings, _untouched
from alight.views.report.losses import ESCAPE, Verb
from alight.views.report.requirements import Judged, _asked, _row, headline

sys.path.insert(0, str(pathlib.Path(__file__).parent))  # tests are no package

import landing_case
from landing_case import RADIUS, SCENARIO, make_campaign

CONFIDENT = re.compile(r"confidence fewer|95 % interval|\d \([\d.]+ to [\d.]+\)")


def escape_when_fast(monkeypatch, limit=0.08):
    """In the made-up campaign those escape that are released faster than ``limit`` [m/s]."""
    made = landing_case._final

    def final(values, rng, escaped, ending, radius):
        out = made(values, rng, 0.0, ending, radius)
        fast = np.linalg.norm(values["release.velocity"], axis=1) > limit
        out["outcome"] = np.where(fast, Outcome.ESCAPED, out["outcome"])
        return out

    monkeypatch.setattr(landing_case, "_final", final)


def page_of(made):
    return re.sub(r'src="[^"]*"', "", made.page.read_text(encoding="utf-8"))


def test_what_decides_who_escapes_is_said_with_counts_of_the_table(tmp_path, monkeypatch):
    escape_when_fast(monkeypatch)
    made = report.write(make_campaign(tmp_path / "c", 150, 150))
    question, answer = made.answers[0]
    assert question == "How often is it lost?"
    assert "It depends most on the release speed: " in answer
    table = open_campaign(tmp_path / "c").read()
    v = [table.column(f"release.velocity_{a}_m_per_s").to_numpy() for a in "xyz"]
    speed = 100.0 * np.linalg.norm(v, axis=0)
    gone = table.column("outcome_code").to_numpy() == Outcome.ESCAPED
    below, none = re.search(r"below ([\d.]+) cm/s none of (\d+) escapes", answer).groups()
    assert int(none) == (speed < float(below)).sum()
    assert not gone[speed < float(below)].any()
    above, count = re.search(r"above ([\d.]+) cm/s all (\d+) do", answer).groups()
    assert int(count) == (speed > float(above)).sum()
    assert gone[speed > float(above)].all()
    told = made.numbers["losses"]["escape"]
    assert told["count"] == gone.sum()
    assert told["depends_on"][0]["input"] == "release speed"
    page = page_of(made)
    assert page.index("What is lost, and why") < page.index(">Where it comes to rest<")


@pytest.mark.parametrize(
    ("never", "gone", "said"),
    [
        (0, 5, ""),
        (1, 5, "1 of these 5 never touches the ground."),
        (3, 5, "3 of these 5 never touch the ground."),
        (5, 5, "None of them touches the ground."),
    ],
)
def test_those_that_escape_without_a_touch_are_counted(never, gone, said):
    runs = np.arange(9)
    assert _untouched(runs < never, runs < gone) == said


def test_heights_of_runs_without_a_rest_site_count_from_the_release():
    position = np.array([[100.0, 0.0, 0.0], [0.0, 90.0, 0.0], [0.0, 0.0, 300.0]])
    titles = {}
    for settle in (np.nan, 2.0):
        course = Trajectory(0, {}, {"settle_time_s": settle})
        figure, axes = matplotlib.pyplot.subplots()
        lines = [maps.Line(course, np.arange(3.0), position)]
        maps._heights(axes, lines, types.SimpleNamespace(level=None))
        titles[axes.get_title()] = axes.lines[0].get_ydata().tolist()
        matplotlib.pyplot.close(figure)
    assert titles == {
        "Height above the release [m]": [0.0, -10.0, 200.0],
        "Height above the rest site [m]": [-300.0, -300.0, 0.0],
    }


def test_none_lost_has_no_section_of_losses(tmp_path):
    made = report.write(make_campaign(tmp_path / "c", 150, 150, escaped=0.0))
    assert dict(made.answers)["How often is it lost?"].startswith("None of the 150 runs escaped")
    assert "What is lost, and why" not in page_of(made)


def test_all_lost(tmp_path):
    made = report.write(make_campaign(tmp_path / "c", 60, 60, escaped=1.1))
    answers = dict(made.answers)
    assert answers["How often is it lost?"].startswith("100 % of the runs escape (60 of 60")
    assert answers["Where does it come to rest?"].startswith("Nowhere")
    assert "depends most" not in page_of(made)
    assert "All are lost, so nothing can be said" in page_of(made)


def test_two_clusters_have_no_middle_and_no_ellipse(tmp_path, monkeypatch):
    made = landing_case._ground

    def apart(flat, radius):
        side = np.where(np.arange(len(flat)) % 3 == 0, 300.0, -300.0)
        return made(0.2 * flat + np.stack([side, 0.0 * side], 1), radius)

    monkeypatch.setattr(landing_case, "_ground", apart)
    folder = make_campaign(tmp_path / "c", 150, 150, escaped=0.0)
    found = LandingFindings(landing_data.read(open_campaign(folder)))
    assert found.groups.count == 2
    assert not found.ellipses
    assert "ellipse_area_m2" not in found.convergence.answers
    said = text.where(found)
    assert said.startswith("In 2 clusters with empty ground between them: 67 % (100 of 150) around")
    # Around the one and the other, and not around the place between them.
    east = [float(x) for x in re.findall(r"longitude ([\d.]+)°", said)]
    assert len(east) == 2
    for where, metres in zip(east, (-300.0, 300.0), strict=True):
        turn = np.degrees(metres / (RADIUS * np.cos(np.radians(20.0))))
        assert where == pytest.approx((40.0 + turn) % 360.0, abs=1.5)
    page = page_of(report.write(folder))
    assert "middle is at" not in page
    assert "with the 95 % ellipse" not in page
    assert "semi-axes" not in page


REQUIRED = [
    {"kind": "outcome", "outcome": "escaped", "at_most": 0.2},
    {"kind": "below", "column": "peak_force_N", "value": "1e6 N", "share": 0.9},
    {"kind": "below", "column": "peak_force_N", "value": "1e-6 N", "share": 0.9},
]


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("peak_acceleration_m_per_s2", "peak acceleration"),
        ("peak_pad_force_east_N", "peak pad force east"),
        ("peak_tilt_deg", "peak tilt"),
        ("bounces", "bounces"),
    ],
)
def test_columns_of_requirements_are_said_without_their_units(column, said):
    asked = Requirement(name="", kind="below", share=0.9, column=column, said="5 u")
    assert _asked(asked, {}) == f"{said} below 5 u in at least 90 % of the runs"


def test_a_lander_with_joints_is_no_tree_to_readers():
    assert landing_data._name({"shape": "tree"}, "a lander") == "an articulated lander"
    assert landing_data._name({"shape": "box"}, "a lander") == "a box"


def test_requirements_come_first(tmp_path):
    made = report.write(make_campaign(tmp_path / "c", 100, 100, requirement=REQUIRED))
    words = [one["verdict"] for one in made.numbers["requirements"]]
    assert words == ["pass", "pass", "fail"]
    assert made.answers[0] == (
        "Are the requirements met?", "Of 3 requirements 2 are met, 1 is not met."
    )  # fmt: skip
    page = page_of(made)
    assert page.index("Requirements") < page.index("<dl")
    assert "largest normal force below 1e6 N in at least 90 % of the runs" in page
    json.dumps(made.numbers, allow_nan=False)


def test_bounds_that_decide_are_not_rounded_to_the_limit():
    asked = Requirement(name="rests within 60 m of the target", kind="rest-within", share=0.9,
                        center=(1.0, 0.0, 0.0), radius=60.0, said="60 m")  # fmt: skip
    verdict = decide(asked, 128, 150)
    row = _row(Judged(verdict, np.ones(150, bool), _asked(asked, {})))
    assert row[:3] == [
        "fail", "rest within 60 m of the target in at least 90 % of the runs", "128 of 150",
    ]  # fmt: skip
    assert row[3] == "above 79.7 %, below 89.9 % (95 % sure of each)"
    both = [Judged(verdict, np.ones(150, bool), "")] * 2
    assert headline(both) == "Neither of the two requirements is met."


def test_a_requirement_that_is_open_says_how_many_runs_more(tmp_path):
    near = [{"kind": "below", "column": "peak_force_N", "value": "1e6 N", "share": 0.99}]
    made = report.write(make_campaign(tmp_path / "c", 100, 100, requirement=near))
    assert made.numbers["requirements"][0]["verdict"] == "not yet decided"
    more = made.numbers["requirements"][0]["more_runs"]
    # None fails: n runs decide where 0.99^n < 0.05.
    assert more == int(np.ceil(np.log(0.05) / np.log(0.99))) - 100
    assert f"about {more} more runs" in page_of(made)


def test_a_sweep_is_plotted_against_and_states_no_confidence(tmp_path, monkeypatch):
    heights = np.array([20.0, 40.0, 60.0, 80.0])
    drawn = landing_case.drawn

    def swept(runs):
        values, rng = drawn(runs)
        return {**values, "release.height": heights[runs % 4]}, rng

    monkeypatch.setattr(landing_case, "drawn", swept)
    spread = {"kind": "sweep", "values": [f"{h:g} m" for h in heights]}
    given = {**SCENARIO["dispersions"], "release.height": spread}
    made = report.write(make_campaign(tmp_path / "c", 40, 40, dispersions=given))
    page = page_of(made).partition("How it was computed</h2>")[0]
    assert not CONFIDENT.search(re.sub("<style>.*</style>", "", page, flags=re.S))
    assert not any(CONFIDENT.search(answer) for _, answer in made.answers)
    assert "are no random sample" in page
    assert ">Against release height</h2>" in page
    said = dict(made.answers)["What does the sweep show?"]
    assert said.startswith("4 combinations of release height, run 10 times: ")
    assert {file.stem for file in made.figures} == {"sweep", "rest_map"}
    assert made.numbers["swept"] == ["release height"]
    assert ">every combination of the sweep; else random<" in page_of(made)
    settle = open_campaign(tmp_path / "c").read().column("settle_time_s").to_numpy()
    middle = [np.nanmedian(settle[k::4]) for k in range(4)]
    ends = [f"a release height of {heights[k]:g} m" for k in (np.argmin(middle), np.argmax(middle))]
    assert re.search(f"The median time from release to rest is smallest at {ends[0]} .*"
                     f"and largest at {ends[1]}", said)  # fmt: skip


def test_ends_of_a_sweep_are_those_of_single_combinations(tmp_path, monkeypatch):
    heights, bounces = np.array([20.0, 40.0, 60.0, 80.0]), np.array([0.2, 0.9])
    drawn = landing_case.drawn

    def swept(runs):
        values, rng = drawn(runs)
        pair = {"release.height": heights[runs // 2], "contact.restitution": bounces[runs % 2]}
        return {**values, **pair}, rng

    monkeypatch.setattr(landing_case, "drawn", swept)
    given = {
        **SCENARIO["dispersions"],
        "release.height": {"kind": "sweep", "values": [f"{h:g} m" for h in heights]},
        "contact.restitution": {"kind": "sweep", "values": bounces.tolist()},
    }
    made = report.write(make_campaign(tmp_path / "c", 8, 8, escaped=0.0, dispersions=given))
    settle = open_campaign(tmp_path / "c").read().column("settle_time_s").to_numpy()
    said = dict(made.answers)["What does the sweep show?"]
    for word, run in (("smallest", np.nanargmin(settle)), ("largest", np.nanargmax(settle))):
        place = f"a release height of {heights[run // 2]:g} m and a restitution of"
        assert f"{word} at {place} {bounces[run % 2]:g} (" in said


def test_numbers_of_the_scenario_are_for_readers():
    given = 'latitude = "0.5235987755982988 rad"\nnormal = [0.30000000000000004, 1.0]\nx = "2 rad"'
    told, changed = readable(given)
    assert told == 'latitude = "30 deg"\nnormal = [0.3, 1.0]\nx = "2 rad"'
    assert changed
    assert readable('height = "60 m"') == ('height = "60 m"', False)


def test_counts_in_words():
    assert ESCAPE.counted(0, 47) == "none of 47 escapes"
    assert ESCAPE.counted(27, 39, short=True) == "27 of 39 do"
    assert ESCAPE.counted(1, 5) == "1 of 5 escapes"
    assert ESCAPE.counted(9, 9) == "all 9 escape"
    assert Verb("is lost", "are lost", "was lost", "is", "are").counted(2, 5, True) == "2 of 5 are"


def test_none_of_few_runs_has_the_exact_bound():
    for runs in (1, 2, 4, 6):
        high = most_of_none(runs, wilson(0, runs).high)
        assert (1.0 - high) ** runs == pytest.approx(0.05, rel=1e-9)  # so often none would do it
    assert most_of_none(100, wilson(0, 100).high) == wilson(0, 100).high


def test_a_page_of_runs_that_never_touch_shows_nothing_that_is_not_there(tmp_path, monkeypatch):
    made = landing_case._final

    def final(values, rng, escaped, ending, radius):
        out = made(values, rng, 1.0, ending, radius)
        out["touches"] = 0
        for name in ("first_time", "first_speed", "first_place", "hardest", "peak_force"):
            out[name] = np.nan
        return out

    monkeypatch.setattr(landing_case, "_final", final)
    written = report.write(make_campaign(tmp_path / "c", 40, 40))
    page = page_of(written)
    assert {file.stem for file in written.figures}.isdisjoint({"histograms", "sensitivity"})
    assert "No landing touched the ground" in page
    assert "does not vary" not in page
    assert "could be held against what is uncertain" in page


def test_a_page_of_one_run_speaks_of_one(tmp_path):
    page = page_of(report.write(make_campaign(tmp_path / "c", 1, 1)))
    assert "One run says nothing of how others would go." in page
    assert "The rest site, " in page
    assert ">value</th>" in page
    assert "Mark: the median" not in page
