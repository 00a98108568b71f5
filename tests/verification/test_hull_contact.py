"""Springs between a whole hull and facets or rocks: corners, edges and peaks push alike.

A frictionless hit at one pair, whatever its kind, with the energetic restitution e: the pair closes
at u and opens at e u. With the lever c from the centre of mass and the normal n, the impulse is

    J = (1 + e) u / (1/m + (c x n).I^-1 (c x n)),

so that v' = v + J n / m and w' = w + I^-1 (c x n) J. At rest on one pair the weight presses in by
m g / k, a tenth of the depth, as a single point on a plane is pressed in. Restitution is held to
1e-3, which a weight of 5e-4 of the hit and steps of 0.2 rad leave it.

On rocks, no corner of a rock and no part of a plank stand deeper in each other at rest than springs
are pressed in; with contact points alone they do, and ``hull_depth_m`` has how deep.
"""

import numpy as np
import pytest

from alight import Mesh, contact, engine, gravity, motions, surfaces, vehicles
from alight.contact.hull.overlap import CORNER, PEAK
from alight.core import frames
from alight.core.errors import InputError
from alight.core.outcomes import Outcome
from alight.motions.rigid.rest_depth import hull_depths

G = 1e-4
SPEED = 0.05
CUBE = vehicles.RigidLander.cube(0.2, 1.0)
INERTIA = CUBE.inertia[0, 0]

#: A pyramid with its tip at the origin, and a roof with its ridge along x through it.
PYRAMID = Mesh(
    [[0, 0, 0], [5, 5, -5], [-5, 5, -5], [-5, -5, -5], [5, -5, -5]],
    [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1], [1, 4, 3], [1, 3, 2]],
)
ROOF = Mesh(
    [[-5, 0, 0], [5, 0, 0], [-5, -5, -5], [5, -5, -5], [-5, 5, -5], [5, 5, -5]],
    [[0, 3, 1], [0, 2, 3], [0, 1, 5], [0, 5, 4], [0, 4, 2], [1, 3, 5], [2, 4, 5], [2, 5, 3]],
)
SLAB = Mesh(
    [[-9, -9, 0], [9, -9, 0], [9, 9, 0], [-9, 9, 0], [0, 0, -9]],
    [[0, 1, 2], [0, 2, 3], [0, 4, 1], [1, 4, 2], [2, 4, 3], [3, 4, 0]],
)
FLAT = np.array([0.0, 0.0, 0.0, 1.0])
EDGE_DOWN = frames.quat_from_axis_angle(np.array([0.0, 1.0, 0.0]), np.pi / 4)
CORNER_DOWN = frames.quat_multiply(
    frames.quat_from_axis_angle(np.array([1.0, 0.0, 0.0]), np.arctan(np.sqrt(0.5))), EDGE_DOWN
)


def model_of(ground, law, lander=CUBE, g=G, **stop):
    stop.setdefault("max_time", 20.0)
    pull = gravity.Uniform((0.0, 0.0, -g))
    return motions.Model(pull, surfaces.Facets(ground), lander, law, stop=engine.Stop(**stop))


def hull(restitution=0.6, friction=0.0, **options):
    options.setdefault("rolling_resistance", 0.0)
    return contact.Compliant(restitution, friction, touch="hull", **options)


def first_hit(model, place, attitude):
    """Velocity and rate (target axes) just after the first contact, and its record."""
    low = frames.quat_rotate(attitude, CUBE.points)[:, 2].min()
    release = motions.Release((*place, 2e-3 - low), (0.0, 0.0, -SPEED), attitude)
    run = engine.simulate(model, release)
    after = int(np.searchsorted(run.time, run.events["end"][0])) + 1
    return run.velocity[after], frames.quat_rotate(run.attitude[after], run.rate[after]), run


@pytest.mark.parametrize("restitution", [0.3, 0.9])
@pytest.mark.parametrize(
    ("ground", "attitude", "place"),
    [
        (PYRAMID, FLAT, (0.0, 0.0)),  # a face on a peak
        (PYRAMID, FLAT, (0.06, -0.03)),  # off its middle
        (ROOF, EDGE_DOWN, (0.0, 0.0)),  # edge on edge
        (ROOF, EDGE_DOWN, (0.0, 0.05)),
        (SLAB, CORNER_DOWN, (1.0, 2.0)),  # a corner on a facet
    ],
    ids=["peak", "peak aside", "edges", "edges aside", "corner"],
)
def test_one_pair_gives_back_what_is_asked(ground, attitude, place, restitution):
    # So shallow that the cube hardly turns in the hit (a few per cent of e at 1 mm).
    v, w, run = first_hit(model_of(ground, hull(restitution, depth=2e-6)), place, attitude)
    height = -frames.quat_rotate(attitude, CUBE.points)[:, 2].min()
    # A peak or a ridge touches under the tip; a corner touches where it is itself.
    lever = np.array([0.0, 0.0, -height])
    if ground is not SLAB:
        lever[:2] = -np.array(place)
    arm = np.cross(lever, [0.0, 0.0, 1.0])
    u = -run.events["normal_speed_in"][0]
    J = (1.0 + restitution) * u / (1.0 / CUBE.mass + arm @ arm / INERTIA)
    assert u == pytest.approx(SPEED, rel=1e-3)
    assert run.events["normal_speed_out"][0] == pytest.approx(restitution * u, rel=1e-3)
    assert v == pytest.approx([0.0, 0.0, -u + J / CUBE.mass], abs=1e-3 * SPEED)
    assert w == pytest.approx(arm * J / INERTIA, abs=1e-3 * SPEED / 0.1)
    assert run.events["points"][0] == 1


