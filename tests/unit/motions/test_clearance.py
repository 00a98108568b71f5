"""What is known of the ground near a lander without looking it up: bounds that must hold.

A distance phi whose second derivatives are kappa at most differs from its tangent plane by at most
kappa d^2 / 2 at the distance d, and its gradient by kappa d.
"""

import functools

import numpy as np
import pytest
import warp as wp

from alight import surfaces
from alight.contact import Compliant
from alight.contact.compliant.clipped_springs import tangent_reach
from alight.contact.state import CompliantData
from alight.core import devices
from alight.core.types import mat33, quat, scalar, vec3
from alight.motions.rigid.phases.clearance import bound_of, seen_from_centre
from alight.motions.rigid.state import Run
from alight.vehicles import RigidLander
from alight.vehicles.rigid.data import RigidBody

CUBE = RigidLander.cube(0.2, 2.0)
COUNT = 4000


def rough_ground() -> surfaces.Surface:
    hills = surfaces.FractalNoise(amplitude=0.3, wavelength=5.0, octaves=3, seed=5)
    return surfaces.Rough(surfaces.Sphere(radius=20.0), hills)


@functools.cache
def _bounds_kernel(surface_point, Data):
    @wp.kernel(module="unique")
    def compare(
        surface: Data,
        body: RigidBody,
        curvature: scalar,
        x: wp.array[vec3],
        q: wp.array[quat],
        v: wp.array[vec3],
        w: wp.array[vec3],
        gap_out: wp.array2d[scalar],
        closing_out: wp.array2d[scalar],
        unsure_out: wp.array2d[scalar],
    ) -> None:
        i = wp.tid()
        run = Run()
        run.x = x[i]
        run.q = q[i]
        run.v = v[i]
        run.w = w[i]
        R = wp.quat_to_matrix(run.q)
        size = body.bounding_radius
        fast = wp.length(run.v) + wp.length(run.w) * size
        seen = seen_from_centre(curvature, size, fast, run, surface_point(surface, run.x), mat33(R))
        for j in range(body.points.shape[0]):
            bound = bound_of(body, seen, j)
            arm = R * body.points[j]
            near = surface_point(surface, run.x + arm)
            rate = wp.dot(near.gradient, run.v + wp.cross(R * run.w, arm))
            gap_out[i, j] = near.distance - body.radii[j] - bound.gap
            closing_out[i, j] = rate - bound.closing
            unsure_out[i, j] = bound.unsure

    return compare


def test_points_are_no_closer_than_seen_from_the_centre(device):
    ground, rng = rough_ground(), np.random.default_rng(2)
    where = rng.normal(size=(COUNT, 3))
    where *= (rng.uniform(20.0, 21.0, COUNT) / np.linalg.norm(where, axis=1))[:, None]
    attitude = rng.normal(size=(COUNT, 4))
    attitude /= np.linalg.norm(attitude, axis=1)[:, None]
    given = [(where, vec3), (attitude, quat), *((rng.normal(size=(COUNT, 3)), vec3),) * 2]
    place, points = devices.resolve(device), CUBE.n_points
    out = [wp.zeros((COUNT, points), dtype=scalar, device=device) for _ in range(3)]
    bounds = ground.bounds_to(1.0)
    wp.launch(
        _bounds_kernel(ground.point, ground.Data),
        dim=COUNT,
        inputs=[
            ground.data(place),
            CUBE.kernel_data(place),
            bounds.curvature,
            *(wp.array(values, dtype=kind, device=device) for values, kind in given),
            *out,
        ],
        device=device,
    )
    gap, closing, unsure = (array.numpy() for array in out)
    rounding = 1e-12
    assert gap.min() >= -rounding
    assert closing.min() >= -rounding
    assert (gap - unsure).max() <= rounding  # and no farther than it says
    assert gap.min() < 0.5 * unsure.mean()  # hills come close to using it up


@wp.kernel
def _reach_kernel(contact: CompliantData, curvature: scalar, out: wp.array[scalar]) -> None:
    out[0] = tangent_reach(contact, curvature)


def reach_of(contact: Compliant, curvature: float) -> float:
    data = contact.rows(CUBE)[0]
    law = CompliantData()
    law.stiffness, law.depth = data["stiffness"], data["depth"]
    found = wp.zeros(1, dtype=scalar, device="cpu")
    wp.launch(_reach_kernel, dim=1, inputs=[law, curvature, found], device="cpu")
    return float(found.numpy()[0])


def test_tangent_planes_are_kept_as_far_as_they_hold():
    ground, rng = rough_ground(), np.random.default_rng(3)
    reach = reach_of(Compliant(0.5, depth=1e-3), ground.bounds_to(1.0).curvature)
    where = rng.normal(size=(COUNT, 3))
    where *= (20.0 / np.linalg.norm(where, axis=1))[:, None]
    step = rng.normal(size=(COUNT, 3))
    step *= (reach / np.linalg.norm(step, axis=1))[:, None]
    # phi(x + d) + phi(x - d) - 2 phi(x) is twice the way from the tangent plane, in the mean.
    middle, ahead, back = (ground.query(where + k * step)[0] for k in (0.0, 1.0, -1.0))
    off = 0.5 * np.abs(ahead + back - 2.0 * middle)
    assert off.max() <= 5e-5 * 1e-3
    assert off.max() >= 5e-8 * 1e-3  # it does bend
    assert reach == pytest.approx(np.sqrt(2.0 * 5e-5 * 1e-3 / ground.bounds_to(1.0).curvature))


def test_given_springs_and_kinks_are_always_looked_up():
    assert reach_of(Compliant(stiffness=1e4, damping=1.0), 1.0) == 0.0
    assert reach_of(Compliant(0.5), np.inf) == 0.0
    assert reach_of(Compliant(0.5, depth=2e-3), 0.0) == 2e-3  # also where nothing bends
