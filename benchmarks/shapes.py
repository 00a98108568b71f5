"""The largest mesh at hand: how long until it can be used, and how much memory that takes."""

import json
import os
import pathlib
import subprocess
import sys

from alight.cli.bench import Row
from alight.core.devices import Device

TITLE = "Shapes"

NOTES = """\
67P upsampled to 1 549 344 facets, an NPZ file: read, integrity checked, edges found, volume,
centre of mass and inertia computed, in a process of its own. Memory is the largest the whole
process had, Python and its libraries included. *error* is that of the volume against the
published 18.7 km^3.
"""

MESH = "67P_1549344_upsampled.npz"

#: Runs in the child: times everything after the imports.
CHILD = """
import json, resource, sys, time
from alight.shapes.mesh import Mesh
start = time.perf_counter()
mesh = Mesh.read(sys.argv[1], unit="km")
facts = [mesh.volume, *mesh.center_of_mass, *mesh.inertia(500.0).ravel()]
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps([mesh.n_faces, mesh.volume, seconds, peak]))
"""

#: Volume of the comet [m^3], and how far this mesh of it may be from that.
VOLUME, VOLUME_SPREAD = 18.7e9, 0.02


def shapes_dir() -> pathlib.Path:
    """Folder of real shape models: ``ALIGHT_SHAPES``, or ``shared/shapes`` beside the tree."""
    beside = pathlib.Path(__file__).resolve().parents[2] / "shared" / "shapes"
    return pathlib.Path(os.environ.get("ALIGHT_SHAPES", beside))


def rows(device: Device, repeats: int = 3) -> list[Row]:
    """Time and memory; nothing where the mesh is not at hand."""
    path = shapes_dir() / MESH
    if not path.is_file():
        print(f"no {MESH}: set ALIGHT_SHAPES to the folder of real shape models")
        return []
    print("  a mesh of 1.5 million facets", flush=True)
    runs = [json.loads(_child(path)) for _ in range(repeats)]
    facets, volume, *_ = runs[0]
    error = abs(volume / VOLUME - 1.0)
    seconds = sorted(run[2] for run in runs)[repeats // 2]
    memory = max(run[3] for run in runs)
    title = f"{facets} facets: read, check, mass"
    return [
        Row(title, seconds, "s", asked=20.0, error=error, error_allowed=VOLUME_SPREAD),
        Row(f"{title}: memory", memory / 1e9, "GB", asked=3.0),
    ]


def _child(path: pathlib.Path) -> str:
    command = [sys.executable, "-c", CHILD, str(path)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
