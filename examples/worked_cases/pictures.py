"""Pictures of docs/how_to/worked_cases.md, from the figures of the four reports in out/.

python examples/worked_cases/pictures.py [FOLDER OF THE CAMPAIGNS]
"""

import pathlib
import sys

from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "pictures" / "worked_cases"
SHOWN = {
    "box": ("rest_map", "loss_requirement_1"),
    "legs": ("touchdown", "loads"),
    "cubesat": ("loss_escape", "trajectories"),
    "hops": ("sweep", "trajectories"),
}
WIDTH, COLOURS = 1000, 256

if __name__ == "__main__":
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "out")
    PICTURES.mkdir(parents=True, exist_ok=True)
    for campaign, figures in SHOWN.items():
        for figure in figures:
            with Image.open(out / campaign / "figures" / f"{figure}.png") as whole:
                size = WIDTH, round(WIDTH * whole.height / whole.width)
                small = whole.convert("RGB").resize(size, Image.Resampling.LANCZOS)
            few = small.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=4)
            few.save(PICTURES / f"{campaign}_{figure}.png", optimize=True)
