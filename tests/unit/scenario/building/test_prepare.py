"""From scenarios to models: every law, groups of runs, and the same bits whatever the company."""

import math

import numpy as np
import pytest

from alight import flight, gravity, surfaces
from alight.contact import Compliant
from alight.core import devices, frames
from alight.core.errors import InputError
from alight.engine import Stop, run_batch
from alight.engine import simulate as engine_simulate
from alight.motions import Model, Release
from alight.scenario import ScenarioError, bodies, from_dict, landers, prepare, simulate
from alight.scenario.building.releases import ground_radius
from alight.scenario.building.scaled_gravity import Scaled
from alight.shapes import Mesh
from alight.shapes.icosphere import sphere_points_mesh
from alight.vehicles import RigidLander

DEVICES = [device.name for device in devices.available()]


@pytest.fixture(scope="module")
def shared():
    """The rover over Ryugu, built once."""
    import tomllib

    from ..conftest import RYUGU

    return prepare(from_dict(tomllib.loads(RYUGU)), "cpu")


# -- one run -----------------------------------------------------------------------------------


def test_it_is_the_model_one_would_write_by_hand(shared):
    """Every law gives the same numbers as when it is made without a scenario."""
    body = bodies.find("ryugu")
    mesh = body.mesh(320)
    found = shared.nominal()
    model = found.model
    hills = surfaces.FractalNoise(0.3, 20.0, 4, seed=1)
    ground = surfaces.Rough(surfaces.DistanceField.from_mesh(mesh, 40.0, device="cpu"), hills)
    reduced = gravity.Reduced(mesh, gm=body.gm, vertices=42)
    points = 600.0 * frames.direction([0.1, -0.5], [1.0, 2.0])
    for one, other in ((model.full_gravity, reduced),):
        for a, b in zip(one.evaluate(points), other.evaluate(points), strict=True):
            assert np.array_equal(a, b)
    assert isinstance(model.gravity, gravity.Linearised)
    assert model.gravity.reach == 5.0
    assert np.array_equal(model.surface.query(points)[0], ground.query(points)[0])
    assert model.lander is landers.find("minerva-ii-1").rigid()
    assert np.array_equal(model.rotation.omega, body.spin_vector)
    expected = Release.above(ground, math.radians(20.0), math.radians(40.0), 60.0)
    assert np.array_equal(found.release.position, expected.position)
    assert found.rows.tolist() == [0]


@pytest.mark.parametrize("device", DEVICES)
def test_simulate_runs_a_file(tmp_path, device):
    from ..conftest import PLANE

    file = tmp_path / "case.toml"
    file.write_text(PLANE)
    model = Model(
        gravity.Uniform((0, 0, -5.7e-3)),
        surfaces.Plane(),
        RigidLander.cube(0.2, 1.0),
        Compliant(0.6),
        stop=Stop(7200.0),
    )
    release = Release([0.0, 0.0, 0.4], [0.10, 0.03, -0.05])
    expected = engine_simulate(model, release, device=device)
    found = simulate(file, device=device)
    assert found.outcome == expected.outcome
    assert np.array_equal(found.position, expected.position)


def test_a_release_inside_the_ground_names_the_file(plane, changed):
    table = changed(plane, release__position=["0 m", "0 m", "-2 m"])
    with pytest.raises(ScenarioError, match=r"case.toml: release: .*inside the ground.*position"):
        simulate(from_dict(table, "case.toml"))


