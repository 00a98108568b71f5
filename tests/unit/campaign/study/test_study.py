"""Studies: a model made in Python is a campaign as a scenario is."""

import pickle
import subprocess
import sys

import cloudpickle
import numpy as np
import pytest

import alight
from alight import contact, dispersions, engine, gravity, motions, surfaces
from alight.campaign import run_campaign, sample
from alight.campaign.cluster.worker_task import ClusterError, packed
from alight.campaign.jobs.shard import Work
from alight.campaign.plan import PlanError, differences, make_plan
from alight.core.errors import InputError
from alight.core.progress import Silent
from alight.scenario import prepare

SPREADS = {
    "release.velocity": dispersions.normal(sigma=0.02),
    "release.attitude": dispersions.orientation(),
    "contact.restitution": dispersions.uniform(0.4, 0.6),
}
OPTIONS = {"seed": 1, "runs": 20, "shard": 6}
DOWN = (0.0, 0.0, -5.7e-3)


def cube(**changes):
    """The cube of the scenario of these tests."""
    laws = {
        "gravity": gravity.Uniform(DOWN),
        "surface": surfaces.Plane(),
        "lander": alight.RigidLander.cube(0.2, 1.0),
        "contact": contact.Compliant(restitution=0.5, friction=0.6),
        "stop": engine.Stop(max_time=150.0),
        **changes,
    }
    return alight.Model(**laws)


def start(**changes):
    turn = np.array([0.1, 0.2, 0.3, 1.0])
    turn = turn / np.linalg.norm(turn)
    return alight.Release(**{"position": (0.0, 0.0, 0.5), "attitude": turn, **changes})


def study(model=None, release=None, spreads=SPREADS, **options):
    model, release = model or cube(), release or start()
    return alight.Study(model, release, dispersions=spreads, **{**OPTIONS, **options})


def run(given, out, **options):
    return run_campaign(given, out=out, device="cpu", show="silent", **options)


def contents(folder):
    files = [p for p in sorted(folder.rglob("*")) if p.is_file() and p.name != ".lock"]
    return {str(p.relative_to(folder)): p.read_bytes() for p in files}


class Counted(Silent):
    """Ends a campaign after some runs."""

    def __init__(self, left):
        self.left = left

    def advance(self, n=1, **facts):
        self.left -= n
        if self.left < 0:
            raise KeyboardInterrupt


# -- a model and its release -----------------------------------------------------------------------


def test_a_study_has_the_rows_of_the_scenario(scenario, tmp_path):
    """The same numbers, the same draws, the same bits: only plan and seals differ."""
    one = run(scenario(trajectories=[7]), tmp_path / "scenario").open()
    other = run(study(trajectories=[7]), tmp_path / "study").open()
    assert prepare(scenario(), "cpu").nominal().model.lander.inertia.tobytes() == (
        cube().lander.inertia.tobytes()
    )
    for name in ("runs", "contacts"):
        for a, b in zip(one.files(name), other.files(name), strict=True):
            assert a.read_bytes() == b.read_bytes()
    assert one.trajectory(7).equals(other.trajectory(7))
    assert one.count() == other.count()


def test_stopped_and_gone_on_with_to_the_byte(tmp_path):
    whole = run(study(trajectories=[7]), tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt, match="of 4 shards are finished"):
        run_campaign(
            study(trajectories=[7]), out=tmp_path / "cut", device="cpu", show=Counted(9), threads=1
        )
    result = run(study(trajectories=[7]), tmp_path / "cut")
    assert result.kept >= 1
    assert result.computed >= 1
    assert contents(tmp_path / "cut") == contents(whole.folder)


