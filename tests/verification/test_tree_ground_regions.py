"""Articulated landers on ground that varies, and on their bellies.

- Regions: each pad has the friction of its own place. A block with its pads in the plane of its
  centre of mass loads them alike; sliding by s it loses
  m g cos(a) / 4 times the sum over its pads of the integral of mu ds, and gains m g sin(a) s.
- Held: tan a < mu of the region; elsewhere it slides.
- Belly: the same points give the same bits, whether they are called pads or belly.
- At rest on its points each bears its share: d = (N / k)^(2/3).
"""

import numpy as np
import pytest

from alight.contact import Ball, GroundMap, Region, Regions
from alight.contact.hertz import Hertz
from alight.core import frames
from alight.core.errors import InputError
from alight.core.outcomes import Outcome, outcome_of
from alight.engine import run_batch, simulate
from alight.gravity import Uniform
from alight.motions import TreeModel, TreeRelease, TreeStop
from alight.surfaces import Plane
from alight.vehicles import Belly, Joint, Pad, Tree, TreeBody, dcap_lander

G, MASS, HALF = 1.0, 10.0, 0.3
BUS = Tree("bus", [TreeBody("bus", MASS, (1.0, 1.0, 1.0))], [Joint("bus", "free")])
CORNERS = [(x, y, 0.0) for x in (-HALF, HALF) for y in (-HALF, HALF)]
PADS = [Pad("bus", place, name=f"pad {k}") for k, place in enumerate(CORNERS)]
STIFFNESS = 1e6
DEPTH = (MASS * G / 4 / STIFFNESS) ** (2 / 3)


def half_space(edge, **numbers):
    """A region that is all ground beyond x = ``edge``, curved by 1e-7 m at the pads."""
    far = 1e6
    return Regions([Region("beyond", Ball((edge + far, 0.0, 0.0), far), **numbers)])


def block(friction, ground=None, slope=0.0, devices=PADS, **stop):
    """The block on a plane whose pull goes along +x by ``slope`` [rad]."""
    pull = (G * np.sin(slope), 0.0, -G * np.cos(slope))
    return TreeModel(
        *(BUS, devices, Uniform(pull), Plane()),
        Hertz(STIFFNESS, 300.0, friction, ground=ground),
        stop=TreeStop(**{"max_time": 30.0, "tip_angle": np.pi, **stop}),
    )


def stopping_place(speed, outside, inside, edge):
    """Where the block's centre stops that starts at x = 0 on level ground."""

    def work(x):
        lost = 0.0
        for place, *_ in CORNERS:
            beyond = max(0.0, min(x, x + place - edge))
            lost += 0.25 * G * (inside * beyond + outside * (x - beyond))
        return lost

    low, high = 0.0, 100.0
    for _ in range(200):
        mid = 0.5 * (low + high)
        low, high = (mid, high) if work(mid) < 0.5 * speed**2 else (low, mid)
    return low


@pytest.mark.parametrize("edge", [0.5, 50.0])
def test_each_pad_has_the_friction_of_its_place(edge):
    """Stopped while its front pads alone are in the region, or far from it.

    The block starts at rest depth; its grip gives by mu N / k_t, below 1e-5 m, and comes back.
    """
    outside, inside = np.array([0.2, 0.2, 0.1]), np.array([0.6, 0.05, 0.3])
    model = block(outside, half_space(edge, friction=inside))
    speed = np.array([0.5, 0.6, 0.4])
    release = TreeRelease.of(
        BUS, (0.0, 0.0, -DEPTH), np.stack([speed, 0 * speed, 0 * speed], axis=1)
    )
    found = run_batch(model, release, device="cpu")
    assert (found.outcome == Outcome.SETTLED).all()
    expected = [stopping_place(*row, edge) for row in zip(speed, outside, inside, strict=True)]
    np.testing.assert_allclose(found.final["x"][:, 0], expected, rtol=2e-4)
    assert edge == 50.0 or not np.allclose(expected, speed**2 / (2 * outside * G), rtol=0.01)


def test_a_lander_sticks_in_a_region_and_slides_beside_it():
    """tan a = 0.3: held by 0.6, let go by 0.4 times that beyond x = 5 m.

    The second is pushed at 0.5 m/s: the strain of its grip, mu N / k_t = 3e-6 m, is then nothing.
    """
    model = block(0.6, half_space(5.0, friction_factor=0.4), np.arctan(0.3), max_time=4.0)
    depth = DEPTH * np.cos(np.arctan(0.3)) ** (2 / 3)
    release = TreeRelease.of(
        BUS, [(0.0, 0.0, -depth), (6.0, 0.0, -depth)], [(0, 0, 0), (0.5, 0, 0)]
    )
    found = run_batch(model, release, device="cpu")
    assert [outcome_of(o) for o in found.outcome] == [Outcome.SETTLED, Outcome.TIMED_OUT]
    a = np.arctan(0.3)
    slid = 0.5 * 4.0 + 0.5 * G * (np.sin(a) - 0.24 * np.cos(a)) * 4.0**2
    assert abs(found.final["x"][0, 0]) < 1e-4
    assert found.final["x"][1, 0] - 6.0 == pytest.approx(slid, rel=1e-5)


def test_ground_without_regions_and_a_factor_of_one_give_the_same_bits():
    plain = block(0.3)
    same = block(0.3, half_space(0.1, friction_factor=1.0))
    release = TreeRelease.of(BUS, (0.0, 0.0, 0.02), (0.3, 0.1, -0.1), rate=(0.2, 0.1, 0.0))
    first, second = (run_batch(m, release, device="cpu") for m in (plain, same))
    np.testing.assert_array_equal(first.q, second.q)
    assert first.final["t"] == second.final["t"]


