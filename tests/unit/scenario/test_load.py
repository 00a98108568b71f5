"""Reading scenario files and writing them out: the same numbers, to the last bit."""

import pickle

import numpy as np
import pytest

from alight.core.errors import FileError
from alight.scenario import ScenarioError, from_dict, load, loads
from alight.scenario.document import keys
from alight.scenario.schema.landing import Scenario
from alight.shapes import Mesh
from alight.shapes.icosphere import sphere_points_mesh

from .conftest import PLANE, RYUGU

EXTRA = """
[environment.sun]
pressure = true
mean_anomaly = "10 deg"
shadow_radius = "500 m"
"""


def bits(scenario):
    """Every number of a scenario, by its key, as bytes."""
    out = {}
    for key in keys(Scenario):
        found = scenario
        for name in key.split("."):
            found = None if found is None else getattr(found, name)
        plain = isinstance(found, str | bool | type(None))
        out[key] = found if plain else np.asarray(found, dtype=np.float64).tobytes()
    return out


@pytest.mark.parametrize("text", [PLANE, RYUGU, RYUGU + EXTRA])
def test_written_out_it_reads_back_to_the_same_bits(text):
    one = loads(text)
    written = one.to_toml()
    other = loads(written)
    assert other == one
    assert bits(other) == bits(one)
    assert other.to_toml() == written


def test_random_numbers_survive_writing(ryugu, changed):
    rng = np.random.default_rng(5)
    for _ in range(20):
        table = changed(
            ryugu,
            release__latitude=f"{rng.uniform(-90, 90)!r} deg",
            release__height=f"{rng.uniform(0, 1e3)!r} ft",
            release__velocity=[f"{v!r} cm/s" for v in rng.normal(size=3).tolist()],
            contact__friction=float(rng.uniform()),
        )
        one = from_dict(table)
        other = loads(one.to_toml())
        assert bits(other) == bits(one)
        assert other == one


def test_a_change_of_one_bit_is_a_difference(ryugu, changed):
    one = from_dict(ryugu)
    more = float(np.nextafter(0.6, 1.0))
    assert from_dict(changed(ryugu, contact__friction=more)) != one
    assert from_dict(changed(ryugu, title="Another")) != one
    assert len({one, from_dict(ryugu)}) == 1


def test_resolved_has_every_default_and_what_made_it(ryugu):
    import alight

    found = from_dict(ryugu).resolved(device="cpu")
    assert found["made_by"]["alight"] == alight.__version__
    assert found["made_by"]["device"] == "cpu"
    assert found["seed"] == 1
    assert found["body"]["gm"] == "30.0 m^3/s^2"
    assert found["body"]["rotation"]["kind"] == "uniform"
    assert found["contact"]["depth"] == "1 mm"
    assert found["stop"]["escape_radius"] == "inf m"
    assert found["ground"]["noise"]["seed"] == 1
    assert found["campaign"]["sampling"] == "random"
    assert found["dispersions"]["release.velocity"] == {"kind": "normal", "sigma": "5 cm/s"}


def test_resolved_is_a_copy(ryugu):
    scenario = from_dict(ryugu)
    scenario.resolved()["dispersions"]["release.velocity"]["sigma"] = "9 cm/s"
    assert scenario.resolved()["dispersions"]["release.velocity"]["sigma"] == "5 cm/s"


def test_a_tumbling_body_is_filled_in(ryugu, changed):
    scenario = from_dict(changed(ryugu, body__name="toutatis", ground__spacing="100 m"))
    rotation = scenario.body.rotation
    assert rotation.kind == "tumbling"
    assert len(rotation.rate) == 3
    assert loads(scenario.to_toml()) == scenario


