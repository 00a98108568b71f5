"""Every way to say a release, against closed forms: on the ground, by angles, by orbit, by file."""

import math

import numpy as np
import pytest

from alight.campaign.dispersions.sampling import sample
from alight.core import devices, frames
from alight.core.orbits import pole_attitude
from alight.motions.rigid.placing import lowest_of
from alight.scenario import ScenarioError, from_dict, prepare

GM, RADIUS, RATE = 30.0, 450.0, 2.3e-4
POLE = ("96.4 deg", "-66.4 deg")


@pytest.fixture
def ball(plane):
    """A cube over a turning sphere of 450 m: nothing to build."""

    def make(release, lander=None, rate=RATE, **more):
        table = {
            **plane,
            "body": {"gm": f"{GM} m^3/s^2",
                     "rotation": {"rate": f"{rate} rad/s", "pole": list(POLE)}},
            "gravity": {"law": "point-mass"},
            "ground": {"kind": "sphere", "radius": f"{RADIUS} m"},
            "release": release,
            **more,
        }  # fmt: skip
        if lander:
            table["lander"] = lander
        return from_dict(table)

    return make


def start(scenario, runs=None):
    """The release of the nominal run, or of some runs of the campaign."""
    prepared = prepare(scenario, "cpu")
    values = {} if runs is None else sample(scenario, runs)
    (group,) = prepared.groups(values)
    return group.release, group.model


def spun(x):
    """Omega cross x about +z."""
    return RATE * np.array([-x[1], x[0], 0.0])


# -- by speed and angles ---------------------------------------------------------------------------

AIMED = {"latitude": "30 deg", "longitude": "50 deg", "height": "10 m", "speed": "10 cm/s",
         "azimuth": "90 deg", "elevation": "0 deg"}  # fmt: skip


def test_azimuth_counts_from_north_towards_east(ball):
    release, _ = start(ball(AIMED))
    lon = math.radians(50.0)
    assert release.velocity[0] == pytest.approx(
        [-0.1 * math.sin(lon), 0.1 * math.cos(lon), 0.0], rel=1e-12, abs=1e-16
    )
    north, _ = start(ball({**AIMED, "azimuth": "0 deg", "vertical": "radial"}))
    lat = math.radians(30.0)
    there = [-math.sin(lat) * math.cos(lon), -math.sin(lat) * math.sin(lon), math.cos(lat)]
    assert north.velocity[0] == pytest.approx(0.1 * np.array(there), rel=1e-12)


@pytest.mark.parametrize("word", ["plumb line", "surface normal", "radial"])
def test_straight_up_is_along_the_vertical_that_is_named(ball, word):
    release, _ = start(ball({**AIMED, "elevation": "90 deg", "vertical": word}))
    x, v = release.position[0], release.velocity[0]
    up = x / np.linalg.norm(x)
    if word == "plumb line":
        # Gravity less the acceleration of the turning ground: -GM x/r^3 + Omega^2 (x, y, 0).
        pull = -GM * up / (x @ x) + RATE**2 * np.array([x[0], x[1], 0.0])
        up = -pull / np.linalg.norm(pull)
        assert math.degrees(math.acos(up @ x / np.linalg.norm(x))) > 1.0
    assert v == pytest.approx(0.1 * up, rel=1e-9)
    assert np.linalg.norm(v) == pytest.approx(0.1, rel=1e-12)


def test_the_plumb_line_is_what_is_taken_without_a_name(ball):
    given, _ = start(ball({**AIMED, "elevation": "90 deg"}))
    named, _ = start(ball({**AIMED, "elevation": "90 deg", "vertical": "plumb line"}))
    assert np.array_equal(given.velocity, named.velocity)


def test_local_axes_stand_on_the_vertical(ball):
    turned = {**AIMED, "attitude_axes": "local", "vertical": "surface normal"}
    release, _ = start(ball(turned))
    up = release.position[0] / np.linalg.norm(release.position[0])
    assert frames.quat_rotate(release.attitude[0], [0.0, 0.0, 1.0]) == pytest.approx(up, rel=1e-9)


