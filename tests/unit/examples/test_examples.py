"""The short examples run as a reader would run them, and say what they promise."""

import pathlib
import subprocess
import sys

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "examples"


def run(name: str) -> str:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_own_law_prints_a_field_without_sources():
    lines = run("own_law.py").splitlines()
    # The pull at (4000, 0, 0) m is that of two points on the x axis.
    near, far = 4000.0 - 2500.0 * 0.7, 4000.0 + 2500.0 * 0.3
    pull = 666.2 * (0.3 / near**2 + 0.7 / far**2)
    assert abs(float(lines[1].strip(" []").split()[0]) / -pull - 1.0) < 1e-8
    assert lines[-1].startswith("trace of the gradient")
