"""The examples of the engine run as a reader would run them; ARCHITECTURE.md shows them whole."""

import math
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"


def run(name, *arguments):
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.validate
def test_own_surface_is_landed_on():
    """At rest on its corners, no deeper than contact may press, where friction holds."""
    out = run("own_surface.py")
    assert out.startswith("came to rest on the surface")
    gap = float(re.search(r"lowest corner: (\S+) mm", out).group(1))
    assert -1.0 <= gap <= 0.0
    slope = float(re.search(r"slope there: (\S+) degrees", out).group(1))
    assert slope <= math.degrees(math.atan(0.6))


@pytest.mark.validate
def test_own_contact_agrees_with_the_closed_form():
    """Hertz: depth (5 m v^2/4 k)^(2/5), force k d^(3/2), duration 2.9433 d/v, nothing lost.

    The deepest point falls between two steps, which are a phase of about 0.1 apart: depth is then
    short by up to a few 1e-3 and force by half as much again. Duration and speed are integrated.
    """
    lines = run("own_contact.py").splitlines()
    table = {line.split()[0]: [float(v) for v in line.split()[-2:]] for line in lines[1:]}
    assert set(table) == {"depth", "force", "duration", "restitution"}
    closed = {"depth": 1.73286, "force": 72.1350, "duration": 51.0029, "restitution": 1.0}
    short = {"depth": 2e-3, "force": 3e-3, "duration": 1e-6, "restitution": 1e-5}
    for name, (measured, expected) in table.items():
        assert expected == pytest.approx(closed[name], rel=1e-6), name
        assert measured == pytest.approx(expected, rel=short[name]), name


@pytest.mark.validate
def test_landing_comes_to_rest_and_is_drawn(tmp_path):
    file = tmp_path / "landing.png"
    out = run("landing.py", file)
    assert out.startswith("came to rest on the surface")
    assert file.read_bytes().startswith(b"\x89PNG")
    rows = [line.split() for line in out.splitlines() if re.fullmatch(r"[\s\d.-]+", line)]
    rows = [[float(v) for v in row] for row in rows if row]
    assert 5 <= len(rows) <= 12
    for time, lasts, speed_in, _, slip, force, points, lost in rows:
        assert min(time, lasts, speed_in, force) > 0.0
        assert slip >= 0.0
        assert points >= 1
        assert lost >= 0.0
    # The first hit is the hardest: a fall from 60 m at the 1.5e-4 m/s^2 of Ryugu, and then some.
    assert rows[0][2] == max(row[2] for row in rows)
    assert 5.0 < rows[0][2] < 20.0


@pytest.mark.validate
def test_own_stop_ends_the_run_that_bounces_too_high():
    """A hit at restitution e returns e^2 of the way down: 0.1 + 0.49 m, and no more."""
    first, second, third, fourth = run("own_stop.py").splitlines()
    assert first == "above 0.4 m: bounced, bounced higher than it may"
    assert float(second.split()[3]) > 0.4
    assert third.startswith("above 0.6 m: SETTLED")
    assert float(fourth.split()[3]) == pytest.approx(0.1, abs=2e-3)


@pytest.mark.parametrize("name", ["own_surface.py", "own_contact.py", "own_stop.py"])
def test_architecture_shows_the_law_whole(name):
    text = (EXAMPLES / name).read_text()
    law = text[text.index("\n@wp.") : text.index("\n\nif __name__")].strip()
    assert f"```python\n{law}\n```" in (ROOT / "ARCHITECTURE.md").read_text()


def test_own_motion_rises_as_high_as_its_energy_lets_it():
    """r = R / (1 - (v / v_escape)^2); the error of leapfrog at 0.5 s is below 1e-5 of it."""
    out = run("own_motion.py")
    tops = re.findall(r"rises to (\S+) m, closed form (\S+) m", out)
    assert len(tops) == 3
    for found, known in tops:
        assert math.isclose(float(found), float(known), rel_tol=2e-5)
    assert out.count("came to rest on the surface") == 3
    assert out.count("left the neighbourhood") == 1


@pytest.mark.validate
def test_a_swing_arm_makes_a_box_hop():
    """The faster it turns, the higher."""
    rows = [line.split() for line in run("swing_arm.py").splitlines()[1:]]
    assert [row[0] for row in rows] == ["0.5", "1.0", "2.0"]
    assert rows[-1][1] == "1"
    heights = [float(row[2]) for row in rows]
    assert heights == sorted(heights)
    assert heights[-1] > 1.0
    assert all("came to rest" in " ".join(row) for row in rows)


@pytest.mark.validate
def test_own_actuator_and_controller_slow_a_cube_down():
    """w0 exp(-gain t / I) up to the look at which the controller switches off: steps of 1e-9."""
    out = run("own_actuator.py")
    rate, expected = map(float, re.search(r"rate: (\S+) rad/s; expected: (\S+)", out).groups())
    assert rate == pytest.approx(expected, rel=1e-6)
    work = float(re.search(r"jets: (\S+) J", out).group(1))
    inertia = 10.0 * 0.2**2 / 6.0
    assert work == pytest.approx(0.5 * inertia * (expected**2 - 0.6**2), rel=1e-6)


@pytest.mark.validate
def test_an_aimed_hop_hits_its_target():
    """On a ball of a point mass that turns: three hops, the slowest between the other two."""
    first, *rows = run("aimed_hop.py").splitlines()
    assert first == "40.3 m in one hop"
    assert [row.split()[0] for row in rows] == ["shallow", "minimum", "steep"]
    speeds = [float(re.search(r"(\S+) cm/s", row).group(1)) for row in rows]
    assert speeds[1] < min(speeds[0], speeds[2])
    assert max(float(re.search(r"miss (\S+) mm", row).group(1)) for row in rows) < 1.0
