"""Maps of the ground alone: linear between nodes, round the seam, at the poles; what is refused."""

import tracemalloc

import numpy as np
import pytest
import warp as wp

from alight.contact import Compliant, GroundMap, damping_ratio
from alight.contact.ground_properties.local_law import (
    PROPERTIES,
    GroundPoint,
    damping_ratio_at,
    local_contact,
)
from alight.contact.state import CompliantData
from alight.core import devices, frames
from alight.core.errors import AlightError, FileError, InputError
from alight.core.types import scalar, vec4
from alight.vehicles import RigidLander

DEVICES = [device.name for device in devices.available()]


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


def factor(ground, name, latitude, longitude, device="auto"):
    """Factors of one property at places in degrees, 3 km from the origin."""
    up = frames.direction(np.radians(latitude), np.radians(longitude))
    found = ground.evaluate(3e3 * np.atleast_2d(up), device=device)
    assert not found.value.any()
    return found.factor[:, PROPERTIES.index(name)]


def grid(rows, columns, low=0.5, high=1.5, seed=0):
    """Random factors with equal numbers in the rows of the poles."""
    table = np.random.default_rng(seed).uniform(low, high, (rows, columns))
    table[0], table[-1] = table[0, 0], table[-1, 0]
    return table


# -- interpolation --------------------------------------------------------------------------------


def test_nodes_have_their_values(device):
    table = grid(7, 12)
    lat, lon = np.meshgrid(np.linspace(-90, 90, 7), np.arange(12) * 30.0, indexing="ij")
    got = factor(GroundMap({"friction": table}), "friction", lat.ravel(), lon.ravel(), device)
    assert got == pytest.approx(table.ravel(), rel=1e-13)


def test_between_nodes_it_is_linear_in_both(device):
    """A table that is bilinear itself, away from the poles, is met to rounding."""
    lat, lon = np.linspace(-90, 90, 37), np.arange(72) * 5.0 - 180.0
    table = 1.0 + 1e-3 * lat[:, None] + 1e-4 * lon + 1e-5 * lat[:, None] * lon
    table[0], table[-1] = 1.0, 1.0
    ground = GroundMap({"restitution": table}, np.radians(lat), np.radians(lon))
    rng = np.random.default_rng(1)
    b, a = rng.uniform(-85, 85, 500), rng.uniform(-180, 175, 500)
    want = 1.0 + 1e-3 * b + 1e-4 * a + 1e-5 * a * b
    assert factor(ground, "restitution", b, a, device) == pytest.approx(want, rel=1e-12)


@pytest.mark.parametrize("start", [0.0, -180.0, -170.0, 3.0])
def test_the_seam_is_no_place(start, device):
    """Across the last column it goes on to the first, at 180 degrees as anywhere."""
    table = grid(5, 8)
    lon = start + 45.0 * np.arange(8)
    ground = GroundMap({"friction": table}, np.radians(np.linspace(-90, 90, 5)), np.radians(lon))
    share = np.array([1e-9, 0.25, 0.5, 1.0 - 1e-9])
    got = factor(ground, "friction", np.zeros(4), lon[-1] + 45.0 * share, device)
    assert got == pytest.approx(table[2, -1] + share * (table[2, 0] - table[2, -1]), rel=1e-9)
    eps = 1e-9
    for seam in (180.0, 0.0, start):
        both = factor(ground, "friction", [20.0, 20.0], [seam - eps, seam + eps], device)
        assert both[0] == pytest.approx(both[1], rel=1e-9)


def test_columns_may_begin_anywhere_and_end_where_they_began():
    table = grid(5, 8)
    lat = np.radians(np.linspace(-90, 90, 5))
    there = np.random.default_rng(2).uniform(-1, 1, (2, 100)) * [[90], [180]]
    want = factor(GroundMap({"friction": table}), "friction", *there)
    turned = np.roll(table, 4, axis=1)
    moved = GroundMap({"friction": turned}, lat, np.radians(45.0 * np.arange(8) - 180.0))
    closed = np.concatenate([turned, turned[:, :1]], axis=1)
    around = GroundMap({"friction": closed}, lat, np.radians(45.0 * np.arange(9) - 180.0))
    flipped = GroundMap({"friction": table[::-1]}, lat[::-1], np.radians(45.0 * np.arange(8)))
    for other in (moved, around, flipped):
        assert factor(other, "friction", *there) == pytest.approx(want, rel=1e-12)


