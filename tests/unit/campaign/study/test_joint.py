"""Groups, tables of samples and single components in studies: those of scenarios, to the byte."""

import numpy as np
import pytest

import alight
from alight import contact, dispersions, engine, gravity, surfaces
from alight.campaign import run_campaign, sample
from alight.core.errors import InputError

OPTIONS = {"seed": 1, "runs": 20, "shard": 6}
MATRIX = [
    [4e-4, 1e-4, 0.0, 1e-4],
    [1e-4, 4e-4, 0.0, 0.0],
    [0.0, 0.0, 1e-4, -2e-5],
    [1e-4, 0.0, -2e-5, 9e-4],
]
CORRELATION = [[1.0, 0.5], [0.5, 1.0]]
BOTH = ("release.velocity.x", "contact.friction")


def study(spreads, **options):
    turn = np.array([0.1, 0.2, 0.3, 1.0])
    model = alight.Model(
        gravity=gravity.Uniform((0.0, 0.0, -5.7e-3)),
        surface=surfaces.Plane(),
        lander=alight.RigidLander.cube(0.2, 1.0),
        contact=contact.Compliant(restitution=0.5, friction=0.6),
        stop=engine.Stop(max_time=150.0),
    )
    release = alight.Release(position=(0.0, 0.0, 0.5), attitude=turn / np.linalg.norm(turn))
    return alight.Study(model, release, dispersions=spreads, **{**OPTIONS, **options})


def samples():
    rng = np.random.default_rng(5)
    return np.stack([rng.normal(0.0, 0.02, 20), rng.uniform(0.4, 0.8, 20)], axis=1)


def csv_of(folder):
    lines = ["release.velocity.x [m/s],contact.friction"]
    lines += [f"{float(a)!r},{float(b)!r}" for a, b in samples()]
    file = folder / "samples.csv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def cases(folder):
    """Dispersions as a scenario writes them, and as a study does."""
    file = csv_of(folder).as_posix()
    table = f'[[dispersions.table]]\nfile = "{file}"\n'
    return {
        "group": (
            '[[dispersions.group]]\nkeys = ["release.velocity", "contact.restitution"]\n'
            f"matrix = {MATRIX}\n",
            {("release.velocity", "contact.restitution"): dispersions.covariance(MATRIX)},
        ),
        "sigmas": (
            '[[dispersions.group]]\nkeys = ["release.velocity.z", "contact.friction"]\n'
            f'sigma = ["2 cm/s", 0.05]\ncorrelation = {CORRELATION}\n',
            {
                ("release.velocity.z", "contact.friction"): dispersions.covariance(
                    sigma=(0.02, 0.05), correlation=CORRELATION
                )
            },
        ),
        "rows": (table, {BOTH: dispersions.table(samples())}),
        "drawn": (table + 'rows = "random"\n', {BOTH: dispersions.table(samples(), random=True)}),
        "component": (
            '[dispersions]\n"release.velocity.y" = { kind = "normal", sigma = "2 cm/s" }\n'
            '"release.velocity.x" = { kind = "uniform", low = "0 m/s", high = "3 cm/s" }\n',
            {
                "release.velocity.y": dispersions.normal(sigma=0.02),
                "release.velocity.x": dispersions.uniform(0.0, 0.03),
            },
        ),
    }


@pytest.mark.parametrize("name", ["group", "sigmas", "rows", "drawn", "component"])
def test_a_study_has_the_bytes_of_the_scenario(scenario, tmp_path, name):
    text, spreads = cases(tmp_path)[name]
    options = {"device": "cpu", "show": "silent"}
    one = run_campaign(scenario(dispersions=text), out=tmp_path / "a", **options).open()
    other = run_campaign(study(spreads), out=tmp_path / "b", **options).open()
    for table in ("runs", "contacts"):
        pairs = zip(one.files(table), other.files(table), strict=True)
        assert all(a.read_bytes() == b.read_bytes() for a, b in pairs)
    # Runs differ, or equal bytes would say little; rows drawn with replacement come back.
    assert len(set(one.read(columns=["end_time_s"]).column(0).to_pylist())) > 5


