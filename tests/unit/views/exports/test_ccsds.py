"""CCSDS messages, read by others (oem; attitudes by their grammar) and released from again."""

import datetime as dt

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

import alight
from alight.core import frames
from alight.core.orbits import seconds_since_j2000
from alight.views.exports import arcs
from alight.views.exports.ccsds import write_messages

oem = pytest.importorskip("oem", reason="oem is not installed")


@pytest.fixture
def written(runs, epoch, tmp_path):
    return {
        p.name: p for p in write_messages(runs, tmp_path, epoch, "Ryugu", "inertial", [runs.title])
    }


def test_an_independent_reader_has_the_arcs(runs, epoch, written):
    message = oem.OrbitEphemerisMessage.open(written["run_3.oem"])
    own = arcs.arcs_of(runs, runs.tracks[0], 0, "inertial", np.inf)
    segments = list(message.segments)
    assert len(segments) == len(own) == 3
    for segment, arc in zip(segments, own, strict=True):
        assert segment.metadata["REF_FRAME"] == "EME2000"
        assert segment.metadata["TIME_SYSTEM"] == "TDB"
        states = list(segment.states)
        assert len(states) == len(arc)
        for line, found in enumerate(states):
            assert found.position == pytest.approx(1e-3 * arc.position[line], rel=1e-14, abs=1e-15)
            assert found.velocity == pytest.approx(1e-3 * arc.velocity[line], rel=1e-14, abs=1e-15)


def test_segments_meet_at_hits(epoch, written):
    """One ends where the next begins, with another velocity at the same date."""
    text = written["run_3.oem"].read_text("ascii")
    stops = [line.split()[-1] for line in text.splitlines() if line.startswith("STOP_TIME")]
    starts = [line.split()[-1] for line in text.splitlines() if line.startswith("START_TIME")]
    assert stops[:-1] == starts[1:]
    lines = [line.split() for line in text.splitlines() if line.startswith("2018")]
    (before, after) = (line for line in lines if line[0] == stops[0])
    assert np.allclose(
        np.array(before[1:4], float), np.array(after[1:4], float), rtol=0, atol=1e-12
    )
    assert not np.allclose(np.array(before[4:], float), np.array(after[4:], float), rtol=1e-3)


#: Keywords of an AEM in the order of the standard (CCSDS 504.0-B-1, tables 4-2 and 4-3): whether
#: each must be there.
HEADER = {"CCSDS_AEM_VERS": True, "COMMENT": False, "CREATION_DATE": True, "ORIGINATOR": True}
META = {
    **{"COMMENT": False, "OBJECT_NAME": True, "OBJECT_ID": True, "CENTER_NAME": False},
    **{"REF_FRAME_A": True, "REF_FRAME_B": True, "ATTITUDE_DIR": True, "TIME_SYSTEM": True},
    **{"START_TIME": True, "USEABLE_START_TIME": False, "USEABLE_STOP_TIME": False},
    **{"STOP_TIME": True, "ATTITUDE_TYPE": True, "QUATERNION_TYPE": False},
    **{"EULER_ROT_SEQ": False, "RATE_FRAME": False, "INTERPOLATION_METHOD": False},
    "INTERPOLATION_DEGREE": False,
}


def read_aem(path):
    """Segments of an AEM, read by the standard's grammar and by nothing of ours: keys and lines."""
    lines = [line.strip() for line in path.read_text("ascii").splitlines() if line.strip()]
    assert max(map(len, lines)) <= 254
    at = lines.index("META_START")
    header = keywords(lines[:at], HEADER)
    assert lines[0] == "CCSDS_AEM_VERS = 1.0"
    assert date(header["CREATION_DATE"])
    segments = []
    while at < len(lines):
        stop = lines.index("META_STOP", at)
        meta = keywords(lines[at + 1 : stop], META)
        assert lines[stop + 1] == "DATA_START"
        end = lines.index("DATA_STOP", stop)
        rows = [line.split() for line in lines[stop + 2 : end] if not line.startswith("COMMENT")]
        segments.append((meta, [date(row[0]) for row in rows], np.array(rows)[:, 1:].astype(float)))
        at = end + 1
        assert at == len(lines) or lines[at] == "META_START"
    return segments


def keywords(lines, known):
    """Values by key; keys must be known, in order, once each, and all there that must be."""
    found, last = {}, -1
    order = list(known)
    for line in lines:
        key, _, value = (
            ("COMMENT", "", line[8:]) if line.startswith("COMMENT") else line.partition("=")
        )
        key = key.strip()
        assert key in known, line
        place = order.index(key)
        assert place >= last if key == "COMMENT" else place > last, line
        last = place
        assert value.strip() or key == "COMMENT"
        found[key] = value.strip()
    assert all(key in found for key, needed in known.items() if needed)
    return found


def date(text):
    """A date of the standard: YYYY-MM-DDThh:mm:ss[.d...]."""
    return dt.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%f")


