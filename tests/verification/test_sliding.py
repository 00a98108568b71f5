"""Paper 001's motion, against closed forms and an independent integration in coordinates.

    touch       t = sqrt(2 h/g); after a bounce v_n+ = -e_n v_n, v_t+ = e_t v_t
    bouncing    sqrt(2 h/g) (1 + e)/(1 - e) in all, but for the hops that are not followed
    incline     a = g (sin theta - mu cos theta); stop after v^2/(2 g (mu cos theta - sin theta));
                at rest if tan theta <= mu_s
    lift-off    from rest on a frictionless sphere, cos theta = 2/3 cos theta_0;
                sqrt(g R), and on a spinning sphere sqrt(GM/R) - Omega R east, + Omega R west
    energy      E_J falls by mu N v in sliding, and by nothing else

The reference is paper 001's own equation of motion, 19 with errata 001-8, 001-9 and 001-11:
latitude and longitude, tangents and their derivatives, no level set. It fails at the poles; the
engine does not.
"""

import dataclasses

import numpy as np
import pytest
import warp as wp
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from alight import contact, engine, flight, gravity, motions, surfaces, vehicles
from alight.core import devices
from alight.core.outcomes import Outcome
from alight.core.types import mat33, scalar, vec3
from alight.shapes.radius_series.series import PolynomialSeries
from alight.surfaces.law import Bounds, Surface, SurfaceBend, SurfacePoint

DEVICES = [device.name for device in devices.available()]
POINT = vehicles.RigidLander.point(2.0)
FINE = motions.Steps(tolerance=1e-12)
G = 1e-3
#: Ryugu as a sphere: GM [m^3/s^2], radius [m], rate [rad/s].
GM, R, OMEGA = 30.0, 448.0, 2.0 * np.pi / (7.63262 * 3600.0)


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


# -- an ellipsoid, any way round ------------------------------------------------------------------


@wp.struct
class EllipsoidData:
    """c (sqrt(x.A x) - 1), c the least semi-axis [m]: no steeper than 1."""

    form: mat33
    least: scalar


@wp.func
def ellipsoid_bend(data: EllipsoidData, x: vec3):
    ax = data.form * x
    q = wp.sqrt(wp.dot(x, ax))
    found = SurfaceBend()
    found.distance = data.least * (q - scalar(1.0))
    found.gradient = (data.least / q) * ax
    found.hessian = (data.least / q) * (data.form - wp.outer(ax, ax) / (q * q))
    return found


@wp.func
def ellipsoid_point(data: EllipsoidData, x: vec3):
    at = ellipsoid_bend(data, x)
    found = SurfacePoint()
    found.distance = at.distance
    found.gradient = at.gradient
    found.normal = wp.normalize(at.gradient)
    return found


class Ellipsoid(Surface):
    Data = EllipsoidData
    point = ellipsoid_point
    bend = ellipsoid_bend

    def __init__(self, axes, turn=None):
        turn = np.eye(3) if turn is None else turn
        self.axes = np.asarray(axes)
        self.form = turn @ np.diag(self.axes**-2.0) @ turn.T

    def bounds_to(self, depth):
        least = self.axes.min()
        return Bounds(slope=1.0, curvature=1.0 / (least - depth))

    def data(self, device):
        data = EllipsoidData()
        data.form, data.least = mat33(*self.form.ravel()), float(self.axes.min())
        return data


# -- the reference --------------------------------------------------------------------------------


def directions(q):
    """The unit vector at (latitude, longitude), its first and its second derivatives: (6, 3)."""
    (c, s), (cp, sp) = (np.cos(q[0]), np.sin(q[0])), (np.cos(q[1]), np.sin(q[1]))
    n, across = np.array([c * cp, c * sp, s]), np.array([-c * cp, -c * sp, 0.0])
    first = [(-s * cp, -s * sp, c), (-c * sp, c * cp, 0.0)]
    return np.array([n, *first, -n, (s * sp, -s * cp, 0.0), across])


