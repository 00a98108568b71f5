"""Captures and drops with gravity, from scenario files.

- Free fall: uniform gravity moves the pair by g t^2 / 2 and changes nothing between them.
- Orbit: near a circular orbit of rate n, radial x, along y, across z (Clohessy and Wiltshire 1960),

      x = 4 x0 - 3 x0 cos nt + (u0 / n) sin nt + (2 v0 / n) (1 - cos nt)
      y = y0 + 6 x0 (sin nt - nt) - (2 u0 / n) (1 - cos nt) + v0 (4 sin nt / n - 3 t)
      z = z0 cos nt + (w0 / n) sin nt

  to first order in the separation over the radius, 1e-5 here.
- Tide of a Sun at D that stands still: x'' = 2 k x toward it, y'' = -k y across, k = GM / D^3, to
  first order in x / D, 2e-7 here, however the target turns.
- What gravity and pushes give is no energy from nowhere: their work is part of the account.
"""

import tomllib

import numpy as np
import pytest

from alight.core.constants import GM_SUN
from alight.core.errors import InputError
from alight.gravity import Linearised, PointMass
from alight.motions.capture.stepping import PULLED as CAPTURE_PULLED
from alight.motions.membrane.model import MembraneMotion
from alight.motions.membrane.stepping import PULLED
from alight.scenario import ScenarioError, from_dict, loads, prepare, simulate

DROP = """
kind = "drop"
[body]
length = "4 m"
facets = 80
mass = "100 kg"
[membrane]
side = "7.5 m"
stiffness = "30 N/m^3"
[release]
position = ["0 m", "0 m", "12 m"]
[carrier]
mass = "1000 kg"
inertia = ["2e3 kg*m^2", "2e3 kg*m^2", "2e3 kg*m^2"]
[target]
gm = "1e12 m^3/s^2"
[target.rotation]
rate = "3e-3 rad/s"
axis = [0.3, 0.2, 0.9]
[gravity]
law = "point-mass"
[environment.sun]
direction = [1, 0, 0]
distance = "1e6 AU"
[steps]
step = "20 s"
[stop]
duration = "1000 s"
"""
CAPTURE = """
kind = "capture"
[asteroid]
length = "8 m"
facets = 80
mass = "500 t"
spin = "0.5 rpm"
axis = [0.3, 0.2, 0.93]
[stop]
duration = "14 s"
"""


def metres(values, unit="m"):
    return [f"{float(v)!r} {unit}" for v in values]


def test_a_body_and_its_carrier_in_orbit_move_as_clohessy_and_wiltshire_say():
    table, n, r = tomllib.loads(DROP), 1e-3, 1e6
    apart, speed = np.array([8.0, 5.0, 12.0]), np.array([2e-3, -1e-3, 1e-3])
    orbit = np.array([0.0, n * r, 0.0])
    # Relative to inertial axes: the orbit's turn comes in.
    velocity = orbit + speed + np.cross([0.0, 0.0, n], apart)
    table["carrier"] |= {"position": metres([r, 0, 0]), "velocity": metres(orbit, "m/s")}
    table["release"] = {
        "position": metres(apart + np.array([r, 0, 0])),
        "velocity": metres(velocity, "m/s"),
    }
    flight = simulate(from_dict(table))
    t = flight.time
    between = flight.position[0] - flight.craft_position[0]
    s, c = np.sin(n * t), np.cos(n * t)
    (x0, y0, z0), (u0, v0, w0) = apart, speed
    x = 4 * x0 - 3 * x0 * c + u0 / n * s + 2 * v0 / n * (1 - c)
    y = y0 + 6 * x0 * (s - n * t) - 2 * u0 / n * (1 - c) + v0 * (4 * s / n - 3 * t)
    z = z0 * c + w0 / n * s
    turned = np.stack([c * x - s * y, s * x + c * y, z], axis=1)
    np.testing.assert_allclose(between, turned, atol=3e-5 * np.linalg.norm(apart))
    assert not np.allclose(turned[-1], apart + t[-1] * speed, atol=1.0)
    radius = np.linalg.norm(flight.craft_position[0], axis=1)
    np.testing.assert_allclose(radius, r, rtol=1e-9)