@pytest.mark.parametrize("name", ["restitution", "static_friction", "rolling_resistance"])
def test_what_springs_of_hertz_do_not_have_is_refused(name):
    region = Regions([Region("pond", Ball((0, 0, 0), 1.0), **{name: 0.5})])
    with pytest.raises(InputError, match=f"varies {name.replace('_', ' ')}, which .* friction"):
        Hertz(1e5, ground=region)
    with pytest.raises(InputError, match="do not have"):
        Hertz(1e5, ground=GroundMap({name: [[1.0], [0.5], [1.0]]}))
    with pytest.raises(InputError, match="GroundMap or Regions"):
        Hertz(1e5, ground=0.5)


def test_runs_of_regions_and_of_the_law_must_agree():
    with pytest.raises(InputError, match="2 and 3 runs"):
        Hertz(1e5, friction=[0.1, 0.2], ground=half_space(0.0, friction=[0.1, 0.2, 0.3]))


# -- bellies ---------------------------------------------------------------------------------------


def test_a_belly_rests_as_pads_do_at_the_same_places():
    """Depth of each point, energy account and course: the same bits."""
    release = TreeRelease.of(BUS, (0.0, 0.0, 0.05), (0.2, 0.0, -0.2), rate=(0.3, 0.2, 0.1))
    pads = run_batch(block(0.4), release, device="cpu")
    belly = run_batch(block(0.4, devices=[Belly("bus", CORNERS)]), release, device="cpu")
    np.testing.assert_array_equal(pads.q, belly.q)
    for name in ("t", "gain", "drift", "energy", "peak_force"):
        if name in pads.final.dtype.names:
            assert pads.final[name] == belly.final[name]
    assert outcome_of(belly.outcome[0]) is Outcome.SETTLED
    assert belly.final["x"][0, 2] == pytest.approx(-DEPTH, rel=1e-3)
    assert belly.peaks.pad_force.shape == (1, 0)
    assert pads.peaks.belly_force.shape == (1, 0)
    peak = belly.peaks.belly_force[0, 0]
    assert pads.peaks.pad_force[0].max() <= peak <= pads.peaks.pad_force[0].sum()


def test_a_belly_and_pads_stand_side_by_side():
    """Two of four points are a belly: each bears its own, and all together the weight."""
    model = block(0.4, devices=[*PADS[:2], Belly("bus", CORNERS[2:])])
    found = simulate(model, TreeRelease.of(BUS, (0.0, 0.0, 0.01)), device="cpu")
    assert found.outcome is Outcome.SETTLED
    assert found.pad_force.shape[1:] == (2, 3)
    assert found.belly_force.shape[1:] == (1, 3)
    assert found.normal_force[-1] == pytest.approx(MASS * G, rel=1e-3)
    assert found.belly_normal_force[-1, 0] == pytest.approx(0.5 * MASS * G, rel=1e-3)
    assert found.belly_force[-1, 0, 2] == pytest.approx(0.5 * MASS * G, rel=1e-3)
    most = found.belly_normal_force.max(axis=0)
    np.testing.assert_array_equal(found.peaks.belly_force[0], most)


@pytest.mark.parametrize("over", [0.5, 0.9])
def test_the_lander_of_paper_002_lies_on_its_bus_when_it_has_tipped_over(over):
    """Released on its side or upside down, it does not sink: its lowest corner stays where its
    share of the weight presses it in, d < (m g / k)^(2/3)."""
    k, pull = 1e5, 0.02
    lander = dcap_lander(thrust=0.0, bus_touches=True)
    model = TreeModel(
        *(lander.tree, lander.devices, Uniform((0.0, -pull, 0.0)), Plane(normal=(0.0, 1.0, 0.0))),
        Hertz(k, 400.0, 0.6),
        stop=TreeStop(max_time=600.0, tip_angle=np.pi),
        up=(0.0, 1.0, 0.0),
    )
    turn = over * np.pi
    attitude = (0.0, 0.0, np.sin(0.5 * turn), np.cos(0.5 * turn))
    release = TreeRelease.of(lander.tree, (0.0, 2.2, 0.0), attitude=attitude)
    found = run_batch(model, release, device="cpu")
    assert outcome_of(found.outcome[0]) is Outcome.SETTLED
    assert found.peaks.belly_force[0, 0] > 0.3 * lander.tree.mass * pull
    poses = lander.tree.kinematics(found.q, found.v, device="cpu")
    corners = [p for p in model.fitted.touching if p.body == "body"]
    heights = poses.position[0, 0] + frames.quat_rotate(
        poses.attitude[0, :1], np.array([p.place for p in corners])
    )
    assert heights[:, 1].min() > -1.01 * (lander.tree.mass * pull / k) ** (2 / 3)


def test_bellies_that_cannot_be_are_refused():
    for points in ([], [(1, 2)], "abc", [[np.nan, 0, 0]]):
        with pytest.raises(InputError, match="belly"):
            Belly("bus", points)
    with pytest.raises(InputError, match="sides must be above 0"):
        Belly.box("bus", (1, 0, 1))
    box = Belly.box("bus", (2.0, 4.0, 6.0), (1.0, 0.0, 0.0))
    np.testing.assert_array_equal(np.ptp(np.asarray(box.points), axis=0), (2.0, 4.0, 6.0))
    np.testing.assert_allclose(np.mean(np.asarray(box.points), axis=0), (1.0, 0.0, 0.0))