class Chart:
    """Sliding on an ellipsoid about the origin in (latitude, longitude) of its own parameters."""

    def __init__(self, axes, gm, omega, mu):
        self.axes, self.gm, self.omega, self.mu = np.asarray(axes), gm, np.asarray(omega), mu

    def place(self, q):
        """S, S_theta, S_phi, S_theta,theta, S_theta,phi, S_phi,phi."""
        return self.axes * directions(q)

    def state(self, y):
        S, St, Sp, *_ = self.place(y[:2])
        return S, St * y[2] + Sp * y[3]

    def pull(self, x, v):
        w = self.omega
        g = -self.gm * x / np.linalg.norm(x) ** 3
        return g - np.cross(w, np.cross(w, x)) - 2.0 * np.cross(w, v)

    def solved(self, y):
        """theta'', phi'' and N."""
        S, St, Sp, Stt, Stp, Spp = self.place(y[:2])
        v = St * y[2] + Sp * y[3]
        n = np.cross(Sp, St)  # outward: erratum 001-9
        n /= np.linalg.norm(n)
        right = self.pull(S, v) - Stt * y[2] ** 2 - 2 * Stp * y[2] * y[3] - Spp * y[3] ** 2
        left = np.column_stack([St, Sp, -(n - self.mu * v / np.linalg.norm(v))])
        return np.linalg.solve(left, right), v

    def rhs(self, t, y):
        (tt, pp, N), v = self.solved(y)
        return [y[2], y[3], tt, pp, self.mu * N * np.linalg.norm(v)]

    def start(self, theta, phi, east, north):
        _, St, Sp, *_ = self.place((theta, phi))
        rates = [north / np.linalg.norm(St), east / np.linalg.norm(Sp)]
        return np.array([theta, phi, *rates, 0.0])

    def run(self, y, time=None, slow=None):
        """To ``time``, or until the speed has come down to ``slow``; the state and the time."""

        def stop(t, y):
            return np.linalg.norm(self.state(y)[1]) - slow

        events = None
        if slow is not None:
            stop.terminal, stop.direction, events = True, -1, stop
        found = solve_ivp(
            self.rhs, (0.0, time or 1e6), y, "DOP853", rtol=1e-12, atol=1e-14, events=events
        )
        return found.t[-1], found.y[:, -1]


class SeriesChart(Chart):
    """The same on S = r(n) n, with r a polynomial in n (paper 001, equations 3 and 4)."""

    def __init__(self, series, gm, omega, mu):
        super().__init__(np.ones(3), gm, omega, mu)
        self.terms = list(zip(series.coefficients, series.exponents.tolist(), strict=True))

    def polynomial(self, n):
        """Value, gradient and second derivatives in space."""
        value, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
        for coefficient, powers in self.terms:
            value += coefficient * np.prod(n**powers)
            for i in range(3):
                down = [p - (i == k) for k, p in enumerate(powers)]
                if powers[i]:
                    first[i] += coefficient * powers[i] * np.prod(n**down)
                for j in range(3):
                    lower = [p - (j == k) for k, p in enumerate(down)]
                    if powers[i] and down[j]:
                        second[i, j] += coefficient * powers[i] * down[j] * np.prod(n**lower)
        return value, first, second

    def place(self, q):
        n, t, p, tt, tp, pp = directions(q)
        r, dr, d2r = self.polynomial(n)
        rt, rp = dr @ t, dr @ p
        rtt, rtp, rpp = t @ d2r @ t + dr @ tt, t @ d2r @ p + dr @ tp, p @ d2r @ p + dr @ pp
        second = [
            rtt * n + 2 * rt * t + r * tt,
            rtp * n + rt * p + rp * t + r * tp,
            rpp * n + 2 * rp * p + r * pp,
        ]
        return np.array([r * n, rt * n + r * t, rp * n + r * p, *second])


def bumpy_series():
    """Degree 4: a sphere of 400 m, half as high again at one end, with dents."""
    terms = {
        (4, 0, 0): 600.0, (0, 4, 0): 420.0, (0, 0, 4): 400.0, (2, 2, 0): 800.0, (2, 0, 2): 900.0,
        (0, 2, 2): 700.0, (1, 2, 1): 90.0, (3, 1, 0): -60.0, (1, 1, 1): 80.0, (0, 1, 2): -70.0,
    }  # fmt: skip
    series = PolynomialSeries(np.zeros(25))
    return PolynomialSeries([terms.get(tuple(e), 0.0) for e in series.exponents.tolist()])


