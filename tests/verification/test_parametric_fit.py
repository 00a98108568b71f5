"""Figure 2 of paper 001: the radius series of Geographos gets better with every order.

Least squares over nested spaces cannot get worse: the rms error falls with the order. The first
order is r = a + b.n, a limacon, nearly a sphere. The figure goes to out/validate/paper_001.
"""

import importlib.util
import pathlib
import sys

import numpy as np
import pytest

from alight.core.errors import InputError
from alight.shapes.mesh import Mesh
from alight.surfaces import Parametric

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "out" / "validate" / "paper_001"

#: Root mean square radius error [% of the mean radius] and half of its last digit, by order.
RMS = {1: (25.8, 0.05), 5: (5.6, 0.05), 10: (2.1, 0.05), 15: (1.5, 0.05), 22: (0.93, 0.005)}


@pytest.fixture(scope="module")
def study():
    name = ROOT / "examples" / "paper_001_fit.py"
    spec = importlib.util.spec_from_file_location("paper_001_fit", name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def mesh(shapes_dir):
    return Mesh.read(shapes_dir / "Geographos_16380.obj", unit="km", recentre=True)


@pytest.mark.validate
def test_figure_2(study, mesh, capsys):
    assert (mesh.n_vertices, mesh.n_faces) == (8192, 16380)
    found = study.fits(mesh)
    assert set(found) == set(RMS)
    for order, ground in found.items():
        rms, half_digit = RMS[order]
        assert 100.0 * ground.report.rms == pytest.approx(rms, abs=half_digit), order
    for errors in ([g.report.rms for g in found.values()], [g.report.max for g in found.values()]):
        assert (np.diff(errors) < 0.0).all()
    study.draw(mesh, found, FOLDER / "fit.png")
    assert (FOLDER / "fit.png").stat().st_size > 100_000
    with capsys.disabled():
        print("\n" + study.table(found))


@pytest.mark.validate
def test_the_law_is_the_fit(mesh):
    """The surface of the kernel lies where the fit says: its errors at the vertices are those."""
    ground = Parametric.from_mesh(mesh, 22)
    distance, _ = ground.query(mesh.vertices)
    radius = np.linalg.norm(mesh.vertices, axis=1)
    error = radius - ground.series.radius(mesh.vertices)
    assert distance == pytest.approx(error, rel=0, abs=1e-12 * radius.max())
    assert np.abs(distance).max() <= ground.report.max * ground.report.mean_radius * (1 + 1e-9)


@pytest.mark.validate
def test_order_one_is_nearly_a_sphere(mesh):
    """r = a + b.n differs from a sphere of radius a about b by |b|^2/(2 a) at most."""
    c = Parametric.from_mesh(mesh, 1).series.coefficients
    a, b = c[0], np.sqrt(3.0) * np.array([c[3], c[1], c[2]])
    n = np.random.default_rng(0).normal(size=(1000, 3))
    n /= np.linalg.norm(n, axis=1)[:, None]
    place = (a + n @ b)[:, None] * n
    away = np.linalg.norm(place - b, axis=1) - a
    assert np.linalg.norm(b) < 0.1 * a
    assert np.abs(away).max() <= b @ b / (2.0 * a) * (1.0 + np.linalg.norm(b) / a)


@pytest.mark.validate
def test_a_mesh_bears_only_so_many_terms(shapes_dir):
    """502 vertices cannot tell 529 terms, nor a mesh of overhangs any."""
    small = Mesh.read(shapes_dir / "Geographos_1000.obj", unit="km", recentre=True)
    with pytest.raises(InputError, match=r"degree 22 has 529 terms but the mesh has only 502"):
        Parametric.from_mesh(small)
    comet = Mesh.read(shapes_dir / "67P_6000.obj", unit="km", recentre=True)
    with pytest.raises(InputError, match=r"not star-shaped: \d+\.\d+ % of its surface cannot"):
        Parametric.from_mesh(comet)
