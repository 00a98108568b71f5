"""Campaigns end to end: tables, resuming, growing, refusing, reading."""

import dataclasses
import pickle

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest

from alight import engine
from alight.campaign import CampaignInterruptedError, Local, open_campaign, run_campaign, sample
from alight.campaign import executors as executors_module
from alight.campaign.folder_lock import BusyError, locked
from alight.campaign.jobs.shard import Work
from alight.campaign.plan import PlanError, make_plan
from alight.campaign.tables.arrow import table_from
from alight.campaign.tables.inputs import input_columns, units_of
from alight.core import devices
from alight.core.errors import FileError, InputError
from alight.core.outcomes import Outcome
from alight.core.progress import Silent
from alight.engine import batch, deck
from alight.engine.columns import Source, named
from alight.engine.long_runs import LongRuns
from alight.engine.worlds import ALL, CONTACT
from alight.motions import Model
from alight.motions.rigid import model as rigid
from alight.motions.rigid.columns import RIGID
from alight.scenario import loads, prepare

DISPERSIONS = """
[dispersions]
"release.velocity" = { kind = "normal", sigma = "2 cm/s" }
"release.attitude" = { kind = "orientation" }
"""
DEVICES = [device.name for device in devices.available()]


def contents(folder):
    """Every file that a campaign leaves, with its bytes."""
    files = [p for p in sorted(folder.rglob("*")) if p.is_file() and p.name != ".lock"]
    return {str(p.relative_to(folder)): p.read_bytes() for p in files}


def run(scenario, out, **options):
    options.setdefault("device", "cpu")
    return run_campaign(scenario, out=out, show="silent", **options)


@pytest.mark.parametrize("device", DEVICES)
def test_tables_hold_what_the_engine_found(scenario, tmp_path, device):
    given = scenario(runs=13, shard=5, trajectories=[0, 7])
    result = run(given, tmp_path, device=device)
    assert (result.runs, result.computed, result.kept) == (13, 3, 0)
    assert sum(result.outcomes.values()) == 13
    values = sample(given, np.arange(13))
    (group,) = prepare(given, device).groups(values)
    batch = engine.run_batch(group.model, group.release, device=device)
    table = result.open().read()
    assert table.column_names[: len(RIGID.runs)] == [c.full_name for c in RIGID.runs]
    column = {name: table[name].to_numpy(zero_copy_only=False) for name in table.column_names}
    assert np.array_equal(column["run"], np.arange(13))
    assert np.array_equal(column["outcome_code"], batch.outcome)
    assert np.array_equal(column["end_time_s"], batch.time)
    assert np.array_equal(np.stack([column[f"end_{c}_m"] for c in "xyz"], 1), batch.position)
    assert np.array_equal(column["bounces"], batch.bounces)
    settled = batch.outcome == Outcome.SETTLED
    assert settled.any()
    assert np.array_equal(np.isnan(column["settle_time_s"]), ~settled)
    assert np.array_equal(column["rest_qw"][settled], batch.attitude[settled, 3])
    assert set(column["outcome"][settled]) == {"settled"}
    depth = column["hull_depth_m"]
    assert np.array_equal(np.isnan(depth), ~settled)
    assert ((depth[settled] > 0.0) & (depth[settled] < 2.5e-4)).all()  # as the weight presses in
    assert np.array_equal(column["contact.restitution"], values["contact.restitution"])
    assert np.array_equal(column["release.velocity_y_m_per_s"], values["release.velocity"][:, 1])
    assert np.array_equal(column["release.attitude_w"], values["release.attitude"][:, 3])
    check_contacts(result.open().read("contacts"), batch.touches)


def check_contacts(table, touches):
    assert table.column_names == [c.full_name for c in RIGID.contacts]
    assert np.array_equal(table["run"].to_numpy(), touches["run"])
    number = table["contact"].to_numpy()
    assert number[0] == 0
    same = np.diff(touches["run"]) == 0
    assert np.array_equal(np.diff(number)[same], np.ones(same.sum()))
    assert (number[1:][~same] == 0).all()
    plain = {"start": "start_time_s", "end": "end_time_s", "depth": "depth_m", "points": "points"}
    for field, name in plain.items():
        assert np.array_equal(table[name].to_numpy(), touches[field]), name
    for i, axis in enumerate("xyz"):
        assert np.array_equal(table[f"{axis}_m"].to_numpy(), touches["place"][:, i])
        assert np.array_equal(table[f"impulse_{axis}_N_s"].to_numpy(), touches["impulse"][:, i])


