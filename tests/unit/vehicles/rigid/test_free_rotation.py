"""Free rotation: kinds of bodies, elliptic functions, degenerate starts, bad input."""

import functools

import mpmath as mp
import numpy as np
import pytest
import warp as wp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from alight.core import devices, frames
from alight.core.errors import InputError
from alight.core.types import scalar, vec3
from alight.vehicles.rigid import elliptic
from alight.vehicles.rigid.free_rotation import (
    AXISYMMETRIC,
    EQUAL,
    SPHERE,
    TRIAXIAL,
    free_body,
    turn,
)

DEVICES = [device.name for device in devices.available()]
EPS = np.finfo(float).eps
NONE = np.array([0.0, 0.0, 0.0, 1.0])
TILT = Rotation.from_rotvec([0.4, -1.1, 0.7]).as_matrix()


def tilted(moments, R=TILT):
    tensor = R @ np.diag(moments) @ R.T
    return 0.5 * (tensor + tensor.T)


# -- the body ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("moments", "kind"),
    [
        ([2.0, 2.0, 2.0], SPHERE),
        ([2.0, 2.0, 3.0], AXISYMMETRIC),
        ([3.0, 1.0, 3.0], AXISYMMETRIC),
        ([1.0, 2.0, 2.5], TRIAXIAL),
        ([2.5, 2.0, 1.0], TRIAXIAL),
        ([1.0, 1.0 + 10.0 * EQUAL, 1.5], TRIAXIAL),
    ],
)
@pytest.mark.parametrize("R", [np.eye(3), TILT])
def test_kind_axes_and_moments_of_a_body(moments, kind, R):
    tensor = tilted(moments, R)
    body = free_body(tensor)
    assert body.kind == kind
    R_BP = frames.quat_to_matrix(np.array(body.q_BP))
    back = R_BP @ np.diag(np.array(body.moments)) @ R_BP.T
    assert np.abs(back - tensor).max() < 20 * EPS * max(moments)
    if kind == AXISYMMETRIC:
        assert body.moments[0] == body.moments[1]
        assert np.allclose(np.array(body.axis), R_BP[:, 2], atol=4 * EPS)


def test_three_moments_are_a_tensor():
    w, dt = [0.3, -0.2, 0.5], 7.0
    for one, two in zip(
        turn([1.0, 2.0, 2.5], NONE, w, dt), turn(np.diag([1.0, 2.0, 2.5]), NONE, w, dt), strict=True
    ):
        assert np.array_equal(one, two)


# -- elliptic functions ------------------------------------------------------------------------


@functools.cache
def _elliptic_kernel():
    @wp.kernel(module="unique", enable_backward=False)
    def elliptic_kernel(
        offset: int,
        modulus: wp.array[vec3],
        start: wp.array[vec3],
        out: wp.array2d[scalar],
    ) -> None:
        i = wp.tid() + offset
        m = modulus[i]
        s = start[i]
        lift = m[0] * m[0] * wp.exp(scalar(2.0) * m[2]) / scalar(16.0)
        decay = wp.exp(-scalar(2.0) * m[2])
        down = elliptic.descend(m[0], m[1], s[0], s[1], lift, decay)
        x = elliptic.phase_at(s[2] * down.mean)
        f = elliptic.sn_cn(down, x.cos, x.sin)
        theta = elliptic.thetas(down.nome, down.lift, elliptic.phase_at(scalar(1.0)), x)
        out[i, 0] = down.mean
        out[i, 1] = down.phase
        out[i, 2] = down.nome
        out[i, 3] = f[0]
        out[i, 4] = f[1]
        out[i, 5] = wp.atan2(theta.second[1], theta.second[0])
        out[i, 6] = theta.slope

    return elliptic_kernel