BODIES = {
    "sphere": ((R, R, R), (0.0, 0.0, 0.0)),
    "spinning sphere": ((R, R, R), (0.0, 0.0, OMEGA)),
    "tilted spin": ((R, R, R), (1e-4, -5e-5, 2e-4)),
    "ellipsoid": ((500.0, 430.0, 380.0), (0.0, 0.0, OMEGA)),
}


def body_model(axes, omega, mu, e=0.0, turn=None, steps=FINE, **stop):
    turn = np.eye(3) if turn is None else turn
    round_ = len(set(axes)) == 1
    ground = surfaces.Sphere(radius=axes[0]) if round_ else Ellipsoid(axes, turn)
    return motions.Model(
        gravity.PointMass(GM),
        ground,
        POINT,
        contact.Sliding(e, mu),
        rotation=flight.UniformRotation(omega=turn @ np.asarray(omega)),
        stop=engine.Stop(**stop),
        steps=steps,
    )


def check_slide(chart, model, device):
    """Half way to the stop, to 1e-8, and at the stop; the energy lost is the work of friction."""
    first = chart.start(0.4, -0.7, 0.06, 0.05)
    x, v = chart.state(first)
    release = motions.Release(x, v)
    when, last = chart.run(first, slow=1e-7)
    end, moving = chart.state(last)
    part = dataclasses.replace(model, stop=engine.Stop(max_time=0.5 * when))
    half = engine.run_batch(part, release, device=device)
    assert half.outcome.tolist() == [Outcome.TIMED_OUT]
    _, middle = chart.run(first, time=0.5 * when)
    x_half, v_half = chart.state(middle)
    gone = np.linalg.norm(x_half - x)
    assert half.position[0] == pytest.approx(x_half, abs=1e-8 * gone)
    assert half.final["v"][0] == pytest.approx(v_half, abs=1e-8 * np.linalg.norm(v))
    whole = engine.run_batch(model, release, device=device)
    assert whole.outcome.tolist() == [Outcome.SETTLED]
    # The reference still moves at 1e-7 m/s: some milliseconds, and less than a nanometre.
    slowing = np.linalg.norm(v) / when
    assert whole.position[0] == pytest.approx(end, abs=1e-8 * gone + 1e-14 / slowing)
    assert when < whole.time[0] < when + 5e-7 / slowing
    assert (whole.final["v"] == 0.0).all()
    touch = whole.touches[0]
    lost = POINT.mass * (last[4] + 0.5 * moving @ moving)
    assert touch["energy_in"] - touch["energy_out"] == pytest.approx(lost, rel=1e-8)
    assert len(whole.touches) == 1
    assert touch["start"] == 0.0
    assert touch["end"] == whole.time[0]


@pytest.mark.parametrize("name", BODIES)
def test_sliding_against_the_equations_of_the_paper(name, device):
    axes, omega = BODIES[name]
    check_slide(Chart(axes, GM, omega, 0.5), body_model(axes, omega, 0.5), device)


@pytest.mark.validate
def test_sliding_on_a_parametric_surface(device):
    """Monomials in the reference, harmonics and their level set in the engine."""
    series, omega = bumpy_series(), (0.0, 0.0, OMEGA)
    ground = surfaces.Parametric(series)
    model = dataclasses.replace(body_model((R, R, R), omega, 0.5), surface=ground)
    check_slide(SeriesChart(series, GM, omega, 0.5), model, device)


@pytest.mark.parametrize("mu", [0.0, 0.3])
def test_crossing_a_pole_changes_nothing(mu, device):
    """Over the pole of an ellipsoid, with the axes as they are and turned."""
    axes, omega = (500.0, 430.0, 380.0), np.array([0.0, 0.0, OMEGA])
    turn = Rotation.from_rotvec([0.3, 1.1, -0.4]).as_matrix()
    x = np.array([0.0, -1.0, 380.0])
    x *= 1.0 / np.sqrt((x**2 / np.asarray(axes) ** 2).sum())
    n = x / np.asarray(axes) ** 2
    v = np.array([0.0, 0.05, 0.0])
    v -= n * (n @ v) / (n @ n)
    found = []
    for R_ in (np.eye(3), turn):
        model = body_model(axes, omega, mu, turn=R_, max_time=200.0)
        result = engine.run_batch(model, motions.Release(R_ @ x, R_ @ v), device=device)
        found.append(R_.T @ result.position[0])
    assert found[0][1] > 1.0  # well beyond it
    assert found[1] == pytest.approx(found[0], abs=1e-10 * 10.0)