def test_speeds_and_angles_are_dispersed_like_any_key(ball):
    spread = {
        "release.azimuth": {"kind": "sweep", "low": "0 deg", "high": "315 deg", "count": 8},
        "release.elevation": {"kind": "uniform", "low": "30 deg", "high": "60 deg"},
    }
    scenario = ball({**AIMED, "vertical": "radial"}, dispersions=spread)
    assert scenario.campaign.runs == 8
    release, _ = start(scenario, np.arange(8))
    turn = frames.local_frame(release.position[0])
    local = release.velocity @ turn
    off = np.degrees(np.arctan2(local[:, 0], local[:, 1])) - np.arange(8) * 45.0
    assert (off + 180.0) % 360.0 == pytest.approx(np.full(8, 180.0), abs=1e-9)
    assert np.linalg.norm(release.velocity, axis=1) == pytest.approx(np.full(8, 0.1), rel=1e-12)


# -- on the ground ---------------------------------------------------------------------------------

STANDING = {"kind": "ground", "latitude": "30 deg", "longitude": "50 deg",
            "attitude_axes": "local", "vertical": "surface normal"}  # fmt: skip


def gap(model, release):
    cpu = devices.resolve("cpu")
    return lowest_of(model, release.position, release.attitude, cpu, None)["gap"]


def test_it_is_placed_touching_and_at_rest(ball):
    release, model = start(ball(STANDING))
    assert 0.0 <= gap(model, release)[0] <= 2e-9
    # A cube of 0.2 m stands on its corners: these are 0.1 sqrt(2) from the middle of the face.
    height = math.sqrt(RADIUS**2 - 2.0 * 0.1**2) + 0.1
    assert np.linalg.norm(release.position[0]) == pytest.approx(height, rel=1e-11)
    assert not release.velocity.any()


def test_in_any_attitude_it_touches(ball):
    scenario = ball(STANDING, dispersions={"release.attitude": {"kind": "orientation"}})
    release, model = start(scenario, np.arange(20))
    found = gap(model, release)
    assert (found >= 0.0).all()
    assert (found <= 2e-9).all()
    alone, _ = start(scenario, [7])
    assert np.array_equal(alone.position[0], release.position[7])


def test_by_position_it_is_placed_on_the_ground_nearest_to_it(ball):
    up = frames.direction(math.radians(30.0), math.radians(50.0))
    place = {"position": [f"{0.9 * RADIUS * x!r} m" for x in up.tolist()]}
    release, model = start(ball({**place, "kind": "ground", "attitude_axes": "local",
                                 "vertical": "surface normal"}))  # fmt: skip
    known, _ = start(ball(STANDING))
    assert np.allclose(release.position, known.position, rtol=1e-9)
    assert 0.0 <= gap(model, release)[0] <= 2e-9


def test_a_ball_is_placed_touching_too(ball):
    scenario = ball(STANDING, lander={"shape": "sphere", "diameter": "30 cm", "mass": "1 kg"})
    release, _ = start(scenario)
    assert np.linalg.norm(release.position[0]) == pytest.approx(RADIUS + 0.15, rel=1e-11)


def test_on_a_plane_it_goes_by_a_position(plane):
    # Above, on and below: all are brought to the same place.
    places = []
    for height in ("5 m", "0 m", "-3 m"):
        plane["release"] = {"kind": "ground", "position": ["1 m", "2 m", height]}
        places.append(start(from_dict(plane))[0].position[0])
    assert np.array_equal(places[0], places[1])
    assert places[0] == pytest.approx([1.0, 2.0, 0.1], rel=1e-8)
    assert places[2] == pytest.approx(places[0], rel=1e-12)


def test_what_rests_on_the_ground_stays_there(plane):
    plane["release"] = {"kind": "ground", "position": ["0 m", "0 m", "0 m"]}
    solution = prepare(from_dict(plane), "cpu").simulate()
    assert solution.outcome.name == "SETTLED"
    assert solution.position[-1] == pytest.approx(solution.position[0], abs=2e-4)


def test_a_push_off_from_the_ground(ball):
    release, _ = start(ball({**STANDING, "speed": "5 cm/s", "azimuth": "0 deg",
                             "elevation": "45 deg"}))  # fmt: skip
    up = release.position[0] / np.linalg.norm(release.position[0])
    assert release.velocity[0] @ up == pytest.approx(0.05 * math.sin(math.pi / 4.0), rel=1e-9)


# -- inertial, orbit -------------------------------------------------------------------------------

PLACE, SPEED = np.array([300.0, -500.0, 200.0]), np.array([0.01, 0.02, -0.15])


def quantities(numbers, unit):
    return [f"{float(v)!r} {unit}" for v in numbers]