def test_runs_can_be_added(tmp_path):
    run(study(), tmp_path / "grown", runs=8)
    grown = run(study(), tmp_path / "grown", runs=20)
    assert (grown.kept, grown.computed) == (1, 3)
    whole = run(study(), tmp_path / "whole")
    assert contents(tmp_path / "grown") == contents(whole.folder)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model": cube(contact=contact.Compliant(restitution=0.5, friction=0.7))},
         r"study\.model\.contact\.friction: was 0\.6, is 0\.7"),
        ({"model": cube(gravity=gravity.Uniform((0.0, 0.0, -6e-3)))},
         r"study\.model\.gravity\.acceleration: was \[0\.0, 0\.0, -0\.0057\]"),
        ({"release": start(velocity=(0.0, 0.0, 0.01))}, r"study\.release\.velocity"),
        ({"spreads": {**SPREADS, "release.velocity": dispersions.normal(sigma=0.03)}},
         r"dispersions\.release\.velocity\.sigma: was 0\.02, is 0\.03"),
        ({"seed": 2}, r"seed: was 1, is 2"),
        ({"shard": 5}, r"campaign\.shard: was 6, is 5"),
    ],
)  # fmt: skip
def test_another_study_is_refused(tmp_path_factory, changes, said):
    folder = tmp_path_factory.getbasetemp() / "refused"
    if not folder.exists():
        run(study(), folder, runs=2)
    with pytest.raises(PlanError, match=said):
        run(study(**changes), folder, runs=2)


def test_a_title_may_change(tmp_path):
    run(study(title="one"), tmp_path / "out", runs=2)
    assert run(study(title="two"), tmp_path / "out", runs=2).computed == 0


def test_scenario_and_study_keep_apart(scenario, tmp_path):
    run(study(title="Mine"), tmp_path / "study", runs=2)
    with pytest.raises(PlanError, match=r"study made in Python \(Mine\).*from Python"):
        run(scenario(), tmp_path / "study")
    run(scenario(), tmp_path / "scenario", runs=2)
    with pytest.raises(PlanError, match="campaign of a scenario, and a study"):
        run(study(), tmp_path / "scenario")


def test_numbers_of_every_law_may_vary(tmp_path):
    """Each run has a model of its own, and all go as one batch."""
    varied = {
        "gravity.acceleration": dispersions.cone(0.05),
        "lander.mass": dispersions.uniform(0.5, 2.0),
        "stop.max_time": dispersions.uniform(100.0, 150.0),
    }
    given = study(spreads=varied, runs=4, shard=4)
    table = run(given, tmp_path / "out").open().read()
    values = sample(given, np.arange(4))
    assert table["lander.mass_kg"].to_numpy().tolist() == values["lander.mass"].tolist()
    for i in range(4):
        lander = alight.RigidLander.cube(0.2, values["lander.mass"][i])
        model = cube(
            gravity=gravity.Uniform(values["gravity.acceleration"][i]),
            lander=lander,
            stop=engine.Stop(max_time=values["stop.max_time"][i]),
        )
        alone = engine.run_batch(model, start(), device="cpu")
        assert table["end_time_s"][i].as_py() == pytest.approx(alone.time[0], rel=1e-9)
        assert table["outcome_code"][i].as_py() == alone.outcome[0]


def test_nothing_dispersed_is_one_run_for_all(tmp_path):
    table = run(study(spreads={}), tmp_path / "out", runs=3).open().read()
    assert len(set(table["end_time_s"].to_pylist())) == 1
    assert table["run"].to_pylist() == [0, 1, 2]


# -- models of the user's making -------------------------------------------------------------------


def thrown(values):
    """Another cube for each run."""
    model = cube(lander=alight.RigidLander.cube(values["side"], 1.0))
    return model, start(velocity=values["velocity"])


MADE = {
    "side": dispersions.uniform(0.1, 0.3, unit="m"),
    "velocity": dispersions.normal(sigma=0.02, mean=(0.0, 0.0, 0.0), unit="m/s"),
}


def made(make=thrown, **options):
    return alight.Study(make, dispersions=MADE, **{**OPTIONS, "runs": 5, "shard": 3, **options})