def test_attitude_messages_are_what_the_standard_asks_for(runs, written):
    segments = read_aem(written["run_3.aem"])
    own = arcs.arcs_of(runs, runs.tracks[0], 0, "inertial")
    assert len(segments) == len(own) == 3
    for (meta, dates, q), arc in zip(segments, own, strict=True):
        assert meta["ATTITUDE_TYPE"] == "QUATERNION"
        assert meta["QUATERNION_TYPE"] in ("FIRST", "LAST")
        assert meta["ATTITUDE_DIR"] in ("A2B", "B2A")
        assert sum("SC_BODY" in meta[f"REF_FRAME_{k}"] for k in "AB") == 1
        assert dates == sorted(set(dates))
        assert (date(meta["START_TIME"]), date(meta["STOP_TIME"])) == (dates[0], dates[-1])
        assert q.shape[1] == 4
        assert np.linalg.norm(q, axis=1) == pytest.approx(1.0, abs=1e-12)
        step = int(meta["INTERPOLATION_DEGREE"])
        assert len(q) > step  # enough lines to interpolate by
        # Scalar last: these are turns of the part, by CCSDS's passive rule.
        assert np.abs((q[[0, -1]] * arc.attitude[[0, -1]]).sum(axis=1)) == pytest.approx(1.0)


def test_turns_of_a_rigid_lander_are_hermites(landing, epoch, tmp_path):
    """Read by SciPy's cubics of quaternions and their rates, turns are those of the run."""
    scenario, solution = landing
    shown = alight.playback(solution, scenario=scenario)
    write_messages(shown, tmp_path, epoch, "Ball", "fixed", [])
    checked = 0
    for meta, dates, rows in read_aem(tmp_path / "run_0.aem"):
        assert meta["ATTITUDE_TYPE"] == "QUATERNION/DERIVATIVE"
        assert (meta["INTERPOLATION_METHOD"], meta["INTERPOLATION_DEGREE"]) == ("HERMITE", "3")
        time = np.array([seconds_since_j2000(date.isoformat()) for date in dates]) - epoch.seconds
        if time[-1] - time[0] < 1.0:
            continue  # dates are rounded
        asked = np.linspace(time[0], time[-1], 200)[1:-1]
        q = CubicHermiteSpline(time, rows[:, :4], rows[:, 4:])(asked)
        off = arcs.angle_between(frames.quat_normalize(q), solution.sample(asked)[1])
        assert off.max() < 1e-6
        assert len(rows) < 40.0 * (1.0 + 0.1 * (time[-1] - time[0]))  # turns of 0.06 rad/s
        checked += 1
    assert checked > 3


def test_the_reader_of_messages_refuses_what_is_wrong(written, tmp_path):
    """A key left out, out of order or unknown, and a date that goes back."""
    text = written["run_3.aem"].read_text("ascii")
    bad = {
        "left out": text.replace("ATTITUDE_DIR = A2B\n", ""),
        "out of order": text.replace(
            "ATTITUDE_DIR = A2B\nTIME_SYSTEM = TDB", "TIME_SYSTEM = TDB\nATTITUDE_DIR = A2B"
        ),
        "unknown": text.replace("QUATERNION_TYPE", "QUATERNIONS"),
    }
    for name, changed in bad.items():
        assert changed != text, name
        path = tmp_path / "bad.aem"
        path.write_text(changed)
        with pytest.raises(AssertionError):
            read_aem(path)


def test_attitudes_turn_the_sky_into_the_part(runs, epoch, written):
    """A2B, scalar last: the transpose of our turn, which by CCSDS's passive rule is the same
    quaternion."""
    text = written["run_17.aem"].read_text("ascii")
    assert "REF_FRAME_A = EME2000" in text
    assert "REF_FRAME_B = SC_BODY_1" in text
    assert "QUATERNION_TYPE = LAST" in text
    rows = [line.split() for line in text.splitlines() if line.startswith("2018")]
    own = arcs.arcs_of(runs, runs.tracks[1], 0, "inertial")
    q = np.concatenate([arc.attitude for arc in own])
    assert len(rows) == len(q)
    assert np.array([row[1:] for row in rows], float) == pytest.approx(q, abs=1e-14)
    dates = np.array([seconds_since_j2000(row[0]) for row in rows])
    time = np.concatenate([arc.time for arc in own])
    assert dates - epoch.seconds == pytest.approx(time, abs=1e-6)


def test_hostile_names_stay_in_their_line(written):
    for path in written.values():
        assert path.parent.name in str(path)
        for line in path.read_text("ascii").splitlines():
            assert len(line) <= 254
            assert "\x1b" not in line
            assert line.split(" ")[0] in _WORDS or line[:4] == "2018" or not line
    assert sorted(written) == [
        "run_17.aem", "run_17.oem", "run_17_leg_DROP_1.aem", "run_17_leg_DROP_1.oem",
        "run_3.aem", "run_3.oem", "run_3_leg_DROP_1.aem", "run_3_leg_DROP_1.oem",
    ]  # fmt: skip


_WORDS = {
    *("CCSDS_OEM_VERS", "CCSDS_AEM_VERS", "COMMENT", "CREATION_DATE", "ORIGINATOR", "META_START"),
    *("META_STOP", "OBJECT_NAME", "OBJECT_ID", "CENTER_NAME", "REF_FRAME", "REF_FRAME_A"),
    *("REF_FRAME_B", "ATTITUDE_DIR", "ATTITUDE_TYPE", "QUATERNION_TYPE", "TIME_SYSTEM"),
    *("START_TIME", "STOP_TIME", "INTERPOLATION", "INTERPOLATION_METHOD", "INTERPOLATION_DEGREE"),
    *("DATA_START", "DATA_STOP"),
}