def test_the_tide_of_the_sun_stretches_toward_it():
    table, k = tomllib.loads(DROP), 1e-6
    table["target"]["gm"] = "1e-9 m^3/s^2"
    table["environment"]["sun"]["distance"] = f"{(GM_SUN / k) ** (1 / 3)!r} m"
    table["carrier"]["position"] = metres([100.0, 0.0, 0.0])
    table["release"]["position"] = metres([0.0, 50.0, 100.0])
    flight = simulate(from_dict(table))
    t, w = flight.time, np.sqrt(k)
    np.testing.assert_allclose(
        flight.craft_position[0][:, 0], 100.0 * np.cosh(np.sqrt(2.0) * w * t), rtol=1e-5
    )
    body = np.outer(np.cos(w * t), [0.0, 50.0, 100.0])
    np.testing.assert_allclose(flight.position[0], body, atol=1e-3)
    assert not flight.outcome[0].failed


def kinetic(flight, table):
    """Of body and carrier, which do not turn [J]: (r,)."""
    masses = (float(table[name]["mass"].split()[0]) for name in ("body", "carrier"))
    speeds = (flight.velocity[0], flight.craft_velocity[0])
    return sum(0.5 * m * np.sum(v**2, axis=1) for m, v in zip(masses, speeds, strict=True))


def test_the_work_of_gravity_and_tide_is_what_bodies_gain():
    """Falling past a target under a strong tide: half of it by gravity, half by the tide."""
    table, k = tomllib.loads(DROP), 1e-6
    table["environment"]["sun"]["distance"] = f"{(GM_SUN / k) ** (1 / 3)!r} m"
    table["target"]["gm"] = "20 m^3/s^2"
    table["carrier"]["position"] = metres([300.0, 40.0, 0.0])
    table["release"]["position"] = metres([250.0, 50.0, 100.0])
    flight = simulate(from_dict(table))
    energy = kinetic(flight, table)
    assert energy[-1] > 100.0
    np.testing.assert_allclose(flight.states[0, :, PULLED], energy, rtol=1e-6, atol=1e-6)
    assert not flight.outcome[0].failed


@pytest.mark.validate
def test_a_capture_that_falls_is_a_capture():
    """By 10 m in 14 s. Steps and their errors differ: 1e-6 of sizes and speeds at hand, each."""
    table = tomllib.loads(CAPTURE)
    table["steps"] = {"tolerance": 1e-9}
    still = simulate(from_dict(table))
    fall = np.array([0.06, -0.05, 0.08])
    table["gravity"] = {"acceleration": metres(fall, "m/s^2")}
    table["asteroid"] |= {"position": metres([7, 8, 9]), "velocity": metres([1, 0, -2], "m/s")}
    scenario = from_dict(table)
    assert loads(scenario.to_toml()) == scenario
    found = simulate(scenario)
    assert found.outcome == still.outcome
    t = still.time[:, None]
    moved = np.array([7, 8, 9]) + t * np.array([1, 0, -2]) + 0.5 * fall * t * t
    for name in ("position", "q"):
        before, now = (getattr(flight, name)[0][:, :3] for flight in (still, found))
        np.testing.assert_allclose(now - moved, before, atol=1e-5)
    np.testing.assert_allclose(found.attitude[0], still.attitude[0], atol=1e-6)