def test_a_function_makes_each_run(tmp_path):
    given = made(trajectories=[4])
    campaign = run(given, tmp_path / "out").open()
    table = campaign.read()
    values = sample(given, np.arange(5))
    assert table.column_names[-4:] == [
        "make.side_m", "make.velocity_x_m_per_s", "make.velocity_y_m_per_s",
        "make.velocity_z_m_per_s",
    ]  # fmt: skip
    for i in range(5):
        own = {"side": values["make.side"][i], "velocity": values["make.velocity"][i]}
        alone = engine.run_batch(*thrown(own), device="cpu")
        assert table["end_time_s"][i].as_py() == alone.time[0]
        assert table["end_x_m"][i].as_py() == alone.position[0, 0]
    assert campaign.trajectory(4)["time_s"].to_pylist()[-1] == table["end_time_s"][4].as_py()


def test_runs_with_one_model_are_one_batch(tmp_path, monkeypatch):
    from alight.campaign.jobs import job

    shared, launched = cube(), []
    real = job.run_batch

    def counted(model, release, **options):
        launched.append((type(model).__name__, len(release)))
        return real(model, release, **options)

    monkeypatch.setattr(job, "run_batch", counted)
    run(made(lambda values: (shared, start(velocity=values["velocity"]))), tmp_path / "one")
    assert launched == [("Model", 3), ("Model", 2)]
    launched.clear()
    run(made(), tmp_path / "own")
    assert launched == [("Fleet", 3), ("Fleet", 2)]


def test_a_function_that_changed_is_refused(tmp_path):
    def dropped(factor):
        def make(values):
            return cube(), start(velocity=factor * values["velocity"])

        return make

    def other(values):
        return cube(), start(velocity=2.0 * values["velocity"])

    run(made(dropped(1.0)), tmp_path / "out", runs=2)
    assert run(made(dropped(1.0)), tmp_path / "out", runs=2).computed == 0
    with pytest.raises(PlanError, match=r"study\.make\.closed over\.factor: was 1\.0, is 1\.5"):
        run(made(dropped(1.5)), tmp_path / "out", runs=2)
    with pytest.raises(PlanError, match=r"study\.make\.code"):
        run(made(other), tmp_path / "out", runs=2)


def test_a_function_may_fail(tmp_path):
    def bad(values):
        return 1.0 / 0.0

    with pytest.raises(InputError, match=r"make\(\{side = .*ZeroDivisionError"):
        run(made(bad), tmp_path / "out")
    with pytest.raises(InputError, match="must return a model and its release"):
        run(made(lambda values: cube()), tmp_path / "out")
    with pytest.raises(InputError, match="is of 2 runs"):
        run(made(lambda values: (cube(), start(velocity=np.zeros((2, 3))))), tmp_path / "out")


def test_models_of_one_study_are_alike(tmp_path):
    """Another kind of motion in some runs would leave other columns."""
    from alight.vehicles.dcap import dcap_lander

    legs = dcap_lander()
    tree = motions.TreeModel(
        legs.tree, legs.devices, gravity.Uniform(DOWN), surfaces.Plane(), contact.Hertz(1e5)
    )
    first = sample(made(), [0])["make.side"][0]

    def mixed(values):
        if values["side"] == first:
            return cube(), start()
        return tree, motions.TreeRelease.of(tree.tree, (0.0, 0.0, 5.0))

    with pytest.raises(InputError, match="leaves other columns than that of run 0"):
        run(made(mixed), tmp_path / "out", runs=3)


# -- mistakes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "spread", "said"),
    [
        ("contact.fricton", dispersions.uniform(0.1, 0.2), "Did you mean.*friction"),
        ("release.speed", dispersions.normal(0.1), r"Release is not made with \"speed\""),
        ("contact.stiffness", dispersions.normal(0.1), "no value for it to vary about"),
        ("contact.friction", 0.3, "must be a distribution, such as"),
        ("gravity", dispersions.normal(0.1), "no number"),
        ("release.velocity", dispersions.normal(-1.0), "sigma is .*0 or more"),
        ("release.velocity", dispersions.normal((1.0, 2.0)), "sigma"),
        ("release.velocity", dispersions.normal("fast"), "not of numbers"),
        ("contact.friction", dispersions.cone(0.1), "vectors of three"),
    ],
)
def test_what_cannot_vary_is_told_at_once(key, spread, said):
    with pytest.raises(InputError, match=said):
        study(spreads={key: spread})