def test_every_field_of_a_contact_is_kept():
    from alight.engine.records import Touch

    fields = set(Touch.numpy_dtype()["names"])
    columns = {c.name for c in RIGID.contacts}
    renamed = {"start": "start_time", "end": "end_time", "place": "x", "normal": "normal_x"}
    renamed |= {"impulse": "impulse_x"}
    assert {renamed.get(f, f) for f in fields} <= columns


def test_no_contacts_make_an_empty_table():
    from alight.engine.records import Touch

    empty = np.zeros(0, dtype=Touch.numpy_dtype())
    table = table_from(RIGID.contacts, Source(empty, np.zeros(0, np.int64)))
    assert table.num_rows == 0
    assert table.column_names == [c.full_name for c in RIGID.contacts]


def test_bytes_do_not_depend_on_how_the_campaign_was_cut(scenario, tmp_path):
    """Twice the same, one thread or many; and the rows of other shards are the same rows."""
    given = scenario(trajectories=[7])
    run(given, tmp_path / "a")
    run(given, tmp_path / "b", threads=1)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    run(scenario(trajectories=[7], shard=20), tmp_path / "c")
    for name in ("runs", "contacts"):
        one, other = (open_campaign(tmp_path / x).read(name) for x in "ac")
        assert one.combine_chunks().equals(other.combine_chunks())


def test_courses_that_are_kept(scenario, tmp_path):
    given = scenario(runs=9, shard=4, trajectories=[5, 1, 100])
    opened = run(given, tmp_path).open()
    assert opened.trajectories == [1, 5]
    table = opened.trajectory(5)
    assert table.column_names == [c.full_name for c in RIGID.course]
    end = opened.read("runs", ["end_time_s", "end_x_m"]).slice(5, 1).to_pylist()[0]
    last = table.slice(table.num_rows - 1, 1).to_pylist()[0]
    assert (last["time_s"], last["x_m"]) == (end["end_time_s"], end["end_x_m"])
    assert last["energy_J"] <= table["energy_J"][0].as_py() * (1 + 1e-9)
    with pytest.raises(InputError, match="kept are \\[1, 5\\]"):
        opened.trajectory(2)


def test_a_release_inside_the_ground_is_a_row_without_a_course(scenario, tmp_path):
    sunk = scenario(runs=2, trajectories=[0], values={"release.position": ["0 m", "0 m", "-5 m"]})
    opened = run(sunk, tmp_path).open()
    assert opened.count() == {Outcome.STARTED_INSIDE: 2}
    assert opened.trajectories == []
    assert opened.read()["first_contact_time_s"].null_count == 2


def test_nothing_dispersed_runs_the_nominal_case(scenario, tmp_path):
    opened = run(scenario(dispersions="", runs=3, shard=2), tmp_path).open()
    assert len(set(opened.read()["end_time_s"].to_pylist())) == 1
    assert opened.plan.shards == 2


# ---------------------------------------------------------------------------------------------
# Going on
# ---------------------------------------------------------------------------------------------


class StopAfter(Local):
    """Ctrl-C when so many shards are done."""

    def __init__(self, shards):
        super().__init__()
        self.shards = shards

    def compute(self, work, shards, tally):
        for done, shard in enumerate(super().compute(work, shards, tally)):
            if done == self.shards:
                raise KeyboardInterrupt
            yield shard


@pytest.mark.parametrize("after", [0, 1, 3])
def test_interrupted_and_continued_is_as_if_never_interrupted(scenario, tmp_path, after):
    given = scenario(trajectories=[8])
    run(given, tmp_path / "whole")
    with pytest.raises(CampaignInterruptedError, match=f"{after} of 4 shards .* again"):
        run(given, tmp_path / "part", executor=StopAfter(after))
    opened = open_campaign(tmp_path / "part")
    assert (len(opened.seals), opened.complete) == (after, False)
    result = run(given, tmp_path / "part")
    assert (result.kept, result.computed) == (after, 4 - after)
    assert result.outcomes == open_campaign(tmp_path / "whole").count()
    assert contents(tmp_path / "part") == contents(tmp_path / "whole")
    again = run(given, tmp_path / "part")
    assert (again.kept, again.computed) == (4, 0)


def test_interrupted_in_the_middle_of_a_shard(scenario, tmp_path):
    class Impatient(Silent):
        def advance(self, n=1, **facts):
            if facts:
                raise KeyboardInterrupt

    given = scenario()
    with pytest.raises(CampaignInterruptedError, match="0 of 4"):
        run_campaign(given, out=tmp_path, device="cpu", show=Impatient())
    assert not list(tmp_path.rglob("*.part"))
    assert run(given, tmp_path).computed == 4


