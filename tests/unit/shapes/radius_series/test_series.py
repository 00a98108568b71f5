"""Radius series: values, exact derivatives, conversions, fits and meshes."""

import numpy as np
import pytest
from scipy import special
from scipy.spatial import ConvexHull

from alight.core.errors import InputError
from alight.shapes import builtin
from alight.shapes.icosphere import icosphere
from alight.shapes.mesh import Mesh
from alight.shapes.radius_series import harmonics, monomials
from alight.shapes.radius_series.fit import radius_samples, visible_fractions
from alight.shapes.radius_series.series import HarmonicSeries, PolynomialSeries

EPS = np.finfo(float).eps


@pytest.fixture(scope="module")
def directions() -> np.ndarray:
    """Random unit directions, both poles and points a hair from them."""
    n = np.random.default_rng(7).normal(size=(200, 3))
    n[:5] = [[0, 0, 1], [0, 0, -1], [1e-9, 0, 1], [0, -1e-6, -1], [1, 0, 0]]
    return n / np.linalg.norm(n, axis=1, keepdims=True)


def random_series(degree: int, seed: int = 0) -> HarmonicSeries:
    return HarmonicSeries(np.random.default_rng(seed).normal(size=(degree + 1) ** 2))


def degrees_of_terms(degree: int) -> np.ndarray:
    return np.repeat(np.arange(degree + 1), 2 * np.arange(degree + 1) + 1)


# -- harmonics ---------------------------------------------------------------------------------


def test_harmonics_agree_with_scipy(directions):
    """scipy's are orthonormal, complex and carry (-1)^m; ours are sqrt(4 pi) times real parts."""
    degree = 12
    ours = harmonics.basis(degree, directions)
    colatitude = np.arccos(directions[:, 2])
    # arccos loses digits near the poles; scipy is the reference only away from them
    away = np.abs(directions[:, 2]) < 0.999
    longitude = np.arctan2(directions[:, 1], directions[:, 0])
    for k in range(degree + 1):
        for m in range(-k, k + 1):
            value = special.sph_harm_y(k, abs(m), colatitude, longitude)
            part = value.real if m >= 0 else value.imag
            scale = np.sqrt(4 * np.pi) * (-1) ** m * (1 if m == 0 else np.sqrt(2))
            column = ours[:, k * k + k + m]
            np.testing.assert_allclose(column[away], scale * part[away], rtol=0, atol=2e-11)


def test_harmonics_are_orthonormal_on_average():
    degree = 30
    n, weights = harmonics.sphere_quadrature(2 * degree)
    y = harmonics.basis(degree, n)
    np.testing.assert_allclose((y * weights[:, None]).T @ y, np.eye(961), atol=1e-12)


def test_quadrature_averages_monomials():
    """mean x^4 y^2 z^2 = 3!! 1!! 1!! / 9!! = 3/945; odd powers vanish."""
    n, weights = harmonics.sphere_quadrature(8)
    x, y, z = n.T
    assert weights.sum() == pytest.approx(1, rel=4 * EPS)
    assert weights @ (x**4 * y**2 * z**2) == pytest.approx(3 / 945, rel=1e-13)
    assert abs(weights @ (x**3 * y**2 * z**2)) < 1e-16


# -- evaluation --------------------------------------------------------------------------------


@pytest.mark.parametrize("degree", [0, 1, 2, 5, 22])
def test_value_is_the_sum_of_its_terms(directions, degree):
    series = random_series(degree)
    expected = harmonics.basis(degree, directions) @ series.coefficients
    scale = np.abs(series.coefficients).sum()
    np.testing.assert_allclose(series.radius(directions), expected, rtol=0, atol=10 * EPS * scale)
    np.testing.assert_allclose(series.evaluate(directions)[0], expected, atol=10 * EPS * scale)


