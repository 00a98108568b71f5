"""Hertz's law with a dashpot: goldens F.4, in closed form and integrated; bad input."""

import numpy as np
import pytest
import warp as wp
from scipy.integrate import solve_ivp

from alight.contact.hertz import Hertz, HertzData, deepest, duration, hertz_normal, hertz_stored
from alight.core import devices
from alight.core.errors import InputError
from alight.core.types import scalar


def hit(law, mass, speed):
    """Rebound speed, time until the force ends and greatest depth of a mass that hits at 0."""

    def fall(t, y):  # depth, its rate
        return np.array([y[1], -float(law.normal(y[0], y[1])) / mass])

    def released(t, y):  # before the clamp: where the force would begin to pull
        spring = law.stiffness[0] * np.sign(y[0]) * abs(y[0]) ** 1.5
        return spring + law.damping[0] * y[1]

    def turned(t, y):
        return y[1]

    released.terminal, released.direction = True, -1
    long = 5.0 * duration(mass, speed, law.stiffness[0])
    # From a hair inside, where the force is that of the law and not of its edge.
    start = [1e-13, speed]
    done = solve_ivp(
        *(fall, (0.0, long), start, "DOP853"),
        rtol=1e-11,
        atol=[1e-15, 1e-12],
        events=[released, turned],
    )
    deep = done.y_events[1][0, 0]
    return -done.y[1, -1], done.t[-1], deep


def test_closed_forms_are_the_goldens():
    assert deepest(10.0, 0.1, 1e6) == pytest.approx(1.73286211e-3, rel=3e-9)
    assert 1e6 * deepest(10.0, 0.1, 1e6) ** 1.5 == pytest.approx(72.1349953, rel=1e-9)
    assert duration(10.0, 0.1, 1e6) == pytest.approx(0.0510029004, rel=1e-9)


def test_a_hit_without_dashpot_is_elastic_and_as_long_as_the_golden():
    speed, time, deep = hit(Hertz(1e6), 10.0, 0.1)
    assert deep == pytest.approx(1.73286211e-3, rel=1e-8)
    assert time == pytest.approx(0.0510029004, rel=1e-7)
    assert speed == pytest.approx(0.1, rel=1e-9)


@pytest.mark.parametrize(
    ("zeta", "restitution", "time", "depth"),
    [(0.1, 0.844885, 3.0515, 1.019392), (0.7, 0.360439, 2.68364, 0.707112)],
)
def test_the_dashpot_gives_the_restitution_of_the_table(zeta, restitution, time, depth):
    """zeta = c d0 / (m v) with d0 = (m v^2 / k)^(2/5); times in d0 / v, depths in d0."""
    mass, speed, k = 10.0, 0.1, 1e6
    d0 = (mass * speed**2 / k) ** 0.4
    found = hit(Hertz(k, damping=zeta * mass * speed / d0), mass, speed)
    assert found[0] / speed == pytest.approx(restitution, abs=1e-6)
    assert found[1] * speed / d0 == pytest.approx(time, abs=1e-4)
    assert found[2] / d0 == pytest.approx(depth, abs=1e-6)


def test_the_ground_never_pulls():
    law = Hertz(1e5, damping=200.0)
    depth, closing = np.meshgrid(np.linspace(-0.01, 0.02, 40), np.linspace(-5.0, 5.0, 41))
    force = law.normal(depth, closing)
    assert (force >= 0.0).all()
    assert (force[depth <= 0.0] == 0.0).all()
    assert law.normal(0.01, 1.0) == pytest.approx(1e5 * 1e-3 + 200.0)


@wp.kernel(module="unique", enable_backward=False)
def _pushes(
    offset: int,
    law: wp.array[HertzData],
    depth: wp.array[scalar],
    closing: wp.array[scalar],
    push_out: wp.array[scalar],
    stored_out: wp.array[scalar],
) -> None:
    i = wp.tid() + offset
    push_out[i] = hertz_normal(law[0], depth[i], closing[i])
    stored_out[i] = hertz_stored(law[0], depth[i])


def test_kernels_push_by_the_same_law():
    """k d^(3/2) + c v, never pulling, and the work of the spring alone up to that depth."""
    device = devices.resolve("cpu")
    depth, closing = np.array([-1e-3, 0.0, 0.01, 0.04, 0.01]), np.array([5.0, 5.0, 0.25, 0.0, -9.0])
    law = wp.array(Hertz(1e5, damping=200.0).rows(1.0, 1.0), dtype=HertzData, device=device.name)
    given = [wp.array(a, dtype=scalar, device=device.name) for a in (depth, closing)]
    out = [wp.zeros(5, dtype=scalar, device=device.name) for _ in range(2)]
    devices.launch(_pushes, 5, [law, *given, *out], device)
    np.testing.assert_allclose(out[0].numpy(), [0.0, 0.0, 150.0, 800.0, 0.0], rtol=1e-14)
    np.testing.assert_allclose(out[1].numpy(), [0.0, 0.0, 0.4, 12.8, 0.4], rtol=1e-14)


def test_the_grip_comes_back_in_an_eighth_of_a_hit_damped_half_critically():
    row = Hertz(1e6).rows(10.0, 40.0)[0]
    assert row["relaxation"] == pytest.approx(duration(10.0, 1.0, 1e6) / 8.0, rel=1e-12)
    damping = row["grip"] * row["relaxation"]
    assert damping**2 == pytest.approx(row["grip"] * 40.0, rel=1e-12)
    given = Hertz(1e6, tangential_stiffness=[2e4, 4e4], tangential_damping=80.0).rows(10.0, 40.0)
    assert given["grip"].tolist() == [2e4, 4e4]
    assert given["relaxation"].tolist() == [80.0 / 2e4, 80.0 / 4e4]


def test_parameters_may_be_given_for_each_run():
    law = Hertz(1e5, friction=[0.1, 0.2, 0.3])
    assert law.count == 3
    rows = law.rows(5.0, 5.0)
    assert rows["friction"].tolist() == [0.1, 0.2, 0.3]
    assert rows["stiffness"].tolist() == [1e5] * 3
    assert len(set(rows["grip"])) == 1


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"stiffness": 0.0}, "stiffness"),
        ({"damping": -1.0}, "damping"),
        ({"friction": [0.1, -0.1]}, "friction"),
        ({"tangential_stiffness": 0.0}, "tangential_stiffness"),
        ({"tangential_damping": [1.0, 0.0]}, "tangential_damping"),
        ({"friction": [0.1, 0.2], "damping": [1.0, 2.0, 3.0]}, "2 and 3 runs"),
        ({"friction": "rough"}, "must be a number"),
    ],
)
def test_bad_parameters_are_refused(wrong, said):
    with pytest.raises(InputError, match=said):
        Hertz(**{"stiffness": 1e5, **wrong})