def test_shards_in_any_order(scenario, tmp_path):
    class Backwards(Local):
        def compute(self, work, shards, tally):
            # Through a pickle, as to another machine.
            work = pickle.loads(pickle.dumps(work))
            yield from super().compute(work, shards[::-1], tally)

    given = scenario()
    run(given, tmp_path / "a")
    run(given, tmp_path / "b", executor=Backwards())
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


@pytest.mark.parametrize("together", [1, 13, 1000])
def test_shards_run_together_are_what_they_are_alone(scenario, tmp_path, together):
    # A choice of masses makes several models: rows and contacts have to be sorted back.
    heavy = '"lander.mass" = { kind = "choice", values = ["1 kg", "2 kg"] }'
    given = scenario(trajectories=[8], dispersions=DISPERSIONS + heavy)
    run(given, tmp_path / "alone")
    run(given, tmp_path / "together", executor=Local(lot=together))
    assert contents(tmp_path / "alone") == contents(tmp_path / "together")


@pytest.mark.parametrize("decks", [1, 3])
def test_as_on_a_gpu_with_long_runs_and_trajectories_on_cores(
    scenario, tmp_path, monkeypatch, decks
):
    """Phases apart, decks in turn, runs handed over under way or from their start: the same bytes,
    as between two CPUs not even rounding differs."""
    heavy = '"lander.mass" = { kind = "choice", values = ["1 kg", "2 kg"] }'
    given = scenario(trajectories=[8], dispersions=DISPERSIONS + heavy)
    run(given, tmp_path / "cores")
    for module in (deck, batch):
        monkeypatch.setattr(module, "many_at_once", lambda device: True)
    monkeypatch.setattr(batch, "GPU_DECKS", decks)
    monkeypatch.setattr(batch, "GPU_FEW", 6)
    monkeypatch.setattr(rigid, "HAND_OVER", 200)
    handed = []
    give = LongRuns.give

    def noted(self, lot, rows, carried=None):
        handed.append((carried is not None, len(rows)))
        give(self, lot, rows, carried)

    monkeypatch.setattr(LongRuns, "give", noted)
    run(given, tmp_path / "gpu", executor=Local(lot=13))
    assert contents(tmp_path / "cores") == contents(tmp_path / "gpu")
    assert {(True, n > 0) for way, n in handed if way} == {(True, True)}, "under way"
    assert sum(n for way, n in handed if not way) == 1, "the run whose trajectory is kept"


def test_no_more_is_drawn_ahead_where_lots_differ_in_more_than_contact(
    scenario, tmp_path, monkeypatch
):
    """The first batch is for lots that differ in contact alone: what follows it goes to a second,
    and waits for that one's slots."""
    ground = """
[[ground.region]]
name = "pond"
center = ["0 m", "0 m", "0 m"]
radius = "20 m"
friction = 0.8
"""
    spread = '"ground.region.pond.friction" = { kind = "uniform", low = 0.2, high = 0.9 }'
    given = scenario(runs=60, shard=6, dispersions=ground + DISPERSIONS + spread)
    run(given, tmp_path / "alone")
    pace = Model.pace
    monkeypatch.setattr(Model, "pace", lambda *a: dataclasses.replace(pace(*a), slots=9, steps=40))
    most, owns = [], set()
    advance = batch.Batch.advance

    def watched(self):
        most.append(self.waiting)
        owns.add(self._loop.own)
        return advance(self)

    monkeypatch.setattr(batch.Batch, "advance", watched)
    run(given, tmp_path / "flow", executor=Local(lot=6))
    assert owns == {CONTACT, ALL}
    assert max(most) <= 2 * 6, "runs that wait for slots: those of two lots"
    assert contents(tmp_path / "alone") == contents(tmp_path / "flow")


def test_growing_keeps_whole_shards_and_equals_a_larger_campaign(scenario, tmp_path):
    given = scenario(runs=20, shard=6)
    run(given, tmp_path / "grown")
    result = run(given, tmp_path / "grown", runs=33)
    assert (result.kept, result.computed) == (3, 3)
    run(given, tmp_path / "fresh", runs=33)
    assert contents(tmp_path / "grown") == contents(tmp_path / "fresh")
    # Without a number the folder keeps the one it has.
    assert run(given, tmp_path / "grown").runs == 33


def test_a_changed_scenario_is_refused_and_nothing_is_touched(scenario, tmp_path):
    run(scenario(), tmp_path)
    before = contents(tmp_path)
    with pytest.raises(PlanError, match=r"contact.friction: was 0.6, is 0.3"):
        run(scenario(values={"contact.friction": 0.3}), tmp_path)
    with pytest.raises(PlanError, match="never taken away"):
        run(scenario(), tmp_path, runs=10)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("sampling", ["latin-hypercube", "sobol"])