def test_a_pole_is_one_place(device):
    """Cells end short of it: it has the mean of the last row, from wherever it is reached."""
    lat = np.arange(-85.0, 90.0, 10.0)
    table = np.random.default_rng(4).uniform(0.5, 1.5, (len(lat), 12))
    ground = GroundMap(
        {"friction": table}, np.radians(lat), np.radians(15.0 + 30.0 * np.arange(12))
    )
    for side, row in ((90.0, table[-1]), (-90.0, table[0])):
        near = factor(ground, "friction", np.full(12, side * (1 - 1e-12)), 30.0 * np.arange(12))
        assert near == pytest.approx(row.mean(), rel=1e-9)
        half = factor(ground, "friction", [side - np.sign(side) * 2.5], [15.0], device)
        assert half == pytest.approx(0.5 * (row.mean() + row[0]), rel=1e-12)
    found = ground.evaluate([[0.0, 0.0, 2.0], [0.0, 0.0, -2.0]], device=device)
    assert found.factor[:, 1] == pytest.approx([table[-1].mean(), table[0].mean()], rel=1e-12)


def test_a_map_of_ones_is_one_to_the_bit(device):
    """Whatever the place: so a map that says nothing changes no run."""
    x = np.random.default_rng(5).normal(size=(2000, 3))
    for third in (1.0, 0.1, 1.0 / 3.0):
        ground = GroundMap({"friction": np.full((6, 7), third)}, np.radians(np.arange(-75, 76, 30)))
        got = ground.evaluate(x, device=device)
        assert (got.factor[:, 1] == third).all()
        assert (got.factor[:, [0, 3]] == 1.0).all()


def test_the_rest_is_left_alone():
    ground = GroundMap({"friction": np.full((3, 4), 0.5)})
    assert ground.evaluate([1.0, 0.0, 0.0]).factor.tolist() == [[1.0, 0.5, 0.5, 1.0]]
    both = GroundMap({"friction": np.full((3, 4), 0.5), "static_friction": np.full((3, 4), 2.0)})
    assert both.evaluate([1.0, 0.0, 0.0]).factor.tolist() == [[1.0, 0.5, 2.0, 1.0]]
    assert both.varies == ("friction", "static_friction")


# -- the damper of a restitution ------------------------------------------------------------------


def test_the_damping_ratio_in_kernels_is_that_of_the_host(device):
    @wp.kernel(module="unique", enable_backward=False)
    def ratios(e: wp.array(dtype=scalar), out: wp.array(dtype=scalar)) -> None:
        out[wp.tid()] = damping_ratio_at(e[wp.tid()])

    e = np.concatenate([np.linspace(0.01, 1.0, 200), np.exp(-1.0) + np.array([-1e-9, 0.0, 1e-6])])
    out = wp.empty(len(e), dtype=scalar, device=device)
    wp.launch(ratios, len(e), [wp.array(e, dtype=scalar, device=device)], [out], device=device)
    want = np.array([damping_ratio(v) for v in e])
    assert out.numpy() == pytest.approx(want, rel=1e-9, abs=1e-13)


# -- the contact law of a place -------------------------------------------------------------------


@wp.kernel(module="unique", enable_backward=False)
def make_local(
    own: wp.array(dtype=CompliantData),
    here: GroundPoint,
    hit: GroundPoint,
    mass: scalar,
    out: wp.array(dtype=CompliantData),
) -> None:
    out[wp.tid()] = local_contact(own[wp.tid()], here, hit, mass)


def localised(law, here, hit, device):
    """The parameters of ``law`` for 2 kg where the ground says (factor, value) ``here``."""
    points = []
    for factor, value in (here, hit):
        point = GroundPoint()
        point.factor, point.value = vec4(*factor), vec4(*value)
        points.append(point)
    rows = law.rows(RigidLander.cube(0.2, 2.0))
    own = wp.array(rows, dtype=CompliantData, device=device)
    out = wp.empty(len(rows), dtype=CompliantData, device=device)
    wp.launch(make_local, len(rows), [own, *points, 2.0], [out], device=device)
    return rows[0], out.numpy()[0]


