"""Figures of every body in the catalogue, and all of them side by side.

Run it with:  python examples/gallery.py [FOLDER]     (out/figures if no folder is named)
"""

import sys
from pathlib import Path

import numpy as np

from alight.cli.body import look
from alight.cli.body_subject import find_subject
from alight.core.progress import progress
from alight.scenario import bodies
from alight.views import style
from alight.views.figures.body.sheet import CAMERA, draw_solid
from alight.views.figures.solid import View


def main(folder: Path) -> None:
    """Draw a sheet and a large picture of each body, then the family portrait."""
    written = []
    for name in bodies.names():
        print(name, flush=True)
        written += look(find_subject(name), wanted=folder)[1]
    written.append(family(folder / "family.png"))
    print("\nwrote", *written, sep="\n  ")


def family(file: Path) -> Path:
    """All bodies in one picture, each with its own scale bar, the smallest first."""
    known = sorted((bodies.find(name) for name in bodies.names()), key=lambda b: b.mean_radius)
    with progress() as bar, style.figure(14.0, 9.5) as fig:
        bar.start("Family portrait", total=len(known))
        fig.text(0.03, 0.945, "Small bodies of the catalogue", fontsize=20, fontweight="bold")
        grid = fig.subplots(3, 4)
        fig.subplots_adjust(left=0.03, right=0.98, bottom=0.02, top=0.89, wspace=0.08, hspace=0.15)
        for body, axes in zip(known, np.ravel(grid), strict=False):
            mesh = body.mesh(20_480)
            axis = None if body.tumbling else body.spin_vector / body.rotation_rate
            draw_solid(axes, View(mesh, CAMERA, pixels=480).picture(), mesh, axis)
            axes.set_title(body.name, loc="left")
            bar.advance()
        grid[-1, -1].set_axis_off()
        style.save(fig, file)
    return file


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/figures"))
