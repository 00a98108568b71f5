"""Films: 10 s at 1280 x 720 of the reference landing, and the renderer checked before.

``python -m benchmarks.film [--device cuda:0]`` measures this alone; ``--keep FILE`` keeps the film.
"""

import argparse
import contextlib
import os
import pathlib
import sys
import tempfile
import time
from collections.abc import Iterator

import numpy as np

from alight.cli import bench
from alight.cli.bench import Row
from alight.core import devices
from alight.core.devices import Device
from alight.shapes import icosphere
from alight.staging import playback
from alight.views.film.making import Film, Settings, make
from alight.views.render.exposure import Exposure, Lamps, Light
from alight.views.render.lens import looking
from alight.views.render.scene import Part, Scene, Thing
from benchmarks import machine

TITLE = "Films"

NOTES = """\
`alight film` of the reference landing (MINERVA-II-1 on Ryugu): 10 s, 240 frames of 1280 x 720 with
shadows, titles and paths, encoded as mp4 (gif where ffmpeg is absent); the landing is simulated
before. *error* is that of the silhouette of a sphere and of its lit part against closed form.
"""

SCENARIO = pathlib.Path(__file__).parents[1] / "scenarios" / "ryugu_minerva.toml"

#: What a film may take [s]: on two cores, and on an H200.
ASKED = {"cpu": 360.0, "gpu": 30.0}

#: What pixels leave of a silhouette and a terminator.
ERROR = 6e-3


def rows(device: Device, repeats: int = 1) -> list[Row]:
    """The time of a film, once the renderer is found right."""
    error = renderer_error(device)
    shown = playback(SCENARIO)
    with _place(None) as out:
        begun, spent = time.perf_counter(), time.process_time()
        made = make(shown, out, Settings(), device=device.name, show="text")
        took, spent = time.perf_counter() - begun, time.process_time() - spent
    asked = ASKED["cpu" if device.is_cpu else "gpu"]
    return [
        Row(_told(made), took, "s", asked, error=error, error_allowed=ERROR),
        Row("the same, CPU time of this process", spent, "s"),
    ]


def _told(made: Film) -> str:
    return f"{made.frames} frames of {made.size[0]} x {made.size[1]}, {made.path.suffix[1:]}"


@contextlib.contextmanager
def _place(keep: pathlib.Path | None) -> Iterator[pathlib.Path]:
    if keep is not None:
        yield keep
        return
    try:
        import imageio_ffmpeg  # noqa: F401

        ending = "mp4"
    except ImportError:
        ending = "gif"
    with tempfile.TemporaryDirectory() as folder:
        yield pathlib.Path(folder) / f"film.{ending}"


def renderer_error(device: Device) -> float:
    """Largest error of a sphere's silhouette, R^2 / (d^2 - R^2) pi, and of its lit part."""
    scene = Scene([Part(icosphere(6), lunar=0.0)], [Thing(0)], device)
    away, sun_only = 40.0, Light(sun=1.0, fill=0.0, sky=0.0)
    lens = looking((away, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (600, 600), 0.053)
    worst = 0.0
    for phase in np.radians([0.0, 45.0, 90.0, 135.0]):
        sun = np.array([np.cos(phase), np.sin(phase), 0.0])
        painted = Exposure(scene, lens, Lamps(sun, sun), 2).develop(sun_only)
        cover = painted[..., 3]
        exact = np.pi / (away**2 - 1.0)
        worst = max(worst, abs(float(cover.sum()) * lens.pixel**2 / exact - 1.0))
        lit = (painted[..., 0] > 0.0).sum() / (cover > 0.0).sum()
        # Seen from 40 radii the phase law of a far viewer holds to 1 / 40 of its change.
        worst = max(worst, abs(float(lit) - 0.5 * (1.0 + np.cos(phase))) - 0.5 / away)
    return worst


def main() -> int:
    """Measure and print; 1 when a picture is wrong."""
    os.environ.setdefault("ALIGHT_COMPILER", "full")
    parser = argparse.ArgumentParser(prog="python -m benchmarks.film", description=__doc__)
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda:0, ...")
    parser.add_argument("--keep", type=pathlib.Path, help="write the film here and keep it")
    options = parser.parse_args()
    device = devices.resolve(options.device)
    print(machine.label(device))
    if options.keep is not None:
        print(f"renderer: error {renderer_error(device):.2g}")
        make(playback(SCENARIO), options.keep, Settings(), device=device.name, show="text")
        return 0
    found = rows(device)
    print(bench.markdown_of(found))
    return 0 if all(row.right for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