# -- every law ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"law": "smooth", "spacing": "60 m"}, gravity.SmoothField),
        ({"law": "smooth", "spacing": "60 m", "linearise": "5 m"}, gravity.Linearised),
        ({"law": "polyhedron"}, gravity.Polyhedron),
        ({"law": "reduced", "vertices": 42}, gravity.Reduced),
        ({"law": "cached", "tolerance": 1e-3}, gravity.CachedField),
        ({"law": "point-mass"}, gravity.PointMass),
        ({"law": "uniform", "acceleration": ["0 m/s^2"] * 2 + ["-1e-4 m/s^2"]}, gravity.Uniform),
    ],
)
def test_every_gravity_law(ryugu, options, kind):
    law = prepare(from_dict({**ryugu, "gravity": options}), "cpu").nominal().model.gravity
    assert isinstance(law, kind)
    full = law.full if isinstance(law, gravity.Linearised) else law
    pull = np.linalg.norm(full.evaluate([[2000.0, 0.0, 0.0]])[1])
    if kind is not gravity.Uniform:
        assert pull == pytest.approx(30.0 / 2000.0**2, rel=0.05)


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"spacing": "40 m"}, surfaces.DistanceField),
        (
            {"spacing": "40 m", "interpolation": "trilinear", "band": "200 m"},
            surfaces.DistanceField,
        ),
        ({"kind": "sphere"}, surfaces.Sphere),
        ({"kind": "sphere", "radius": "500 m"}, surfaces.Sphere),
        ({"kind": "plane", "normal": [0.0, 1.0, 1.0]}, surfaces.Plane),
    ],
)
def test_every_ground(ryugu, changed, options, kind):
    table = {**ryugu, "ground": options}
    if kind is surfaces.Plane:
        place = {"position": ["0 m", "900 m", "0 m"]}
        table = {**table, "release": place, "dispersions": {}}
    found = prepare(from_dict(table), "cpu").nominal().model.surface
    assert isinstance(found, kind)
    if kind is surfaces.Sphere:
        radius = 500.0 if "radius" in options else bodies.find("ryugu").mean_radius
        assert found.query([[0.0, 0.0, 700.0]])[0] == pytest.approx(700.0 - radius)


def test_hills_widen_the_band_and_follow_a_map(ryugu, changed):
    hills = {"amplitude": "80 m", "wavelength": "900 m", "octaves": 2, "map": [[0, 0], [1, 1]]}
    found = prepare(from_dict(changed(ryugu, ground__noise=hills)), "cpu").nominal().model.surface
    assert isinstance(found, surfaces.Rough)
    assert found.base.band > 160.0
    assert found.noise.modulation is not None
    plain = changed(ryugu, ground__noise={**hills, "map": None} | {"amplitude": "1 m"})
    plain["ground"]["noise"].pop("map")
    assert prepare(from_dict(plain), "cpu").nominal().model.surface.base.band == 160.0


@pytest.mark.parametrize(
    ("options", "points", "mass"),
    [
        ({"name": "mascot"}, 8, 9.6),
        ({"name": "mascot", "points": 40, "mass": "12 kg"}, 40, 12.0),
        ({"name": "philae", "mass": "49 kg"}, 8, 49.0),
        ({"name": "hedgehog", "center_of_mass": ["1 cm", "0 m", "0 m"]}, 16, 5.0),
        ({"shape": "box", "size": ["1 m", "2 m", "3 m"], "mass": "1 t"}, 8, 1000.0),
        ({"shape": "cylinder", "diameter": "1 m", "height": "1 m", "mass": "1 kg"}, 32, 1.0),
        (
            {"shape": "prism", "sides": 6, "diameter": "1 m", "height": "1 m", "mass": "1 kg"},
            12,
            1.0,
        ),
        ({"shape": "sphere", "diameter": "1 m", "mass": "1 kg"}, 1, 1.0),
        (
            {
                "shape": "cube",
                "side": "1 m",
                "mass": "1 kg",
                "extra_points": [["2 m", "0 m", "0 m"]],
                "inertia": ["1 kg*m^2", "1 kg*m^2", "1 kg*m^2"],
            },
            9,
            1.0,
        ),
    ],
)
def test_every_lander(plane, options, points, mass):
    found = prepare(from_dict({**plane, "lander": options}), "cpu").nominal().model.lander
    assert (found.n_points, found.mass) == (points, mass)
    if options.get("name") == "philae":  # its inertia is quoted: it goes with the mass
        assert np.diag(found.inertia) == pytest.approx([10.0, 10.0, 12.5])


