"""Summaries of runs and contacts, and how they converge, on tables small enough to check."""

import numpy as np
import pytest

from alight.analysis import convergence as cv
from alight.analysis import footprint, impacts, settling
from alight.core.errors import InputError
from alight.core.outcomes import Outcome


def _runs(n, seed=0, escaping=0.0):
    """A made-up table of runs; one that escapes has no rest place, but has touched."""
    rng = np.random.default_rng(seed)
    gone = rng.random(n) < escaping
    table = {"outcome_code": np.where(gone, Outcome.ESCAPED, Outcome.SETTLED)}
    for name in settling.QUANTITIES:
        table[name] = rng.lognormal(size=n)
    first = rng.normal(size=(n, 3)) * (0.0, 20.0, 10.0) + (450.0, 0.0, 0.0)
    rest = first + np.array([0.0, 3.0, 4.0])
    for i, axis in enumerate("xyz"):
        table[f"first_contact_{axis}_m"] = first[:, i]
        table[f"rest_{axis}_m"] = np.where(gone, np.nan, rest[:, i])
    table["settle_time_s"] = np.where(gone, np.nan, table["settle_time_s"])
    return table


def test_every_run_and_quantity_is_counted():
    runs = _runs(500, escaping=0.1)
    untouched = np.arange(500) < 7
    for name in ("first_contact_time_s", "first_contact_x_m"):
        runs[name] = np.where(untouched, np.nan, runs[name])
    gone = int((runs["outcome_code"] == Outcome.ESCAPED).sum())
    found = settling.settling(runs)
    assert found.runs == 500
    assert found.share(Outcome.ESCAPED).value == gone / 500
    assert found.share(Outcome.TIMED_OUT).value == 0.0
    assert found.share(Outcome.TIMED_OUT).high > 0.0
    assert found.failed.value == 0.0
    for name in ("settle_time_s", "bounces", "path_m"):
        assert found.spreads[name].n == 500 - gone
    assert found.spreads["peak_force_N"].n == 493
    assert found.spreads[settling.DISTANCE].quantiles[0.5].value == pytest.approx(5.0, rel=1e-12)
    settled = runs["path_m"][runs["outcome_code"] == Outcome.SETTLED]
    assert found.spreads["path_m"].quantiles[0.95].value == pytest.approx(
        np.quantile(settled, 0.95), rel=1e-12
    )


def test_runs_that_end_in_every_way():
    """One run of each outcome: failures are those whose sentence says so."""
    runs = _runs(len(Outcome))
    runs["outcome_code"] = np.array([int(outcome) for outcome in Outcome])
    found = settling.settling(runs)
    failed = sum(outcome.message.startswith("failed") for outcome in Outcome)
    assert found.failed.value == failed / len(Outcome)
    assert all(found.share(outcome).value == 1.0 / len(Outcome) for outcome in Outcome)
    assert found.spreads["path_m"].n == 1
    assert list(found.spreads["path_m"].quantiles) == [0.05, 0.5, 0.95, 0.99]


def test_a_table_without_batches_has_no_runs():
    found = settling.settling([])
    assert found.runs == 0
    assert found.spreads["path_m"].n == 0
    assert (found.failed.low, found.failed.high) == (0.0, 1.0)


def test_batches_give_what_the_whole_gives():
    runs = _runs(300, escaping=0.2)
    cut = [{k: v[i : i + 70] for k, v in runs.items()} for i in range(0, 300, 70)]
    assert repr(settling.settling(iter(cut))) == repr(settling.settling(runs))  # nan is not nan
    assert repr(cv.convergence(iter(cut))) == repr(cv.convergence(runs))


def test_no_escape_is_said_with_its_bound():
    lines = settling.in_words(settling.settling(_runs(1000)))
    assert lines[0].startswith("100 % came to rest")
    assert lines[1] == "0 % left the neighbourhood of the body for good (0 to 0.383 %)"


def test_an_unknown_outcome_is_refused():
    with pytest.raises(InputError, match="15 is no outcome"):
        settling.outcome_shares(np.array([1.0, 15.0]))


def test_endings_of_stops_have_their_shares():
    found = settling.outcome_shares(np.array([1.0, 64.0, 64.0, 6.0]))
    assert found[64].value == 0.5
    assert found[Outcome.BELOW_HEIGHT].value == found[Outcome.SETTLED].value == 0.25
    runs = _runs(4)
    runs["outcome_code"] = np.array([1, 64, 64, 6])
    told = settling.settling(runs)
    assert told.failed.value == 0.0
    assert told.spreads["path_m"].n == 1  # none of them has settled


# -- contacts ----------------------------------------------------------------------------------


def _contacts(n, seed=0):
    """Contacts 0, 1, 2 of each of n runs; each has half the speed of the one before."""
    rng = np.random.default_rng(seed)
    number = np.tile(np.arange(3), n)
    speed = np.repeat(rng.lognormal(size=n), 3) * 0.5**number
    return {
        "contact": number,
        "normal_speed_in_m_per_s": -speed,
        "normal_speed_out_m_per_s": np.where(number == 2, 0.0, 0.5 * speed),
        "tangential_speed_in_m_per_s": 0.1 * speed,
        "normal_impulse_N_s": 1.5 * speed,
        "peak_force_N": 100.0 * speed,
        "depth_m": 1e-3 * speed,
        "start_time_s": number * 10.0,
        "end_time_s": number * 10.0 + 0.25,
    }


