"""Volume, centre of mass and inertia against closed forms, additivity and published figures."""

import numpy as np
import pytest
import trimesh

from alight.shapes import Mesh, icosphere
from alight.shapes.mass import mass_properties, principal_rotation

# Sums of n pairwise terms carry a few log2(n) roundings; nothing here has more than 2**20 facets.
ROUNDING = 40 * np.finfo(float).eps

BOX_CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
BOX_FACES = np.array(
    [
        *([0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5]),
        *([0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6]),
        *([0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]),
    ]
)


def box(sides, corner=(0.0, 0.0, 0.0)):
    return Mesh(BOX_CORNERS * sides + np.asarray(corner), BOX_FACES)


def tetrahedron(points):
    faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
    return Mesh(points, faces, repair=True)


def random_rotation(seed):
    q, r = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    q *= np.sign(np.diag(r))
    return q if np.linalg.det(q) > 0 else -q


@pytest.mark.parametrize("corner", [(0, 0, 0), (-1.5, 0.25, 7.0), (2.0**20, -(2.0**21), 2.0**19)])
def test_box_has_the_closed_form_wherever_it_is(corner):
    # Powers of two keep the shifted corners exact, so distance alone must cost no digits.
    sides = np.array([2.0, 3.0, 5.0])
    mesh = box(sides, corner)
    mass = 30.0
    moments = mass / 12.0 * (np.sum(sides**2) - sides**2)
    assert mesh.volume == pytest.approx(30.0, rel=ROUNDING)
    np.testing.assert_allclose(mesh.center_of_mass, np.array(corner) + sides / 2, rtol=ROUNDING)
    np.testing.assert_allclose(
        mesh.inertia(1.0), np.diag(moments), rtol=ROUNDING, atol=ROUNDING * moments.max()
    )
    np.testing.assert_allclose(mesh.inertia(1950.0), 1950.0 * mesh.inertia(1.0), rtol=ROUNDING)
    assert mesh.area == pytest.approx(2 * (6 + 10 + 15), rel=ROUNDING)


def test_corner_tetrahedron_has_the_closed_form():
    # Unit right tetrahedron: V = 1/6, centroid 1/4; about the origin the integrals of x^2 and xy
    # are 1/60 and 1/120.
    mesh = tetrahedron(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]))
    square, product, shift = 1 / 60, 1 / 120, (1 / 6) * (1 / 16)
    expected = np.full((3, 3), -(product - shift))
    np.fill_diagonal(expected, 2 * (square - shift))
    assert mesh.volume == pytest.approx(1 / 6, rel=ROUNDING)
    np.testing.assert_allclose(mesh.center_of_mass, 0.25, rtol=ROUNDING)
    np.testing.assert_allclose(mesh.inertia(1.0), expected, rtol=ROUNDING)


def test_a_body_is_the_sum_of_its_parts():
    rng = np.random.default_rng(7)
    corners = rng.normal(size=(4, 3))
    inner = corners.T @ np.array([0.1, 0.2, 0.3, 0.4])
    whole = tetrahedron(corners)
    parts = []
    for k in range(4):
        points = corners.copy()
        points[k] = inner
        parts.append(tetrahedron(points))
    volumes = np.array([p.volume for p in parts])
    centers = np.array([p.center_of_mass for p in parts])
    inertia = np.zeros((3, 3))
    for part, volume, center in zip(parts, volumes, centers, strict=True):
        lever = center - whole.center_of_mass
        inertia += part.inertia(1.0) + volume * (lever @ lever * np.eye(3) - np.outer(lever, lever))
    assert volumes.sum() == pytest.approx(whole.volume, rel=ROUNDING)
    np.testing.assert_allclose(volumes @ centers / whole.volume, whole.center_of_mass, rtol=1e-13)
    np.testing.assert_allclose(inertia, whole.inertia(1.0), rtol=1e-12)


@pytest.mark.parametrize(
    ("subdivisions", "ratio"),
    list(enumerate([0.605461, 0.873453, 0.966161, 0.991394, 0.997839, 0.999459])),
)
def test_inscribed_spheres_lack_the_known_volume(subdivisions, ratio):
    sphere = icosphere(subdivisions, radius=3.0)
    # The ratios are given to six decimals.
    assert sphere.volume / (4 / 3 * np.pi * 27.0) == pytest.approx(ratio, abs=5.1e-7)
    assert sphere.radius == pytest.approx(3.0 * ratio ** (1 / 3), rel=1e-6)


def test_sphere_inertia_tends_to_two_fifths():
    # The icosphere keeps the symmetry that makes its inertia isotropic; it falls short of the
    # sphere's by the fifth power of the mean radius, as volume does by the third.
    sphere = icosphere(5)
    moments = np.linalg.eigvalsh(sphere.inertia(1.0))
    assert np.ptp(moments) < 1e-13
    assert moments[0] / sphere.volume == pytest.approx(0.4, rel=5e-4)


