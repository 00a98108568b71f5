"""Figures of Alight leave those of the user's session alone."""

import os
import subprocess
import sys

#: What a notebook does: its backend shows pyplot's figures, those of before and of after.
SESSION = """
import matplotlib.pyplot as plt
own = plt.figure()
import alight
from pathlib import Path
from alight.views import style
with style.figure(3.0, 2.0) as made:
    made.subplots().plot([0, 1], [0, 1])
    style.save(made, Path("made.png"), Path("made.svg"))
assert plt.get_fignums() == [own.number], plt.get_fignums()
assert plt.get_backend() == "svg", plt.get_backend()
assert plt.rcParams["font.size"] == 10.0, plt.rcParams["font.size"]
"""


def test_the_backend_and_figures_of_a_session_stay(tmp_path):
    ran = [sys.executable, "-c", SESSION]
    done = subprocess.run(
        ran, cwd=tmp_path, env={**os.environ, "MPLBACKEND": "svg"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "made.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "made.svg").read_text("utf-8")