@pytest.mark.parametrize("kind", ["harmonic", "polynomial"])
@pytest.mark.parametrize("degree", [1, 3, 10, 22])
def test_derivatives_agree_with_finite_differences(directions, degree, kind):
    """Central differences of f(x) = r(x/|x|): error h^2/6 f''' + eps f/h, f''' ~ degree^3 f."""
    series = random_series(degree)
    series = series if kind == "harmonic" else series.to_polynomial()
    h = 1e-5
    value, gradient, hessian = series.evaluate(directions)
    size = np.abs(value).max()

    def slope(x):
        return series.evaluate(x)[1] / np.linalg.norm(x, axis=1, keepdims=True)

    for axis in range(3):
        step = h * np.eye(3)[axis]
        ahead, behind = directions + step, directions - step
        df = (series.radius(ahead) - series.radius(behind)) / (2 * h)
        tolerance = size * (h**2 * degree**3 + 100 * EPS / h)
        np.testing.assert_allclose(gradient[:, axis], df, rtol=0, atol=tolerance)
        d2f = (slope(ahead) - slope(behind)) / (2 * h)
        tolerance = size * degree * (h**2 * degree**3 + 100 * EPS / h)
        np.testing.assert_allclose(hessian[:, :, axis], d2f, rtol=0, atol=tolerance)


@pytest.mark.parametrize("kind", ["harmonic", "polynomial"])
def test_derivatives_belong_to_a_function_of_direction_alone(directions, kind):
    series = random_series(22)
    series = series if kind == "harmonic" else series.to_polynomial()
    _, gradient, hessian = series.evaluate(directions)
    size = np.abs(hessian).max()
    assert np.abs(np.einsum("ni,ni->n", gradient, directions)).max() < 1e-12 * size
    np.testing.assert_array_equal(hessian, np.swapaxes(hessian, 1, 2))
    radial = np.einsum("nij,nj->ni", hessian, directions)
    np.testing.assert_allclose(radial, -gradient, rtol=0, atol=1e-12 * size)