def _reference(k, kc, amplitude, u, X):
    """The same seven numbers from mpmath's own definitions, in 40 digits."""
    with mp.workdps(40):
        kc = mp.mpf(float(kc))
        m = 1 - kc * kc if kc < 0.7 else mp.mpf(float(k)) ** 2
        K, Kc = mp.ellipk(m), mp.ellipk(1 - m)
        nome = mp.exp(-mp.pi * Kc / K)
        d = mp.ellipf(mp.atan(mp.sinh(X)), 1 - m)
        y, x = mp.pi * d / (2 * K), mp.pi * u / (2 * K)

        def theta(z):
            return mp.jtheta(4, z, nome)

        half = mp.pi / 2 + 1j * y
        slope = -mp.im(mp.jtheta(4, half, nome, 1) / theta(half))
        values = [mp.pi / (2 * K), mp.pi * mp.ellipf(amplitude, m) / (2 * K), nome]
        values += [mp.ellipfun("sn", u, m=m), mp.ellipfun("cn", u, m=m)]
        return [float(mp.re(v)) for v in [*values, mp.arg(theta(x + 1j * y)), slope]]


@pytest.mark.parametrize("device", DEVICES)
def test_elliptic_functions_against_mpmath(device):
    rng = np.random.default_rng(3)
    rows = []
    for kc in [1e-12, 1e-6, 1e-3, 0.05, 0.3, 0.6, 0.9, np.sqrt(1 - 1e-6), np.sqrt(1 - 1e-12)]:
        k = float(mp.sqrt((1 - mp.mpf(kc)) * (1 + mp.mpf(kc))))
        # exp(i d) with d up to K'/2: sinh X = 1/sqrt(k) there.
        X = np.arcsinh(rng.uniform(0.1, 1.0) / np.sqrt(k))
        rows.append((k, kc, rng.uniform(0.0, np.pi / 2), rng.uniform(-9.0, 9.0), X))
    k, kc, amplitude, u, X = np.array(rows).T
    modulus = wp.array(np.stack([k, kc, X], -1), dtype=vec3, device=device)
    start = np.stack([np.cos(amplitude), np.sin(amplitude), u], -1)
    out = wp.zeros((len(k), 7), dtype=scalar, device=device)
    inputs = [modulus, wp.array(start, dtype=vec3, device=device), out]
    devices.launch(_elliptic_kernel(), len(k), inputs, devices.resolve(device))
    expected = np.array([_reference(*row) for row in rows])
    # Rounding of u, up to 9, moves sn and cn by as much; k of 1e-6 is itself good to 1e-10 in k'.
    assert np.abs(out.numpy() - expected).max() < 40 * EPS * 9.0


# -- degenerate starts -------------------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("moments", [[1.0, 2.0, 2.5], [2.5, 1.0, 2.0], [2.0, 2.0, 3.0], [1, 1, 1]])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_rotation_about_a_principal_axis_stays(moments, axis, device):
    w = np.zeros(3)
    w[axis] = -0.7
    dt = 300.0
    q, w1 = turn(moments, NONE, w, dt, device)
    assert np.abs(w1 - w).max() <= 2 * EPS
    expected = frames.quat_from_axis_angle(w, 0.7 * dt)
    assert min(np.abs(q - expected).max(), np.abs(q + expected).max()) < EPS * 0.7 * dt


@pytest.mark.parametrize("device", DEVICES)
def test_on_the_unstable_axis_of_a_tilted_body_rounding_starts_no_tumble(device):
    w = 0.7 * TILT[:, 1]
    _, w1 = turn(tilted([1.0, 2.0, 2.5]), NONE, w, 300.0, device)
    assert np.abs(w1 - w).max() <= 4 * EPS


@pytest.mark.parametrize("device", DEVICES)
def test_a_body_at_rest_stays_at_rest(device):
    q0 = Rotation.from_rotvec([0.3, 0.2, -0.5]).as_quat()
    for moments in ([1.0, 2.0, 2.5], [2.0, 2.0, 3.0], [1.0, 1.0, 1.0]):
        q, w = turn(moments, q0, np.zeros(3), 1e6, device)
        assert np.abs(q - q0).max() <= 2 * EPS
        assert (w == 0.0).all()


