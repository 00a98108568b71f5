"""Solutions of every motion as data frames and datasets; short words for print and notebooks."""

import builtins
import pathlib
import sys

import numpy as np
import pytest
from tests.conftest import CUBE
from tests.unit.campaign.jobs.membrane_cases import CAPTURE, DROP

import alight
from alight.core.errors import InputError, MissingExtraError
from alight.core.html import facts_html
from alight.engine.columns import named
from alight.scenario import loads, toml_text

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "scenario"))  # tests are no package

from tree_case import TEXT as TREE

TEXTS = {
    "rigid": toml_text.dumps({**CUBE, "title": "<b>cube</b>"}),
    "tree": TREE,
    "capture": CAPTURE,
    "drop": DROP,
}


@pytest.fixture(scope="module")
def solved():
    """``solved(name)``: the solution of a small scenario of each motion."""
    known = {}

    def solve(name):
        if name not in known:
            known[name] = alight.simulate(loads(TEXTS[name]))
        return known[name]

    return solve


@pytest.mark.parametrize("name", TEXTS)
def test_frames_have_a_row_for_each_line_and_contact(solved, name):
    solution = solved(name)
    history, contacts = solution.to_pandas(), solution.to_pandas("contacts")
    assert np.array_equal(history["time_s"], solution.time)
    assert len(contacts) == len(solution.events) > 0
    assert np.array_equal(contacts["start_time_s"], solution.events["start"])
    assert "run" not in history
    for frame in (history, contacts):
        assert set(frame.attrs["units"]) == set(frame.attrs["meanings"]) == set(frame.columns)
        for column, unit in frame.attrs["units"].items():
            assert column.endswith(unit.replace("^", "").replace("/", "_per_").replace(" ", "_"))
    place = (
        "x_m" if name in ("rigid", "tree") else f"{'body' if name == 'drop' else 'asteroid'}_x_m"
    )
    position = solution.position if solution.position.ndim == 2 else solution.position[0]
    assert np.array_equal(history[place], position[:, 0])


@pytest.mark.parametrize("name", TEXTS)
def test_datasets_have_units(solved, name):
    solution = solved(name)
    data, frame = solution.to_xarray(), solution.to_pandas()
    assert data.sizes["time"] == len(frame)
    assert data.sizes["contact"] == len(solution.events)
    assert data["time"].attrs["units"] == "s"
    assert all("units" in one.attrs and one.attrs["long_name"] for one in data.variables.values())
    for variable in data.data_vars:
        if "time" in data[variable].dims:
            column = named(variable, data[variable].attrs["units"])
            assert np.array_equal(data[variable], frame[column])
    assert np.array_equal(data["contact_depth"], solution.events["depth"])
    assert data.attrs["outcome"] == frame.attrs["outcome"]


@pytest.mark.parametrize("name", TEXTS)
def test_print_is_one_line(solved, name):
    for text in (str(solved(name)), repr(solved(name))):
        assert len(text) < 200
        assert "\n" not in text
        assert "steps" in text


@pytest.mark.parametrize("name", TEXTS)
def test_notebooks_show_a_few_facts(solved, name):
    scenario = loads(TEXTS[name])
    for one in (solved(name), scenario):
        html = one._repr_html_()
        assert html.startswith("<div>")
        assert len(html) < 6000
        for foreign in ("<script", "<b>cube", "http", "src="):
            assert foreign not in html
    assert len(str(scenario)) < 200
    assert len(repr(scenario)) < 200


def test_escaped():
    html = facts_html("<i>", [("<b>", "&" * 10_000)])
    assert "<i>" not in html
    assert "<b>" not in html
    assert len(html) < 2500


def test_unknown_tables(solved):
    with pytest.raises(InputError, match='Did you mean "contacts"'):
        solved("rigid").to_pandas("contact")


@pytest.mark.parametrize(("method", "package"), [("to_pandas", "pandas"), ("to_xarray", "xarray")])
def test_absent_extras_are_named(solved, monkeypatch, method, package):
    own = builtins.__import__

    def without(name, *rest):
        if name == package:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return own(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"alight\[{package}\]"):
        getattr(solved("rigid"), method)()


@pytest.mark.parametrize(
    ("text", "key", "values"),
    [(DROP, "release.height", [2.0, 2.9]), (CAPTURE, "approach.offset", [[0.0, 0.0], [0.3, 0.1]])],
)
def test_flights_of_several_runs_are_told_one_by_one(text, key, values):
    prepared = alight.scenario.prepare(loads(text), "cpu")
    (group,) = prepared.groups({key: np.array(values)})
    flight = group.follow("cpu", 0.1)
    assert len(flight) == len(list(flight)) == 2
    with pytest.raises(InputError, match=r"flight\[0\]"):
        flight.to_pandas()
    assert str(flight) == "2 runs"
    (one,) = prepared.groups({key: np.array(values[1:])})
    alone = one.follow("cpu", 0.1)
    for table in ("history", "contacts"):
        assert flight[1].to_pandas(table).equals(alone.to_pandas(table))
    assert str(flight[1]) == str(alone)
    assert not flight[0].to_pandas().equals(alone.to_pandas())
    with pytest.raises(IndexError):
        flight[2]
