"""Plans in files, and commands that follow them: what is kept, and what is refused."""

import numpy as np
import pytest

from alight.actuators import FollowPlan, Manoeuvre, StoredPlan
from alight.core.errors import AlightError, InputError


def plan(**changes):
    """Two cells, three throws, four hops."""
    given = {
        "centres": np.array([[0.0, 0, 0], [5.0, 0, 0]]),
        "throws": np.array([[0.1, 0.0, 0.8], [0.1, 1.5, 0.8], [0.2, 3.0, 0.8]]),
        "plan": np.array([[0, 1], [2, 0], [1, 1], [0, 2]]),
        "goal": np.array([9.0, 0, 0]),
        "goal_radius": 1.0,
        "avoid": np.array([[4.0, 4.0, 0.0, 0.5]]),
        "dark_places": np.array([[7.0, 0, 0]]),
        "dark": np.array([True]),
        "vertical": "radial",
        "speed_error": 0.05,
        "angle_error": 0.03,
    }
    return StoredPlan(**(given | changes))


def test_a_plan_reads_back_as_it_was_saved(tmp_path):
    made = plan()
    made.save(tmp_path / "plan.npz", success=np.ones(2))
    again = StoredPlan.read(tmp_path / "plan.npz")
    for name, value in vars(made).items():
        if name != "name":
            assert np.array_equal(getattr(again, name), value), name


@pytest.mark.parametrize(
    ("said", "changes"),
    [
        ("must be \\(n, 3\\)", {"plan": np.zeros((2, 3), dtype=int)}),
        ("must be \\(n, 3\\)", {"throws": np.zeros((0, 3))}),
        ("names throws up to 7", {"plan": np.array([[0, 7]])}),
        ("not finite", {"centres": np.array([[0.0, 0, 0], [np.inf, 0, 0]])}),
        ("vertical", {"vertical": "up"}),
        ("radius of the goal", {"goal_radius": 0.0}),
    ],
)
def test_what_is_no_plan_is_refused(said, changes):
    with pytest.raises(InputError, match=said):
        plan(**changes)


def test_files_that_are_no_plans_are_refused(tmp_path):
    np.savez(tmp_path / "other.npz", centres=np.zeros((2, 3)))
    with pytest.raises(InputError, match=r"lacks throws, plan, .*Write it again"):
        StoredPlan.read(tmp_path / "other.npz")
    (tmp_path / "text.npz").write_text("no archive")
    with pytest.raises(AlightError, match="damaged, or no NumPy archive"):
        StoredPlan.read(tmp_path / "text.npz")


def test_a_command_errs_as_the_plan_says_unless_it_says_itself():
    assert FollowPlan(plan()).errors == (0.05, 0.03)
    assert FollowPlan(plan(), angle_error=0.0).errors == (0.05, 0.0)
    with pytest.raises(InputError, match="must be a StoredPlan"):
        FollowPlan("plan.npz")
    with pytest.raises(InputError, match="plans 4 at most"):
        Manoeuvre(FollowPlan(plan()), repeats=5)