def test_friction_is_of_here_and_restitution_of_the_hit(device):
    law = Compliant(restitution=0.6, friction=0.5, static_friction=0.7, rolling_resistance=1e-3)
    here = ((0.5, 0.4, 0.5, 0.0), (0.0, 0.0, 0.1, 5e-3))
    own, out = localised(law, here, ((0.5, 9.0, 9.0, 9.0), (0.1, 9.0, 9.0, 9.0)), device)
    assert out["friction"] == pytest.approx(0.2, rel=1e-15)
    assert out["static_friction"] == pytest.approx(0.45, rel=1e-15)
    assert out["rolling"] == 5e-3
    assert out["restitution"] == pytest.approx(0.4, rel=1e-15)
    assert out["zeta"] == pytest.approx(damping_ratio(0.4), rel=1e-12)
    for name in ("stiffness", "damping", "patch", "depth", "resolution"):
        assert out[name] == own[name]


def test_the_smooth_scheme_keeps_its_springs_and_changes_the_damper(device):
    """Springs whose stiffness depended on the place would have no potential."""
    law = Compliant(restitution=0.6, scheme="smooth")
    same = ((1.0, 1.0, 1.0, 1.0), (0.0, 0.0, 0.0, 0.0))
    own, out = localised(law, same, ((0.0, 1.0, 1.0, 1.0), (0.3, 0.0, 0.0, 0.0)), device)
    assert out["stiffness"] == own["stiffness"]
    want = 2.0 * damping_ratio(0.3) * np.sqrt(own["stiffness"] * 2.0)
    assert out["damping"] == pytest.approx(want, rel=1e-12)
    for scheme in ("clipped", "smooth"):
        own, out = localised(Compliant(restitution=0.6, scheme=scheme), same, same, device)
        assert out.tobytes() == own.tobytes()


def test_what_slips_through_the_checks_gives_no_energy(device):
    """More than all is not returned, and sticking holds at least what sliding does."""
    law = Compliant(restitution=0.6, friction=0.5)
    wild = ((3.0, 3.0, 1.0, 1.0), (0.0, 0.0, 0.0, 0.0))
    _, out = localised(law, wild, wild, device)
    assert out["restitution"] == 1.0
    assert out["zeta"] == 0.0
    assert out["static_friction"] == out["friction"] == 1.5


# -- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (({"frictoin": np.ones((3, 4))},), "frictoin.*Did you mean"),
        (({},), "tables of equal shape.*none"),
        (({"friction": np.ones((3, 4)), "restitution": np.ones((3, 5))},), "equal shape"),
        (({"friction": [[1.0, np.nan], [1.0, 1.0], [1.0, 1.0]]},), "nan in row 1, column 2"),
        (({"friction": [[1.0, 1.0], [1.0, -0.1], [1.0, 1.0]]},), "-0.1 in row 2, column 2"),
        (({"restitution": [[1.0, 1.0], [0.0, 1.0], [1.0, 1.0]]},), "above 0"),
        (({"friction": np.ones(4)},), r"shape \(4,\)"),
        (({"friction": np.ones((2, 4))},), "between the poles"),
        (({"friction": [[1.0, 2.0], [1.0, 1.0], [1.0, 1.0]]},), "south pole holds different"),
        (({"friction": np.ones((3, 4))}, [-1.2, 0.1, 1.2]), "not evenly spaced"),
        (({"friction": np.ones((3, 4))}, [-0.5, 0.0, 0.5]), "does not cover.*-28.6.* to 28.6"),
        (({"friction": np.ones((3, 4))}, [-2.0, 0.0, 2.0]), "between -90 and 90"),
        (({"friction": np.ones((3, 4))}, None, [0.0, 1.0, 2.0, 3.0]), "4 longitudes.*all the way"),
        (({"friction": np.ones((3, 4))}, [-1.0, 1.0]), "must be 3 finite angles"),
    ],
)
def test_bad_maps_are_named(given, message):
    with pytest.raises(InputError, match=message):
        GroundMap(*given)