def test_an_inertial_state_is_seen_from_the_turning_body(ball):
    given = {"kind": "inertial", "position": quantities(PLACE, "m"),
             "velocity": quantities(SPEED, "m/s"), "rate": ["0 rad/s", "0 rad/s", "0.1 rad/s"],
             "attitude": [0.1, 0.2, 0.3, 0.9]}  # fmt: skip
    release, _ = start(ball(given))
    q_NT = pole_attitude(*np.radians([96.4, -66.4]))
    x = frames.quat_rotate_inv(q_NT, PLACE)
    assert release.position[0] == pytest.approx(x, rel=1e-12)
    v = frames.quat_rotate_inv(q_NT, SPEED) - spun(x)
    assert release.velocity[0] == pytest.approx(v, rel=1e-12)
    q_NB = frames.quat_multiply(q_NT, release.attitude[0])
    assert q_NB == pytest.approx(frames.quat_normalize([0.1, 0.2, 0.3, 0.9]), rel=1e-12)
    # The inertial rate is the one given: w_NB = w_TB + R_TB^T Omega.
    w = frames.inertial_rate(release.attitude[0], release.rate[0], [0.0, 0.0, RATE])
    assert w == pytest.approx([0.0, 0.0, 0.1], rel=1e-12, abs=1e-18)


ELEMENTS = {"kind": "orbit", "semi_major_axis": "1 km", "eccentricity": 0.4,
            "inclination": "20 deg", "node": "40 deg", "periapsis": "60 deg",
            "true_anomaly": "75 deg", "plane": "inertial"}  # fmt: skip


def inertial(release):
    """The state in N of the first run."""
    q_NT = pole_attitude(*np.radians([96.4, -66.4]))
    x, v = release.position[0], release.velocity[0]
    return frames.quat_rotate(q_NT, x), frames.quat_rotate(q_NT, v + spun(x))


def test_an_orbit_has_its_elements(ball):
    x, v = inertial(start(ball(ELEMENTS))[0])
    r = np.linalg.norm(x)
    h = np.cross(x, v)
    e = np.cross(v, h) / GM - x / r
    assert 1.0 / (2.0 / r - v @ v / GM) == pytest.approx(1000.0, rel=1e-11)
    assert np.linalg.norm(e) == pytest.approx(0.4, rel=1e-11)
    assert h[2] / np.linalg.norm(h) == pytest.approx(math.cos(math.radians(20.0)), rel=1e-11)
    assert math.degrees(math.atan2(h[0], -h[1])) == pytest.approx(40.0, rel=1e-11)
    assert e @ x / (0.4 * r) == pytest.approx(math.cos(math.radians(75.0)), rel=1e-10)
    node = np.array([math.cos(math.radians(40.0)), math.sin(math.radians(40.0)), 0.0])
    assert e @ node / 0.4 == pytest.approx(math.cos(math.radians(60.0)), rel=1e-10)
    assert x @ v > 0.0  # between periapsis and apoapsis


def test_mean_and_true_anomaly_agree(ball):
    # E of nu = 75 deg: tan(E/2) = sqrt((1 - e)/(1 + e)) tan(nu/2); M = E - e sin E.
    E = 2.0 * math.atan(math.sqrt(0.6 / 1.4) * math.tan(math.radians(37.5)))
    mean = {k: v for k, v in ELEMENTS.items() if k != "true_anomaly"}
    mean["mean_anomaly"] = f"{E - 0.4 * math.sin(E)!r} rad"
    one, other = (inertial(start(ball(t))[0]) for t in (ELEMENTS, mean))
    assert other[0] == pytest.approx(one[0], rel=1e-10)
    assert other[1] == pytest.approx(one[1], rel=1e-10)


def test_a_hyperbola_and_the_plane_of_the_equator(ball):
    given = {**ELEMENTS, "semi_major_axis": "-1 km", "eccentricity": 1.5, "plane": "equator",
             "inclination": "0 deg"}  # fmt: skip
    release, _ = start(ball(given))
    x = release.position[0]
    v = release.velocity[0] + spun(x)
    assert v @ v / 2.0 - GM / np.linalg.norm(x) == pytest.approx(GM / 2000.0, rel=1e-11)
    assert abs(x[2]) < 1e-9


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"eccentricity": 1.0}, "release.eccentricity: must fit semi_major_axis"),
        ({"semi_major_axis": "-1 km"}, "release.eccentricity: must fit semi_major_axis"),
        ({"mean_anomaly": "1 deg"}, "either true_anomaly or mean_anomaly"),
        ({"height": "1 m"}, 'release.height: goes with kind = "above"'),
    ],
)
def test_what_is_no_orbit_is_refused(ball, change, said):
    with pytest.raises(ScenarioError, match=said):
        ball({**ELEMENTS, **change})


