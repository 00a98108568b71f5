"""The catalogue: figures, derived quantities, names, meshes and provenance."""

import copy
import dataclasses
import tomllib
from importlib import resources

import numpy as np
import pytest

from alight.core.constants import AU, DAY, GM_MARS, GM_SUN, HOUR, G
from alight.core.errors import InputError
from alight.scenario import bodies

TABLES = tomllib.loads(
    (resources.files("alight.scenario") / "data" / "bodies.toml").read_text("utf-8")
)

# Derived columns as printed in the project's table of bodies: surface gravity, escape speed,
# lift-off east and west, synchronous radius over mean radius, Hill radius [km].
PRINTED = {
    "Itokawa": ("8.9e-5", "0.170", "0.097", "0.144", "2.99", "26"),
    "Ryugu": ("1.49e-4", "0.366", "0.156", "0.361", "1.85", "61"),
    "Bennu": ("8.1e-5", "0.200", "0.042", "0.241", "1.26", "31"),
    "67P": ("2.5e-4", "0.90", "0.40", "0.87", "1.96", "221"),
    "Eros": ("6.3e-3", None, None, None, "1.90", "176e1"),
    "Geographos": ("7.3e-4", "1.37", None, None, "1.71", "180"),
    "Castalia": ("3.2e-4", "0.59", "0.18", "0.65", "1.47", "51"),
    "Toutatis": ("8.5e-4", "1.44", None, None, None, "207"),
    "Phobos": ("5.8e-3", "11.3", "5.5", "10.5", "2.16", "16.6"),
    "Didymos": ("2.6e-4", "0.44", "0.029", "0.59", "1.07", "68"),
    "Dimorphos": ("5.1e-5", "0.0875", None, None, None, "0.16"),
}


def agrees(value: float, printed: str) -> bool:
    """Whether ``value`` rounds to the digits printed."""
    mantissa, _, exponent = printed.partition("e")
    decimals = len(mantissa.partition(".")[2])
    half_digit = 0.5 * 10.0 ** (int(exponent or 0) - decimals)
    return abs(value - float(printed)) <= half_digit * (1 + 1e-9)


def test_agrees_reads_digits():
    assert agrees(0.1404, "0.140")
    assert not agrees(0.1406, "0.140")
    assert agrees(8.94e-5, "8.9e-5")
    assert not agrees(8.96e-5, "8.9e-5")
    assert agrees(1764, "176e1")


@pytest.mark.parametrize("name", PRINTED)
def test_derived_columns(name):
    body = bodies.find(name)
    east, west = body.lift_off_speeds or (None, None)
    synchronous = body.synchronous_radius
    computed = (
        body.surface_gravity,
        body.escape_speed,
        east,
        west,
        synchronous and synchronous / body.mean_radius,
        body.hill_radius / 1000,
    )
    for value, printed in zip(computed, PRINTED[name], strict=True):
        if printed is not None:
            assert agrees(value, printed), (name, value, printed)


def test_every_body_is_listed_and_found():
    assert set(bodies.names()) == set(PRINTED)
    for name in bodies.names():
        body = bodies.find(name.upper())
        for alias in (body.designation, *body.aliases):
            assert bodies.find(alias) is body


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("ryugu", "Ryugu"),
        ("162173", "Ryugu"),
        ("(162173) Ryugu", "Ryugu"),
        ("1999_JU3", "Ryugu"),
        ("67p/c-g", "67P"),
        ("churyumov-gerasimenko", "67P"),
        ("  433 EROS ", "Eros"),
        ("Didymos B", "Dimorphos"),
    ],
)
def test_other_names(asked, name):
    assert bodies.find(asked).name == name


def test_unknown_body_suggests_the_nearest():
    with pytest.raises(InputError, match=r'unknown body "Ryugo"\. Did you mean "Ryugu"\? Known: R'):
        bodies.find("Ryugo")
    with pytest.raises(InputError, match=r'"vesta"\.'):
        bodies.find("vesta")
    with pytest.raises(InputError, match="unknown body"):
        bodies.find("")


def test_figures_are_in_si_units():
    ryugu = bodies.find("Ryugu")
    assert ryugu.gm == 30.0
    assert ryugu.rotation_period == 7.63262 * 3600
    assert ryugu.rotation_rate == pytest.approx(2 * np.pi / 27477.432, rel=1e-12)
    np.testing.assert_array_equal(ryugu.spin_vector[:2], 0)
    assert ryugu.pole.longitude == pytest.approx(np.radians(96.431))
    assert ryugu.orbit.semi_major_axis == 1.1896 * AU
    assert ryugu.orbit.periapsis_distance == pytest.approx(0.9633 * AU, rel=1e-4)
    assert ryugu.orbit.primary_gm == GM_SUN
    assert (ryugu.quoted_density, ryugu.quoted_density_uncertainty) == (1190.0, 20.0)


def test_moons_orbit_their_primaries():
    phobos, dimorphos = bodies.find("phobos"), bodies.find("dimorphos")
    assert phobos.orbit.primary_gm == GM_MARS
    assert dimorphos.orbit.primary_gm == bodies.find("didymos").gm
    # both are synchronous: the orbit's rate is the spin's, as well as a and GM are known
    assert phobos.orbit.mean_motion == pytest.approx(phobos.rotation_rate, rel=1e-3)
    assert dimorphos.orbit.mean_motion == pytest.approx(dimorphos.rotation_rate, rel=0.01)