# -- inclines -------------------------------------------------------------------------------------


def incline(theta, law, g=G, **options):
    """Gravity on a slope that falls towards +x, seen from axes along the slope."""
    pull = gravity.Uniform((g * np.sin(theta), 0.0, -g * np.cos(theta)))
    return motions.Model(pull, surfaces.Plane(), POINT, law, **options)


@pytest.mark.parametrize("speed", [1e-4, 0.05, 1.0])
def test_stops_where_it_should(speed, device):
    """Down, up and across the slope; across it ends straight down, by the closed form."""
    theta, mu = 0.3, 0.6
    model = incline(theta, contact.Sliding(0.5, mu), steps=FINE)
    down, up, across = np.eye(3)[[0, 0, 1]] * [[1], [-1], [1]]
    release = motions.Release([7.0, 3.0, 0.0], speed * np.array([down, up, across]))
    found = engine.run_batch(model, release, device=device)
    assert (found.outcome == Outcome.SETTLED).all()
    s, c = np.sin(theta), np.cos(theta)
    way = found.position - [7.0, 3.0, 0.0]
    far = speed**2 / G
    assert way[0] == pytest.approx([far / (2 * (mu * c - s)), 0, 0], abs=1e-10 * far)
    assert way[1] == pytest.approx([-far / (2 * (mu * c + s)), 0, 0], abs=1e-10 * far)
    slow = (mu * c) ** 2 - s**2
    bent = [far * s / (4 * slow), far * 2 * mu * c / (4 * (mu * c) ** 2 - s**2), 0.0]
    assert way[2] == pytest.approx(bent, abs=1e-9 * far)
    times = speed / G * np.array([1 / (mu * c - s), 1 / (mu * c + s), mu * c / slow])
    assert found.time == pytest.approx(times, rel=1e-9)


def test_slides_from_rest_or_stays(device):
    """tan theta below mu_s: exact rest at once. Above: a = g (sin theta - mu cos theta)."""
    theta = 0.5
    static = np.tan(theta) * np.array([1.0 + 1e-12, 1.0 - 1e-12])
    law = contact.Sliding(0.0, 0.3, static_friction=static)
    model = incline(theta, law, stop=engine.Stop(max_time=400.0), steps=FINE)
    found = engine.run_batch(model, motions.Release([[5.0, 0, 0]] * 2), device=device)
    assert found.outcome.tolist() == [Outcome.SETTLED, Outcome.TIMED_OUT]
    assert found.position[0].tolist() == [5.0, 0.0, 0.0]
    assert found.time[0] == 0.0
    a = G * (np.sin(theta) - 0.3 * np.cos(theta))
    assert found.position[1] == pytest.approx([5.0 + 0.5 * a * 400.0**2, 0, 0], rel=1e-11)
    assert found.final["v"][1] == pytest.approx([a * 400.0, 0, 0], rel=1e-11)


@pytest.mark.parametrize("more", [1e-2, 1e-4, 1e-6])
def test_creeps_where_friction_all_but_holds(more, device):
    """Down a slope askew to the axes, pulled by a little more than friction: a = G - F.

    Friction turns so slow a point downhill in s/F, a short time that steps do not resolve.
    """
    mu, t = 0.3, 100.0
    down = np.array([0.6, -0.8, 0.0])
    pull = G * (mu * (1.0 + more) * down - [0.0, 0.0, 1.0])
    model = motions.Model(
        gravity.Uniform(pull), surfaces.Plane(), POINT, contact.Sliding(0.0, mu),
        stop=engine.Stop(max_time=t, max_steps=2000),
    )  # fmt: skip
    found = engine.run_batch(model, motions.Release([50.0, 20.0, 0.0]), device=device)
    assert found.outcome.tolist() == [Outcome.TIMED_OUT]
    way = found.position[0] - [50.0, 20.0, 0.0]
    far = 0.5 * G * mu * more * t**2
    # Places are rounded to 1e-14 m a step, and what is left of the forces to 1e-16 of them.
    assert way == pytest.approx(far * down, abs=far * (1e-8 + 1e-15 / more) + 2e-12)