def test_own_meshes(tmp_path, ryugu, changed):
    ball = sphere_points_mesh(162)
    Mesh(500.0 * ball.vertices + [100.0, 0.0, 0.0], ball.faces).save(tmp_path / "body.obj", "km")
    Mesh(0.2 * ball.vertices, ball.faces).save(tmp_path / "lander.stl", "m")
    body = {"mesh": "body.obj", "unit": "km", "density": "1190 kg/m^3"}
    lander = {"shape": "mesh", "mesh": "lander.stl", "unit": "m", "mass": "2 kg"}
    table = {**ryugu, "body": body, "lander": lander}
    scenario = from_dict(table, folder=tmp_path)
    model = prepare(scenario, "cpu").nominal().model
    assert (model.lander.mass, model.lander.n_points) == (2.0, 32)
    assert np.allclose(model.full_gravity.mesh.center_of_mass, 0.0, atol=1e-6)
    assert model.rotation.rate == 0.0
    thick = changed(table, ground__spacing="2 km")
    with pytest.raises(ScenarioError, match="ground: spacing is 2000 m, but the body is only"):
        prepare(from_dict(thick, folder=tmp_path), "cpu")


def test_a_broken_mesh_is_blamed_on_its_key(tmp_path, ryugu):
    (tmp_path / "open.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    body = {"mesh": "open.obj", "unit": "km", "density": "1190 kg/m^3"}
    with pytest.raises(ScenarioError, match=r"case\.toml: body: "):
        prepare(from_dict({**ryugu, "body": body}, "case.toml", tmp_path), "cpu")


# -- rotation and surroundings -----------------------------------------------------------------


def test_rotations(ryugu, changed):
    def rotation(**values):
        table = changed(ryugu, **values)
        return prepare(from_dict(table), "cpu").nominal().model.rotation

    assert rotation(body__rotation={"kind": "none"}).rate == 0.0
    turned = rotation(body__rotation={"kind": "uniform", "rate": "1 mrad/s", "axis": [1.0, 0, 0]})
    assert turned.omega.tolist() == [1e-3, 0.0, 0.0]
    vector = {"kind": "uniform", "rate": ["1 mrad/s", "0 rad/s", "2 mrad/s"]}
    assert rotation(body__rotation=vector).omega == pytest.approx([1e-3, 0.0, 2e-3], rel=1e-15)
    pole = bodies.find("ryugu").pole
    spin = frames.quat_rotate(rotation().q_NT, [0.0, 0.0, 1.0])
    assert spin == pytest.approx(pole.direction, abs=1e-12)


def test_a_tumbling_body_turns_about_its_pole(ryugu, changed):
    table = changed(ryugu, body__name="toutatis", ground__spacing="100 m")
    found = prepare(from_dict(table), "cpu").nominal().model.rotation
    entry = bodies.find("toutatis")
    assert isinstance(found, flight.Tumbling)
    assert found.momentum_direction == pytest.approx(entry.pole.direction, abs=1e-9)
    assert found.evaluate(0.0)[0] == pytest.approx(entry.spin_vector, rel=1e-12)


@pytest.mark.parametrize(("name", "distance"), [("phobos", 9.377e6), ("dimorphos", 1144.0)])
def test_locked_moons_have_their_planet_overhead(ryugu, changed, name, distance):
    entry = bodies.find(name)
    size = f"{max(entry.size) / 20:g} m"
    table = changed(ryugu, body__name=name, ground__spacing=size, ground__noise=None)
    table["environment"] = {"companion": {}}
    (planet,) = prepare(from_dict(table), "cpu").nominal().model.externals
    assert planet.gm == entry.orbit.primary_gm
    assert planet.steady
    assert planet.orbit.position[0] == pytest.approx(distance, rel=5e-3)


def test_a_moon_on_its_orbit(ryugu):
    moon = {"kind": "orbit", "gm": "0.3 m^3/s^2", "distance": "1.2 km", "eccentricity": 0.1}
    table = {**ryugu, "environment": {"companion": moon}}
    (found,) = prepare(from_dict(table), "cpu").nominal().model.externals
    period = 2.0 * math.pi * math.sqrt(1200.0**3 / 30.3)
    assert found.orbit.period == pytest.approx(period, rel=1e-12)


def test_the_sun_pulls_and_pushes(ryugu):
    sun = {"pressure": True, "mean_anomaly": "0 deg"}
    found = prepare(from_dict({**ryugu, "environment": {"sun": sun}}), "cpu").nominal().model
    tide, light = found.externals
    entry = bodies.find("ryugu")
    place = tide.sun.evaluate(0.0, found.rotation)
    assert np.linalg.norm(place) == pytest.approx(entry.orbit.periapsis_distance, rel=1e-12)
    area = 0.25 * found.lander.hull.face_areas.sum() / found.lander.mass
    assert light.area_over_mass == pytest.approx(area, rel=1e-15)
    fixed = {
        "tide": False,
        "pressure": True,
        "direction": [0, 0, 2],
        "distance": "1 AU",
        "area_over_mass": "0.02 m^2/kg",
    }
    found = prepare(from_dict({**ryugu, "environment": {"sun": fixed}}), "cpu").nominal().model
    (light,) = found.externals
    assert np.linalg.norm(light.sun.position) == pytest.approx(149597870700.0, rel=1e-12)


# -- many runs ---------------------------------------------------------------------------------


def draws(count, seed=1):
    rng = np.random.default_rng(seed)
    return {
        "release.velocity": rng.normal(0.0, 0.05, (count, 3)),
        "release.attitude": rng.normal(size=(count, 4)),
        "release.place": np.radians(rng.uniform([15.0, 35.0], [25.0, 45.0], (count, 2))),
        "release.height": rng.uniform(50.0, 60.0, count),
        "contact.restitution": rng.uniform(0.5, 0.7, count),
        "contact.friction": rng.uniform(0.5, 0.7, count),
    }


def test_releases_and_contacts_share_one_model(shared):
    values = draws(9)
    (group,) = shared.groups(values)
    assert group.rows.tolist() == list(range(9))
    assert len(group.release) == 9
    assert np.array_equal(group.model.contact.restitution, values["contact.restitution"])
    assert group.model.surface is shared.nominal().model.surface
    up = frames.direction(*values["release.place"].T)
    for k in (0, 5):
        one = Release.above(
            group.model.surface,
            *values["release.place"][k],
            values["release.height"][k],
            values["release.velocity"][k],
        )
        assert group.release.position[k] == pytest.approx(one.position[0], rel=1e-15)
        assert group.release.velocity[k] == pytest.approx(one.velocity[0], rel=1e-13)
    ground = ground_radius(group.model.surface, up) + values["release.height"]
    assert np.linalg.norm(group.release.position, axis=1) == pytest.approx(ground, rel=1e-15)


def test_a_run_has_the_same_bits_in_any_company(shared):
    values = draws(40)
    (together,) = shared.groups(values)
    for rows in ([3], [39, 2, 7], list(range(10, 30))):
        (some,) = shared.groups({key: v[rows] for key, v in values.items()})
        for name in ("position", "velocity", "attitude", "rate"):
            assert np.array_equal(
                getattr(some.release, name), getattr(together.release, name)[rows]
            ), name


def test_other_values_make_other_models_and_keep_the_tables(shared):
    values = draws(6) | {"body.gm": np.array([29.0, 31.0, 29.0, 30.0, 31.0, 29.0])}
    groups = shared.groups(values)
    assert [g.rows.tolist() for g in groups] == [[0, 2, 5], [1, 4], [3]]
    assert len({id(g.model.surface) for g in groups}) == 1
    scaled = groups[0].model.full_gravity
    assert isinstance(scaled, Scaled)
    assert scaled.base is shared.nominal().model.full_gravity
    assert groups[2].model.full_gravity is scaled.base
    points = np.array([[520.0, 100.0, -30.0], [0.0, 900.0, 0.0]])
    mesh = bodies.find("ryugu").mesh(320)
    exact = gravity.Reduced(mesh, gm=29.0, vertices=42).evaluate(points)
    for a, b in zip(scaled.evaluate(points), exact, strict=True):
        assert a == pytest.approx(b, rel=1e-12, abs=1e-12 * np.abs(b).max())
    restitution = values["contact.restitution"]
    assert np.array_equal(groups[1].model.contact.restitution, restitution[[1, 4]])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.validate
def test_scaled_gravity_flies(plane, ryugu, shared, device):
    """A run of the scaled field ends as the first touch of a body of that mass does."""
    group = shared.groups({"body.gm": np.array([33.0]), "stop.max_time": np.array([4000.0])})[0]
    other = prepare(shared.scenario.replaced({"body.gm": 33.0, "stop.max_time": 4000.0}), "cpu")
    expected = other.nominal()
    one = run_batch(group.model, group.release, device=device).touches["start"][0]
    two = run_batch(expected.model, expected.release, device=device).touches["start"][0]
    assert one == pytest.approx(two, rel=1e-9)


def test_any_number_may_vary(shared):
    values = {
        "lander.mass": np.array([1.0, 1.2]),
        "ground.noise.amplitude": np.array([0.1, 0.2]),
        "contact.depth": np.array([1e-3, 2e-3]),
        "body.rotation.period": np.array([27000.0, 28000.0]),
        "stop.max_time": np.array([100.0, 200.0]),
    }
    one, two = shared.groups(values)
    assert (one.model.lander.mass, two.model.lander.mass) == (1.0, 1.2)
    assert (one.model.surface.noise.amplitude, two.model.surface.noise.amplitude) == (0.1, 0.2)
    assert one.model.surface.base is two.model.surface.base
    assert (one.model.contact.depth, two.model.contact.depth) == (1e-3, 2e-3)
    assert one.model.rotation.rate == 2.0 * np.pi / 27000.0
    assert two.model.stop.max_time == 200.0


def test_state_euler_and_offset(ryugu, changed):
    scenario = from_dict(
        changed(
            ryugu,
            release__euler=["0 deg", "0 deg", "0 deg"],
            release__attitude_axes="local",
            dispersions={},
        )
    )
    ready = prepare(scenario, "cpu")
    base = ready.nominal().release
    state = np.array([[3.0, 4.0, 5.0, 0.1, 0.2, 0.3]])
    euler = np.array([[0.1, 0.2, 0.3]])
    found = ready.groups({"release.state": state, "release.euler": euler})[0].release
    turn = frames.local_frame(base.position[0])
    assert (found.position - base.position)[0] == pytest.approx(turn @ [3.0, 4.0, 5.0], rel=1e-9)
    assert found.velocity[0] == pytest.approx(turn @ [0.1, 0.2, 0.3], rel=1e-12)
    assert frames.quat_rotate(base.attitude[0], [0.0, 0.0, 1.0]) == pytest.approx(turn[:, 2])


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"release.velocty": np.zeros((2, 3))}, "Did you mean"),
        ({"release.velocity": np.zeros((2, 2))}, "one row of 3"),
        ({"release.height": np.ones(2), "release.rate": np.zeros((3, 3))}, "different numbers"),
        ({"contact.scheme": np.zeros(2)}, "cannot vary"),
        ({"contact.restitution": np.array([0.5, 1.5])}, "contact: "),
        ({"stop.max_time": np.array([np.nan])}, "finite time"),
    ],
)
def test_values_that_cannot_be(shared, values, said):
    with pytest.raises(InputError, match=said):
        shared.groups(values)