def test_on_one_peak_it_rests_as_one_point_does_on_a_plane():
    """The weight presses k d = m g in; rolling resistance of 5 mm holds it upright."""
    law = hull(0.3, 0.8, rolling_resistance=5e-3)
    model = model_of(PYRAMID, law, g=5e-3, max_time=2000.0)
    result = engine.run_batch(model, motions.Release((0.0, 0.0, 0.101)), device="cpu")
    assert result.outcome[0] == Outcome.SETTLED
    found = contact.overlap(model.surface, CUBE, result.position, result.attitude, device="cpu")
    assert found.kind[0] == PEAK
    # Springs are set within a factor of 2 (their hysteresis) of what presses a tenth of 1 mm in.
    assert 0.5e-4 < found.depth[0] < 2e-4
    assert hull_depths(model, result.final, "cpu")[0] == found.depth[0]


@pytest.mark.validate
def test_a_tip_between_the_points_is_met_by_the_hull_alone():
    """A cube over a tip, with its corners as points: it sinks onto the tip, or rests on it."""
    deep = {}
    for touch in ("points", "hull"):
        law = contact.Compliant(0.3, 0.8, rolling_resistance=5e-3, touch=touch)
        model = model_of(PYRAMID, law, g=5e-3, max_time=600.0)
        result = engine.run_batch(model, motions.Release((0.0, 0.0, 0.11)), device="cpu")
        deep[touch] = contact.overlap(
            model.surface, CUBE, result.position, result.attitude, device="cpu"
        ).depth[0]
    assert deep["points"] > 0.05
    assert deep["hull"] < 2e-4


def test_face_down_on_level_facets_it_rests_on_its_corners():
    law = hull(0.4, 0.6, rolling_resistance=2e-3)
    model = model_of(SLAB, law, g=5e-3, max_time=2000.0)
    tilt = frames.quat_normalize(np.array([0.3, -0.2, 0.1, 0.9]))
    result = engine.run_batch(model, motions.Release((0.5, 0.3, 0.4), attitude=tilt), device="cpu")
    assert result.outcome[0] == Outcome.SETTLED
    found = contact.overlap(model.surface, CUBE, result.position, result.attitude, device="cpu")
    assert found.kind[0] == CORNER
    assert found.depth[0] < 1e-4
    assert result.final["gain"][0] == 0.0


# -- what touches, and what can --------------------------------------------------------------------


def test_hulls_touch_where_they_can_and_nobody_asks_otherwise():
    law = contact.Compliant(0.5)
    assert model_of(SLAB, law).scheme.hull
    assert not model_of(SLAB, contact.Compliant(0.5, touch="points")).scheme.hull
    assert not model_of(SLAB, contact.Compliant(stiffness=1e3)).scheme.hull
    assert not model_of(SLAB, contact.Compliant(0.5, scheme="smooth")).scheme.hull
    ball = vehicles.RigidLander.sphere(0.1, 1.0)
    assert not model_of(SLAB, law, ball).scheme.hull
    assert not model_of(SLAB, hull(), ball).scheme.hull
    spiked = vehicles.RigidLander.cube(0.2, 1.0, extra=[(0.0, 0.0, -0.3)])
    assert not model_of(SLAB, law, spiked).scheme.hull
    assert model_of(SLAB, hull(), spiked).scheme.hull


def test_what_cannot_touch_by_its_hull_says_so():
    with pytest.raises(InputError, match="touches facets"):
        motions.Model(gravity.Uniform((0, 0, -G)), surfaces.Plane(), CUBE, hull())
    with pytest.raises(InputError, match="stiffness given"):
        contact.Compliant(stiffness=1e3, touch="hull")
    with pytest.raises(InputError, match="scheme 'smooth'"):
        contact.Compliant(0.5, scheme="smooth", touch="hull")
    with pytest.raises(InputError, match="points"):
        contact.Compliant(0.5, touch="point")


@pytest.mark.parametrize("law", [hull(0.5), contact.Impulse(0.5)])
def test_a_tip_inside_the_hull_is_below_ground_too(law):
    """0.5 mm: lifted; 2 mm: refused, though all points are above the ground."""
    places = [(0.0, 0.0, 0.1 - 0.5e-3), (0.0, 0.0, 0.1 - 2e-3)]
    model = model_of(PYRAMID, law, max_time=1.0)
    batch = engine.Batch(model, motions.Release(places), device="cpu")
    assert batch.released["x"][0] == pytest.approx([0.0, 0.0, 0.1], abs=1e-12)
    assert batch.result().outcome.tolist() == [Outcome.RUNNING, Outcome.STARTED_INSIDE]