@pytest.mark.parametrize(
    ("name", "volume_km3", "center_km", "ratios"),
    [
        ("67P_1500.obj", "18.725", (0.01484, -0.03119, 0.02143), (0.5040, 0.9300)),
        ("67P_96834.npz", "18.752", (0.01552, -0.03008, 0.02097), (0.5042, 0.9298)),
        ("Bennu_12288.obj", "0.0616267", (0.00136, -0.00041, 0.00027), (0.8516, 0.8807)),
        ("Didymos_3072.obj", "0.203133", (0.01600, 0.04229, -0.03403), (0.7448, 0.8001)),
        ("Eros_7790.obj", "2525.99", (-0.02163, 0.00237, 0.04748), (0.2034, 0.9834)),
        ("Geographos_4000.obj", "9.17187", (0.00363, -0.00167, 0.00015), (0.2813, 0.9587)),
        ("Itokawa_49152.npz", "0.0177856", (0.00036, 0.00003, -0.00011), (0.2812, 0.9514)),
        ("Phobos_12288.obj", "5691.93", (-0.08194, -0.52112, 0.03159), (0.7230, 0.8480)),
        ("Ryugu_5932.obj", "0.376881", (0.00038, 0.00023, -0.00003), (0.8694, 0.8935)),
    ],
)
def test_real_bodies_have_the_published_figures(shapes_dir, name, volume_km3, center_km, ratios):
    mesh = Mesh.read(shapes_dir / name, unit="km")
    moments = np.linalg.eigvalsh(mesh.inertia(1.0))
    # Every figure is right to half a unit of its last decimal.
    half = 0.51 * 10.0 ** -len(volume_km3.partition(".")[2])
    assert mesh.volume / 1e9 == pytest.approx(float(volume_km3), abs=half)
    np.testing.assert_allclose(mesh.center_of_mass / 1e3, center_km, rtol=0, atol=5.1e-6)
    np.testing.assert_allclose(moments[:2] / moments[2], ratios, rtol=0, atol=5.1e-5)


def test_another_tool_agrees(shapes_dir):
    mesh = Mesh.read(shapes_dir / "Itokawa_3072.obj", unit="km")
    other = trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)
    assert mesh.volume == pytest.approx(other.volume, rel=1e-12)
    assert mesh.area == pytest.approx(other.area, rel=1e-12)
    np.testing.assert_allclose(mesh.center_of_mass, other.center_mass, rtol=1e-9)
    scale = np.abs(other.moment_inertia).max()
    np.testing.assert_allclose(mesh.inertia(1.0), other.moment_inertia, rtol=0, atol=1e-11 * scale)


def test_principal_axes_of_a_turned_box():
    sides = np.array([5.0, 3.0, 2.0])  # longest along x, so moments ascend from x to z
    turned = box(sides, corner=(10.0, -4.0, 3.0)).rotated(random_rotation(3))
    R = turned.principal_rotation
    aligned = turned.principal_axes()
    moments = 30.0 / 12.0 * (np.sum(sides**2) - sides**2)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-14)
    assert np.linalg.det(R) == pytest.approx(1.0, rel=1e-14)
    np.testing.assert_allclose(aligned.inertia(1.0), np.diag(moments), atol=1e-12 * moments.max())
    np.testing.assert_allclose(aligned.center_of_mass, 0.0, atol=1e-14)
    np.testing.assert_allclose(aligned.extent, sides, rtol=1e-13)


def test_principal_axes_keep_a_body_that_has_them_already():
    mesh = box([5.0, 3.0, 2.0], corner=(-2.5, -1.5, -1.0))
    np.testing.assert_allclose(mesh.principal_rotation, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(mesh.principal_axes().vertices, mesh.vertices, atol=1e-14)


def test_principal_axes_have_fixed_signs():
    # Whichever signs the eigenvectors come with, the leading components of x and z are positive.
    turn = np.array([[0.0, -1, 0], [-1, 0, 0], [0, 0, -1]])
    rotation = principal_rotation(turn @ np.diag([1.0, 2.0, 3.0]) @ turn.T)
    np.testing.assert_allclose(rotation, [[0, 1, 0], [-1, 0, 0], [0, 0, 1]], atol=1e-15)


def test_a_flat_sheet_has_no_volume_and_no_center():
    flat = BOX_CORNERS * [1.0, 1.0, 0.0]
    properties = mass_properties(flat, BOX_FACES.astype(np.int32))
    assert properties.volume == 0.0
    assert np.isnan(properties.center_of_mass).all()