@pytest.mark.parametrize("static", [0.3, 0.9])
def test_up_a_slope_too_steep_to_stop_on(static, device):
    """Up by v^2/(2 g (sin + mu cos)), a stop, and down again where static friction is too weak."""
    theta, mu, v = 0.5, 0.3, 0.2
    up, down = (G * (np.sin(theta) + k * mu * np.cos(theta)) for k in (1, -1))
    top = v / up
    law = contact.Sliding(0.0, mu, static_friction=static)
    model = incline(theta, law, stop=engine.Stop(max_time=top + 100.0), steps=FINE)
    found = engine.run_batch(model, motions.Release([5.0, 0, 0], [-v, 0, 0]), device=device)
    highest = 5.0 - 0.5 * v * top
    if static > np.tan(theta):
        assert found.outcome.tolist() == [Outcome.SETTLED]
        assert found.time[0] == pytest.approx(top, rel=1e-10)
        assert found.position[0] == pytest.approx([highest, 0, 0], rel=1e-10)
    else:
        assert found.outcome.tolist() == [Outcome.TIMED_OUT]
        assert found.position[0] == pytest.approx([highest + 0.5 * down * 1e4, 0, 0], rel=1e-9)


# -- bouncing -------------------------------------------------------------------------------------


def test_touch_and_bounce(device):
    """The first touch to 1e-10 of the arc, and both restitutions, on level ground."""
    e, et, h = 0.7, 0.4, 2.0
    model = incline(0.0, contact.Sliding(e, 0.6, tangential_restitution=et), steps=FINE)
    release = motions.Release([3.0, 1.0, h], [0.01, -0.02, 0.0])
    touch = engine.run_batch(model, release, device=device).touches[0]
    assert touch["start"] == pytest.approx(np.sqrt(2 * h / G), rel=1e-10)
    assert touch["normal_speed_in"] == pytest.approx(-np.sqrt(2 * h * G), rel=1e-10)
    assert touch["normal_speed_out"] == pytest.approx(e * np.sqrt(2 * h * G), rel=1e-10)
    assert touch["tangential_speed_out"] == pytest.approx(et * np.hypot(0.01, 0.02), rel=1e-10)
    assert touch["end"] == touch["start"]
    given = [(et - 1) * 0.01, (1 - et) * 0.02, (1 + e) * np.sqrt(2 * h * G)]
    assert touch["impulse"] == pytest.approx(POINT.mass * np.array(given), rel=1e-10)


def test_elastic_bounces_reverse_the_normal_velocity_alone(device):
    """Erratum 001-17: with both restitutions 1 the energy and the tangential velocity stay."""
    model = incline(0.3, contact.Sliding(1.0, 0.6), steps=FINE, stop=engine.Stop(max_time=5_000.0))
    found = engine.run_batch(model, motions.Release([3.0, 1.0, 1.0]), device=device)
    assert len(found.touches) > 10
    assert np.ptp(found.touches["energy_out"]) < 1e-10 * POINT.mass * G
    in_, out = found.touches["tangential_speed_in"], found.touches["tangential_speed_out"]
    assert out == pytest.approx(in_, rel=1e-12)


@pytest.mark.parametrize("e", [0.3, 0.8])
def test_bouncing_to_rest(e, device):
    h, hop = 0.5, 1e-6
    model = incline(0.0, contact.Sliding(e, 0.6, hop=hop), steps=FINE)
    found = engine.run_batch(model, motions.Release([3.0, 1.0, h]), device=device)
    touches, fall = found.touches, np.sqrt(2 * h / G)
    n = np.arange(len(touches))
    assert touches["start"] == pytest.approx(fall * (1 + 2 * e * (1 - e**n) / (1 - e)), rel=1e-9)
    # A hop lower than this is not followed: the last bounce that is, rises higher.
    assert len(touches) == 1 + int(np.log(hop / h) / (2.0 * np.log(e)))
    left = 2.0 * np.sqrt(2 * hop / G) / (1 - e)
    assert fall * (1 + e) / (1 - e) - left < found.time[0] <= fall * (1 + e) / (1 - e)
    assert found.outcome.tolist() == [Outcome.SETTLED]
    assert touches["end"][-1] == touches["start"][-1]