def test_replaced(ryugu):
    scenario = from_dict(ryugu)
    other = scenario.replaced({"release.height": 12.5, "contact.friction": np.float64(0.3)})
    assert (other.number("release.height"), other.number("contact.friction")) == (12.5, 0.3)
    moved = scenario.replaced({"release.velocity": np.array([0.1, 0.2, 0.3]), "body.facets": 80})
    assert moved.number("release.velocity").tolist() == [0.1, 0.2, 0.3]
    assert moved.body.facets == 80
    assert scenario.replaced({"ground.noise": None}).ground.noise is None
    with pytest.raises(ScenarioError, match="at least 0 m"):
        scenario.replaced({"release.height": -1.0})


def test_pickling(ryugu):
    scenario = from_dict(ryugu)
    other = pickle.loads(pickle.dumps(scenario))
    assert other == scenario
    assert other.to_toml() == scenario.to_toml()


def test_errors_come_back_from_other_processes():
    with pytest.raises(ScenarioError) as caught:
        loads(RYUGU.replace('"60 m"', "60"), "case.toml")
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert again.problems == caught.value.problems


def test_the_example_of_the_manual_reads():
    import pathlib

    text = (
        pathlib.Path(__file__).resolve().parents[3] / "docs" / "how_to" / "scenarios.md"
    ).read_text()
    example = text.split("```toml")[1].split("```")[0]
    assert loads(example).number("release.velocity").tolist() == [0.0, 0.0, -0.02]


# -- files -------------------------------------------------------------------------------------


def test_a_file_is_named_in_its_errors(tmp_path):
    file = tmp_path / "case.toml"
    file.write_text(RYUGU.replace('"60 m"', "60"))
    with pytest.raises(
        ScenarioError, match=r"case\.toml: release\.height: found the bare number 60"
    ):
        load(file)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = ", r"not valid TOML: .*line 1"),
        ("[body]\nname = 'ryugu'\nname = 'bennu'\n", r"line 3"),
        ("[" * 50_000, "not valid TOML"),
        ("seed = " + "9" * 5000, "not valid TOML"),
        ("x = 1979-05-27\n[contact]\nrestitution = 0.5", "unknown key"),
    ],
)
def test_text_that_is_not_toml(text, said):
    with pytest.raises(ScenarioError, match=said):
        loads(text)


def test_bytes_that_are_not_text(tmp_path):
    file = tmp_path / "case.toml"
    file.write_bytes(b"# fine\n# \xff\xfe\n")
    with pytest.raises(ScenarioError, match="byte 0xff in line 2"):
        load(file)


def test_a_missing_file_and_the_nearest(tmp_path):
    (tmp_path / "ryugu.toml").write_text(RYUGU)
    with pytest.raises(FileError, match=r'no such file.*Did you mean "ryugu.toml"'):
        load(tmp_path / "ryugo.toml")
    with pytest.raises(FileError, match="is a folder"):
        load(tmp_path)


def test_an_own_mesh_is_found_beside_the_file(tmp_path):
    ball = sphere_points_mesh(42)
    Mesh(500.0 * ball.vertices, ball.faces).save(tmp_path / "ball.obj", unit="m")
    text = RYUGU.replace(
        'name = "ryugu"\nfacets = 320', 'mesh = "ball.obj"\nunit = "m"\ngm = "30 m^3/s^2"'
    )
    file = tmp_path / "case.toml"
    file.write_text(text)
    scenario = load(file)
    assert scenario.body.mesh == (tmp_path / "ball.obj").as_posix()
    assert len(scenario.body.sha256) == 64
    assert loads(scenario.to_toml()) == scenario
    with pytest.raises(ScenarioError, match=r'body.mesh: cannot read .*Did you mean "ball.obj"'):
        loads(text.replace("ball.obj", "bal.obj"), folder=tmp_path)
    written = scenario.to_toml()
    Mesh(501.0 * ball.vertices, ball.faces).save(tmp_path / "ball.obj", unit="m")
    with pytest.raises(ScenarioError, match=r"body\.sha256: .* has changed"):
        loads(written)