# -- files -----------------------------------------------------------------------------------------

ROWS = np.array([[600.0, 0.0, 0.0, 0.0, 0.1, 0.0], [0.0, 700.0, 1.0, -0.1, 0.0, 0.05]])
OEM = """CCSDS_OEM_VERS = 2.0
CREATION_DATE = 2020-01-01T00:00:00
ORIGINATOR = ME
META_START
OBJECT_NAME = LANDER
OBJECT_ID = 1
CENTER_NAME = RYUGU
REF_FRAME = EME2000
TIME_SYSTEM = TDB
META_STOP
COMMENT states
2018-10-03T00:00:00 0.6 0 0 0 1e-4 0
2018-10-03T00:10:00 0 0.7 1e-3 -1e-4 0 5e-5
COVARIANCE_START
EPOCH = 2018-10-03T00:00:00
1.0
COVARIANCE_STOP
"""


@pytest.fixture
def states(tmp_path):
    """The same two states as each kind of file."""
    heads = ["x [km]", "y [m]", "z [m]", "vx [cm/s]", "vy [m/s]", "vz [m/s]", "name"]
    scale = [1e-3, 1.0, 1.0, 100.0, 1.0, 1.0]
    lines = [",".join(heads)]
    lines += [",".join([*(repr(float(v * s)) for v, s in zip(row, scale, strict=True)), name])
              for row, name in zip(ROWS, ("a", "b"), strict=True)]  # fmt: skip
    csv = tmp_path / "states.csv"
    csv.write_text("# two states\n" + "\n".join(lines) + "\n")
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = ("x", "y", "z", "vx", "vy", "vz")
    fields = [pa.field(n, pa.float64(), metadata={"unit": "m" if n in "xyz" else "m/s"})
              for n in names]  # fmt: skip
    table = pa.table([ROWS[:, i] for i in range(6)], schema=pa.schema(fields))
    pq.write_table(table, tmp_path / "states.parquet")
    (tmp_path / "states.oem").write_text(OEM)
    return tmp_path


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_run_k_takes_row_k(ball, states, kind):
    scenario = ball({"kind": "states", "file": str(states / f"states.{kind}")})
    assert scenario.campaign.runs == 2
    release, _ = start(scenario, [1, 0])
    q_NT = pole_attitude(*np.radians([96.4, -66.4]))
    for got, row in zip((1, 0), ROWS[[0, 1]], strict=True):
        x = frames.quat_rotate_inv(q_NT, row[:3])
        assert release.position[got] == pytest.approx(x, rel=1e-12)
        v = frames.quat_rotate_inv(q_NT, row[3:]) - spun(x)
        assert release.velocity[got] == pytest.approx(v, rel=1e-12)


def test_a_row_by_number_or_name(ball, states):
    file = str(states / "states.csv")
    both = [{"row": 1}, {"row_name": "b"}]
    found = [
        start(ball({"kind": "states", "file": file, "axes": "target", **one}))[0] for one in both
    ]
    assert np.array_equal(found[0].position, found[1].position)
    assert found[0].position[0] == pytest.approx(ROWS[1, :3], rel=1e-15)
    assert found[0].velocity[0] == pytest.approx(ROWS[1, 3:], rel=1e-14)


def test_a_message_turns_the_body_to_its_dates(ball, states):
    release, _ = start(ball({"kind": "states", "file": str(states / "states.oem")}), [0, 1])
    q_NT = pole_attitude(*np.radians([96.4, -66.4]))
    turn = frames.quat_from_axis_angle([0.0, 0.0, 1.0], RATE * 600.0)
    x = frames.quat_rotate_inv(frames.quat_multiply(q_NT, turn), ROWS[1, :3])
    assert release.position[1] == pytest.approx(x, rel=1e-11)
    assert release.position[0] == pytest.approx(
        frames.quat_rotate_inv(q_NT, ROWS[0, :3]), rel=1e-12
    )


