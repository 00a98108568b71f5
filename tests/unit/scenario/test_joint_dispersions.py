"""Single components, correlated groups and tables of samples, as they reach the releases."""

import numpy as np
import pytest

from alight.campaign.dispersions.sampling import sample
from alight.campaign.plan import make_plan
from alight.campaign.tables.inputs import drawn_columns
from alight.scenario import ScenarioError, from_dict, loads, prepare

UP = {"kind": "normal", "sigma": "1 cm/s"}
RUNS = np.arange(4000)


@pytest.fixture
def spread(plane, ryugu):
    def make(body=False, folder=".", **tables):
        table = {**(ryugu if body else plane), "dispersions": tables.pop("dispersions", {})}
        return from_dict({**table, **tables}, folder=folder)

    return make


# -- components ------------------------------------------------------------------------------------


def test_one_component_varies_and_the_others_stand(spread):
    scenario = spread(dispersions={"release.velocity.z": UP})
    values = sample(scenario, RUNS[:50])
    (group,) = prepare(scenario, "cpu").groups(values)
    found = group.release.velocity
    assert (found[:, :2] == [0.1, 0.03]).all()
    assert np.array_equal(found[:, 2], values["release.velocity.z"])
    assert found[:, 2].std() == pytest.approx(0.01, rel=0.3)
    ((column, array),) = drawn_columns(scenario, values)
    assert (column.full_name, len(array)) == ("release.velocity.z_m_per_s", 50)


def test_components_go_by_the_axes_of_the_release(spread):
    made = spread(body=True, dispersions={"release.velocity.up": UP})
    assert made.value("release.velocity.up") == 0.0
    with pytest.raises(ScenarioError, match=r"components of release.velocity are x, y, z"):
        spread(dispersions={"release.velocity.up": UP})
    with pytest.raises(ScenarioError, match=r"components of release.velocity are east, north, up"):
        spread(body=True, dispersions={"release.velocity.z": UP})


def test_the_same_number_is_not_varied_twice(spread):
    with pytest.raises(ScenarioError, match=r"already varied by release.velocity"):
        spread(dispersions={"release.velocity.z": UP, "release.velocity": UP})
    state = {"kind": "covariance", "sigma": ["1 m"] * 3 + ["1 cm/s"] * 3}
    with pytest.raises(ScenarioError, match=r"already varied by release.state"):
        spread(dispersions={"release.velocity.z": UP, "release.state": state})


def test_other_vectors_have_components_too(spread):
    made = spread(dispersions={"ground.normal.x": {"kind": "uniform", "low": -0.1, "high": 0.1}})
    groups = prepare(made, "cpu").groups(sample(made, RUNS[:3]))
    assert len(groups) == 3  # a plane of its own for each run
    euler = {"release": {"position": ["0 m", "0 m", "1 m"], "euler": ["0 deg"] * 3}}
    made = spread(dispersions={"release.euler.yaw": {"kind": "uniform", "low": "0 deg",
                                                     "high": "90 deg"}}, **euler)  # fmt: skip
    (group,) = prepare(made, "cpu").groups(sample(made, RUNS[:5]))
    assert not group.release.attitude[:, :2].any()
    assert group.release.attitude[:, 2].all()


def test_a_component_of_an_attitude_is_refused(spread):
    with pytest.raises(ScenarioError, match=r"release.attitude.x.*is not a number"):
        spread(dispersions={"release.attitude.x": {"kind": "uniform", "low": 0, "high": 1}})


# -- groups ----------------------------------------------------------------------------------------

GROUP = {"keys": ["release.velocity", "contact.friction"],
         "sigma": ["1 cm/s", "1 cm/s", "2 cm/s", 0.05],
         "correlation": [[1, 0, 0, 0.8], [0, 1, 0, 0], [0, 0, 1, 0], [0.8, 0, 0, 1]]}  # fmt: skip


def test_a_group_has_its_covariance(spread):
    scenario = spread(dispersions={"group": [GROUP]})
    values = sample(scenario, RUNS)
    assert set(values) == {"release.velocity", "contact.friction"}
    both = np.column_stack([values["release.velocity"], values["contact.friction"]])
    sigma = np.array([0.01, 0.01, 0.02, 0.05])
    wanted = np.array(GROUP["correlation"]) * np.outer(sigma, sigma)
    # An element of a covariance of n draws is off by sqrt((1 + r^2) / n) of sigma_i sigma_j.
    limit = 5.0 * np.sqrt(2.0 / len(RUNS)) * np.outer(sigma, sigma)
    assert (np.abs(np.cov(both.T) - wanted) < limit).all()
    assert both.mean(axis=0) == pytest.approx([0.1, 0.03, -0.05, 0.6], abs=5e-3)


def test_a_matrix_of_position_and_velocity(spread):
    root = np.tril(np.random.default_rng(1).normal(size=(6, 6)))
    matrix = (root @ root.T * np.outer([1, 1, 1, 0.1, 0.1, 0.1], [1, 1, 1, 0.1, 0.1, 0.1])).tolist()
    group = {"keys": ["release.position", "release.velocity"], "matrix": matrix}
    state = {"release.state": {"kind": "covariance", "matrix": matrix}}
    one, other = (spread(dispersions=d) for d in ({"group": [group]}, state))
    both = [np.cov(np.column_stack([*sample(one, RUNS).values()]).T),
            np.cov(sample(other, RUNS)["release.state"].T)]  # fmt: skip
    scale = np.sqrt(np.outer(np.diag(matrix), np.diag(matrix)))
    for found in both:
        assert (np.abs(found - matrix) / scale < 5.0 * np.sqrt(2.0 / len(RUNS))).all()