def test_contacts_by_number():
    table = _contacts(4000)
    found = impacts.impacts(table, numbers=2)
    assert found.contacts == 12_000
    np.testing.assert_array_equal(found.n, [4000, 4000, 4000])
    half_bin = 10.0 ** (0.5 / impacts.BINS_A_DECADE) - 1.0 + 1e-3  # and the step between two runs
    for number in range(3):
        mine = -table["normal_speed_in_m_per_s"][number::3]
        for p in (0.05, 0.5, 0.95):
            known = np.quantile(mine, p, method="inverted_cdf")
            quantile = found.quantiles["normal_speed_m_per_s"][p][number]
            assert quantile == pytest.approx(known, rel=half_bin)
    assert found.largest["normal_impulse_N_s"] == 1.5 * -table["normal_speed_in_m_per_s"].min()
    assert found.overall["duration_s"][0.5] == pytest.approx(0.25, rel=1e-12)
    np.testing.assert_allclose(found.quantiles["restitution"][0.5], [0.5, 0.5, 0.0], rtol=half_bin)


def test_contacts_batch_by_batch():
    table = _contacts(50)
    cut = [{k: v[i : i + 40] for k, v in table.items()} for i in range(0, 150, 40)]
    whole, parts = impacts.impacts(table), impacts.impacts(iter(cut))
    assert whole.overall == parts.overall
    assert impacts.impacts([]).contacts == 0


def test_values_beyond_the_bins_stay_within_what_was_seen():
    counts = impacts.LogCounts(1)
    counts.add(np.array([0.0, 1e-30, 1e30, np.nan]), np.zeros(4, dtype=np.int64))
    assert counts.n[0] == 3
    assert counts.quantile(0.1)[0] == 0.0
    assert 0.0 < counts.quantile(0.5)[0] <= 2 * impacts.LOWEST
    assert counts.quantile(1.0)[0] >= 0.5 * impacts.HIGHEST


def test_quantiles_are_known_to_half_a_bin_from_the_lowest_to_the_highest():
    """Bins are 10^(1/200) wide: of three equal values and one beyond, the median is theirs."""
    half = 10.0 ** (0.5 / impacts.BINS_A_DECADE)
    for value in (1.002 * impacts.LOWEST, 0.5, 1.0, 3.3, 0.998 * impacts.HIGHEST):
        counts = impacts.LogCounts(2)
        beyond = [1e-12, value, value, value, 1e12]
        counts.add(np.array(beyond), np.ones(5, dtype=np.int64))
        assert 1.0 / half * (1.0 - 1e-12) <= counts.quantile(0.5)[1] / value <= half * (1.0 + 1e-12)
        assert np.isnan(counts.quantile(0.5)[0])


def test_the_first_contact_alone_and_all_the_rest():
    found = impacts.impacts(_contacts(100), numbers=1)
    np.testing.assert_array_equal(found.n, [100, 200])
    with pytest.raises(InputError, match="numbers"):
        impacts.impacts(_contacts(100), numbers=0)


# -- convergence -------------------------------------------------------------------------------


def test_sizes():
    np.testing.assert_array_equal(cv.sizes(1000), [10, 20, 50, 100, 200, 500, 1000])
    np.testing.assert_array_equal(cv.sizes(7), [7])
    for n in (1, 10, 11, 99, 100, 2001):
        expected = [size for size in (10, 20, 50, 100, 200, 500, 1000, 2000) if size < n]
        np.testing.assert_array_equal(cv.sizes(n), [*expected, n])
    with pytest.raises(InputError, match="no runs"):
        cv.sizes(0)


def test_answers_converge_and_the_last_is_the_campaigns():
    runs = _runs(20_000, escaping=0.05)
    found = cv.convergence(runs, ("settle_time_s", "path_m"))
    whole = settling.settling(runs)
    assert (
        found.answers["median settle_time_s"][-1] == whole.spreads["settle_time_s"].quantiles[0.5]
    )
    assert found.answers["escaped"][-1] == whole.share(Outcome.ESCAPED)
    ellipse = footprint.ellipses(footprint.from_runs(runs).plane, [0.95])[0]
    assert found.answers["ellipse_area_m2"][-1] == ellipse.area
    for name in ("median settle_time_s", "ellipse_area_m2", "escaped"):
        width = {n: e.high - e.low for n, e in zip(found.runs, found.answers[name], strict=True)}
        # Intervals shrink as 1/sqrt(n): by ten for a hundred times the runs, widely taken.
        assert 5.0 < width[200] / width[20_000] < 20.0
        assert found.width(name) < 0.2
        assert found.change(name) < 0.1


def test_change_and_width_of_given_answers():
    def answers(*values):
        known = [cv.Estimate(value, value - 0.5, value + 1.5, 9) for value in values]
        return cv.Convergence(np.arange(len(values)), {"it": known})

    assert answers(7.0, 5.0, 4.0).change("it") == 0.25  # 5 to 4: a quarter of what it is now
    assert answers(3.0, 4.0).change("it") == 0.25
    assert answers(0.0, 4.0).change("it") == 1.0
    assert answers(1.0, 1.0).change("it") == 0.0
    assert np.isnan(answers(4.0).change("it"))
    assert np.isnan(answers(4.0, 0.0).change("it"))
    assert answers(7.0, 4.0).width("it") == answers(7.0, -4.0).width("it") == 0.25
    assert np.isnan(answers(7.0, 0.0).width("it"))


def test_first_runs_alone_count():
    runs = _runs(100)
    runs["settle_time_s"] = np.arange(100.0)
    median = cv.convergence(runs).answers["median settle_time_s"]
    assert [e.value for e in median] == [4.5, 9.5, 24.5, 49.5]


def test_a_campaign_without_rest():
    runs = _runs(30, escaping=1.1)
    found = cv.convergence(runs)
    assert np.isnan(found.answers["ellipse_area_m2"][-1].value)
    assert found.answers["escaped"][-1].value == 1.0
