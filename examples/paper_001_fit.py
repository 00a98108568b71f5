"""Figure 2 of paper 001: Geographos and its polynomial series of orders 1, 5, 10, 15 and 22.

The mesh is the radar model of 16 380 facets that the paper used (Hudson and Ostro 1999; NASA's
Planetary Data System has it as "Small Body Radar Shape Models"), in kilometres.

Run it with:  python examples/paper_001_fit.py MESH.obj [FILE.png]   (out/paper_001/fit.png if none)
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize

from alight.shapes.mesh import Mesh
from alight.shapes.radius_series.series import PolynomialSeries
from alight.surfaces import Parametric
from alight.views import style
from alight.views.figures.body.sheet import draw_solid, fit
from alight.views.figures.solid import Camera, View

ORDERS = (1, 5, 10, 15, 22)
#: The mesh keeps the axes of its file; the long one lies across the picture.
CAMERA, PIXELS = Camera(np.radians(285.0), np.radians(20.0)), 620
#: Errors are shown from blue, too low, to red, too high [% of the mean radius].
COLOURS, SPAN = colormaps["RdBu_r"], 5.0


def fits(mesh: Mesh, orders=ORDERS) -> dict[int, Parametric]:
    """The smooth surface of each order."""
    return {order: Parametric(PolynomialSeries.fit(mesh, order)) for order in orders}


def table(found: dict[int, Parametric]) -> str:
    """Errors of each order, as parts of the mean radius, and how sharply the surface bends."""
    lines = ["order  terms   rms [%]   max [%]   smallest radius of curvature [m]"]
    for order, ground in found.items():
        report = ground.report
        n = np.random.default_rng(0).normal(size=(20_000, 3))
        sharp = 1.0 / ground.bends(ground.at(n)).principal.max()
        lines.append(
            f"{order:5d} {(order + 1) ** 2:6d} {100 * report.rms:9.2f} {100 * report.max:9.1f} "
            f"{sharp:10.0f}"
        )
    return "\n".join(lines)


def panel(axes, mesh: Mesh, title: str, below: str, reach: float, colours=None) -> None:
    """A picture of one shape, all at one scale, with its title and a line below that."""
    picture = View(mesh, CAMERA, pixels=PIXELS).picture(colours)
    draw_solid(axes, picture, mesh, None, scale_bar=colours is None)
    fit(axes, (-reach, reach), (-0.75 * reach, 0.65 * reach))
    axes.set_title(title)
    axes.text(0.0, 1.0, below, transform=axes.transAxes, color=style.GREY, va="top")


def draw(mesh: Mesh, found: dict[int, Parametric], file: Path) -> None:
    """The mesh and its series; colours tell how far each lies above or below the mesh."""
    length = np.linalg.norm(mesh.vertices, axis=1)
    norm = Normalize(-SPAN, SPAN, clip=True)
    with style.figure(14.0, 7.6) as fig:
        rows, columns = 2, (len(found) + 2) // 2
        cells = fig.subplots(rows, columns).ravel()
        edges = f"{mesh.n_vertices} vertices, {mesh.n_faces} facets"
        reach = 1.02 * float(length.max())
        panel(cells[0], mesh, "Mesh", edges, reach)
        for axes, (order, ground) in zip(cells[1:], found.items(), strict=False):
            smooth = Mesh(ground.at(mesh.vertices), mesh.faces, check=False)
            error = 100.0 * (np.linalg.norm(smooth.vertices, axis=1) - length) / mesh.radius
            report = ground.report
            below = f"rms {100 * report.rms:.3g} %, max {100 * report.max:.3g} %"
            title = f"Order {order}, {(order + 1) ** 2} terms"
            panel(axes, smooth, title, below, reach, COLOURS(norm(error))[:, :3])
        for axes in cells[1 + len(found) :]:
            axes.set_axis_off()
        fig.subplots_adjust(left=0.02, right=0.90, bottom=0.02, top=0.855, wspace=0.05, hspace=0.16)
        bar = fig.colorbar(
            ScalarMappable(norm, COLOURS), cax=fig.add_axes((0.925, 0.16, 0.011, 0.6)),
            extend="both",
        )  # fmt: skip
        bar.set_label("radius of the series less that of the mesh [% of the mean radius]")
        fig.text(0.02, 0.94, "Geographos as a radius series", fontsize=17, fontweight="bold")
        fig.text(0.02, 0.907, "after paper 001, figure 2", fontsize=9, color=style.GREY)
        style.save(fig, file)


def main(source: Path, file: Path) -> None:
    """Fit, print the table, draw."""
    mesh = Mesh.read(source, unit="km", recentre=True)
    found = fits(mesh)
    print(table(found))
    draw(mesh, found, file)
    print(f"wrote {file}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else "out/paper_001/fit.png"))
