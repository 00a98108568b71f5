"""What the first start has compiled, later starts take from the cache."""

import os
import subprocess
import sys

import pytest

#: A cube over rough ground, which the first start also asks for distances: what a kernel is called
#: must not depend on what was compiled before it.
SMALL = """
import sys
from alight import contact, engine, gravity, motions, surfaces, vehicles
ground = surfaces.Rough(surfaces.Plane(), surfaces.FractalNoise(0.05, 2.0, octaves=2, seed=1))
if "first" in sys.argv:
    ground.query([[0.0, 0.0, 1.0]], "cpu")
model = motions.Model(
    gravity.Uniform((0.0, 0.0, -1e-3)), ground, vehicles.RigidLander.cube(0.2, 1.0),
    contact.Compliant(restitution=0.3), stop=engine.Stop(max_time=20.0),
)
found = engine.simulate(model, motions.Release((0.0, 0.0, 0.5)))
found.energy
"""
#: The first start builds the fields of Ryugu, later ones have them.
WHOLE = (
    "from alight.cli.main import run; import sys; sys.argv[1:] = ['run', 'ryugu_minerva']; run()"
)


def modules(code, folder, *words):
    """Names of the compiled modules after one more start."""
    kernels = folder / "kernels"
    places = {"WARP_CACHE_PATH": str(kernels), "XDG_CACHE_HOME": str(folder / "tables")}
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        env={**os.environ, **places},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {path.name for path in kernels.rglob("*.o")}


@pytest.mark.validate
@pytest.mark.parametrize("code", [SMALL, WHOLE], ids=["small", "whole"])
def test_later_starts_compile_nothing(code, tmp_path):
    first = modules(code, tmp_path, "first")
    assert first
    assert modules(code, tmp_path) == first
    assert modules(code, tmp_path) == first
