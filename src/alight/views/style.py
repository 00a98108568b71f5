"""How every figure of Alight looks: type, colours, files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from matplotlib import colormaps, rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import Colormap, ListedColormap
from matplotlib.figure import Figure

#: Text, secondary text, thin lines, and what must not be overlooked.
INK, GREY, LINE, ALARM = "#1d2430", "#667080", "#c5cad3", "#c1272d"

#: Perceptually even and safe for colour-blind readers: gravity from weak to strong ...
GRAVITY: Colormap = colormaps["viridis"]
#: ... and slope from level (pale) to steep (dark).
SLOPE: Colormap = ListedColormap(colormaps["magma"](range(248, 20, -1)), name="alight_slope")

#: ... and light from none to the most.
LIGHT: Colormap = colormaps["cividis"]

#: Dots per inch of PNG files, and of the images inside SVG files.
DPI = 160

#: How hard deflate tries for PNG files: 6 makes them a fifth smaller in three times the time.
LEVEL = 2

_SETTINGS: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "text.color": INK,
    "axes.edgecolor": LINE,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 6.0,
    # No title has to give way to ticks above it: looking for them measures every label twice.
    "axes.titley": 1.0,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "hatch.linewidth": 0.7,
    # The same figure gives the same file.
    "svg.hashsalt": "alight",
}


@contextmanager
def figure(width: float, height: float) -> Iterator[Figure]:
    """A figure of that size [inch] in Alight's style.

    It is none of pyplot's: the figures and the backend of the user's session, such as that of a
    notebook, are left alone.
    """
    with rc_context(_SETTINGS):
        made = Figure(figsize=(width, height), dpi=DPI)
        FigureCanvasAgg(made)
        yield made


def save(made: Figure, *files: Path) -> None:
    """Write a figure to each of ``files``, in the format of its extension."""
    _hold_labels(made)
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        made.savefig(file, dpi=DPI, **_options(file.suffix.lower()))


def _options(kind: str) -> dict[str, Any]:
    if kind == ".png":
        return {"pil_kwargs": {"compress_level": LEVEL}}
    date = {".svg": "Date", ".pdf": "CreationDate"}.get(kind)
    return {"metadata": {date: None}} if date else {}


def _hold_labels(made: Figure) -> None:
    """Labels that say nothing need no place: finding it measures every tick for them."""
    for axes in made.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if not axis.get_label_text():
                axis.set_label_coords(0.5, 0.5)
