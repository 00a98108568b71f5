"""Landings of any hull by springs on facets and rocks: what must hold of every run.

Each ends, in a state that is finite; none sinks; no contact gains energy; at rest hull and ground
stand no deeper in each other than the weight presses springs in; and a lander at rest stays when it
is let go again.
"""

import numpy as np
import pytest

from alight import contact, engine, gravity, motions, surfaces, vehicles
from alight.core.outcomes import Outcome
from alight.motions.rigid.rest_depth import hull_depths
from alight.shapes import Mesh, icosphere

RADIUS, PULL = 20.0, 2e-3
HULLS = {
    "cube": vehicles.RigidLander.cube(0.2, 1.0),
    "plate": vehicles.RigidLander.box((0.8, 0.8, 0.04), 4.0),
    "rod": vehicles.RigidLander.box((0.05, 0.05, 1.0), 2.0),
    "prism": vehicles.RigidLander.prism(6, 0.3, 0.1, 1.0),
}
#: Most energy that steps of finite length may add to one contact, over what the lander had; the
#: engine takes it back. As for rigid landers (``test_rigid_landings``), where pairs change too.
GAIN = 2e-2
#: Depth at rest over the depth aimed at: a tenth, a fifth where springs are as soft as they may be.
INSIDE = 0.25
#: How far a lander at rest may go when it is let go again [m], and how many may go farther: where
#: friction just holds, rest is a matter of luck.
STAYS, LUCK = 1e-3, 0.05


def ground_of(kind):
    ball = icosphere(3)
    bumps = np.random.default_rng(5).uniform(-1.0, 1.0, ball.n_vertices)
    mesh = Mesh(ball.vertices * (RADIUS * (1.0 + 0.01 * bumps))[:, None], ball.faces)
    facets = surfaces.Facets(mesh)
    if kind == "facets":
        return facets
    law = {"slope": 2.5, "density": 0.1, "reference": 0.5, "smallest": 0.2, "largest": 2.0}
    return surfaces.Rocky(facets, mesh, surfaces.Rocks(**law, cover=0.4, seed=5), kept=500)


def model_of(ground, lander, law, max_time):
    return motions.Model(
        gravity.PointMass(PULL * RADIUS**2),
        ground,
        lander,
        law,
        stop=engine.Stop(max_time=max_time, max_steps=300_000),
    )


@pytest.mark.validate
@pytest.mark.parametrize("name", HULLS)
@pytest.mark.parametrize("kind", ["facets", "rocks"])
def test_what_must_hold_of_every_landing(kind, name):
    count, ground, lander = 25, ground_of(kind), HULLS[name]
    rng = np.random.default_rng([sum(f"{kind}{name}".encode())])
    mu = rng.uniform(0.1, 1.0, count)
    law = {"restitution": rng.uniform(0.1, 0.9, count), "friction": mu}
    up = rng.normal(size=(count, 3))
    up /= np.linalg.norm(up, axis=1, keepdims=True)
    fast = np.sqrt(2.0 * PULL)
    release = motions.Release(
        up * (RADIUS + 3.0),
        0.5 * fast * rng.normal(size=(count, 3)),
        rng.normal(size=(count, 4)),
        0.5 * fast * rng.normal(size=(count, 3)),
    )
    model = model_of(ground, lander, contact.Compliant(**law, touch="hull"), 5000.0)
    result = engine.run_batch(model, release, device="cpu")
    final = result.final
    ends = (Outcome.SETTLED, Outcome.TIMED_OUT, Outcome.STEP_LIMIT, Outcome.ESCAPED)
    assert np.isin(result.outcome, ends).all(), result.count()
    energy = lander.mass * PULL * (3.0 + np.sum(release.velocity**2, axis=1) / (2.0 * PULL))
    assert (final["gain"] / energy).max() < GAIN
    rest = result.outcome == Outcome.SETTLED
    assert rest.mean() > 0.8
    depth = hull_depths(model, final, "cpu")[rest]
    assert depth.max() < INSIDE * model.contact_rows()["depth"].min()
    settled = {key: values[rest] for key, values in law.items()}
    again = engine.run_batch(
        model_of(ground, lander, contact.Compliant(**settled, touch="hull"), 500.0),
        motions.Release(final["x"][rest], attitude=final["q"][rest]),
        device="cpu",
    )
    way = np.linalg.norm(again.position - final["x"][rest], axis=1)
    assert (way > STAYS).mean() <= LUCK
