"""The catalogue of landers: figures, names, provenance, and the vehicles they make."""

import copy
import dataclasses
import tomllib
from importlib import resources

import numpy as np
import pytest

from alight.core.errors import InputError
from alight.scenario import landers

TABLES = tomllib.loads(
    (resources.files("alight.scenario") / "data" / "landers.toml").read_text("utf-8")
)

# Moments about x, y, z [kg m^2] as printed in the project's table of landers, to those digits.
PRINTED = {
    "MASCOT": ("0.098", "0.091", "0.128"),
    "MINERVA-II-1": ("2.7e-3", "2.7e-3", "4.5e-3"),
    "MINERVA": ("1.02e-3", "1.02e-3", "1.06e-3"),
    "Juventas": ("0.063", "0.147", "0.190"),
    "Philae": ("20", "20", "25"),
}


def agrees(value: float, printed: str) -> bool:
    """Whether ``value`` rounds to the digits printed."""
    mantissa, _, exponent = printed.partition("e")
    decimals = len(mantissa.partition(".")[2])
    half_digit = 0.5 * 10.0 ** (int(exponent or 0) - decimals)
    return abs(value - float(printed)) <= half_digit * (1 + 1e-9)


@pytest.mark.parametrize("name", PRINTED)
def test_moments_as_printed(name):
    moments = landers.find(name).rigid().inertia.diagonal()
    for value, printed in zip(moments, PRINTED[name], strict=True):
        assert agrees(value, printed), (name, value, printed)
    assert not agrees(1.02 * moments[0], PRINTED["MASCOT"][0])


@pytest.mark.parametrize(
    ("name", "mass", "extent", "points"),
    [
        ("MASCOT", 9.6, (0.275, 0.290, 0.195), 8),
        ("MINERVA-II-1", 1.1, (0.18, 0.18, 0.07), 32),
        ("MINERVA-II-2", 1.0, (0.15, 0.15, 0.16), 16),
        ("MINERVA", 0.591, (0.12, 0.12, 0.10), 32),
        ("Philae", 98.0, (1.0, 1.0, 0.8), 8),
        ("Juventas", 12.0, (0.37, 0.23, 0.10), 8),
        ("Milani", 12.0, (0.366, 0.246, 0.130), 8),
        ("6U CubeSat", 12.0, (0.366, 0.2263, 0.100), 8),
        ("Hedgehog", 5.0, (0.2, 0.2, 0.2), 16),
        ("Target marker", 0.3, (0.1, 0.1, 0.1), 1),
        ("Unit cube", 1.0, (1.0, 1.0, 1.0), 8),
        ("Unit cylinder", 1.0, (1.0, 1.0, 1.0), 32),
        ("Unit sphere", 1.0, (1.0, 1.0, 1.0), 1),
    ],
)
def test_figures(name, mass, extent, points):
    lander = landers.find(name)
    rigid = lander.rigid()
    assert rigid.name == lander.name == name
    assert rigid.mass == lander.mass == mass
    np.testing.assert_allclose(rigid.hull.extent, extent, rtol=3e-3)  # a sphere's mesh is inside
    assert rigid.n_points == points
    assert lander.rigid() is rigid
    # a spacecraft is lighter than rock and heavier than foam
    if not name.startswith("Unit"):
        assert 100.0 < mass / rigid.hull.volume < 1500.0


def test_every_lander_is_listed_and_found():
    assert len(landers.names()) == len(TABLES) == 13
    for name in landers.names():
        lander = landers.find(name.upper())
        for alias in (lander.designation, *lander.aliases):
            assert landers.find(alias) is lander


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("minerva-ii-1", "MINERVA-II-1"),
        ("MINERVA II-1B", "MINERVA-II-1"),
        ("minerva_ii_2", "MINERVA-II-2"),
        ("6u", "6U CubeSat"),
        (" Target-Marker ", "Target marker"),
    ],
)
def test_other_names(asked, name):
    assert landers.find(asked).name == name


def test_unknown_lander_suggests_the_nearest():
    with pytest.raises(InputError, match=r'unknown lander "maskot"\. Did you mean "MASCOT"\? Kno'):
        landers.find("maskot")
    with pytest.raises(InputError, match="unknown lander"):
        landers.find("")