def test_other_samplings(scenario, tmp_path, sampling):
    given = scenario(runs=16, shard=5, sampling=sampling)
    run(given, tmp_path / "a")
    run(scenario(runs=99, shard=5, sampling=sampling), tmp_path / "b", runs=16)
    names = ["release.velocity_x_m_per_s", "settle_time_s"]
    one, other = (open_campaign(tmp_path / x).read("runs", names) for x in "ab")
    assert one.equals(other)
    with pytest.raises(PlanError, match=sampling):
        run(given, tmp_path / "a", runs=32)


def test_folders_that_cannot_be_used(scenario, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="is a file"):
        run(scenario(), tmp_path / "file")
    with pytest.raises(InputError, match="not empty and not the folder of a campaign"):
        run(scenario(), tmp_path)
    assert (tmp_path / "file").read_text() == "x"
    with locked(tmp_path / "busy"), pytest.raises(BusyError, match=r"process \d+ on "):
        run(scenario(), tmp_path / "busy")
    with pytest.raises(FileError, match=r"no plan\.json"):
        open_campaign(tmp_path / "nothing")


def test_executors_are_checked(scenario, tmp_path):
    with pytest.raises(InputError, match='Did you mean "local"'):
        run(scenario(), tmp_path, executor="locl")
    with pytest.raises(InputError, match="compute"):
        run(scenario(), tmp_path, executor=3)


class Heard(Silent):
    def __init__(self):
        self.stages, self.done, self.facts = [], 0, {}

    def start(self, title, total=None):
        self.stages.append((title, total))
        self.done = 0

    def advance(self, n=1, **facts):
        self.done += n
        self.facts.update(facts)


def test_progress_counts_runs_that_one_stands_for(cube_drop, tmp_path):
    bar = Heard()
    given = loads(cube_drop(dispersions=None, campaign={"runs": 20, "shard": 6}))
    run_campaign(given, out=tmp_path, device="cpu", show=bar)
    assert (bar.stages, bar.done) == ([("Landings", 20)], 20)


def test_progress_tells_runs_and_outcomes(scenario, tmp_path):
    given, bar = scenario(), Heard()
    result = run_campaign(given, out=tmp_path, device="cpu", show=bar)
    assert bar.stages == [("Landings", 20)]
    assert bar.done == 20
    assert bar.facts["settled"] == result.outcomes.get(Outcome.SETTLED, 0)
    (tmp_path / "shards" / "shard-000001.json").unlink()
    bar = Heard()
    run_campaign(given, out=tmp_path, device="cpu", show=bar)
    assert bar.stages == [("Checking shards", 4), ("Landings (14 more kept)", 6)]
    assert bar.done == 6
    assert bar.facts["settled"] == result.outcomes.get(Outcome.SETTLED, 0)


TWO_GROUPS = """[dispersions]
"release.velocity" = { kind = "normal", sigma = "2 cm/s" }
"gravity.acceleration" = { kind = "choice", values = [
    ["0 m/s^2", "0 m/s^2", "-5e-3 m/s^2"], ["0 m/s^2", "0 m/s^2", "-8e-3 m/s^2"]] }
"""


def test_runs_of_several_models_come_back_in_order(scenario, tmp_path):
    """Rows and contacts are those of each run alone, and the bar counts all models."""
    given, bar = scenario(runs=8, shard=8, dispersions=TWO_GROUPS), Heard()
    result = run_campaign(given, out=tmp_path, device="cpu", show=bar)
    assert bar.done == bar.facts["settled"] == result.outcomes[Outcome.SETTLED] == 8
    runs, contacts = result.open().read(), result.open().read("contacts")
    pulls = runs["gravity.acceleration_z_m_per_s2"].to_pylist()
    assert len(set(pulls)) == 2
    assert pulls != sorted(pulls)
    assert contacts["run"].to_pylist() == sorted(contacts["run"].to_pylist())
    prepared = prepare(given, "cpu")
    for i in range(8):
        (group,) = prepared.groups(sample(given, [i]))
        alone = engine.run_batch(group.model, group.release, device="cpu")
        assert runs["end_time_s"][i].as_py() == alone.time[0]
        mine = contacts.filter(pads.field("run") == i)
        assert np.array_equal(mine["start_time_s"].to_numpy(), alone.touches["start"])


