"""Loads of articulated landers: which columns they are, the greatest of several, percentiles."""

import numpy as np
import pytest

from alight.analysis.loads import (
    ACCELERATION,
    KINDS,
    PAD,
    STROKE,
    greatest,
    load_names,
    loads,
    of_kind,
)

RUNS = 200


@pytest.fixture
def table():
    """Two legs, one of which always gives more."""
    rng = np.random.default_rng(5)
    one = rng.uniform(0.05, 0.1, RUNS)
    return {
        "stroke_leg_1_m": one,
        "stroke_leg_2_m": one + 0.01,
        "peak_pad_force_leg_1_N": 100.0 * one,
        "peak_acceleration_m_per_s2": np.arange(RUNS, dtype=float),
    }


def test_columns_of_loads_are_known_by_name(table):
    others = ["peak_force_N", "settle_time_s", "contact.friction", "stroke_m", "path_m"]
    assert load_names([*others, *table]) == list(table)
    assert list(of_kind(table, STROKE)) == ["leg_1", "leg_2"]
    assert list(of_kind(table, ACCELERATION)) == [""]


@pytest.mark.parametrize(
    ("column", "part"),
    [
        ("stroke_leg_1_m", "leg_1"),
        ("peak_pad_force_foot_N", "foot"),
        ("peak_acceleration_m_per_s2", ""),
        ("peak_tilt_deg", ""),
        ("peak_rate_rad_per_s", ""),
        ("peak_speed_m_per_s", ""),
        ("peak_slosh_tank_deg", "tank"),
        ("peak_joint_force_leg_1_N", "leg_1"),
        ("peak_joint_moment_leg_1_N_m", "leg_1"),
    ],
)
def test_every_column_is_of_one_kind_and_part(column, part):
    """Names as campaigns of articulated landers write them (docs/how_to/campaigns.md)."""
    assert [kind.part_of(column) for kind in KINDS if kind.part_of(column) is not None] == [part]


def test_the_greatest_of_several(table):
    assert np.array_equal(greatest(table, STROKE), table["stroke_leg_2_m"])
    touched = np.where(np.arange(RUNS) % 2, np.nan, 1.0)
    found = greatest(table, STROKE, touched)
    assert np.array_equal(np.isnan(found), np.isnan(touched))
    del table["peak_pad_force_leg_1_N"]
    assert np.isnan(greatest(table, PAD)).tolist() == [True] * RUNS
    assert greatest({}, PAD).shape == (0,)


def test_percentiles_are_of_runs_that_touched(table):
    touched = np.where(np.arange(RUNS) < 100, 1.0, np.nan)
    found = {(load.kind.start, load.part): load.spread for load in loads(table, touched)}
    assert set(found) == {
        ("stroke", ""),
        ("stroke", "leg_1"),
        ("stroke", "leg_2"),
        ("peak_pad_force", "leg_1"),
        ("peak_acceleration", ""),
    }
    push = found["peak_acceleration", ""]
    assert (push.n, push.most) == (100, 99.0)
    assert push.quantiles[0.95].value == pytest.approx(0.95 * 99.0)
    assert found["stroke", ""].quantiles[0.5] == found["stroke", "leg_2"].quantiles[0.5]
    assert loads({}, touched) == []