# -- lift-off -------------------------------------------------------------------------------------


def test_leaves_a_frictionless_sphere_at_two_thirds(device):
    """From rest near the top under uniform gravity: v^2 = 2 g R (cos theta_0 - cos theta)."""
    start, r = np.array([0.01, 0.2, 0.5]), 50.0
    x = r * np.column_stack([np.sin(start), 0 * start, np.cos(start)])
    model = motions.Model(
        gravity.Uniform((0.0, 0.0, -G)), surfaces.Sphere(radius=r), POINT,
        contact.Sliding(0.0, 0.0), stop=engine.Stop(max_time=3000.0), steps=FINE,
    )  # fmt: skip
    lifted = engine.run_batch(model, motions.Release(x), device=device)
    ends = lifted.touches["end"]
    assert len(ends) == 3
    for k in range(3):
        part = motions.Model(
            model.gravity, model.surface, POINT, model.contact,
            stop=engine.Stop(max_time=float(ends[k])), steps=FINE,
        )  # fmt: skip
        there = engine.run_batch(part, motions.Release(x[k]), device=device)
        assert there.outcome.tolist() == [Outcome.TIMED_OUT]
        assert there.position[0][2] / r == pytest.approx(2 / 3 * np.cos(start[k]), rel=1e-10)
        speed = np.sqrt(2 / 3 * G * r * np.cos(start[k]))
        assert np.linalg.norm(there.final["v"][0]) == pytest.approx(speed, rel=1e-10)


@pytest.mark.parametrize(("omega", "way"), [(0.0, 1.0), (OMEGA, 1.0), (OMEGA, -1.0)])
def test_lift_off_speed(omega, way, device):
    """B1-5: a millionth faster it leaves, a millionth slower it slides on."""
    limit = np.sqrt(GM / R) - way * omega * R
    if omega:
        assert limit == pytest.approx(0.156 if way > 0 else 0.361, abs=6e-4)
    speeds = limit * (1.0 + 1e-6 * np.array([-1.0, 1.0]))
    model = body_model((R, R, R), (0, 0, omega), 0.0, max_time=1000.0)
    release = motions.Release([R, 0, 0], speeds[:, None] * [0.0, way, 0.0])
    found = engine.run_batch(model, release, device=device)
    assert (found.outcome == Outcome.TIMED_OUT).all()
    ends = {int(t["run"]): t["end"] for t in found.touches}
    assert ends[0] == 1000.0
    assert ends[1] == 0.0


def test_lands_again_after_lifting_off(device):
    """Thrown along the sharp end of an ellipsoid faster than it holds: off, and down again."""
    axes = (500.0, 430.0, 380.0)
    limit = np.sqrt(GM / 500.0**2 * 430.0**2 / 500.0)
    model = body_model(axes, (0, 0, 0), 0.4, e=0.5, steps=motions.Steps())
    release = motions.Release([500.0, 0, 0], limit * np.array([[0, 0.999, 0], [0, 1.03, 0]]))
    found = engine.run_batch(model, release, device=device)
    assert (found.outcome == Outcome.SETTLED).all()
    slid, hopped = (found.touches[found.touches["run"] == run] for run in range(2))
    assert len(slid) == 1
    assert len(hopped) > 2
    assert hopped["end"][0] == 0.0
    lost = hopped["energy_in"] - hopped["energy_out"]
    assert lost.min() > -1e-9 * 0.5 * POINT.mass * limit**2
    assert hopped["end"][-1] == found.time[1]
    distance, _ = model.surface.query(found.position, device="cpu")
    assert np.abs(distance).max() < 1e-12 * 500.0


