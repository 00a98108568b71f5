"""The same runs on the CPU and on every GPU: the same states for three bounces, then statistics.

Devices round differently (fused operations, their own sines), by some 1e-16 of a state. A bounce
multiplies differences: what a hit does depends on where in its springs' motion a step begins, and
turns with rate w for the time t of an arc. The bodies here are small and the bounces short, so that
the third bounce still agrees to 1e-9; ``test_a_change_in_the_last_place_stays_small`` measures on
the CPU alone that this can be asked for. Later bounces part for good: only distributions agree.
"""

import numpy as np
import pytest
from scipy.stats import ks_2samp

from alight import Mesh, Model, Release, RigidLander, flight, gravity, run_batch, surfaces
from alight.contact import Compliant
from alight.core import devices, frames
from alight.core.outcomes import Outcome
from alight.engine import Stop
from alight.shapes.icosphere import icosphere

GPUS = [device.name for device in devices.available() if device.is_gpu]
RADIUS, PULL, SPEED, TURN = 5.0, 5.7e-3, 0.03, 0.1  # [m, m/s^2, m/s, rad/s]
RUNS, BOUNCES = 64, 3
TOLERANCE = 1e-9

needs_gpu = pytest.mark.skipif(not GPUS, reason="no GPU on this machine to compare the CPU with")
each_gpu = pytest.mark.parametrize("gpu", GPUS or ["none"])


def ball():
    return surfaces.Sphere(radius=RADIUS)


def rough_field():
    """A distance field with hills; made on the CPU once, so that its tables are the same."""
    round_mesh = icosphere(3)
    mesh = Mesh(RADIUS * round_mesh.vertices, round_mesh.faces)
    field = surfaces.DistanceField.from_mesh(mesh, RADIUS / 20.0, device="cpu")
    return surfaces.Rough(field, surfaces.FractalNoise(0.02, wavelength=1.0, octaves=4, seed=1))


GROUNDS = {"sphere": ball, "rough field": rough_field}


@pytest.fixture(
    scope="module", params=["sphere", pytest.param("rough field", marks=pytest.mark.validate)]
)
def model(request):
    return Model(
        gravity.PointMass(PULL * RADIUS**2),
        GROUNDS[request.param](),
        RigidLander.cube(0.2, 1.0),
        Compliant(restitution=0.6, depth=5e-3),
        rotation=flight.UniformRotation(5e-3),
        stop=Stop(max_time=300.0),
    )


def releases(count, seed=5):
    rng = np.random.default_rng(seed)
    up = rng.normal(size=(count, 3))
    up /= np.linalg.norm(up, axis=1, keepdims=True)
    return Release(
        (RADIUS + 0.35) * up,
        0.01 * rng.normal(size=(count, 3)) - 0.02 * up,
        frames.quat_normalize(rng.normal(size=(count, 4))),
        TURN * rng.normal(size=(count, 3)),
    )


def contacts(found, number):
    """Contact ``number`` of every run."""
    first = np.searchsorted(found.touches["run"], np.arange(len(found)))
    assert (found.bounces > number).all()
    return found.touches[first + number]


def differences(one, other, number):
    """(n,) of contact ``number``: the largest of place, time, normal and speeds, each relative."""
    a, b = contacts(one, number), contacts(other, number)
    scales = {
        "place": RADIUS,
        "start": float(np.median(a["start"])),
        "normal": 1.0,
        "normal_speed_in": SPEED,
        "tangential_speed_in": SPEED,
    }
    each = [np.abs(a[n] - b[n]).reshape(len(a), -1).max(axis=1) / s for n, s in scales.items()]
    return np.max(each, axis=0)


def assert_three_bounces_agree(one, other):
    """All runs in the first two, and 95 % in the third: there an edge may just touch, or not."""
    for number in range(BOUNCES):
        found = differences(one, other, number)
        assert np.quantile(found, 0.95) < TOLERANCE, number
        assert found.max() < (TOLERANCE if number < 2 else 1e-6), number


def states(model, release, device, time):
    """(n, 13) position, velocity, attitude and rate at ``time`` [s], by the scale of each."""
    stopped = Model(
        model.gravity, model.surface, model.lander, model.contact, rotation=model.rotation,
        stop=Stop(max_time=time),
    )  # fmt: skip
    final = run_batch(stopped, release, device=device).final
    scales = {"x": RADIUS, "v": SPEED, "q": 1.0, "w": TURN}
    return np.hstack([final[name] / scale for name, scale in scales.items()])


def test_a_change_in_the_last_place_stays_small(model):
    """What rounding alone does by the third bounce, on one device."""
    release = releases(RUNS)
    shifted = Release(
        np.nextafter(release.position, np.inf),
        np.nextafter(release.velocity, np.inf),
        release.attitude,
        np.nextafter(release.rate, np.inf),
    )
    one, other = (run_batch(model, r, device="cpu") for r in (release, shifted))
    assert_three_bounces_agree(one, other)


@needs_gpu
@each_gpu
def test_states_agree_until_the_third_bounce(model, gpu):
    release = releases(RUNS)
    cpu, other = (run_batch(model, release, device=name) for name in ("cpu", gpu))
    assert_three_bounces_agree(cpu, other)
    # And at moments between: before anything touches, and where half have touched once or more.
    first, third = contacts(cpu, 0)["start"], contacts(cpu, 2)["start"]
    for time in (0.5 * first.min(), float(np.median(first))):
        early = third > time
        assert early.sum() > RUNS // 3
        a, b = (states(model, release, name, time)[early] for name in ("cpu", gpu))
        assert np.quantile(np.abs(a - b).max(axis=1), 0.95) < TOLERANCE


def settled(model, release, device):
    """Distance from release [m] and time [s] of the runs that came to rest."""
    found = run_batch(model, release, device=device)
    rest = found.outcome == Outcome.SETTLED
    assert not (found.outcome >= Outcome.STEP_FLOOR).any()
    assert rest.mean() > 0.9
    distance = np.linalg.norm(found.position - release.position, axis=1)
    return distance[rest], found.time[rest], rest.mean()


def assert_same_statistics(model, gpu, count):
    """Different releases on the two devices: independent samples, as the test assumes."""
    cpu = settled(model, releases(count, seed=1), "cpu")
    other = settled(model, releases(count, seed=2), gpu)
    for a, b in zip(cpu[:2], other[:2], strict=True):
        assert ks_2samp(a, b).pvalue > 1e-3
    # Shares of runs that rest: within 4 standard errors of each other.
    share = 0.5 * (cpu[2] + other[2])
    assert (
        abs(cpu[2] - other[2]) <= 4.0 * np.sqrt(2.0 * share * (1.0 - share) / count) + 1.0 / count
    )


@needs_gpu
@each_gpu
def test_rest_statistics_agree(model, gpu):
    assert_same_statistics(model, gpu, 500)


@pytest.mark.validate
@needs_gpu
@each_gpu
def test_rest_statistics_agree_over_ten_thousand_runs(model, gpu):
    assert_same_statistics(model, gpu, 10_000)