def test_groups_read_back_and_name_a_campaign(spread):
    scenario = spread(dispersions={"group": [GROUP], "release.rate": {"kind": "normal",
                                   "sigma": "0.1 rad/s"}})  # fmt: skip
    again = loads(scenario.to_toml())
    assert again == scenario
    plans = [make_plan(one, "cpu", {}) for one in (scenario, again)]
    assert plans[0].hash == plans[1].hash


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"keys": ["release.velocity"]}, r"group.1.keys: .*must list two or more"),
        ({"keys": ["release.velocity", "contact.frction"]}, r'Did you mean "contact.friction"'),
        ({"sigma": ["1 cm/s"] * 3}, r"group.1.sigma: .*list of 4"),
        ({"correlation": np.full((4, 4), 2.0).tolist()}, r"group.1.correlation"),
        ({"sigma": ["1e200 m/s", "1 cm/s", "1 cm/s", 0.05]}, r"group.1.sigma: is too large"),
        ({"kind": "uniform"}, r'group.1.kind: .*takes "covariance"'),
        ({"sigma": ["1 cm/s", "1 cm/s", "1 cm/s", 0.3]}, "5 sigma from 0.6 reach beyond"),
        ({"sigmas": 1}, r"group.1.sigmas: unknown key"),
        ({"keys": ["release.attitude", "contact.friction"]}, "is a quaternion"),
    ],
)
def test_what_is_no_group_names_the_key(spread, change, said):
    with pytest.raises(ScenarioError, match=said):
        spread(dispersions={"group": [{**GROUP, **change}]})


def test_a_group_that_is_no_list(spread):
    with pytest.raises(ScenarioError, match=r"\[\[dispersions.group\]\]"):
        spread(dispersions={"group": GROUP})


# -- tables ----------------------------------------------------------------------------------------

CSV = "contact.friction,release.velocity.z [cm/s]\n0.2,-1\n0.4,-2\n0.8,-3\n"


@pytest.fixture
def file(tmp_path):
    (tmp_path / "samples.csv").write_text(CSV)
    return tmp_path


def test_run_k_takes_row_k(spread, file):
    scenario = spread(folder=file, dispersions={"table": [{"file": "samples.csv"}]})
    assert scenario.campaign.runs == 3
    values = sample(scenario, [2, 0])
    assert values["contact.friction"].tolist() == [0.8, 0.2]
    assert values["release.velocity.z"].tolist() == [-0.03, -0.01]
    (group,) = prepare(scenario, "cpu").groups(values)
    assert group.release.velocity.tolist() == [[0.1, 0.03, -0.03], [0.1, 0.03, -0.01]]


def test_rows_at_random_stay_together(spread, file):
    table = {"file": "samples.csv", "rows": "random"}
    scenario = spread(folder=file, dispersions={"table": [table]})
    values = sample(scenario, RUNS)
    pairs = np.column_stack([values["contact.friction"], -values["release.velocity.z"]])
    found, counts = np.unique(pairs, axis=0, return_counts=True)
    assert found.tolist() == [[0.2, 0.01], [0.4, 0.02], [0.8, 0.03]]
    # Each a third of 4000: within five sigma of a binomial.
    assert (np.abs(counts - 4000 / 3.0) < 5.0 * np.sqrt(4000 * 2.0 / 9.0)).all()
    assert sample(scenario, [77])["contact.friction"][0] == values["contact.friction"][77]


def test_a_table_reads_back_and_its_path_does_not_name_the_campaign(spread, file, tmp_path):
    scenario = spread(folder=file, dispersions={"table": [{"file": "samples.csv"}]})
    assert loads(scenario.to_toml()) == scenario
    other = tmp_path / "other"
    other.mkdir()
    (other / "moved.csv").write_text(CSV)
    moved = spread(folder=other, dispersions={"table": [{"file": "moved.csv"}]})
    assert make_plan(scenario, "cpu", {}).hash == make_plan(moved, "cpu", {}).hash
    (file / "samples.csv").write_text(CSV.replace("0.2", "0.3"))
    with pytest.raises(ScenarioError, match="has changed since"):
        loads(scenario.to_toml())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("contact.frction\n1\n", r'table.1.file: .*Did you mean "contact.friction"'),
        ("contact.friction\n-1\n", 'found -1 in column "contact.friction"; it must be at least 0'),
        ("release.velocity.z\n1\n", r"release.velocity.z \["),
        ("release.velocity [m/s]\n1\n", "a column for each component"),
        ("contact.friction\nx\n", 'has "x"; numbers are needed'),
        ("contact.friction\n", "has no rows"),
    ],
)
def test_tables_that_are_wrong_say_how(spread, file, text, said):
    (file / "samples.csv").write_text(text)
    with pytest.raises(ScenarioError, match=said):
        spread(folder=file, dispersions={"table": [{"file": "samples.csv"}]})


def test_more_runs_than_rows_or_a_key_twice(spread, file):
    table = {"table": [{"file": "samples.csv"}]}
    with pytest.raises(ScenarioError, match=r"campaign.runs: is 5, .* 3 rows"):
        spread(folder=file, dispersions=table, campaign={"runs": 5})
    twice = {**table, "contact.friction": {"kind": "uniform", "low": 0.1, "high": 0.2}}
    with pytest.raises(ScenarioError, match="is varied twice"):
        spread(folder=file, dispersions=twice)
    with pytest.raises(ScenarioError, match=r"table.1.file: .*no such"):
        spread(folder=file, dispersions={"table": [{"file": "nothing.csv"}]})
