"""Campaigns of captures and drops: tables, resume, growth, determinism, what bars tell."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from tests.unit.campaign.jobs.membrane_cases import CAPTURE, DROP

from alight.campaign import run_campaign, sample
from alight.campaign.executors import Tally
from alight.campaign.jobs.job import Job
from alight.campaign.jobs.shard import Work
from alight.campaign.plan import make_plan
from alight.campaign.run_kinds import run_kind
from alight.core.errors import InputError
from alight.core.outcomes import Outcome, ending_of
from alight.core.progress import Silent
from alight.engine import run_batch
from alight.motions.capture.columns import CAPTURE_KIND, CAPTURES
from alight.motions.capture.result import CAPTURE_WORDS, ROW
from alight.motions.membrane.columns import DROP_KIND, DROPS
from alight.scenario import loads, prepare
from alight.scenario.document_kinds import DOCUMENTS


def run(scenario, folder, **options):
    return run_campaign(scenario, out=folder, device="cpu", show="silent", **options)


@pytest.fixture(scope="module")
def captured(tmp_path_factory):
    """A finished campaign of six captures."""
    folder = tmp_path_factory.mktemp("captures") / "out"
    return run(loads(CAPTURE), folder).open()


def test_the_table_has_the_columns_of_the_engine(captured):
    table = captured.read("runs")
    assert table.schema.names[: len(CAPTURES.runs)] == [c.full_name for c in CAPTURES.runs]
    assert set(ROW.names) <= set(table.schema.names)
    drawn = ["approach.offset_x_m", "approach.offset_y_m", "asteroid.axis_x", "asteroid.axis_y"]
    assert table.schema.names[len(CAPTURES.runs) :] == [
        *drawn,
        "asteroid.axis_z",
        "asteroid.length_m",
        "membrane.friction",
    ]
    assert table["run"].to_pylist() == list(range(6))
    assert table.schema.field("bending_nm").metadata == {b"unit": b"N m"}
    assert np.allclose(table["length_m"], table["asteroid.length_m"], rtol=0.03)
    assert table["friction"].to_pylist() == table["membrane.friction"].to_pylist()
    assert table["lost_s"].null_count == 6
    codes = table["outcome"].to_pylist()
    words = [ending_of(code, CAPTURE_WORDS).name.lower() for code in codes]
    assert table["ending"].to_pylist() == words


def test_runs_are_those_of_the_engine(captured):
    one = loads(CAPTURE)
    table = captured.read("runs").to_pylist()
    for number in (0, 4):
        (group,) = prepare(one, "cpu").groups(sample(one, [number]))
        row = run_batch(group.model, group.release, device="cpu").rows[0]
        for name in ("bending_nm", "force_n", "slip_m", "spin_rpm", "steps"):
            assert table[number][name] == row[name], name
        assert table[number]["shape"] == group.shape
    assert {row["shape"] for row in table} == {0, 1}


def test_outcomes_are_of_the_kind(captured):
    assert sum(captured.count().values()) == 6
    said = {ending.name: str(ending) for ending in CAPTURE_WORDS.values()}
    assert all(str(end) == said[end.name] for end in captured.count())
    assert captured.scenario["kind"] == "capture"
    assert captured.kind is CAPTURE_KIND


def test_captures_have_contacts(captured):
    """A row for each time the fabric was touched, within the run and as hard as its row says."""
    contacts, runs = captured.read("contacts"), captured.read("runs")
    assert contacts.column_names == [column.full_name for column in CAPTURES.contacts]
    assert "latitude_deg" not in contacts.column_names  # inertial axes have none
    owner = contacts["run"].to_numpy()
    made = np.bincount(owner, minlength=6)
    assert made.tolist() == runs["contacts"].to_pylist()
    first = contacts["start_time_s"].to_numpy()[contacts["contact"].to_numpy() == 0]
    known = runs["contact_s"].to_numpy()
    assert first.tolist() == known[made > 0].tolist()
    peak = np.zeros(6)
    np.maximum.at(peak, owner, contacts["peak_force_N"].to_numpy())
    assert peak[made > 0].tolist() == runs["force_n"].to_numpy()[made > 0].tolist()


def test_folders_of_old_have_no_contacts(captured):
    seal = captured.seals[0]
    files = {name: known for name, known in seal.files.items() if "contacts" not in name}
    old = replace(captured, seals={**captured.seals, 0: replace(seal, files=files)})
    with pytest.raises(InputError, match="no table of contacts: an earlier version"):
        old.read("contacts")


def test_courses_are_kept(captured):
    assert captured.trajectories == [1]
    course = captured.trajectory(1)
    assert course["time_s"].to_pylist() == pytest.approx(np.arange(27) * 0.5)
    row = captured.read("runs").to_pylist()[1]
    force = course["force_N"].to_numpy()
    assert 0.0 < force.max() <= row["force_n"] * 1.001
    assert course["slip_m"].to_pylist()[-1] == pytest.approx(row["slip_m"], rel=1e-3)
    size = sum(course[f"craft_q{axis}"].to_numpy() ** 2 for axis in "xyzw")
    assert size == pytest.approx(np.ones(27), rel=1e-9)
    touched = course["in_contact"].to_numpy(zero_copy_only=False)
    assert touched.tolist() == [t >= row["contact_s"] for t in course["time_s"].to_pylist()]


def test_the_bytes_do_not_depend_on_threads_or_stops(captured, tmp_path):
    class Stopping(Silent):
        """Ends the campaign in its second shard."""

        def __init__(self):
            self.left = 5

        def advance(self, n=1, **facts):
            self.left -= n
            if self.left < 0:
                raise KeyboardInterrupt

    folder = tmp_path / "other"
    one = loads(CAPTURE)
    with pytest.raises(KeyboardInterrupt, match="1 of 2 shards"):
        run_campaign(one, out=folder, device="cpu", show=Stopping(), threads=1)
    result = run(one, folder, threads=1)
    assert (result.kept, result.computed) == (1, 1)
    for old, new in zip(captured.files(), result.open().files(), strict=True):
        assert old.read_bytes() == new.read_bytes()


def test_runs_of_different_asteroids_are_one_batch():
    """Whatever their shapes and lengths; the tables have the same bytes as of each run alone."""
    one = loads(CAPTURE)
    work = Work(one, make_plan(one, "cpu", {}), "cpu")

    def done(runs):
        job = Job(work, runs, sample(one, [int(run) for run in runs]))
        job.run(Silent())
        return len(job.parts), job.table(slice(0, len(runs)))

    runs = work.plan.runs(0)
    batches, together = done(runs)
    assert batches == 1
    for i in range(len(runs)):
        _, alone = done(runs[i : i + 1])
        assert alone.equals(together.slice(i, 1).combine_chunks())


def test_work_can_be_sent_elsewhere():
    one = loads(CAPTURE)
    work = Work(one, make_plan(one, "cpu", {}), "cpu")
    here = work.compute(1)
    assert pickle.loads(pickle.dumps(work)).compute(1) == here


def test_more_runs_may_be_asked_for(captured, tmp_path):
    folder = tmp_path / "grown"
    run(loads(CAPTURE), folder, runs=3)
    result = run(loads(CAPTURE), folder, runs=6)
    assert (result.kept, result.computed) == (1, 1)
    assert result.open().read("runs") == captured.read("runs")


def test_nothing_dispersed_is_the_nominal_capture(tmp_path):
    one = loads(CAPTURE).replaced({"asteroid.shapes": None})
    plain = one.model_copy(update={"dispersions": {}})
    table = run(plain, tmp_path / "same", runs=3).open().read("runs")
    assert len(set(table["bending_nm"].to_pylist())) == 1
    assert table["run"].to_pylist() == [0, 1, 2]


def test_drops_have_tables_of_their_own(tmp_path):
    campaign = run(loads(DROP), tmp_path / "drops").open()
    assert campaign.count() == {Outcome.TIMED_OUT: 4}
    table = campaign.read("runs")
    assert table.schema.names == [*(c.full_name for c in DROPS.runs), "release.height_m"]
    height, contact = (table[name].to_numpy() for name in ("release.height_m", "first_contact_s"))
    # Free fall until the lowest vertex touches: the body does not turn.
    fallen = 0.5 * 9.80665 * contact**2
    assert height - fallen == pytest.approx(np.full(4, (height - fallen)[0]), rel=1e-3)
    assert campaign.trajectory(0)["body_z_m"].to_pylist()[0] == pytest.approx(height[0])


def test_bars_tell_how_captures_end():
    tally = Tally(CAPTURE_KIND)
    tally.add({10: 4, 1: 5, 3: 1, 24: 2, 16: 1, 18: 1})
    assert tally.facts() == {"held": 4, "at_rest": 5, "moving": 1, "rim": 2, "failed": 2}
    other = Tally(DROP_KIND)
    other.add({3: 2, 24: 1})
    assert other.facts() == {"done": 2, "released": 0, "rim": 1}


def test_every_kind_of_scenario_has_its_runs():
    assert all(run_kind({"kind": kind}).word == kind for kind in DOCUMENTS)


def test_what_cannot_be_run_names_the_shard(tmp_path):
    text = CAPTURE.replace("[campaign]", '"asteroid.inertia_scale" = SPREAD\n[campaign]').replace(
        "SPREAD", '{ kind = "choice", values = [[1.0, 1.0, 9.0]] }'
    )
    with pytest.raises(InputError, match=r"shard 0 \(runs 0 to 2\).* asteroid\.inertia_scale"):
        run(loads(text), tmp_path / "bad")