def test_tally_names_every_kind_of_end():
    tally = executors_module.Tally()
    tally.add({1: 5, 2: 1, 3: 2, 16: 1, 19: 2})
    tally.add({1: 1})
    assert tally.facts() == {"settled": 6, "escaped": 1, "timed_out": 2, "failed": 3}


def test_values_that_cannot_be_run_name_the_shard(scenario, tmp_path):
    bad = '[dispersions]\n"contact.restitution" = { kind = "log-normal", sigma = 5.0 }'
    with pytest.raises(InputError, match=r"shard 0 \(runs 0 to 5\) cannot be run"):
        run(scenario(dispersions=bad), tmp_path)
    # Nothing was finished, so the mended scenario may have the folder; no table is left over.
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "runs-000077.parquet").write_bytes(b"unsealed")
    assert run(scenario(), tmp_path).computed == 4
    assert pq.read_table(tmp_path / "runs").num_rows == 20


# ---------------------------------------------------------------------------------------------
# Reading
# ---------------------------------------------------------------------------------------------


def test_reading(scenario, tmp_path):
    opened = run(scenario(), tmp_path).open()
    assert len(opened) == 20
    assert opened.complete
    assert [t.num_rows for t in opened.shards("runs", ["run"])] == [6, 6, 6, 2]
    settled = opened.dataset().to_table(
        columns=["run", "release.velocity_x_m_per_s"], filter=pads.field("outcome") == "settled"
    )
    assert settled.num_rows == opened.count()[Outcome.SETTLED]
    assert opened.dataset("contacts").count_rows() == opened.read("contacts").num_rows
    with pytest.raises(InputError, match='Did you mean "settle_time_s"'):
        opened.read("runs", ["settle_tme_s"])
    with pytest.raises(InputError, match="unknown table"):
        opened.read("run")
    # What others open, without Alight.
    assert pq.read_table(tmp_path / "runs").num_rows == 20
    field = opened.read().schema.field("end_vx_m_per_s")
    assert (field.type, field.metadata[b"unit"]) == (pa.float64(), b"m/s")


def test_other_libraries_open_the_tables(scenario, tmp_path):
    opened = run(scenario(), tmp_path).open()
    pandas = pytest.importorskip("pandas")
    assert isinstance(opened.to_pandas(), pandas.DataFrame)
    assert len(pandas.read_parquet(tmp_path / "runs")) == 20


def test_duckdb_opens_the_tables(scenario, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    run(scenario(), tmp_path)
    query = f"select count(*) from '{tmp_path}/runs/*.parquet'"
    assert duckdb.sql(query).fetchall() == [(20,)]


def test_polars_opens_the_tables(scenario, tmp_path):
    polars = pytest.importorskip("polars")
    run(scenario(), tmp_path)
    assert polars.read_parquet(tmp_path / "runs" / "*.parquet").height == 20


def test_names_of_columns():
    assert named("a", "N*s/m") == "a_N_s_per_m"
    assert named("a", "kg*m^2") == "a_kg_m2"
    assert named("a", "") == "a"
    assert units_of("release.state", 6) == ("m",) * 3 + ("m/s",) * 3
    assert units_of("release.place", 2) == ("rad", "rad")
    assert units_of("contact.restitution") == ("",)
    assert units_of("body.rotation.rate", 3) == ("rad/s",) * 3
    assert units_of("body.rotation.rate") == ("rad/s",)
    drawn = input_columns({"release.place": np.zeros((2, 2))}, {"release.place": ["rad", "rad"]})
    assert [c.full_name for c, _ in drawn] == [
        "release.place_latitude_rad",
        "release.place_longitude_rad",
    ]


def test_work_can_be_sent_elsewhere(scenario):
    given = scenario()
    work = Work(given, make_plan(given, "cpu", {}), "cpu")
    one = work.compute(1)
    other = pickle.loads(pickle.dumps(work)).compute(1)
    assert one == other


def test_ctrl_c_in_a_flow_keeps_the_shards_that_are_whole(scenario, tmp_path, paced):
    """Those whose runs have all ended are written, whatever else is under way."""

    class Impatient(Silent):
        ended = 0

        def advance(self, n=1, **facts):
            self.ended += n
            if self.ended >= 6:
                raise KeyboardInterrupt

    given = scenario()
    run(given, tmp_path / "whole")
    paced(Model, slots=6)
    options = {"device": "cpu", "show": Impatient(), "executor": Local(lot=6)}
    with pytest.raises(CampaignInterruptedError, match="again"):
        run_campaign(given, out=tmp_path / "part", **options)
    kept = run(given, tmp_path / "part").kept
    assert 1 <= kept < 4
    assert contents(tmp_path / "part") == contents(tmp_path / "whole")