def test_what_is_no_study():
    with pytest.raises(InputError, match="give it a model and its release"):
        alight.Study(3)
    with pytest.raises(InputError, match="goes with a Release"):
        alight.Study(cube(), None)
    with pytest.raises(InputError, match="is of 2 runs; give one"):
        alight.Study(cube(), start(velocity=np.zeros((2, 3))))
    with pytest.raises(InputError, match="give no other"):
        alight.Study(thrown, start())
    with pytest.raises(InputError, match="sampling"):
        study(sampling="sobl")
    with pytest.raises(InputError, match=r"alight\.Study of a model"):
        run_campaign(cube(), out="nowhere")
    with pytest.raises(InputError, match="Mesh, or a name"):
        study(body=3)


# -- elsewhere -------------------------------------------------------------------------------------


def test_a_study_can_be_sent(tmp_path):
    """Functions of a script by value, classes of modules by name; what is computed is the same."""
    factor = 0.5
    for given in (
        study(runs=4, shard=4),
        made(lambda values: (cube(), start(velocity=factor * values["velocity"]))),
    ):
        work = Work(given, make_plan(given, "cpu", {}), "cpu")
        here = work.compute(0)
        assert pickle.loads(cloudpickle.dumps(work)).compute(0) == here
        assert packed(work, "topic")


def test_what_cannot_be_sent_is_named():
    import threading

    lock = threading.Lock()
    given = made(lambda values: (cube(), start(), lock)[:2])
    work = Work(given, make_plan(given, "cpu", {}), "cpu")
    with pytest.raises(ClusterError, match=r"make of the study, a function, cannot be sent.*lock"):
        packed(work, "topic")


@pytest.mark.validate
def test_equal_studies_have_equal_plans_in_every_process(tmp_path):
    """A script that is started again, and a module that it became, are the same study."""
    text = (
        "import alight, numpy as np\n"
        "from alight import contact, gravity, surfaces, dispersions\n"
        "class Weak(contact.Compliant):\n"
        "    pass\n"
        "def make(values):\n"
        "    law = Weak(restitution=0.5, friction=values['mu'])\n"
        "    model = alight.Model(gravity.Uniform((0, 0, -1e-3)), surfaces.Plane(),\n"
        "        alight.RigidLander.cube(0.2, 1.0), law)\n"
        "    return model, alight.Release((0, 0, 1.0))\n"
        "study = alight.Study(make, dispersions={'mu': dispersions.uniform(0.1, 0.2)})\n"
        "from alight.campaign.plan import make_plan\n"
        "print(make_plan(study, 'cpu', {}).hash)\n"
    )
    (tmp_path / "mine.py").write_text(text)
    commands = (["mine.py"], ["-c", "import mine"], ["mine.py"])
    said = [
        subprocess.run(
            [sys.executable, *c], cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout
        for c in commands
    ]
    assert len(set(said)) == 1
    (tmp_path / "mine.py").write_text(text.replace("    pass\n", "    slip = 1\n"))
    changed = subprocess.run(
        [sys.executable, "mine.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    assert changed not in said


def test_differences_name_tables():
    """Large arrays are told apart by their digests."""
    from alight.shapes.icosphere import icosphere

    def ball(scale):
        mesh = icosphere(2)
        mesh = alight.Mesh(scale * mesh.vertices, mesh.faces)
        model = cube(surface=surfaces.Facets(mesh), gravity=gravity.PointMass(1.0))
        return alight.Study(model, start(position=(0.0, 0.0, 200.0)))

    one, other = (make_plan(ball(scale), "cpu", {}) for scale in (100.0, 101.0))
    lines = differences(one, other)
    assert any(line.startswith("study.model.surface.mesh: was ") for line in lines)
    assert make_plan(ball(100.0), "cpu", {}).hash == one.hash
