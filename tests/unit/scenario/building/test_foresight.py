"""What a check knows before anything is built: starts inside the ground, costs, oddities."""

import numpy as np
import pytest

from alight import body, surfaces
from alight.scenario import ScenarioError, from_dict, load
from alight.scenario.building.dispersed_starts import dispersed_starts
from alight.scenario.building.foresight import checked, foresee
from alight.scenario.building.mesh_probe import MeshProbe, closest_on_triangles
from alight.scenario.building.releases import ground_radius
from alight.scenario.shipped_scenarios import find


@pytest.fixture
def low(ryugu, changed):
    def make(**values):
        return from_dict(changed(ryugu, dispersions=None, **values))

    return make


def test_distances_of_the_probe_are_those_of_the_facets():
    mesh = body("ryugu").mesh(320)
    rng = np.random.default_rng(1)
    points = rng.normal(size=(40, 3))
    points *= (rng.uniform(200.0, 700.0, 40) / np.linalg.norm(points, axis=1))[:, None]
    distance, normal = MeshProbe(mesh).query(points)
    wanted, _ = surfaces.Facets(mesh).query(points, device="cpu")
    assert distance == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    assert (distance < 0.0).any()
    assert np.linalg.norm(normal, axis=1) == pytest.approx(np.ones(40), rel=1e-12)


def test_the_nearest_point_of_a_triangle():
    triangle = np.array([[[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]])
    for point, wanted in [
        ([0.2, 0.2, 1.0], [0.2, 0.2, 0.0]),
        ([-1.0, -1.0, 0.5], [0.0, 0.0, 0.0]),
        ([0.5, -2.0, 0.0], [0.5, 0.0, 0.0]),
        ([1.0, 1.0, 3.0], [0.5, 0.5, 0.0]),
    ]:
        assert closest_on_triangles(np.array(point), triangle)[0] == pytest.approx(wanted)


def test_a_release_inside_the_ground_is_found_before_anything_is_built(low):
    assert not foresee(low()).problems
    # The origin is inside any body; a centimetre is less than a rover's half height and the hills.
    with pytest.raises(ScenarioError, match=r"release.position: .*inside the ground"):
        checked(low(release={"position": ["0 m", "0 m", "0 m"]}))
    flat = {"ground__noise": None, "ground__spacing": "1 mm", "release__height": "1 cm"}
    with pytest.raises(ScenarioError, match=r'release.height: .*release.kind = "ground"'):
        checked(low(**flat))


def test_on_a_plane_the_corners_count(plane, changed):
    def scenario(height):
        return from_dict(changed(plane, release__position=["0 m", "0 m", height]))

    assert not foresee(scenario("0.1 m")).problems
    found = foresee(scenario("0.05 m")).problems
    assert [one.key for one in found] == ["release.position"]
    assert "0.05 m inside" in found[0].text


def test_what_will_escape_or_ends_at_once_is_remarked(low):
    fast = low(release__velocity=["0 m/s", "0 m/s", "5 m/s"])
    said = [str(one) for one in foresee(fast).remarks]
    assert any("faster" in line and "release.velocity" in line for line in said)
    assert any("stop.escape_radius" in line for line in said)
    near = low(stop={"escape_radius": "300 m"})
    assert "ends at once" in str(foresee(near).remarks[0])
    beyond = low(record={"trajectories": [5, 5000]})
    assert "names run 5000" in str(foresee(beyond).remarks[0])


def test_costs_grow_as_they_should(low):
    one, many = foresee(low(campaign={"runs": 10})), foresee(low(campaign={"runs": 1000}))
    assert many.seconds == pytest.approx(100.0 * one.seconds)
    assert many.disk == pytest.approx(100.0 * one.disk)
    fine = foresee(low(ground__spacing="10 m"))
    # A layer of some cells has a volume over spacing^3 that goes with 1/spacing^2.
    assert (fine.memory - 1e6) / (one.memory - 1e6) == pytest.approx(16.0, rel=1e-9)
    field = surfaces.DistanceField.from_mesh(body("ryugu").mesh(320), 40.0)
    assert one.memory == pytest.approx(field.tables.nbytes, rel=1.0)


def test_a_release_on_the_ground_is_never_inside(low):
    ground = {"kind": "ground", "latitude": "20 deg", "longitude": "40 deg"}
    assert not foresee(low(release=ground)).problems


def test_rays_find_the_ground_that_steps_find():
    mesh = body("ryugu").mesh(320)
    up = np.random.default_rng(2).normal(size=(12, 3))
    up /= np.linalg.norm(up, axis=1)[:, None]
    probe = MeshProbe(mesh)
    assert ground_radius(surfaces.Facets(mesh), up) == pytest.approx(probe.outermost(up), rel=1e-8)


def test_dispersed_starts_over_a_mesh(ryugu, changed):
    given = from_dict(changed(ryugu, ground__noise=None))
    heights = np.linspace(-40.0, 60.0, 11)
    found = dispersed_starts(given, {"release.height": heights})
    assert (found.looked, found.inside) == (11, (heights < 0.0).sum())
    assert 0.0 < found.deepest <= 40.0 + 1e-6


@pytest.mark.parametrize(
    ("said", "command"),
    [
        ("its top speed is", 'command = "spin"\nwheels = ["x"]\nspeeds = ["9000 rpm"]'),
        ('unknown wheel of manoeuvre 0 "w"',
         'command = "spin"\nwheels = ["w"]\nspeeds = ["9 rpm"]'),
        ("at the top speed of its wheels", 'command = "hop"\nazimuth = "0 deg"\nspeed = "9 m/s"'),
        ("each follows from the other",
         'command = "hop"\nazimuth = "0 deg"\nspeed = "9 cm/s"\ndistance = "1 m"'),
        ("3 times its torque",
         'command = "pulse"\nactuators = ["x"]\nlevels = [3.0]\nduration = "1 s"'),
        ("cannot read the plan", 'command = "policy"\nplan = "plan.npz"'),
    ],
)  # fmt: skip
def test_commands_that_no_lander_can_carry_out_are_found(said, command, tmp_path):
    text = find("hop_hedgehog_phobos").path.read_text("utf-8")
    before, after = text.index("[[manoeuvre]]"), text.index("[release]")
    assert not foresee(load(find("hop_hedgehog_phobos").path)).problems
    (tmp_path / "plan.npz").write_text("no archive")
    path = tmp_path / "one.toml"
    path.write_text(f"{text[:before]}[[manoeuvre]]\n{command}\n\n{text[after:]}", "utf-8")
    (fault,) = foresee(load(path)).problems
    assert said in str(fault)
    assert "manoeuvre" in str(fault)