def test_friction_alone_takes_energy(device):
    """Without friction E_J stays to the tolerance; history has it after every step."""
    axes, omega = BODIES["ellipsoid"]
    chart = Chart(axes, GM, omega, 0.0)
    x, v = chart.state(chart.start(0.4, -0.7, 0.02, 0.05))
    model = body_model(axes, omega, 0.0, max_time=5000.0)
    run = engine.simulate(model, motions.Release(x, v), device=device)
    assert run.in_contact[1:].all()
    energy = run.energy.total
    assert np.ptp(energy) < 1e-9 * 0.5 * POINT.mass * (v @ v)


def test_no_touch_is_missed(device):
    """Thrown all over a body with bumps and dents, fast and slow: nothing is ever inside it.

    Steps at the default tolerance; rounding and the error of a step are the only excuse.
    """
    model = dataclasses.replace(
        body_model((R, R, R), (0, 0, OMEGA), 0.3, e=0.6, steps=motions.Steps()),
        surface=surfaces.Parametric(bumpy_series()),
    )
    rng = np.random.default_rng(5)
    up = rng.normal(size=(12, 3))
    up /= np.linalg.norm(up, axis=1, keepdims=True)
    x = model.surface.at(up) + rng.uniform(0.1, 60.0, (12, 1)) * up
    v = rng.normal(size=(12, 3)) * np.geomspace(1e-3, 0.12, 12)[:, None]
    for k in range(12):
        run = engine.simulate(model, motions.Release(x[k], v[k]), device=device)
        assert run.outcome is Outcome.SETTLED
        distance, _ = model.surface.query(run.position, device="cpu")
        assert distance.min() > -1e-9
        assert np.abs(distance[run.in_contact & (run.normal_force > 0.0)]).max() < 1e-9
        lost = run.events["energy_in"] - run.events["energy_out"]
        assert lost.min() > -1e-9 * POINT.mass * 0.1**2


# -- escape ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("omega", [0.0, OMEGA])
def test_an_arc_that_does_not_come_back_has_escaped(omega, device):
    """Straight up at shares of the inertial escape speed: above it for good, below it not."""
    x = np.array([0.0, 0.0, R])
    escape = np.sqrt(2.0 * GM / R)
    shares = np.array([0.9, 0.99, 1.05, 1.5, 4.0])
    model = body_model((R, R, R), (0, 0, omega), 0.5, e=0.0, steps=motions.Steps(), max_time=1e8)
    release = motions.Release(x, shares[:, None] * [0.0, 0.0, escape])
    found = engine.run_batch(model, release, device=device)
    assert found.outcome.tolist() == [Outcome.SETTLED] * 2 + [Outcome.ESCAPED] * 3
    gone = found.position[2:]
    v = found.final["v"][2:] + np.cross([0, 0, omega], gone)
    far = np.linalg.norm(gone, axis=1)
    assert (0.5 * (v**2).sum(axis=1) > 1.25 * GM / far).all()
    assert ((gone * v).sum(axis=1) > 0.0).all()
    assert (far > 10.0 * R).all()
    # None of the three touched anything on the way out.
    assert found.bounces.tolist()[2:] == [0, 0, 0]


@pytest.mark.validate
def test_linearised_gravity_ends_in_the_same_places(device):
    """Evaluated anew every 40 cm: gravity is off by 3 (d/r)^2 = 3e-6 at most, and so are rests."""
    model = body_model((400.0,) * 3, (0, 0, OMEGA), 0.4, e=0.5, steps=motions.Steps())
    near = dataclasses.replace(model, gravity=gravity.Linearised(gravity.PointMass(GM), 0.4))
    rng = np.random.default_rng(1)
    x = rng.normal(size=(10, 3))
    x *= 430.0 / np.linalg.norm(x, axis=1, keepdims=True)
    release = motions.Release(x, 0.03 * rng.normal(size=(10, 3)))
    full, part = (engine.run_batch(m, release, device=device) for m in (model, near))
    way = np.linalg.norm(full.position - x, axis=1).max()
    assert np.linalg.norm(part.position - full.position, axis=1).max() < 1e-5 * way
    lost = part.touches["energy_in"] - part.touches["energy_out"]
    assert lost.min() > 0.0
    assert part.time == pytest.approx(full.time, rel=1e-5)