@pytest.mark.parametrize("sampling", ["latin-hypercube", "sobol"])
def test_the_same_draws_by_every_sampling(scenario, tmp_path, sampling):
    for text, spreads in cases(tmp_path).values():
        one = sample(scenario(dispersions=text, sampling=sampling), np.arange(20))
        other = sample(study(spreads, sampling=sampling), np.arange(20))
        assert one.keys() == other.keys()
        assert all(one[key].tobytes() == other[key].tobytes() for key in one)


def test_other_components_stay_as_they_are(tmp_path):
    made = study({"release.position.z": dispersions.uniform(0.4, 0.6)})
    values = sample(made, np.arange(5))
    (group,) = made.prepared().groups(values)
    np.testing.assert_array_equal(group.release.position[:, :2], 0.0)
    np.testing.assert_array_equal(group.release.position[:, 2], values["release.position.z"])


def test_a_table_by_run_has_as_many_runs_as_rows():
    spreads = {BOTH: dispersions.table(samples()[:7])}
    assert study(spreads, runs=None).campaign.runs == 7
    with pytest.raises(InputError, match=r"runs is 20, and a table of samples has 7 rows"):
        study(spreads)
    assert study({BOTH: dispersions.table(samples()[:7], random=True)}).campaign.runs == 20


def test_plans_name_what_changed_in_a_table(tmp_path):
    one, same, other = (
        study({BOTH: dispersions.table(rows)}).resolved()["dispersions"]
        for rows in (samples(), samples(), samples() + 1e-9)
    )
    assert one == same != other
    assert one["table"][0]["keys"] == list(BOTH)


def test_a_function_takes_groups_by_its_own_names():
    def make(values):
        raise AssertionError("not run here")

    made = alight.Study(
        make, dispersions={("a", "b"): dispersions.covariance([[1.0, 0.9], [0.9, 1.0]], (3.0, 4.0))}
    )
    drawn = sample(made, np.arange(2000))
    assert drawn.keys() == {"make.a", "make.b"}
    # Three sigma of the mean and of the correlation of 2000 runs.
    assert drawn["make.a"].mean() == pytest.approx(3.0, abs=3.0 / np.sqrt(2000))
    found = np.corrcoef(drawn["make.a"], drawn["make.b"])[0, 1]
    assert found == pytest.approx(0.9, abs=3.0 * (1.0 - 0.81) / np.sqrt(2000))


@pytest.mark.parametrize(
    ("spreads", "said"),
    [
        ({BOTH: dispersions.normal(0.1)}, r"vary together by covariance\(...\) or table\(...\)"),
        ({BOTH: dispersions.table([[1.0, 2.0, 3.0]] * 20)}, "has 3 columns and its keys are 2"),
        ({("release.velocity", "contact.friction"): dispersions.table(np.ones((20, 4)))},
         "column for each number"),
        ({BOTH: dispersions.covariance([[1.0]])}, "covariance|matrix"),
        ({BOTH: dispersions.covariance([[1.0, 2.0], [2.0, 1.0]])}, "covariance|matrix"),
        ({"release.velocity": dispersions.normal(0.1), BOTH: dispersions.table(samples())},
         "release.velocity is varied twice"),
        ({"contact.friction": dispersions.normal(0.1), BOTH: dispersions.table(samples())},
         "contact.friction is varied twice"),
        ({"release.velocity.up": dispersions.normal(0.1)}, "release.velocity|up"),
        ({("contact.friction", 3): dispersions.table(samples())}, "a tuple of names"),
    ],
)  # fmt: skip
def test_mistakes_are_told_at_once(spreads, said):
    with pytest.raises(InputError, match=said):
        study(spreads)


@pytest.mark.parametrize("rows", [[], [[np.nan]], "abc", [[[1.0]]]])
def test_what_is_no_table(rows):
    with pytest.raises(InputError, match="table of samples"):
        dispersions.table(rows)