def test_a_meridian_twice_must_agree():
    table = np.array([[1.0] * 5, [1.0, 1.0, 1.0, 1.0, 2.0], [1.0] * 5])
    with pytest.raises(InputError, match=r"0 and 360 deg.*same meridian"):
        GroundMap({"friction": table}, None, np.radians(90.0 * np.arange(5)))


def test_out_of_range_with_the_contacts_values():
    table = np.ones((5, 6))
    table[2, 3] = 1.4
    ground = GroundMap({"restitution": table})
    assert Compliant(restitution=0.7, ground=ground).ground is ground
    where = "restitution would be 1.05 at latitude 0 deg, longitude 180 deg.*0.75 times 1.4"
    with pytest.raises(InputError, match=where):
        Compliant(restitution=[0.5, 0.75, 0.2], ground=ground)
    with pytest.raises(InputError, match="springs as given"):
        Compliant(stiffness=1e4, damping=1.0, ground=ground)
    with pytest.raises(InputError, match=r"static_friction would be 0.3.*below friction, 0.6"):
        Compliant(restitution=0.5, ground=GroundMap({"static_friction": np.full((3, 4), 0.5)}))
    with pytest.raises(InputError, match="GroundMap or Regions"):
        Compliant(restitution=0.5, ground=table)


# -- files ----------------------------------------------------------------------------------------


def csv_of(lat, lon, **tables):
    lines = ["# made by a test", ",".join(["latitude_deg", "longitude_deg", *tables])]
    for i, b in enumerate(lat):
        for j, a in enumerate(lon):
            lines.append(
                ",".join(
                    map(repr, [float(b), float(a), *(float(t[i, j]) for t in tables.values())])
                )
            )
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("form", ["csv", "npz"])
def test_files_read_back(form, tmp_path):
    lat, lon = np.arange(-80.0, 81.0, 20.0), np.arange(0.0, 360.0, 30.0)
    rng = np.random.default_rng(6)
    tables = {n: rng.uniform(0.5, 1.0, (9, 12)) for n in ("friction", "restitution")}
    file = tmp_path / f"map.{form}"
    if form == "csv":
        head, columns, *rest = csv_of(lat, lon, **tables).splitlines()
        rng.shuffle(rest)  # in any order
        file.write_text("\n".join([head, columns, "", *rest]))
    else:
        np.savez(file, latitude_deg=lat, longitude_deg=lon, **tables)
    ground, direct = GroundMap.read(file), GroundMap(tables, np.radians(lat), np.radians(lon))
    assert ground.table.tobytes() == direct.table.tobytes()
    assert ground.varies == direct.varies == ("restitution", "friction")


LAT, LON = np.arange(-60.0, 61.0, 30.0), np.arange(0.0, 360.0, 60.0)
GOOD = csv_of(LAT, LON, friction=np.ones((5, 6)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        (GOOD.replace("friction", "frictoin"), 'unknown column "frictoin".*Did you mean'),
        (GOOD.replace("latitude_deg", "friction"), 'column "friction" appears twice'),
        ("latitude_deg,longitude_deg\n0,0\n", "no column with factors"),
        ("latitude_deg,friction\n0,0\n", 'no column "longitude_deg"'),
        (GOOD.replace("-30.0,60.0,1.0", "-30.0,60.0,nan"), 'line 10: friction is "nan"'),
        (GOOD.replace("-30.0,60.0,1.0", "-30.0,60.0,-1"), 'line 10: friction is "-1".*at least 0'),
        (GOOD.replace("-30.0,60.0,1.0", "-30.0,60.0"), "line 10 has 2 entries"),
        (GOOD.replace("-30.0,60.0,1.0", "-30.0,x,1.0"), 'line 10: longitude_deg is "x"'),
        (GOOD.replace("-30.0,60.0,1.0\n", ""), "1 of 30 nodes are missing.*latitude -30"),
        (GOOD + "0,0,1\n", "1 of 30 nodes are given twice"),
        (csv_of(LAT / 2, LON, friction=np.ones((5, 6))), "does not cover the body.*-30 to 30 deg"),
        (csv_of(LAT, LON / 2, friction=np.ones((5, 6))), "does not cover the body.*all the way"),
    ],
)
def test_bad_files_are_named(text, message, tmp_path):
    file = tmp_path / "factors.csv"
    file.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        GroundMap.read(file)
    assert "factors.csv" in str(caught.value)


