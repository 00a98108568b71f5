"""CCSDS messages, read by an independent reader (oem) and released from again."""

import numpy as np
import pytest

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
