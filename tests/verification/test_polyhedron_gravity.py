"""The polyhedron field against closed forms, published values and 50-digit sums.

With r from the field point, n a facet's normal, m an edge's normal in that facet, and G rho = 1:

    U = 1/2 sum_f [ sum_e (n.r)(m.r) L_e - (n.r)^2 w_f ],   g = + grad U,   Laplacian U = - sum w_f

``textbook`` sums these terms as they stand in 50 digits. Tolerances: double precision loses
about eps times the number of edges' square root near the body, and eps (r/R)^3 far from it;
1e-12 for U and g and 1e-10 for the gradient are the figures every user may count on.
"""

import mpmath as mp
import numpy as np
import pytest

from alight.gravity.polyhedron.field import Polyhedron
from alight.shapes.icosphere import icosphere
from alight.shapes.mesh import Mesh

EPS = np.finfo(float).eps

#: Twelve outward triangles on the corners (x, y, z) in {low, high}, x slowest.
BOX_FACES = [
    [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
    [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3],
]  # fmt: skip


def box(x, y, z):
    return Mesh([[a, b, c] for a in x for b in y for c in z], BOX_FACES)


CUBE = box((-1, 1), (-1, 1), (-1, 1))


def unit_field(mesh):
    """The field at G rho = 1, as the closed forms give it."""
    return Polyhedron(mesh, density=1.0, G=1.0)


def turned(mesh, seed=3):
    """The mesh in general position, so that no coordinate is exact, and the turn."""
    q, r = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    q[:, 0] *= np.linalg.det(q)
    return mesh.rotated(q), q


def laplacian(gradient):
    return np.trace(gradient, axis1=-2, axis2=-1)


def relative(value, reference):
    """Greatest difference of two vectors or matrices over the greatest entry."""
    return np.abs(value - reference).max() / np.abs(reference).max()


def assert_matches(field, exact, points, u_g=1e-12, gradient=1e-10):
    """U, g and gradient of ``field`` agree with the 50-digit sums at every point."""
    u, g, h = field.evaluate(points)
    for i, x in enumerate(points):
        eu, eg, eh = exact(x)
        assert abs(u[i] / eu - 1.0) < u_g, (x, u[i], eu)
        assert relative(g[i], eg) < u_g, (x, g[i], eg)
        assert relative(h[i], eh) < gradient, (x, h[i], eh)


def directions(count, seed=0):
    d = np.random.default_rng(seed).normal(size=(count, 3))
    return d / np.linalg.norm(d, axis=1)[:, None]


# ---------------------------------------------------------------------------------------------
# The cube of side 2 and the published prism
# ---------------------------------------------------------------------------------------------


def test_cube_at_its_centre_and_corner():
    root = np.sqrt(3.0)
    centre = 4.0 * (3.0 * np.log((root + 1.0) / (root - 1.0)) - np.pi / 2.0)
    assert centre / 4.0 == pytest.approx(2.380077363980, rel=1e-12)
    u, g, _ = unit_field(CUBE).evaluate([[0, 0, 0], [1, 1, 1]])
    assert u == pytest.approx([centre, centre / 2.0], rel=1e-12)
    assert np.abs(g[0]).max() < 1e-14
    assert g[1] == pytest.approx(np.full(3, -1.93877610542514), rel=1e-12)


@pytest.mark.parametrize(
    ("point", "potential", "acceleration"),
    [
        ((1, 0, 0), 7.1712409727151, (-5.19379315651673, 0, 0)),
        ((1, 1, 0), 5.70904071880143, (-3.10338819462861, -3.10338819462861, 0)),
        ((2, 0, 0), 3.95036961669625, (-1.88599552438567, 0, 0)),
    ],
)
def test_cube_on_a_face_an_edge_and_outside(point, potential, acceleration):
    u, g, _ = unit_field(CUBE).evaluate(point)
    assert u == pytest.approx(potential, rel=1e-12)
    assert g == pytest.approx(acceleration, rel=1e-12, abs=1e-14)


def nagy(x, y, z):
    """A prism's U, g and gradient at the origin, G rho = 1, by the closed form for prisms.

    Sums over the eight corners with alternating signs; a term whose factor is zero is its limit,
    zero; an arctangent on its own plane is the mean of its limits, zero. Infinite mixed
    derivatives (the origin on an edge) come out as nan.
    """
    with mp.workdps(50):
        x, y, z = ([mp.mpf(v) for v in pair] for pair in (x, y, z))
        u, g, d = mp.mpf(0), [mp.mpf(0)] * 3, [mp.mpf(0)] * 3
        mixed = [mp.mpf(0)] * 3
        for i in (0, 1):
            for j in (0, 1):
                for k in (0, 1):
                    corner = (x[i], y[j], z[k])
                    s = (-1) ** (i + j + k + 1)
                    r = mp.sqrt(sum(c * c for c in corner))
                    for p in range(3):
                        a, b, c = corner[p], corner[(p + 1) % 3], corner[(p + 2) % 3]
                        log = mp.log(a + r) if a + r > 0 else mp.mpf("nan")
                        angle = mp.atan(b * c / (a * r)) if a != 0 else mp.mpf(0)
                        if b * c != 0:
                            u += s * b * c * log
                        u -= s * a * a / 2 * angle
                        g[p] += s * a * angle
                        g[(p + 1) % 3] -= s * c * log if c != 0 else 0
                        g[(p + 2) % 3] -= s * b * log if b != 0 else 0
                        d[p] -= s * angle
                        mixed[p] += s * log
        # mixed[p] is the second derivative along the other two axes: yz, xz, xy.
        gradient = np.diag([float(v) for v in d])
        for p in range(3):
            b, c = (p + 1) % 3, (p + 2) % 3
            gradient[b, c] = gradient[c, b] = float(mixed[p])
        return float(u), np.array([float(v) for v in g]), gradient


#: Ranges of x, y, z; V; V_x, V_y, V_z; V_xx, V_yy, V_zz as published (8 digits).
PRISMS = {
    "outside": (
        ((10, 30), (10, 20), (10, 20)),
        1.229291167769669e-5,
        (2.789847650720378e-7, 2.283769786631726e-7, 2.283769786631775e-7),
        (3.7714517e-9, -1.8857258e-9, -1.8857258e-9),
    ),
    "corner": (
        ((0, 20), (0, 10), (0, 10)),
        3.194037616042113e-5,
        (2.313291489572651e-6, 1.919739199431869e-6, 1.919739199431869e-6),
        (-3.5873555e-8, -1.2198831e-7, -1.2198831e-7),
    ),
    "face centre": (
        ((-10, 10), (-5, 5), (0, 10)),
        5.085560749317280e-5,
        (0.0, 0.0, 5.528939087970379e-6),
        (-2.2928994e-7, -6.6082081e-7, -2.2928994e-7),
    ),
}
PRISM_G, PRISM_DENSITY = 6.67259e-11, 2670.0


@pytest.mark.parametrize("case", PRISMS)
def test_published_prism(case):
    ranges, potential, acceleration, diagonal = PRISMS[case]
    field = Polyhedron(box(*ranges), density=PRISM_DENSITY, G=PRISM_G)
    u, g, h = field.evaluate([0, 0, 0])
    assert u == pytest.approx(potential, rel=1e-12)
    assert g == pytest.approx(acceleration, rel=1e-12, abs=1e-12 * max(acceleration))
    assert np.diag(h) == pytest.approx(diagonal, rel=2e-8)  # as many digits as were published


@pytest.mark.parametrize("case", PRISMS)
def test_prism_closed_form(case):
    ranges = PRISMS[case][0]
    u, g, h = unit_field(box(*ranges)).evaluate([0, 0, 0])
    eu, eg, eh = nagy(*ranges)
    assert u == pytest.approx(eu, rel=1e-12)
    assert g == pytest.approx(eg, rel=1e-12, abs=1e-12 * np.abs(eg).max())
    finite = np.isfinite(eh)
    assert finite.all() == (case != "corner")
    assert h[finite] == pytest.approx(eh[finite], rel=1e-10, abs=1e-10 * np.abs(np.diag(eh)).max())
    assert np.isfinite(h).all()


# ---------------------------------------------------------------------------------------------
# The Laplacian: - (solid angle of the body seen from the point)
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("general_position", [False, True])
def test_laplacian_of_a_cube(general_position):
    points = np.array(
        [[0.1, 0.2, 0.3], [1.5, 0.2, 0.3], [1, 0.2, 0.3], [1, 1, 0.37], [1, 1, 1], [1, 0.5, 0.5]]
    )
    mesh, turn = turned(CUBE) if general_position else (CUBE, np.eye(3))
    h = unit_field(mesh).evaluate(points @ turn.T)[2]
    assert laplacian(h) / np.pi == pytest.approx([-4, 0, -2, -1, -0.5, -2], abs=1e-12)


def test_surface_gradient_does_not_depend_on_rounding():
    """On faces, edges and corners of a turned cube: the turned gradient of the exact places.

    The logarithm's pole on an edge and the jump at a face are far larger than any tolerance.
    """
    points = np.array([[1, 0.2, 0.3], [1, 1, 0], [1, 1, 0.37], [-1, 0.6, 1], [1, 1, 1], [1, 0, 0]])
    mesh, turn = turned(CUBE)
    straight = unit_field(CUBE).evaluate(points)[2]
    skew = unit_field(mesh).evaluate(points @ turn.T)[2]
    assert turn.T @ skew @ turn == pytest.approx(straight, rel=1e-10, abs=1e-10)


def dihedral_angles(mesh):
    """Interior angle between the facets at each edge, from pi - (turn of the normal)."""
    n = mesh.face_normals
    one, other = mesh.edge_faces.T
    along = mesh.vertices[mesh.edges[:, 1]] - mesh.vertices[mesh.edges[:, 0]]
    along /= np.linalg.norm(along, axis=1)[:, None]
    sine = np.einsum("ij,ij->i", np.cross(n[one], n[other]), along)
    return np.pi - np.arctan2(sine, np.einsum("ij,ij->i", n[one], n[other]))


def test_laplacian_on_every_edge_and_vertex(lumpy_body):
    """On an edge -2 theta; at a vertex minus the interior solid angle, sum theta - (k-2) pi."""
    mesh = lumpy_body(3)
    theta = dihedral_angles(mesh)
    assert theta.min() < np.pi < theta.max()  # ridges and valleys
    middle = mesh.vertices[mesh.edges].mean(axis=1)
    field = unit_field(mesh)
    assert laplacian(field.evaluate(middle)[2]) == pytest.approx(-2.0 * theta, rel=1e-10)
    ends, count = mesh.edges.ravel(), np.bincount(mesh.edges.ravel())
    solid = np.bincount(ends, weights=np.repeat(theta, 2)) - (count - 2) * np.pi
    assert laplacian(field.evaluate(mesh.vertices)[2]) == pytest.approx(-solid, rel=1e-9)


def test_laplacian_inside_and_outside(lumpy_body):
    mesh = lumpy_body(3)
    height = np.concatenate([np.logspace(-9, 0, 40), -np.logspace(-9, -2, 40)])
    facet = np.arange(80) * 16
    points = mesh.vertices[mesh.faces[facet]].mean(axis=1)
    points = points + height[:, None] * mesh.face_normals[facet]
    expected = np.where(mesh.contains(points), -4.0 * np.pi, 0.0)
    assert (expected[:20] == 0.0).all()
    assert (expected[40:60] != 0.0).all()
    h = unit_field(mesh).evaluate(points)[2]
    assert laplacian(h) == pytest.approx(expected, abs=1e-10)


# ---------------------------------------------------------------------------------------------
# Everywhere: on the surface, at hair's breadth from it, inside, outside, far away
# ---------------------------------------------------------------------------------------------


def surface_points(mesh):
    """Vertices, edge midpoints and facet centroids, with an outward direction at each."""
    middle = mesh.vertices[mesh.edges].mean(axis=1)
    out = mesh.face_normals[mesh.edge_faces].sum(axis=1)
    points = [mesh.vertices, middle, mesh.vertices[mesh.faces].mean(axis=1)]
    normals = [mesh.vertex_normals, out / np.linalg.norm(out, axis=1)[:, None], mesh.face_normals]
    return np.concatenate(points), np.concatenate(normals)


def test_surface_values_are_the_limits_from_outside(lumpy_body, textbook):
    """All 3842 vertices, midpoints and centroids of 1280 facets; some of them in 50 digits."""
    mesh = lumpy_body(3)
    assert mesh.n_faces == 1280
    points, normals = surface_points(mesh)
    field = unit_field(mesh)
    u, g, h = field.evaluate(points)
    assert np.isfinite(h).all()
    # 1e-12 away U and g have moved by 1e-12 |grad g| / |g|, at most 1e-10.
    near_u, near_g, _ = field.evaluate(points + 1e-12 * normals)
    assert np.abs(u / near_u - 1.0).max() < 1e-9
    assert (np.linalg.norm(g - near_g, axis=1) / np.linalg.norm(near_g, axis=1)).max() < 1e-9
    exact = textbook(mesh)
    for i in (0, 17, 500, 642, 1000, 2400, 2562, 3000):
        shift = [mp.mpf(float(c)) * mp.mpf("1e-28") for c in normals[i]]
        eu, eg, _ = exact(points[i], shift)
        assert u[i] == pytest.approx(eu, rel=1e-12)
        assert relative(g[i], eg) < 1e-12


def edge_frame(mesh, edge):
    """Start and vector of an edge and two unit vectors across it."""
    a, b = mesh.vertices[mesh.edges[edge]]
    along = (b - a) / np.linalg.norm(b - a)
    across = np.cross(along, [0.3, -0.5, 0.8])
    across /= np.linalg.norm(across)
    return a, b - a, across, np.cross(along, across)


@pytest.mark.parametrize("distance", [1e-15, 1e-13, 1e-12, 1e-10, 1e-8, 1e-6, 1e-3])
def test_hair_breadth_from_an_edge(lumpy_body, textbook, distance):
    """Edge lengths from 1e-15 to 1e-3 away; the gradient's own condition there is eps/distance."""
    mesh = lumpy_body(1)
    exact, field = textbook(mesh), unit_field(mesh)
    a, vector, one, other = edge_frame(mesh, 31)
    d = distance * np.linalg.norm(vector)
    angle = np.array([0.3, 1.9, 3.4, 5.1])
    points = a + 0.4 * vector + d * (np.outer(np.cos(angle), one) + np.outer(np.sin(angle), other))
    # Nearer than a few eps a point is on the edge: its gradient is the finite part.
    bound = 16.0 * EPS / d if distance > 1e-14 else np.inf
    assert_matches(field, exact, points, gradient=1e-10 + bound)
    assert np.isfinite(field.evaluate(points)[2]).all()


@pytest.mark.parametrize("place", ["vertex", "facet"])
@pytest.mark.parametrize("distance", [1e-15, 1e-12, 1e-9, 1e-6, 1e-3])
def test_hair_breadth_from_a_vertex_and_a_facet(lumpy_body, textbook, place, distance):
    mesh = lumpy_body(1)
    exact, field = textbook(mesh), unit_field(mesh)
    start = mesh.vertices[7] if place == "vertex" else mesh.vertices[mesh.faces[11]].mean(axis=0)
    points = start + distance * 0.5 * directions(4, seed=5)
    gradient = 1e-10 if distance > 1e-14 else np.inf
    assert_matches(field, exact, points, gradient=gradient)


def test_in_a_facet_plane_and_on_an_edge_line_outside_the_body(textbook):
    """Places where a denominator or a numerator is zero although nothing is singular."""
    points = np.array(
        [[1, 3, 0.2], [1, 1, 5], [1, -1, -2], [3, 3, 3], [1, 2, 2], [1, 1, 1 + 1e-9], [-4, 0, 0]]
    )
    exact, field = textbook(CUBE), unit_field(CUBE)
    u, g, h = field.evaluate(points)
    for i, x in enumerate(points):
        eu, eg, eh = exact(x, ("1.1e-28", "1.3e-28", "0.7e-28"))
        assert u[i] == pytest.approx(eu, rel=1e-12)
        assert relative(g[i], eg) < 1e-12
        assert relative(h[i], eh) < 1e-10


def test_inside_and_around(lumpy_body, textbook):
    mesh = lumpy_body(1, amplitude=0.3)
    points = np.concatenate([s * directions(4, seed=i) for i, s in enumerate((0.05, 0.5, 1, 3))])
    assert_matches(unit_field(mesh), textbook(mesh), points)


def test_slivers(textbook):
    """A facet ``thin`` times as high as long has a normal known to eps/thin: no worse comes out."""
    thin = 1e-6
    corners = [[0, 0, 0], [1, 0, 0], [0.5, thin, 0], [0.45, 0.4, 1.0], [0.55, -0.6, 0.3]]
    faces = [[0, 2, 1], [0, 3, 2], [2, 3, 1], [0, 1, 4], [1, 3, 4], [3, 0, 4]]
    mesh, _ = turned(Mesh(corners, faces))
    middle = mesh.center_of_mass
    points = np.concatenate([middle + 0.05 * directions(3), middle + directions(3)])
    field, exact = unit_field(mesh), textbook(mesh)
    assert_matches(field, exact, points, u_g=4.0 * EPS / thin, gradient=4.0 * EPS / thin)
    near = mesh.vertices[mesh.faces].mean(axis=1) + 1e-7 * mesh.face_normals
    # So close to the sliver's edges its solid angle, in the gradient alone, knows few digits.
    assert_matches(field, exact, near, u_g=4.0 * EPS / thin, gradient=4.0 * EPS / thin / 1e-7)


@pytest.mark.parametrize("offset", [1e4, 1e8])
def test_a_body_far_from_the_origin(lumpy_body, textbook, offset):
    mesh = lumpy_body(1).translated(offset * np.array([1.0, -0.7, 0.3]))
    rounded = mesh.center_of_mass + np.concatenate([0.4 * directions(3), 30.0 * directions(3, 1)])
    assert_matches(unit_field(mesh), textbook(mesh), rounded)


@pytest.mark.parametrize("power", [-7, 23])
def test_size_changes_nothing_but_units(lumpy_body, power):
    """Scaled by a power of two (1 cm, 1e7 m) the field has the same bits: U ~ s^2, g ~ s."""
    mesh, s = lumpy_body(2), 2.0**power
    points = np.concatenate([mesh.vertices, 0.5 * mesh.vertices, 1.001 * mesh.vertices])
    points = np.concatenate([points, 40.0 * mesh.vertices, mesh.vertices[mesh.edges].mean(axis=1)])
    u, g, h = unit_field(mesh).evaluate(points)
    U, G, H = unit_field(mesh.scaled(s)).evaluate(points * s)
    near = np.linalg.norm(points, axis=1) < 10.0
    assert np.array_equal(U[near], s * s * u[near])
    assert np.array_equal(G[near], s * g[near])
    assert np.array_equal(H[near], h[near])
    assert pytest.approx(s * s * u, rel=1e-14) == U
    assert pytest.approx(s * g, rel=1e-13) == G


#: Distances from the centre of mass in bounding radii, both sides of where the series takes over.
FAR = (10.0, 13.0, 15.99, 16.01, 20.0, 50.0, 1e2, 1e3, 1e5, 1e8)


@pytest.mark.parametrize("shape", [(1.0, 0.85, 0.75), (1.0, 0.3, 0.25)])
def test_far_field(lumpy_body, textbook, shape):
    """10 to 1e8 radii away: 1e-9 is asked; 1e-11 near the hand-over and better beyond it."""
    mesh = lumpy_body(1, axes=shape)
    field, exact = unit_field(mesh), textbook(mesh)
    assert 15.99 * field.series.radius < field.far_radius < 16.01 * field.series.radius
    for r in FAR:
        tolerance = 1e-11 if r < 30 else 1e-14 * max(1.0, 50.0 / r)
        points = mesh.center_of_mass + r * field.series.radius * directions(3, seed=2)
        assert_matches(field, exact, points, u_g=tolerance, gradient=10 * tolerance)


def test_far_field_of_many_facets(lumpy_body, textbook):
    mesh = lumpy_body(3)
    field, exact = unit_field(mesh), textbook(mesh)
    points = np.array([[11.0, -7.0, 2.0], [-12.0, 9.0, 11.0], [300.0, 500.0, -200.0]])
    assert_matches(field, exact, points, u_g=1e-11, gradient=1e-10)


def test_derivatives_by_differences(lumpy_body):
    """g = + grad U and gradient = grad g, by central differences of the law itself."""
    field, h = unit_field(lumpy_body(2)), 1e-5
    for scale in (0.4, 1.7, 30.0):
        points = scale * directions(6, seed=4)
        u, g, gradient = field.evaluate(points)
        step = h * scale * np.eye(3)
        plus = field.evaluate(points[:, None] + step)
        minus = field.evaluate(points[:, None] - step)
        slope = (plus[0] - minus[0]) / (2.0 * h * scale)
        bend = (plus[1] - minus[1]) / (2.0 * h * scale)
        # Truncation h^2 times a third derivative of order one, rounding eps/h of U or g.
        noise = 4e-9 + 1e3 * EPS / h * np.abs(u).max() / (np.abs(g).max() * scale)
        assert np.abs(slope - g).max() < noise * np.abs(g).max()
        noise = 4e-9 + 1e3 * EPS / h * np.abs(g).max() / (np.abs(gradient).max() * scale)
        assert np.abs(bend - gradient).max() < noise * np.abs(gradient).max()


# ---------------------------------------------------------------------------------------------
# Icospheres tend to a sphere
# ---------------------------------------------------------------------------------------------

#: Subdivisions, relative error of g at 2 R on a two-fold axis, volume over the sphere's.
SPHERES = [
    (0, -3.7e-4, 0.605461),
    (1, -3.6e-5, 0.873453),
    (2, -9.7e-6, 0.966161),
    (3, -2.5e-6, 0.991394),
    (4, -6.2e-7, 0.997839),
    (5, -1.5e-7, 0.999459),
]


@pytest.mark.parametrize(("subdivisions", "error", "volume"), SPHERES)
def test_sphere_limit(subdivisions, error, volume):
    mesh = icosphere(subdivisions)
    assert mesh.volume / (4.0 * np.pi / 3.0) == pytest.approx(volume, abs=6e-7)
    field = unit_field(mesh)
    for axis in np.eye(3):
        g = np.linalg.norm(field.evaluate(2.0 * axis)[1])
        assert 4.0 * g / field.gm - 1.0 == pytest.approx(error, rel=0.04)  # two digits are known