def test_other_files_are_refused(tmp_path):
    with pytest.raises(FileError, match="no such file"):
        GroundMap.read(tmp_path / "absent.csv")
    with pytest.raises(InputError, match=r"end in .csv or .npz"):
        GroundMap.read(tmp_path / "map.png")
    (tmp_path / "map.npz").write_bytes(b"no archive")
    with pytest.raises(FileError, match="damaged, or no NumPy archive"):
        GroundMap.read(tmp_path / "map.npz")
    (tmp_path / "map.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        GroundMap.read(tmp_path / "map.csv")
    np.savez(tmp_path / "t.npz", latitude_deg=LAT, longitude_deg=LON, friction=np.ones((6, 5)))
    with pytest.raises(InputError, match=r"friction has shape \(6, 5\); .*\(5, 6\)"):
        GroundMap.read(tmp_path / "t.npz")
    np.savez(tmp_path / "u.npz", latitude_deg=LAT, longitude_deg=LON, mu=np.ones((5, 6)))
    with pytest.raises(InputError, match='unknown array "mu"'):
        GroundMap.read(tmp_path / "u.npz")


# -- files made to harm -------------------------------------------------------------------------


def diagonal(count):
    """A node for each latitude, each at a longitude of its own."""
    return csv_of_nodes((i * 170.0 / count - 85.0, i * 350.0 / count) for i in range(count))


def csv_of_nodes(nodes):
    lines = [f"{a!r},{b!r},1" for a, b in nodes]
    return "\n".join(["latitude_deg,longitude_deg,friction", *lines])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{GOOD}{'1' * 200_000},0,1\n", "line 33 has 200005 characters"),
        (GOOD.replace("friction", "friction" * 30_000, 1), "line 2 has 240028 characters"),
        (diagonal(40_000), "1599960000 of 1600000000 nodes are missing, the first at latitude -85"),
        (csv_of_nodes([(0, 0), (0, 9), (5, 0)]), "1 of 4 nodes are missing, .* 5, longitude 9"),
        (csv_of_nodes([(0, 0), (0, 9), (0, 9)]), "1 of 2 nodes are given twice, .* 0, longitude 9"),
    ],
)
def test_lines_and_grids_beyond_bounds(tmp_path, text, said):
    file = tmp_path / "factors.csv"
    file.write_text(text)
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=said) as caught:
            GroundMap.read(file)
        assert tracemalloc.get_traced_memory()[1] < 100e6
    finally:
        tracemalloc.stop()
    assert len(str(caught.value)) < 1000


def test_more_nodes_than_a_map_may_have(tmp_path, monkeypatch):
    monkeypatch.setattr("alight.contact.ground_properties.map_file.MOST_NODES", 29)
    file = tmp_path / "factors.csv"
    file.write_text(GOOD)
    with pytest.raises(InputError, match="has more than 29 nodes"):
        GroundMap.read(file)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("flip", [0xFF, 0x10])
def test_a_flipped_byte_of_a_map(tmp_path, save, flip):
    """One clear error, or the same map: never other factors, never a traceback."""
    file = tmp_path / "factors.npz"
    save(file, latitude_deg=LAT, longitude_deg=LON, friction=np.arange(1.0, 31.0).reshape(5, 6))
    data, good = file.read_bytes(), GroundMap.read(file)
    refused = 0
    for at in range(len(data)):
        file.write_bytes(data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :])
        try:
            found = GroundMap.read(file)
        except AlightError as error:
            refused += str(file) in str(error)
        else:
            assert found.table.tobytes() == good.table.tobytes()
            assert np.array_equal(found.longitudes, good.longitudes)
    assert refused > 0.6 * len(data)