# -- shape and mass ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(PRINTED))
def test_mesh_is_centred_and_keeps_gm(name):
    body = bodies.find(name)
    mesh = body.mesh()
    assert mesh.n_faces == pytest.approx(5120, rel=0.01)
    assert np.linalg.norm(mesh.center_of_mass) < 1e-12 * mesh.radius
    assert G * body.density * mesh.volume == pytest.approx(body.gm, rel=1e-14)
    coarse = body.mesh(1000)
    assert G * body.density_of(coarse) * coarse.volume == pytest.approx(body.gm, rel=1e-14)
    # the shape is that of the body: its volume gives the mean radius and a sensible density
    assert mesh.radius == pytest.approx(body.mean_radius, rel=0.01)
    assert body.density == pytest.approx(body.quoted_density, rel=0.09)
    assert body.mesh() is mesh


@pytest.mark.parametrize("name", list(PRINTED))
def test_z_is_near_the_axis_of_largest_inertia(name):
    """Uniform rotation is about that axis; Didymos and 67P are 4 and 5 degrees off if uniform."""
    _, axes = np.linalg.eigh(bodies.find(name).mesh().inertia(1.0))
    off = np.degrees(np.arccos(abs(axes[2, 2])))
    assert off < (5.0 if name in ("67P", "Didymos") else 1.6)


# -- rotation ----------------------------------------------------------------------------------


def test_poles_turn_into_equatorial_axes():
    ecliptic_north = bodies.Pole("ecliptic", 0.0, np.pi / 2).direction
    obliquity = np.radians(23.4392911)
    np.testing.assert_allclose(
        ecliptic_north, [0, -np.sin(obliquity), np.cos(obliquity)], atol=1e-9
    )
    np.testing.assert_allclose(bodies.Pole("ecliptic", 0.0, 0.0).direction, [1, 0, 0], atol=1e-15)
    # Itokawa's equatorial pole is ecliptic latitude -89.66 degrees (Demura et al. 2006)
    latitude = np.arcsin(bodies.find("itokawa").pole.direction @ ecliptic_north)
    assert np.degrees(latitude) == pytest.approx(-89.66, abs=0.02)


def test_obliquity_of_ryugu():
    """Pole against the orbit's normal: 171.64 degrees is quoted. Joins pole, node, inclination."""
    body = bodies.find("ryugu")
    i, node = body.orbit.inclination, body.orbit.node
    longitude = node - np.pi / 2
    normal = bodies.Pole("ecliptic", longitude, np.pi / 2 - i).direction
    tilt = np.degrees(np.arccos(normal @ body.pole.direction))
    assert tilt == pytest.approx(171.64, abs=0.05)


def test_toutatis_tumbles_as_a_free_top():
    """Free symmetric top: H/A is the precession rate, (1/C - 1/A) H cos(tilt) the turn rate."""
    body = bodies.find("toutatis")
    assert body.rotation_period is None
    assert body.synchronous_radius is None
    assert body.lift_off_speeds is None
    along, one, other = body.tumbling.inertia_ratios
    across = (one + other) / 2
    momentum = np.array([along, across, across]) * body.spin_vector
    size = np.linalg.norm(momentum)
    assert size / across == pytest.approx(2 * np.pi / (7.35 * DAY), rel=1e-12)
    turn = momentum[0] * (1 / along - 1 / across)
    assert turn == pytest.approx(2 * np.pi / (5.41 * DAY), rel=1e-12)
    assert body.rotation_rate == np.linalg.norm(body.spin_vector)


# -- provenance and strictness -----------------------------------------------------------------


def test_every_figure_has_a_source():
    for name in bodies.names():
        body = bodies.find(name)
        assert {"gm", "mean_radius", "size", "spin", "orbit"} <= set(body.sources)
        assert ("pole" in body.sources) == (body.pole is not None)
        for source in body.sources.values():
            assert source.mark in ("read", "unconfirmed", "derived")
            assert str(source).endswith(f"[{source.mark}]")


def test_unconfirmed_figures_are_marked():
    assert bodies.find("castalia").sources["gm"].mark == "unconfirmed"
    assert bodies.find("phobos").sources["gm"].mark == "unconfirmed"
    assert bodies.find("67p").sources["pole"].mark == "unconfirmed"
    assert bodies.find("geographos").sources["gm"].mark == "derived"
    assert bodies.find("castalia").pole is None


def test_body_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        bodies.find("ryugu").gm = 31.0


def test_text_of_a_body():
    text = str(bodies.find("bennu"))
    assert "101955 Bennu" in text
    assert "4.296057 h" in text
    assert "Hill radius 31 km (Sun)" in text
    assert "tumbles (5.41 d, 7.35 d)" in str(bodies.find("toutatis"))
    assert HOUR == 3600.0


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"gm_km3_s2": 1.0}, 'unknown key of Ryugu "gm_km3_s2".*Did you mean "gm_m3_s2"'),
        ({"tumbling": {}}, "either rotation_period_h or tumbling"),
        ({"pole": {"frame": "galactic"}}, 'unknown pole frame "galactic"'),
        ({"pole": {"frame": "ecliptic", "ra_deg": 1.0}}, 'ecliptic pole "ra_deg"'),
        ({"orbit": {"primary": "Venus"}}, 'unknown primary "Venus"'),
        ({"sources": {"gm": "read: somewhere"}}, "missing or unexpected density, mean_radius"),
    ],
)
def test_faults_in_the_file_are_named(change, complaint):
    table = {**copy.deepcopy(TABLES["ryugu"]), **change}
    with pytest.raises(InputError, match=complaint):
        bodies._body(table, TABLES)


def test_source_without_a_mark_is_refused():
    table = copy.deepcopy(TABLES["ryugu"])
    table["sources"]["gm"] = "somebody said so"
    with pytest.raises(InputError, match='source of gm of Ryugu is "somebody said so"'):
        bodies._body(table, TABLES)
