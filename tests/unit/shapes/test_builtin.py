"""Built-in shapes: the series reproduce their check radii and the volumes of their sources."""

import json
from importlib import resources

import numpy as np
import pytest

from alight.core.errors import InputError
from alight.shapes import builtin
from alight.shapes.lobes import Lobes
from alight.shapes.radius_series.series import HarmonicSeries

FIGURES = json.loads(
    (resources.files("alight.shapes") / "data" / "shape_series.json").read_text("utf-8")
)["bodies"]
SERIES = [name for name, figures in FIGURES.items() if "coefficients" in figures]

#: Volume of the series against that of its source mesh, as stated with the figures.
VOLUME_OFFSET = {"itokawa": -0.0025, "castalia": 0.0016, "toutatis": -0.0005}


def test_all_eleven_bodies_are_there():
    assert len(builtin.names()) == 11
    assert len(SERIES) == 10


@pytest.mark.parametrize("name", SERIES)
def test_check_radii(name):
    """Stated to 1e-4 m: half a digit, and as much again for the rounding of 529 coefficients."""
    diagonal = [3**-0.5] * 3
    radius = builtin.find(name).shape.radius([*np.eye(3), diagonal])
    np.testing.assert_allclose(radius, FIGURES[name]["check"], rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", SERIES)
def test_volume_of_the_source(name):
    shape = builtin.find(name)
    assert isinstance(shape.shape, HarmonicSeries)
    offset = shape.shape.volume / shape.source_volume - 1
    if name in VOLUME_OFFSET:
        assert offset == pytest.approx(VOLUME_OFFSET[name], abs=6e-5)
    else:
        assert abs(offset) < 1.5e-4


@pytest.mark.parametrize("name", builtin.names())
def test_default_mesh(name):
    mesh = builtin.find(name).mesh()  # the constructor checks that it bounds a solid
    if name == "67p":
        assert mesh.n_faces == pytest.approx(5120, rel=0.02)
    else:
        assert mesh.n_faces == 5120
        assert mesh.n_vertices == 2562
    # about the centre of mass of the source; the fit moves it a little
    assert np.linalg.norm(mesh.center_of_mass) < 0.012 * mesh.radius


@pytest.mark.parametrize("asked", [4, 100, 1000, 1280, 20480])
def test_mesh_of_asked_count(asked):
    mesh = builtin.find("bennu").mesh(asked)
    assert mesh.n_faces == asked


def test_67p_is_lobes_with_rounded_joints():
    shape = builtin.find("67P")
    assert isinstance(shape.shape, Lobes)
    assert len(shape.shape.ellipsoids) == 3
    assert shape.shape.blend == builtin.BLEND_67P
    assert shape.max is None


def test_every_shape_names_its_source():
    for name in builtin.names():
        shape = builtin.find(name)
        assert len(shape.source) > 20
        assert shape.source in repr(shape)
        assert 0 < shape.rms < 0.06


def test_find_in_any_case_and_unknown_name():
    assert builtin.find(" Ryugu ").name == "ryugu"
    with pytest.raises(InputError, match=r'"eross"\. Did you mean "eros"'):
        builtin.find("eross")


@pytest.mark.parametrize("n_faces", [3, 0, 12.5, "fine", False])
def test_number_of_facets_is_checked(n_faces):
    with pytest.raises(InputError, match="n_faces is"):
        builtin.find("eros").mesh(n_faces)