_moment = st.sampled_from([1.0, 1.0 + 4e-16, 1.0 + 3e-14, 1.0 + 1e-9, 1.0 + 1e-4, 1.3, 1.9, 2.0])
_size = st.sampled_from([0.0, 1e-300, 1e-160, 1e-30, 1e-16, 2e-15, 1e-12, 1e-8, 1e-3, 0.3, 1.0])
_rate = st.builds(lambda size, sign: size * sign, _size, st.sampled_from([-1.0, 1.0]))
_time = st.sampled_from([0.0, 1e-9, 1.0, -3.0, 50.0, -1e4, 1e6])
_start = (st.tuples(_moment, _moment, _moment), st.tuples(_rate, _rate, _rate))


@settings(max_examples=300, deadline=None)
@given(*_start, _time, st.booleans())
def test_no_start_breaks_it(moments, w, dt, tilt):
    R = TILT if tilt else np.eye(3)
    tensor, w0 = tilted(moments, R), R @ np.array(w)
    q, w1 = turn(tensor, NONE, w0, dt, "cpu")
    assert np.isfinite(q).all()
    assert np.isfinite(w1).all()
    assert abs(np.linalg.norm(q) - 1.0) <= 4 * EPS
    before, after = tensor @ w0, frames.quat_rotate(q, tensor @ w1)
    # Moments taken as equal differ by up to EQUAL.
    allowed = EQUAL + 40 * EPS
    assert np.abs(after - before).max() <= allowed * np.abs(before).max() + 1e-150
    assert w1 @ tensor @ w1 == pytest.approx(w0 @ tensor @ w0, rel=2 * allowed, abs=1e-300)


@settings(max_examples=300, deadline=None)
@given(*_start, st.sampled_from([0.0, 1.0, -3.0, 50.0]), st.booleans())
def test_every_start_obeys_the_equations(moments, w, dt, tilt):
    """Over a short step s, q turns by s times the rate at its middle and w by s I^-1 (I w x w).

    Either is good to s^3 |w|^3 and to rounding of phases of up to 100 rad.
    """
    R, step = TILT if tilt else np.eye(3), 1e-4
    tensor, w0 = tilted(moments, R), R @ np.array(w)
    q, w1 = turn(tensor, NONE, w0, dt + step * np.array([-0.5, 0.0, 0.5]), "cpu")
    allowed = 10 * step**3 + 400 * EPS
    turned = Rotation.from_quat(q[0]).inv() * Rotation.from_quat(q[2])
    assert np.abs(turned.as_rotvec() - step * w1[1]).max() < allowed
    torque = np.cross(tensor @ w1[1], w1[1])
    assert np.abs(w1[2] - w1[0] - step * np.linalg.solve(tensor, torque)).max() < allowed


# -- the host function -------------------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
def test_states_and_times_are_broadcast(device):
    rng = np.random.default_rng(0)
    w, dt = rng.normal(size=(5, 1, 3)), np.linspace(-3.0, 4.0, 7)
    q, w1 = turn([1.0, 2.0, 2.5], NONE, w, dt, device)
    assert q.shape == (5, 7, 4)
    assert w1.shape == (5, 7, 3)
    one = turn([1.0, 2.0, 2.5], NONE, w[3, 0], dt[2], device)
    assert np.array_equal(q[3, 2], one[0])
    assert np.array_equal(w1[3, 2], one[1])
    assert turn([1.0, 2.0, 2.5], NONE, w, np.empty(0), device)[0].shape == (5, 0, 4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"inertia": [1.0, 2.0, 4.0]}, "largest exceeds"),
        ({"inertia": [0.0, 1.0, 1.0]}, "must be positive"),
        ({"q": [1.0, 0.0, 0.0]}, r"expected \(..., 4\)"),
        ({"q": [0.0, 0.0, 0.0, 2.0]}, "not of unit length"),
        ({"w": [1.0, np.nan, 0.0]}, "w must be finite"),
        ({"w": "fast"}, "w must be numbers"),
        ({"w": np.ones((2, 3)), "dt": np.ones(3)}, "leading ones match"),
        ({"dt": np.inf}, "dt must be finite"),
    ],
)
def test_bad_input_is_refused(change, message):
    given = {"inertia": [1.0, 2.0, 2.5], "q": NONE, "w": [0.1, 0.2, 0.3], "dt": 1.0}
    with pytest.raises(InputError, match=message):
        turn(**{**given, **change})