@pytest.mark.validate
def test_a_capture_that_is_pushed_gains_what_the_push_gives():
    """2.4 m/s in a second, on asteroid and craft alike: no energy that the fabric gave."""
    table = tomllib.loads(CAPTURE)
    table["environment"] = {
        "push": [
            {"kind": "timed", "acceleration": metres([2.0, 1.0, -1.0], "m/s^2")}
            | {"start": "3 s", "end": "4 s"}
        ]
    }
    flight = simulate(from_dict(table))
    assert flight.velocity[0, -1] == pytest.approx([2.0, 1.0, -1.0], rel=0.02)
    assert flight.sums[0, -1, CAPTURE_PULLED] == pytest.approx(0.5 * 515e3 * 6.0, rel=0.02)
    assert not flight.outcome[0].failed


# -- built and refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("text", [CAPTURE, DROP])
@pytest.mark.parametrize(
    ("section", "values", "said"),
    [
        (
            "gravity",
            {"law": "smooth"},
            'gravity.law: found "smooth", which needs a shape: give target.name',
        ),
        ("gravity", {"law": "uniform", "linearise": "1 m"}, "gravity.linearise"),
        ("target", {"name": "Ryugu", "mesh": "a.obj"}, "target: has both name and mesh"),
        ("target", {"rotation": {"kind": "uniform"}}, "target.rotation: needs"),
        (
            "environment",
            {"sun": {"pressure": True, "direction": [1, 0, 0], "distance": "1 AU"}},
            "environment.sun.area_over_mass: is missing; it pushes",
        ),
        ("environment", {"companion": {"kind": "orbit", "gm": "1 m^3/s^2"}}, "companion.distance"),
        ("gravity", {"law": "point-mass", "acceleration": ["1 m/s^2"] * 3}, "gravity.acceleration"),
    ],
)
def test_what_does_not_go_with_a_capture_or_a_drop(text, section, values, said):
    table = tomllib.loads(text)
    table[section] = values
    with pytest.raises(ScenarioError) as caught:
        from_dict(table)
    assert any(said in str(fault) for fault in caught.value.problems), caught.value


def test_a_capture_about_a_target_says_where():
    table = tomllib.loads(CAPTURE)
    table |= {"target": {"gm": "30 m^3/s^2"}, "gravity": {"law": "point-mass"}}
    with pytest.raises(ScenarioError, match=r"asteroid\.position: is missing; with gravity\.law"):
        from_dict(table)
    table["asteroid"]["position"] = ["600 m", "0 m", "0 m"]
    model = prepare(from_dict(table)).nominal().model
    assert isinstance(model.law, PointMass)
    assert model.rotation is None


def test_linearised_gravity_is_refused_in_the_same_words():
    drop = prepare(loads(DROP)).nominal().model
    with pytest.raises(InputError, match="leave the linearisation out"):
        MembraneMotion(drop.membrane, drop.body, gravity=Linearised(PointMass(1.0), 1.0))
    table = tomllib.loads(DROP)
    table["target"], table["gravity"] = {"name": "Ryugu"}, {"law": "polyhedron", "linearise": "1 m"}
    with pytest.raises(ScenarioError, match=r"gravity\.linearise: .* leave the linearisation out"):
        from_dict(table)


def test_laws_of_the_target_may_vary_from_run_to_run():
    """Another GM makes another model, another place does not."""
    groups = prepare(loads(DROP)).groups(
        {"target.gm": [1e12, 2e12, 1e12], "release.velocity": np.eye(3)}
    )
    assert [g.model.law.gm for g in groups] == [1e12, 2e12]
    assert [g.rows.tolist() for g in groups] == [[0, 2], [1]]


def test_height_is_above_the_carrier_wherever_it_is():
    table = tomllib.loads(DROP)
    table["release"] = {"height": "9 m"}
    half = np.sqrt(0.5)
    table["carrier"] |= {"position": metres([100, 0, 0]), "attitude": [half, 0, 0, half]}
    release = prepare(from_dict(table)).nominal().release
    np.testing.assert_allclose(release.position, [[100.0, -9.0, 0.0]], atol=1e-12)
