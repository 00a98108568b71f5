"""``contact.impact`` from Python: batches, separating points, and what it refuses."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest

import alight
from alight.contact import ImpactKind, impact
from alight.contact.impulse.impact import inverse_mass
from alight.core import devices
from alight.core.errors import InputError

DEVICES = [device.name for device in devices.available()]

GOOD = {
    "mass": 1.0,
    "inertia": (0.02, 0.05, 0.06),
    "lever": (0.12, 0.09, -0.16),
    "velocity": (0.1, 0.2, -1.0),
    "restitution": 0.5,
    "friction": 0.4,
}


def hit(**changes):
    return impact(**{**GOOD, **changes})


def test_the_front_door_has_it():
    assert alight.contact.impact is impact


def test_inverse_mass_is_that_of_the_paper():
    """Equation 21, entry by entry, for a full inertia."""
    inertia = np.array([[0.03, 0.004, -0.002], [0.004, 0.05, 0.006], [-0.002, 0.006, 0.06]])
    c1, c2, c3 = c = np.array([0.12, 0.09, -0.16])
    J = np.linalg.inv(inertia)
    m = inverse_mass(np.asarray(2.0), inertia, c)
    assert m[0, 0] == pytest.approx(
        0.5 + c3**2 * J[1, 1] + c2**2 * J[2, 2] - 2 * c2 * c3 * J[1, 2], rel=1e-14
    )
    m13 = c2 * c3 * J[0, 1] - c2**2 * J[0, 2] - c1 * c3 * J[1, 1] + c1 * c2 * J[1, 2]
    assert m[0, 2] == pytest.approx(m13, rel=1e-13)
    m12 = c2 * c3 * J[0, 2] - c3**2 * J[0, 1] + c1 * c3 * J[1, 2] - c1 * c2 * J[2, 2]
    assert m[0, 1] == pytest.approx(m12, rel=1e-13)
    assert np.array_equal(m, m.T)


@pytest.mark.parametrize("device", DEVICES)
def test_one_and_many_agree(device):
    speeds = np.array([[0.1, 0.2, -1.0], [-0.4, 0.0, -0.1], [0.0, 0.0, -2.0]])
    friction = np.linspace(0.1, 1.0, 4)[:, None]
    many = hit(velocity=speeds, friction=friction, device=device)
    assert many.impulse.shape == (4, 3, 3)
    assert many.work.shape == many.kind.shape == (4, 3)
    for i in range(4):
        for j in range(3):
            one = hit(velocity=speeds[j], friction=friction[i, 0], device=device)
            assert one.impulse.shape == (3,)
            assert np.array_equal(one.impulse, many.impulse[i, j])
            assert one.kind == many.kind[i, j]


def test_every_argument_is_broadcast():
    n = 5
    tensors = np.tile(np.diag(GOOD["inertia"]), (n, 1, 1))
    one = hit()
    for name, value in {**GOOD, "inertia": tensors}.items():
        many = value if name == "inertia" else np.tile(value, (n, *(1,) * np.ndim(value)))
        assert np.array_equal(hit(**{name: many}).impulse, np.tile(one.impulse, (n, 1))), name


def test_points_that_do_not_approach_are_left_alone():
    v = np.array([[0.3, 0.1, 0.0], [0.3, 0.1, 0.2]])
    left = hit(velocity=v)
    assert np.array_equal(left.velocity, v)
    assert not left.impulse.any()
    assert not left.work.any()
    assert not left.kind.any()


def test_none_at_all():
    assert hit(velocity=np.zeros((0, 3))).impulse.shape == (0, 3)


def test_grazing_without_end_is_finite():
    """However fast the slip is against the approach: friction acts along it, mu times the push."""
    for closing in (1e-12, 1e-90, 1e-200, 5e-324):
        grazing = hit(velocity=(1.0, 0.0, -closing))
        assert np.isfinite(grazing.impulse).all()
        assert grazing.impulse[2] >= 0.0
        assert grazing.velocity[2] >= 0.0
        assert grazing.velocity[0] == pytest.approx(1.0)


def test_kinds_can_be_asked_for():
    stuck = hit(friction=5.0)
    assert stuck.has(ImpactKind.STUCK)
    assert not stuck.has(ImpactKind.STUCK | ImpactKind.RESUMED)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"mass": 0.0}, r"mass \[kg\] is 0.*positive"),
        ({"mass": "heavy"}, "mass .*must be a number"),
        ({"restitution": 1.2}, "restitution is 1.2; it must be from 0 to 1"),
        ({"restitution": [0.5, -0.1]}, r"restitution is -0.1 at index 1 \(1 of 2"),
        ({"friction": -0.1}, "friction is -0.1; it must be 0 or more"),
        ({"velocity": (1.0, 2.0)}, r"velocity .* has the shape \(2,\)"),
        ({"velocity": (np.nan, 0.0, -1.0)}, "velocity .* must be finite"),
        ({"lever": (0.0, np.inf, 0.0)}, "lever .* must be finite"),
        ({"inertia": (0.0, 1.0, 1.0)}, "must be positive definite"),
        ({"inertia": (1.0, 1.0, -1.0)}, "must be positive definite"),
        ({"inertia": (1.0, 1.0, 2.5)}, "exceeds the sum of the other two"),
        ({"inertia": np.eye(3) + 0.1 * np.eye(3, k=1)}, "must be symmetric"),
        ({"inertia": np.ones((4, 3))}, r"shape \(4, 3\).*tensor"),
        ({"mass": [1.0, 2.0], "friction": [0.1, 0.2, 0.3]}, "do not fit.*mass.*friction"),
    ],
)
def test_what_is_refused_and_why(changes, told):
    with pytest.raises(InputError, match=told):
        hit(**changes)


@pytest.mark.validate
def test_the_example_draws_its_figure(tmp_path):
    example = pathlib.Path(__file__).resolve().parents[4] / "examples" / "impact_hodograph.py"
    file = tmp_path / "hodographs.png"
    subprocess.run([sys.executable, str(example), str(file)], check=True, capture_output=True)
    assert file.read_bytes().startswith(b"\x89PNG")