def test_laplacian_of_each_harmonic_is_its_eigenvalue(directions):
    """The trace of the Hessian is the surface Laplacian: -l (l + 1) for degree l."""
    degree = 22
    series = random_series(degree)
    ls = degrees_of_terms(degree)
    expected = -harmonics.basis(degree, directions) @ (ls * (ls + 1) * series.coefficients)
    trace = np.trace(series.evaluate(directions)[2], axis1=1, axis2=2)
    np.testing.assert_allclose(trace, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_pole_is_an_ordinary_point():
    series = builtin.find("ryugu").shape
    at, near = series.evaluate([0, 0, 1]), series.evaluate([1e-9, 1e-9, 1])
    for exact, close in zip(at, near, strict=True):
        np.testing.assert_allclose(close, exact, rtol=0, atol=1e-7 * np.abs(at[2]).max())


def test_shapes_and_lengths_of_directions():
    series = random_series(6)
    n = np.random.default_rng(3).normal(size=(2, 5, 3))
    radius, gradient, hessian = series.evaluate(n)
    assert radius.shape == (2, 5)
    assert gradient.shape == (2, 5, 3)
    assert hessian.shape == (2, 5, 3, 3)
    longer = series.evaluate(1e6 * n)
    for ours, theirs in zip((radius, gradient, hessian), longer, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-11 * np.abs(hessian).max())
    assert series.radius(n[0, 0]).shape == ()
    assert series.radius(np.zeros((0, 3))).shape == (0,)


def test_many_directions_are_split_without_a_seam():
    series = random_series(4)
    n = np.random.default_rng(4).normal(size=(5000, 3))
    np.testing.assert_array_equal(series.radius(n)[2000:2100], series.radius(n[2000:2100]))


# -- polynomial form ---------------------------------------------------------------------------


@pytest.mark.parametrize("degree", [0, 1, 2, 7, 22])
def test_conversion_there_and_back(directions, degree):
    series = random_series(degree)
    polynomial = series.to_polynomial()
    scale = np.abs(series.radius(directions)).max()
    for ours, theirs in zip(
        series.evaluate(directions), polynomial.evaluate(directions), strict=True
    ):
        tolerance = 1e-10 * max(scale, np.abs(ours).max())
        np.testing.assert_allclose(theirs, ours, rtol=0, atol=tolerance)
    back = polynomial.to_harmonic().coefficients
    np.testing.assert_allclose(back, series.coefficients, rtol=0, atol=1e-11)


def test_polynomial_is_written_in_its_exponents(directions):
    series = random_series(5).to_polynomial()
    a, b, c = series.exponents.T
    assert set((a + b + c).tolist()) == {5, 4}
    assert len(series.exponents) == 36
    x, y, z = (directions[:, i, None] for i in range(3))
    by_hand = (x**a * y**b * z**c) @ series.coefficients
    np.testing.assert_allclose(series.radius(directions), by_hand, rtol=0, atol=1e-12)


def test_two_degrees_of_monomials_are_a_full_and_well_scaled_basis():
    """Rank (N+1)^2 at N = 22; condition 1.4e3 with columns of unit norm, 2e7 without."""
    n, weights = harmonics.sphere_quadrature(44)
    powers = monomials.exponents(22)
    columns = monomials.basis(powers, n) * np.sqrt(weights)[:, None]
    np.testing.assert_allclose(np.linalg.norm(columns, axis=0), monomials.norms(powers), rtol=1e-11)
    triangle = np.linalg.qr(columns / monomials.norms(powers), mode="r")  # same singular values
    scaled = np.linalg.svd(triangle, compute_uv=False)
    plain = np.linalg.svd(triangle * monomials.norms(powers), compute_uv=False)
    assert len(scaled) == 529
    assert scaled[0] / scaled[-1] == pytest.approx(1.4e3, rel=0.05)
    assert plain[0] / plain[-1] == pytest.approx(2e7, rel=0.3)


# -- volume and meshes -------------------------------------------------------------------------


def test_volume_of_a_limacon():
    """r = a + b z encloses (4 pi/3)(a^3 + a b^2); Y[1, 0] = sqrt(3) z."""
    a, b = 3.0, 1.2
    series = HarmonicSeries([a, 0, b / np.sqrt(3), 0])
    assert series.volume == pytest.approx(4 * np.pi / 3 * (a**3 + a * b**2), rel=1e-14)
    assert series.to_polynomial().volume == pytest.approx(series.volume, rel=1e-14)


def test_mesh_volume_approaches_that_of_the_series():
    """Facets cut the corners by h^2: each subdivision leaves a quarter of the error."""
    series = builtin.find("bennu").shape
    miss = [1 - series.to_mesh(subdivisions=s).volume / series.volume for s in (4, 5, 6)]
    assert miss[0] < 0.004
    assert miss[0] / miss[1] == pytest.approx(4, abs=0.4)
    assert miss[1] / miss[2] == pytest.approx(4, abs=0.2)


def test_mesh_of_asked_size():
    series = builtin.find("ryugu").shape
    assert series.to_mesh().n_faces == 5120
    assert series.to_mesh(1000).n_vertices == 1000
    mesh = series.to_mesh(subdivisions=2)
    radius = np.linalg.norm(mesh.vertices, axis=1)
    np.testing.assert_allclose(radius, series.radius(mesh.vertices), rtol=1e-13)
    with pytest.raises(InputError, match="not both"):
        series.to_mesh(100, subdivisions=2)


def test_mesh_of_a_radius_below_zero_is_refused():
    with pytest.raises(InputError, match=r"radius is -.* must be positive"):
        HarmonicSeries([1.0, 0, 1.0, 0]).to_mesh()


# -- fits --------------------------------------------------------------------------------------


def test_fit_recovers_a_series_as_the_mesh_is_refined():
    """Vertices lie on the surface, centroids h^2 below it: the error falls by 4 per cut."""
    series = HarmonicSeries(np.r_[100.0, np.random.default_rng(1).normal(size=35)])
    errors = []
    for subdivisions in (3, 4, 5):
        fitted = HarmonicSeries.fit(series.to_mesh(subdivisions=subdivisions), 5)
        errors.append(np.abs(fitted.coefficients - series.coefficients).max())
    assert errors[0] < 0.3
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(4, rel=0.05)


def test_polynomial_fit_is_the_least_squares_solution_in_monomials():
    mesh = builtin.find("castalia").mesh(1280)
    fitted = PolynomialSeries.fit(mesh, 8)
    n, radius, weight = radius_samples(mesh)
    root = np.sqrt(weight)[:, None]
    columns = monomials.basis(fitted.exponents, n) / monomials.norms(fitted.exponents)
    direct = np.linalg.lstsq(columns * root, radius * root[:, 0], rcond=None)[0]
    expected = direct / monomials.norms(fitted.exponents)
    np.testing.assert_allclose(
        fitted.coefficients, expected, rtol=0, atol=1e-10 * np.abs(expected).max()
    )


def test_report_states_the_errors_of_the_fit():
    mesh = builtin.find("castalia").mesh(1280)
    series = HarmonicSeries.fit(mesh, 6)
    n, radius, weight = radius_samples(mesh)
    error = np.abs(series.radius(n) - radius)
    report = series.report
    assert report.mean_radius == pytest.approx(mesh.radius)
    assert report.max == pytest.approx(error.max() / mesh.radius, rel=1e-9)
    assert report.rms == pytest.approx(np.sqrt(weight @ error**2) / mesh.radius, rel=1e-9)
    assert weight.sum() == pytest.approx(1)
    assert f"rms {100 * report.rms:.3g} %" in repr(series)
    assert "HarmonicSeries(degree 6, 49 coefficients, mean radius 54" in repr(series)
    assert series.to_polynomial().report is report


def test_sphere_is_seen_whole():
    assert visible_fractions(icosphere(3, 5.0)) == (1.0, 1.0)


def test_visible_fraction_agrees_with_casting_every_ray():
    mesh = builtin.find("67p").mesh(1200)
    corners = mesh.vertices[mesh.faces]
    centroid = corners.mean(axis=1)
    distance = np.linalg.norm(centroid, axis=1)
    seen = np.einsum("ij,ij->i", mesh.face_normals, centroid) > 0
    facing = mesh.face_areas[seen].sum() / mesh.area
    for f, target in enumerate(centroid):
        ray = target / distance[f]
        sides = np.stack([np.cross(corners[:, i], corners[:, (i + 1) % 3]) @ ray for i in range(3)])
        hit = (sides > 0).all(axis=0) | (sides < 0).all(axis=0)
        depth = np.einsum("ij,ij->i", mesh.face_normals, corners[:, 0])[hit]
        depth = depth / (mesh.face_normals[hit] @ ray)
        if ((depth > 0) & (depth < distance[f] * (1 - 1e-9))).any():
            seen[f] = False
    expected = mesh.face_areas[seen].sum() / mesh.area
    assert expected < facing < 1
    assert visible_fractions(mesh) == pytest.approx((expected, facing), rel=1e-12)


def test_body_with_overhangs_is_refused_with_the_hidden_fraction():
    mesh = builtin.find("67p").mesh(1200)
    hidden = 100 * (1 - visible_fractions(mesh)[0])
    with pytest.raises(InputError, match=f"not star-shaped: {hidden:.2f} % of its surface cannot"):
        HarmonicSeries.fit(mesh, 6)
    report = HarmonicSeries.fit(mesh, 6, min_visible=0.5).report
    assert report.visible < report.facing < 1


def test_fit_needs_an_inner_origin():
    mesh = icosphere(2, 10.0).translated([20.0, 0, 0])
    with pytest.raises(InputError, match="origin is not inside"):
        HarmonicSeries.fit(mesh, 2)


def test_fit_needs_enough_vertices():
    with pytest.raises(
        InputError, match=r"degree 6 has 49 terms .* 42 vertices.* degree 5 or less"
    ):
        HarmonicSeries.fit(icosphere(1), 6)
    assert HarmonicSeries.fit(icosphere(1), 5).degree == 5


@pytest.mark.parametrize("degree", [5, 10])
def test_fit_needs_samples_all_around(degree):
    """Two hundred vertices, nearly all on one side: condition 5e9 at degree 5, singular at 10."""
    rng = np.random.default_rng(5)
    cap = rng.normal(size=(200, 3)) * 0.1 + [0, 0, 1]
    points = np.concatenate((cap, np.eye(3), -np.eye(3)))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    mesh = Mesh(points, ConvexHull(points).simplices, repair=True)
    assert HarmonicSeries.fit(mesh, 3).report.condition < 100
    with pytest.raises(InputError, match=f"does not determine a series of degree {degree}:"):
        PolynomialSeries.fit(mesh, degree)


@pytest.mark.parametrize("degree", [-1, 2.5, "3", True])
def test_degree_must_be_a_whole_number(degree):
    with pytest.raises(InputError, match="whole number"):
        HarmonicSeries.fit(icosphere(2), degree)


@pytest.mark.parametrize("coefficients", [[], [1, 2, 3], [[1.0]], np.ones((2, 2))])
def test_number_of_coefficients_must_be_a_square(coefficients):
    with pytest.raises(InputError, match=r"\(N \+ 1\)\^2"):
        HarmonicSeries(coefficients)


def test_coefficients_must_be_finite_and_stay_as_given():
    with pytest.raises(InputError, match="coefficient 2 is nan"):
        PolynomialSeries([1, 2, np.nan, 4])
    given = np.ones(4)
    series = HarmonicSeries(given)
    given[0] = 5
    assert series.coefficients[0] == 1
    with pytest.raises(ValueError, match="read-only"):
        series.coefficients[0] = 2


@pytest.mark.parametrize("bad", [[0, 0, 0], [np.nan, 0, 1], [np.inf, 0, 0]])
def test_direction_without_direction_is_refused(bad):
    with pytest.raises(InputError, match="direction 1 is"):
        random_series(2).radius([[0, 0, 1], bad])
    with pytest.raises(InputError, match="shape"):
        random_series(2).radius([1.0, 2.0])


# -- real bodies -------------------------------------------------------------------------------


def test_geographos_at_five_orders(shapes_dir):
    """Figure 2 of paper 001: rms 25.8, 5.6, 2.1, 1.5, 0.93 % of the mean radius."""
    mesh = Mesh.read(shapes_dir / "Geographos_16380.obj", unit="km", recentre=True)
    printed = {1: (25.8, 0.05), 5: (5.6, 0.05), 10: (2.1, 0.05), 15: (1.5, 0.05), 22: (0.93, 0.005)}
    for degree, (rms, half_digit) in printed.items():
        report = PolynomialSeries.fit(mesh, degree).report
        assert 100 * report.rms == pytest.approx(rms, abs=half_digit), degree
    assert report.max == pytest.approx(0.133, abs=0.0005)
    assert report.facing == pytest.approx(0.9992, abs=5e-5)


def test_fit_to_real_bennu_is_the_built_in_series(shapes_dir):
    """The built-in coefficients are rounded to 1e-4 m."""
    mesh = Mesh.read(shapes_dir / "Bennu_49152.npz", unit="km", recentre=True)
    fitted = HarmonicSeries.fit(mesh, 22)
    shape = builtin.find("bennu")
    np.testing.assert_allclose(fitted.coefficients, shape.shape.coefficients, rtol=0, atol=5.1e-5)
    assert fitted.report.rms == pytest.approx(shape.rms, abs=5e-6)
    assert fitted.report.max == pytest.approx(shape.max, abs=5e-5)


def test_itokawa_is_nearly_star_shaped_and_67p_is_not(shapes_dir):
    itokawa = Mesh.read(shapes_dir / "Itokawa_49152.npz", unit="km", recentre=True)
    visible, facing = visible_fractions(itokawa)
    assert facing == pytest.approx(0.9757, abs=5e-5)
    assert visible == pytest.approx(0.954, abs=5e-4)
    assert HarmonicSeries.fit(itokawa, 4).report.visible == visible
    comet = Mesh.read(shapes_dir / "67P_6000.obj", unit="km", recentre=True)
    with pytest.raises(InputError, match="not star-shaped"):
        HarmonicSeries.fit(comet, 4)
