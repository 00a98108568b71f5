"""Which columns tables have: those they always had, those that are registered, all documented."""

import json
import pathlib
import re
import sys

import numpy as np
import pytest

from alight import engine
from alight.campaign import run_campaign
from alight.campaign.tables.arrow import field_of
from alight.campaign.tables.inputs import drawn_columns
from alight.campaign.tables.registered import registered_columns
from alight.core.errors import InputError
from alight.core.registry import Registry
from alight.engine.columns import Column, Source
from alight.motions.rigid.columns import RIGID
from alight.scenario import loads, prepare

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "scenario"))  # tests are no package
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "jobs"))

from test_membranes import CAPTURE, DROP
from tree_case import TEXT

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[3]

#: As they were before columns were declared by motions (since: contacts of captures and drops,
#: speeds and energies of drops).
KNOWN = json.loads((HERE / "columns.json").read_text(encoding="utf-8"))


def told(columns):
    fields = [field_of(column) for column in columns]
    return [f"{f.name} {f.type} [{f.metadata[b'unit'].decode()}]" for f in fields]


@pytest.mark.parametrize(
    ("kind", "text"), [("rigid", None), ("tree", TEXT), ("capture", CAPTURE), ("drop", DROP)]
)
def test_tables_have_the_columns_that_they_had(kind, text, scenario):
    """Names, order, types and units: scripts read them."""
    given = scenario() if text is None else loads(text)
    columns = prepare(given, "cpu").nominal().model.columns
    tables = {"runs": columns.runs, "contacts": columns.contacts, "trajectories": columns.course}
    for name, listed in tables.items():
        known = KNOWN[f"{kind} {name}"]
        own = [line for line in known if "." not in line.split()[0]]  # without what is drawn
        assert told(listed) == own, name
    assert len({column.name for column in columns.runs}) == len(columns.runs)


def test_drawn_values_have_columns(scenario):
    values = {"release.velocity": np.zeros((2, 3)), "contact.restitution": np.zeros(2)}
    names = [column.full_name for column, _ in drawn_columns(scenario(), values)]
    assert names == [
        "contact.restitution",
        *(f"release.velocity_{axis}_m_per_s" for axis in "xyz"),
    ]


def test_the_page_on_columns_is_up_to_date():
    sys.path.insert(0, str(ROOT))
    from tools import columns_page

    page = columns_page.PAGE.read_text(encoding="utf-8")
    assert page == columns_page.text(), "run python tools/columns_page.py"
    names = {column.full_name for column in (*RIGID.runs, *RIGID.contacts, *RIGID.course)}
    assert names <= set(re.findall(r"`([^`]+)`", page))


# -- registered ------------------------------------------------------------------------------------


def hops_per_minute(rows):
    """Contacts over time."""
    return 60.0 * rows["bounces"] / rows["settle_time_s"]


hops_per_minute.unit = "1/min"


@pytest.fixture
def known(monkeypatch):
    made = Registry()
    made._loaded = True
    made.add("column", "hops_per_minute", hops_per_minute, text="contacts over time")
    made.add("column", "greedy", lambda rows: rows["appetite"])
    made.add("column", "short", lambda rows: np.zeros(1))
    monkeypatch.setattr("alight.campaign.tables.registered.registry", made)
    return made


def test_registered_columns_are_made_of_the_others(known):
    columns = [Column("bounces", "", "", kind="int32"), Column("settle_time", "s", "")]
    time = np.ma.masked_array([30.0, 1.0], mask=[False, True])
    data = {"bounces": np.array([2, 3]), "settle_time": time}
    ((column, values),) = registered_columns(["hops_per_minute"], columns, data)
    assert column.full_name == "hops_per_minute_1_per_min"
    assert column.text == "contacts over time"
    assert values[0] == 4.0
    assert np.ma.getmaskarray(values).tolist() == [False, True]  # empty as its source is
    with pytest.raises(InputError, match="asks for a column 'appetite'"):
        registered_columns(["greedy"], columns, data)
    with pytest.raises(InputError, match=r"one number for each of the 2 runs"):
        registered_columns(["short"], columns, data)
    with pytest.raises(InputError, match="Did you mean"):
        registered_columns(["hops_per_minut"], columns, data)


def test_a_scenario_names_registered_columns(known, scenario, tmp_path, monkeypatch):
    """As ``record.columns``; here of a study, which has them as well."""
    import alight

    group = prepare(scenario(), "cpu").nominal()
    study = alight.Study(group.model, group.release, columns=["hops_per_minute"])
    result = run_campaign(study, 2, out=tmp_path / "out", device="cpu", show="silent")
    table = result.open().read()
    assert table.column_names[-1] == "hops_per_minute_1_per_min"
    expected = 60.0 * table["bounces"].to_numpy() / table["settle_time_s"].to_numpy()
    assert table["hops_per_minute_1_per_min"].to_numpy() == pytest.approx(expected, rel=1e-15)


# -- of laws ---------------------------------------------------------------------------------------


def test_laws_add_columns(scenario, tmp_path):
    """A push that tells of itself: its column comes after those of the motion."""
    import dataclasses

    from alight.flight import SolarPressure

    class Told(SolarPressure):
        columns = (Column("shine", "N", "on the lander", lambda s: np.full(len(s.runs), 2.0)),)

    class Twice(SolarPressure):
        columns = (Column("bounces", "", "one that is there already", "final.touches"),)

    group = prepare(scenario(), "cpu").nominal()
    law = {"area_over_mass": 1e-3, "sun": alight_sun()}
    model = dataclasses.replace(group.model, externals=(Told(**law),))
    assert model.columns.runs[-1].full_name == "shine_N"
    result = engine.BatchResult(np.zeros(3, dtype=[("outcome", np.int32)]), None)
    values = model.columns.runs[-1].values(Source(result, np.arange(3), model))
    assert values.tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(InputError, match='two columns of one table are called "bounces"'):
        _ = dataclasses.replace(group.model, externals=(Twice(**law),)).columns


def alight_sun():
    from alight import flight

    return flight.Fixed((1.5e11, 0.0, 0.0))
