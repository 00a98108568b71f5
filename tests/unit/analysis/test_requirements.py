"""Verdicts on requirements: bounds, how often they are wrong, and how many runs would decide.

``met`` of ``n`` runs is binomial, so that the chance of a wrong verdict is a sum over all ``met``:
it is computed exactly, and by simulation through the table.
"""

import math

import numpy as np
import pytest
from scipy import stats

from alight.analysis import requirements as rq
from alight.core.errors import InputError
from alight.core.requirements import Requirement

RIGHT = {True: rq.PASS, False: rq.FAIL}


def force(share=0.95, at_least=True, confidence=0.95):
    return Requirement("f", "below", share, at_least, confidence, "peak_force_N", 50.0, "50 N")


def wrong_rate(requirement, n, true):
    """The chance that a campaign of ``n`` runs is judged against the truth."""
    holds = true >= requirement.share if requirement.at_least else true <= requirement.share
    words = [rq.decide(requirement, met, n).word for met in range(n + 1)]
    chance = stats.binom.pmf(np.arange(n + 1), n, true)
    wrong = [word not in (RIGHT[holds], rq.UNDECIDED) for word in words]
    return float(chance[np.array(wrong)].sum())


@pytest.mark.parametrize("at_least", [True, False])
@pytest.mark.parametrize("share", [0.01, 0.5, 0.95])
@pytest.mark.parametrize("n", [1, 20, 100, 400])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_wrong_verdicts_are_no_more_often_than_stated(share, n, at_least, confidence):
    requirement = force(share, at_least, confidence)
    shares = [*np.linspace(0.0, 1.0, 21), *(share + d for d in (-0.004, -1e-9, 0.0, 1e-9, 0.004))]
    worst = max(wrong_rate(requirement, n, true) for true in shares)
    assert worst <= (1.0 - confidence) * (1.0 + 1e-9)


def test_wrong_verdicts_come_near_to_what_is_stated():
    # Else the bounds would be wider than they need be: the rate only lacks what whole runs leave.
    rate = max(wrong_rate(force(0.9), 400, 0.9 + d) for d in (-1e-9, 0.0))
    assert 0.03 < rate <= 0.05


def test_wrong_verdicts_by_simulation():
    rng, requirement, wrong = np.random.default_rng(3), force(0.9), 0
    campaigns, n = 2000, 150
    for _ in range(campaigns):
        table = {"peak_force_N": np.where(rng.random(n) < 0.9 - 1e-9, 40.0, 60.0)}
        wrong += rq.judge(requirement, table).word == rq.PASS
    # Binomial itself: three sigma above 5 %.
    assert wrong / campaigns < 0.05 + 3.0 * math.sqrt(0.05 * 0.95 / campaigns)


def test_bounds_against_closed_forms():
    # All of n: the lower bound is (1 - confidence)^(1/n); none: the upper one 1 less the same.
    for n in (1, 10, 300):
        low, high = rq.bounds(n, n, 0.95)
        assert (low, high) == (pytest.approx(0.05 ** (1.0 / n), rel=1e-12), 1.0)
        low, high = rq.bounds(0, n, 0.95)
        assert (low, high) == (0.0, pytest.approx(1.0 - 0.05 ** (1.0 / n), rel=1e-12))


def test_more_runs_decide_and_fewer_do_not():
    for requirement, met, n in [
        (force(0.95), 10, 10),
        (force(0.95), 195, 200),
        (force(0.95), 8, 9),
        (force(0.01, at_least=False), 0, 50),
        (force(0.01, at_least=False), 2, 50),
        (force(0.5), 30, 50),
    ]:
        found = rq.decide(requirement, met, n)
        assert found.word == rq.UNDECIDED, (requirement, met, n)
        total = n + found.more
        expected = met * total / n
        near = [math.floor(expected), math.ceil(expected)]
        assert any(rq.decide(requirement, k, total).word != rq.UNDECIDED for k in near)
        short = n + found.more // 2  # near the end whole runs decide
        if short > n:
            assert rq.decide(requirement, round(met * short / n), short).word == rq.UNDECIDED


def test_all_in_order_take_59_runs_for_95_percent():
    # 0.95^59 = 0.0485 is the first power below 0.05: what every test handbook has.
    assert rq.decide(force(0.95), 0, 0).more == 59
    assert rq.decide(force(0.95), 40, 40).more == 19
    assert rq.decide(force(0.95), 59, 59).word == rq.PASS
    assert rq.decide(force(0.95), 58, 58).word == rq.UNDECIDED


def test_at_the_required_share_nothing_decides():
    found = rq.decide(force(0.5), 50, 100)
    assert (found.word, found.more) == (rq.UNDECIDED, None)
    assert "no number of runs would decide" in str(found)


def test_columns_below_and_above_and_empty():
    table = {"peak_force_N": np.array([10.0, 49.0, 50.0, 70.0, math.nan])}
    found = rq.judge(force(), table)
    assert (found.met, found.runs, found.empty) == (2, 5, 1)
    above = Requirement("f", "above", 0.5, True, 0.95, "peak_force_N", 49.5)
    assert rq.judge(above, [table, table]).met == 4
    with pytest.raises(InputError, match="peak_force_N"):
        rq.judge(force(), {"peak_force": np.zeros(3)})


def test_outcomes_are_counted_by_their_word():
    table = {"outcome": np.array(["settled", "escaped", "settled"], dtype=object)}
    escape = Requirement("e", "outcome", 0.01, False, outcome="escaped")
    found = rq.judge(escape, table)
    assert (found.met, found.runs, found.word) == (1, 3, rq.FAIL if found.low > 0.01 else "?")
    assert found.low == pytest.approx(1.0 - 0.95 ** (1.0 / 3.0), rel=1e-9)


def test_rest_within_an_arc_or_on_a_plane():
    angle = 100.0 / 450.0
    rest = 450.0 * np.array(
        [[np.cos(a), np.sin(a), 0.0] for a in (0.0, 0.999 * angle, 1.001 * angle)]
    )
    rest = np.vstack([rest, np.full(3, np.nan)])
    table = {f"rest_{axis}_m": rest[:, i] for i, axis in enumerate("xyz")}
    near = Requirement("t", "rest-within", 0.5, center=(1.0, 0.0, 0.0), radius=100.0)
    found = rq.judge(near, table)
    assert (found.met, found.runs, found.empty) == (2, 4, 0)
    flat = Requirement("t", "rest-within", 0.5, center=(450.0, 0.0, 0.0), flat=True, radius=1.0)
    assert rq.judge(flat, table).met == 1


def test_a_sweep_is_counted_and_nothing_concluded():
    table = {"peak_force_N": np.array([10.0, 60.0])}
    found = rq.judge(force(), table, sweep=True)
    assert (found.word, found.met, found.runs, found.more) == (rq.COUNTED, 1, 2, 0)
    assert math.isnan(found.low)
    assert "true share" not in str(found)


def test_a_verdict_goes_by_the_name_that_the_scenario_gives():
    given = {"kind": "outcome", "share": 0.05, "at_least": False, "outcome": "escaped"}
    own = str(rq.decide(Requirement(name="stays", **given), 9, 10))
    assert own.startswith("fail: stays: outcome escaped in at most 5 % of runs: 9 of 10 runs")
    plain = str(
        rq.decide(Requirement(name="outcome escaped in at most 5 % of runs", **given), 9, 10)
    )
    assert plain.startswith("fail: outcome escaped in at most 5 % of runs: 9 of 10 runs")