def test_minerva_touches_at_its_two_rims():
    points = landers.find("minerva-ii-1").rigid(32).points
    np.testing.assert_allclose(np.hypot(*points[:, :2].T), 0.09, rtol=1e-14)
    np.testing.assert_array_equal(np.sort(points[:, 2]), np.repeat([-0.035, 0.035], 16))
    turn = np.sort(np.degrees(np.arctan2(*points[:16, 1::-1].T)) % 360)
    np.testing.assert_allclose(np.diff(turn), 22.5, rtol=1e-12)


def test_hedgehog_has_a_spike_at_each_corner():
    rigid = landers.find("hedgehog").rigid()
    corners, tips = rigid.points[:8], rigid.points[8:]
    np.testing.assert_allclose(np.linalg.norm(tips - corners, axis=1), 0.03, rtol=1e-6)
    np.testing.assert_allclose(np.cross(tips, corners), 0.0, atol=1e-15)
    assert rigid.bounding_radius == pytest.approx(0.1 * np.sqrt(3) + 0.03, rel=1e-6)
    assert landers.find("hedgehog").rigid(26).n_points == 34


def test_target_marker_is_a_ball():
    rigid = landers.find("target marker").rigid()
    np.testing.assert_array_equal(rigid.radii, [0.05])
    np.testing.assert_allclose(rigid.inertia, 0.4 * 0.3 * 0.05**2 * np.eye(3), rtol=1e-14)


def test_count_of_points_can_be_chosen():
    assert landers.find("mascot").rigid(32).n_points == 32
    with pytest.raises(InputError, match="number of contact points is 0"):
        landers.find("mascot").rigid(0)


# -- provenance and strictness -----------------------------------------------------------------


def test_every_figure_has_a_source():
    for name in landers.names():
        lander = landers.find(name)
        assert {"mass", "size", "inertia"} <= set(lander.sources)
        assert ("extra_points" in lander.sources) == bool(lander.extra_points)
        for source in lander.sources.values():
            assert source.mark in ("read", "unconfirmed", "derived")
        # a uniform solid is computed here, any other inertia is not
        assert (lander.sources["inertia"].mark == "derived") == (lander.inertia is None)


def test_unconfirmed_figures_are_marked():
    marks = {
        ("mascot", "mass"): "unconfirmed",
        ("mascot", "size"): "unconfirmed",
        ("minerva-ii-1", "mass"): "read",
        ("minerva-ii-2", "size"): "unconfirmed",
        ("philae", "inertia"): "unconfirmed",
        ("hedgehog", "size"): "unconfirmed",
        ("target marker", "mass"): "unconfirmed",
    }
    for (name, figure), mark in marks.items():
        assert landers.find(name).sources[figure].mark == mark, (name, figure)


def test_lander_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        landers.find("mascot").mass = 10.0


def test_text_of_a_lander():
    text = str(landers.find("mascot"))
    assert text.startswith("MASCOT (Hayabusa2, Ryugu 2018): 9.6 kg, 0.275 x 0.29 x 0.195 m")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"mass_g": 1.0}, 'unknown key of MASCOT "mass_g".*Did you mean "mass_kg"'),
        ({"shape": {"kind": "bocks"}}, 'unknown shape of MASCOT "bocks".*Did you mean "box"'),
        ({"shape": {"kind": "box", "size_cm": [1, 1, 1]}}, 'key of the box of MASCOT "size_cm"'),
        ({"shape": {"kind": "prism", "sides": 8}}, "lacks diameter_m, height_m"),
        ({"extra_points_m": [[0, 0, 1]]}, "missing or unexpected extra_points"),
        ({"sources": {"mass": "read: here"}}, "missing or unexpected inertia, size"),
    ],
)
def test_faults_in_the_file_are_named(change, complaint):
    table = {**copy.deepcopy(TABLES["mascot"]), **change}
    with pytest.raises(InputError, match=complaint):
        landers._lander(table)


def test_source_without_a_mark_is_refused():
    table = copy.deepcopy(TABLES["mascot"])
    table["sources"]["mass"] = "somebody said so"
    with pytest.raises(InputError, match='source of mass of MASCOT is "somebody said so"'):
        landers._lander(table)
