"""The comparison with other engines compares like with like (``benchmarks/peers.py``).

Both engines are given the same cube, plane, weight and releases. A uniform cube flies on a parabola
and turns evenly, R(t) = R(0) exp(w t). MuJoCo's Euler steps are semi-implicit: after n steps of h

    v = v(0) + g t,   x = x(0) + v(0) t + g t (t + h)/2,   t = n h,

g t h/2 from the parabola, and nothing but rounding from that. So its lowest corner is below the
ground in the first step that ends after the touch, give or take g t h/2 over the speed: 8 % of one.

A spring and damper that never pull return e = exp(-2 zeta arccos(zeta)/sqrt(1 - zeta^2)); Euler's
steps of a part s of a radian get it to s/3 or so. A damper of (1 + e)/h returns e in one step, to
the (omega h)^2 of the weak spring beside it.
"""

import dataclasses

import numpy as np
import pytest
from benchmarks import peers_alight, peers_cube, peers_mujoco, peers_runs
from benchmarks.peers_mujoco import Setting
from scipy.spatial.transform import Rotation

from alight import engine

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed: pip install mujoco")

SETTINGS = {"damper": Setting.damper(0.05), "spring": Setting.spring(1e-2, 0.2)}


@pytest.fixture(params=SETTINGS)
def setting(request):
    return SETTINGS[request.param]


@pytest.fixture(scope="module")
def states():
    return peers_cube.releases(12)


def test_the_cube_is_the_same(setting):
    made, ours = peers_mujoco.model(mujoco, setting), peers_alight.model("Impulse")
    assert made.body_mass[1] == pytest.approx(ours.lander.mass, rel=1e-15)
    np.testing.assert_allclose(np.diag(made.body_inertia[1]), ours.lander.inertia, rtol=1e-14)
    reach = np.abs(ours.lander.points).max(axis=0)
    np.testing.assert_allclose(made.geom_size[1], reach, rtol=1e-15)
    np.testing.assert_allclose(made.opt.gravity, ours.gravity.vector, rtol=1e-15)
    np.testing.assert_allclose(made.pair_friction[0, :2], ours.contact.friction, rtol=1e-15)


def test_mujoco_flies_as_the_closed_form(setting, states):
    batch = peers_mujoco.Batch(mujoco, setting, states)
    steps = round(8.0 / setting.step)
    batch.advance(steps, np.ones(len(states), bool))
    time, found = steps * setting.step, batch.states()
    exact = peers_cube.flight(states, np.full(len(states), time))
    lag = 0.5 * time * setting.step * peers_cube.slope(0.0)
    rounding = 1e-16 * steps
    np.testing.assert_allclose(found.position, exact.position + lag, rtol=0, atol=rounding)
    np.testing.assert_allclose(found.velocity, exact.velocity, rtol=0, atol=rounding)
    between = Rotation.from_quat(found.attitude).inv() * Rotation.from_quat(exact.attitude)
    assert between.magnitude().max() < 4.0 * rounding


def test_alight_flies_as_the_closed_form(states):
    model = peers_alight.model("Impulse")
    until = engine.Stop(max_time=8.0)
    flying = type(model)(model.gravity, model.surface, model.lander, model.contact, stop=until)
    final = engine.run_batch(flying, peers_alight.release(states), device="cpu").final
    exact = peers_cube.flight(states, np.full(len(states), 8.0))
    np.testing.assert_allclose(final["x"], exact.position, rtol=0, atol=1e-13)
    np.testing.assert_allclose(final["v"], exact.velocity, rtol=0, atol=1e-15)
    between = Rotation.from_quat(final["q"]).inv() * Rotation.from_quat(exact.attitude)
    assert between.magnitude().max() < 1e-12


def test_the_first_touch_is_at_the_same_time(setting, states):
    exact = peers_cube.first_touch(states)
    ours = engine.run_batch(
        peers_alight.model("Impulse"), peers_alight.release(states), device="cpu"
    )
    np.testing.assert_allclose(ours.final["first_time"], exact, rtol=1e-12)
    late = peers_runs.first_contacts(peers_mujoco.Batch(mujoco, setting, states), states)
    # g t h/2 deeper at time t, at 8 mm/s or more (1 cm/s, less what turning gives back) [steps].
    ahead = 0.5 * peers_cube.G * exact.max() / 8e-3
    assert (late > -ahead).all()
    assert (late < 1.0).all()


def test_mujoco_is_asked_for_the_restitution(setting):
    error = {"damper": 0.05**2, "spring": 0.2 / 3.0}[setting.kind]
    gaps = 1e-2 * setting.step * (2.0 + np.arange(16) / 16.0)
    hits = peers_cube.hits(1e-2, 0.0, gaps)
    got = peers_runs.struck(peers_mujoco.Batch(mujoco, setting, hits))[:, 0]
    np.testing.assert_allclose(got, peers_cube.RESTITUTION, rtol=0, atol=error)
    assert got.std() > 0.0  # the hits do meet the ground at different parts of a step


def test_without_friction_both_lose_the_same_energy():
    """After 30 s and one or two hits: e is off by 0.05^2 of 1 + e at most, the energy that goes in
    a hit by 2 e 0.05^2 (1 + e)/(1 - e^2): 0.5 %. Twice that in two hits; rest goes to when in a
    step they come."""
    states = peers_cube.releases(48)
    left = peers_alight.kept("Impulse", states, friction=0.0, at=(30.0,))[0]
    frictionless = dataclasses.replace(SETTINGS["damper"], friction=0.0)
    found = peers_runs.kept(peers_mujoco.Batch(mujoco, frictionless, states), (30.0,))[0]
    gone = peers_cube.energy(states).mean() - left
    assert found == pytest.approx(left, abs=0.01 * gone)
    rubbing = peers_runs.kept(peers_mujoco.Batch(mujoco, SETTINGS["damper"], states), (30.0,))[0]
    with_friction = peers_alight.kept("Impulse", states, peers_cube.FRICTION, at=(30.0,))[0]
    assert (
        rubbing > with_friction + 0.04 * gone
    )  # what docs/explanation/peers.md says of sliding hits


def test_the_lowest_corner_is_the_lowest(states):
    corners = np.array(
        [turn.apply(peers_cube.CORNERS) for turn in Rotation.from_quat(states.attitude)]
    )
    lowest = states.position[:, 2] + corners[:, :, 2].min(axis=1)
    np.testing.assert_allclose(peers_cube.lowest(states), lowest, rtol=1e-14)


def test_energy_and_rest_are_noticed():
    """What is watched: a cube that lies still is at rest, one that jumps by itself has gained."""
    still = peers_cube.hits(0.0, 0.0, np.zeros(2), "face")
    watch = peers_runs.Watch(2)
    for second in range(1, 40):
        up = np.array([0.0, 0.0, 1e-3 * second if second < 5 else 0.0])
        moved = still.position + np.outer([0.0, 1.0], up)
        watch.look(float(second), peers_cube.States(moved, *vars_of(still)))
    assert list(watch.rest) == [1.0, 5.0]
    assert watch.gain == pytest.approx([0.0, 3e-3 * peers_cube.G])


def vars_of(states):
    """Velocity, attitude and rate."""
    return states.velocity, states.attitude, states.rate
