"""The drop of paper 003's figure 5 runs as a reader would run it, within the bands of B3-1."""

import pathlib
import re
import subprocess
import sys

import pytest

EXAMPLE = pathlib.Path(__file__).resolve().parents[3] / "examples" / "paper_003_drop.py"


@pytest.mark.validate
def test_drop_bounces_and_is_drawn(tmp_path):
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    figures = {
        name.strip(): float(x) for name, x in re.findall(r"^(.+?) +([\d.]+)", done.stdout, re.M)
    }
    assert 1.2 < figures["first contact"] < 1.45
    assert figures["first contact"] < figures["left the membrane"] < 2.5
    # The body is higher than a point and as heavy: it presses the fabric down less.
    assert 2.5 < figures["deepest point"] < 4.5
    for name in ("paper_003_drop.png", "paper_003_plane.png"):
        assert (tmp_path / name).stat().st_size > 50_000