def test_a_spice_kernel(ball, tmp_path):
    api = pytest.importorskip("spiceypy", reason="needs the package spiceypy")
    from alight.core.orbits import seconds_since_j2000

    begin = seconds_since_j2000("2018-10-03T00:00:00")
    times = begin + np.arange(9) * 100.0
    line = np.array([[0.6 + 1e-4 * t, 0.1, 0.0, 1e-4, 0.0, 0.0] for t in times - begin])
    handle = api.spkopn(str(tmp_path / "s.bsp"), "s", 0)
    api.spkw13(handle, -999, 2162173, "J2000", times[0], times[-1], "s", 3, 9, line, times)
    api.spkcls(handle)
    given = {"kind": "states", "file": str(tmp_path / "s.bsp"), "date": "2018-10-03T00:00:00",
             "every": "100 s", "spice_target": "-999", "spice_center": "2162173"}  # fmt: skip
    release, _ = start(ball(given, campaign={"runs": 3}, rate=0.0), [2])
    q_NT = pole_attitude(*np.radians([96.4, -66.4]))
    assert release.position[0] == pytest.approx(frames.quat_rotate_inv(q_NT, [620.0, 100.0, 0.0]),
                                                rel=1e-10)  # fmt: skip
    assert np.linalg.norm(release.velocity[0]) == pytest.approx(0.1, rel=1e-9)
    with pytest.raises(ScenarioError, match="SPICE cannot compute the state"):
        ball({**given, "date": "2019-10-03"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x [m],y [m],z [m],vx [m/s],vy [m/s]\n1,2,3,4,5\n", 'no column "vz"'),
        ("x,y [m],z [m],vx [m/s],vy [m/s],vz [m/s]\n1,2,3,4,5,6\n", r'"x" has no unit.*"x \[m\]"'),
        ("x [s],y [m],z [m],vx [m/s],vy [m/s],vz [m/s]\n1,2,3,4,5,6\n", "no unit of length"),
        ("x [m],y [m],z [m],vx [m/s],vy [m/s],vz [m/s]\n1,2,a,4,5,6\n", 'column "z" has "a"'),
        ("x [m],y [m],z [m],vx [m/s],vy [m/s],vz [m/s]\n", "has no rows"),
        ("", "release.file"),
        ("x [m],y [m],z [m],vx [m/s],vy [m/s],vz [m/s],vzz\n1,2,3,4,5,6,7\n", '"vz"'),
    ],
)
def test_files_that_are_wrong_say_how(ball, tmp_path, text, said):
    file = tmp_path / "states.csv"
    file.write_text(text)
    with pytest.raises(ScenarioError, match=said):
        ball({"kind": "states", "file": str(file)})


def test_more_runs_than_rows_are_refused(ball, states):
    with pytest.raises(ScenarioError, match=r"campaign.runs: is 3, and the file .* 2 rows"):
        ball({"kind": "states", "file": str(states / "states.csv")}, campaign={"runs": 3})
    with pytest.raises(ScenarioError, match=r"release.row_name: there is no row"):
        ball({"kind": "states", "file": str(states / "states.csv"), "row_name": "c"})


# -- articulated landers, and what does not go together -------------------------------------------


def test_an_articulated_lander_stands_on_its_pads(ball):
    scenario = ball(
        {**STANDING, "euler": ["90 deg", "0 deg", "0 deg"]},
        lander={"name": "dcap"},
        contact={"law": "hertz", "stiffness": "1e5 N/m^1.5"},
    )
    release, model = start(scenario)
    from alight.motions.tree.placing import pad_gaps

    gaps, origin = pad_gaps(model, release)
    found = gaps(np.arange(1), origin)
    assert 0.0 <= found[0] <= 2e-9


@pytest.mark.parametrize(
    ("release", "said"),
    [
        ({"kind": "grond"}, r'release.kind: .*Did you mean "ground"'),
        ({"kind": "ground"}, "release.latitude: is missing"),
        ({"kind": "ground", "position": ["0 m"] * 3, "latitude": "1 deg"}, "one or the other"),
        ({**AIMED, "velocity": ["0 m/s"] * 3}, "release.velocity: does not go with speed"),
        ({**AIMED, "speed": None}, "release.azimuth: goes with speed"),
        ({**AIMED, "azimuth": None}, "release.azimuth: is missing"),
        ({"kind": "states", "file": "a.txt"}, "must end in .csv"),
        ({"kind": "inertial", "position": ["1 km"] * 3, "azimuth": "1 deg"}, "goes with kind"),
    ],
)
def test_what_does_not_go_together_names_the_key(ball, release, said):
    with pytest.raises(ScenarioError, match=said):
        ball({key: value for key, value in release.items() if value is not None})


def test_every_form_reads_back(ball, states):
    forms = [AIMED, STANDING, ELEMENTS, {"kind": "states", "file": str(states / "states.csv")},
             {"kind": "inertial", "position": ["1 km"] * 3}]  # fmt: skip
    for form in forms:
        made = ball(form)
        assert from_dict(made.resolved()) == made
        assert made.replaced({"contact.friction": 0.5}).release == made.release
