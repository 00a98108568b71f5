"""``alight advise``: what is tried and refused, what it costs, and what follows."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import alight
from alight.cli.main import app
from alight.cli.names import scenario_of
from alight.core.errors import InputError
from alight.scenario import loads
from alight.staging.advising import advice as advice_module
from alight.staging.advising import measuring
from alight.staging.advising.advice import Advice
from alight.staging.advising.alternatives import QUESTIONS, _steps, alternatives, table_minutes


@pytest.fixture(scope="module")
def cube(cube_drop):
    return loads(cube_drop(campaign=None))


def names(found):
    return [one.alternative.name for one in found]


def test_laws_that_go_with_a_landing_on_a_body():
    tried, refused = alternatives(scenario_of("ryugu_minerva"), "gravity")
    assert len(tried) == 7
    assert not refused
    (own,) = [one for one in tried if one.own]
    assert own.alternative.name == "reduced to 642 vertices, linearised over 5 m"
    (exact,) = [one for one in tried if one.alternative.exact]
    assert exact.scenario.gravity.linearise is None
    assert exact.scenario.gravity.error is None


def test_what_does_not_go_with_the_rest_is_refused_with_its_reason():
    tried, refused = alternatives(scenario_of("ryugu_minerva"), "contact")
    assert names(tried) == ["springs, clipped", "springs, smooth", "impulses"]
    assert names(refused) == ["sliding points"]
    assert "needs smooth ground" in refused[0].reason
    assert refused[0].reason.startswith("contact.law: ")


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_alternative_changes_what_it_names_and_is_in_the_file_once(question):
    tried, _ = alternatives(scenario_of("itokawa_cube"), question)
    assert sum(one.own for one in tried) == 1
    resolved = [json.dumps(one.scenario.resolved(), sort_keys=True) for one in tried]
    assert len(set(resolved)) == len(tried) >= 2


def test_an_answer_that_is_none_of_the_list_is_tried_as_it_is(cube):
    tried, refused = alternatives(cube, "gravity")
    assert names(tried) == ["uniform"]
    assert tried[0].own
    assert "needs a shape" in refused[0].reason


def test_an_alternative_takes_away_the_keys_of_other_laws(cube_drop):
    stiff = loads(cube_drop(contact={"restitution": 0.5, "depth": "2 mm"}))
    tried, _ = alternatives(stiff, "contact")
    (impulses,) = [one for one in tried if one.alternative.name == "impulses"]
    assert impulses.scenario.contact.depth is None
    assert impulses.scenario.contact.restitution == 0.5
    (springs,) = [one for one in tried if one.own]
    assert springs.alternative.name == "springs, clipped"


@pytest.fixture(scope="module")
def advice(cube, tmp_path_factory):
    out = tmp_path_factory.mktemp("advice")
    said = []
    found = alight.advise(
        cube, 8, out=out, questions="steps,ground", show="silent", on_try=said.append
    )
    return found, said


def test_each_is_run_timed_and_compared(advice):
    found, said = advice
    ground, steps = found.answers
    assert ground.advice == "There is no alternative for this scenario: keep what the file says."
    assert steps.options[0].name.partition(",")[0] == "tolerance 1e-11"
    assert all(one.runs == 8 for one in steps.options)
    assert all(0.0 < one.cost.run_s < 10.0 for one in steps.options)
    assert steps.tested
    assert not any(steps.differing(k) for k in (1, 2))
    assert steps.chosen in steps.options
    assert len(said) == 3, "what has no alternative is not run"


def test_numbers_for_scripts(advice):
    found, _ = advice
    steps = json.loads(json.dumps(found.to_dict(), allow_nan=False))["questions"]["steps"]
    first, *others = steps["options"]
    assert first["reference"]
    assert not first["compared"]
    columns = [row["column"] for row in others[0]["compared"]]
    assert "settle_time_s" in columns
    settle = others[0]["compared"][columns.index("settle_time_s")]
    assert settle["low"] <= settle["difference"] <= settle["high"]
    assert settle["difference"] == pytest.approx(0.0, abs=1e-3 * settle["reference"])


def test_it_resumes_and_keeps_what_it_measured(advice, cube, monkeypatch):
    found, _ = advice
    monkeypatch.setattr(measuring.Stopwatch, "compute", None)  # nothing may be computed
    out = found.out.parent
    again = alight.advise(cube, 8, out=out, questions="steps", show="silent")
    costs = [one.cost for one in found.answers[1].options]
    assert [one.cost for one in again.answers[0].options] == costs


def test_runs_that_take_too_long_are_fewer(cube, tmp_path):
    cost, runs = measuring.measured(cube, tmp_path / "one", 8, 1e-9, "silent")
    assert runs == 2
    assert cost.run_s > 0.0


def test_the_command(advice, cube_drop, tmp_path):
    found, _ = advice
    file = tmp_path / "cube.toml"
    file.write_text(cube_drop(campaign=None), "utf-8")
    words = ["advise", str(file), "--runs", "8", "--questions", "steps,contact"]
    done = CliRunner().invoke(app, [*words[:-1], "steps", "--out", str(found.out.parent)])
    assert done.exit_code == 0, done.output
    assert "Which steps?" in done.output
    assert "none beyond sampling" in done.output
    assert "ms a run" in done.output


def test_mistakes_are_said_at_once(cube, cube_drop, tmp_path):
    with pytest.raises(InputError, match='question "gravitiy"'):
        alight.advise(cube, 8, out=tmp_path, questions="gravitiy")
    with pytest.raises(InputError, match="runs"):
        alight.advise(cube, 1, out=tmp_path)
    swept = {"contact.restitution": {"kind": "sweep", "values": [0.3, 0.5]}}
    sweep = loads(cube_drop(campaign=None, dispersions=swept))
    with pytest.raises(InputError, match="no random sample"):
        alight.advise(sweep, 8, out=tmp_path)


def test_captures_and_drops_say_what_is_not_compared(tmp_path):
    drop = scenario_of("paper003_drop")
    found = alight.advise(drop, 2, out=tmp_path, questions="ground,contact,gravity", show="silent")
    said = [one.advice for one in found.answers]
    assert said[0] == "A drop has the gravity that its file gives."
    assert all("membrane alone" in one for one in said[1:])
    assert np.all([one.comparison is None for one in found.answers])


def test_a_table_that_takes_long_is_not_built_unasked(tmp_path):
    scenario = scenario_of("ryugu_minerva")
    tried, _ = alternatives(scenario, "gravity")
    (cached,) = [one for one in tried if one.alternative.name.startswith("cached")]
    assert table_minutes(cached) > 0.1
    assert not any(table_minutes(one) for one in tried if one is not cached)
    refused = advice_module._option(Advice(scenario, tmp_path, 8), cached, 0.1, "silent")
    assert "minutes to build" in refused.reason
    assert not list(tmp_path.iterdir())


@pytest.mark.validate
def test_a_law_that_differs_is_found(cube, tmp_path):
    """Smooth springs hold a cube longer before it rests; impulses do not."""
    found = alight.advise(cube, 32, out=tmp_path, questions="contact", show="silent")
    (contact,) = found.answers
    by_name = {o.tried.alternative.name: k for k, o in enumerate(contact.options)}
    assert [row.column for row in contact.differing(by_name["springs, smooth"])] != []
    assert contact.differing(by_name["impulses"]) == []
    assert contact.chosen is None


@pytest.mark.parametrize("tolerance", [1e-9, 3e-8, 1e-7])
def test_tolerances_that_are_advised_are_as_a_person_writes_them(tolerance):
    values = [one.changes["steps.tolerance"] for one in _steps(tolerance)]
    assert [len(repr(value)) <= 6 for value in values] == [True] * 3, values


def test_the_set_up_is_that_of_the_first_runs(cube, tmp_path, monkeypatch):
    """Later runs read from disk what the first ones built."""
    spent = iter([30.0, 0.5])
    prepare = measuring.Stopwatch.prepare

    def built_once(watch, work):
        prepare(watch, work)
        watch.setup_s = next(spent)

    monkeypatch.setattr(measuring.Stopwatch, "prepare", built_once)
    cost, runs = measuring.measured(cube, tmp_path / "one", 4, 1.0, "silent")
    assert (cost.setup_s, runs) == (30.0, 4)


@pytest.mark.parametrize("name", ["dimorphos", "itokawa", "67p"])
def test_the_default_ground_of_a_body_is_tried_once(name):
    scenario = scenario_of("ryugu_minerva").replaced({"body.name": name, "ground.spacing": None})
    tried, _ = alternatives(scenario, "ground")
    own = [one.alternative.name for one in tried if one.own]
    assert len(own) == 1
    assert own[0].endswith("(the default)")
