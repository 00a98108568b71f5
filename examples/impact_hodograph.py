"""Hodographs: how the slip of a contact point moves while the ground pushes it.

The slip does not depend on how fast the point comes down, only on the normal impulse so far. So the
hits with e = 0 and every closing speed from 0 up end, one after the other, along the hodograph.

Run it with:  python examples/impact_hodograph.py [FILE.png]    (out/figures/hodographs.png if none)
"""

import sys
from pathlib import Path

import numpy as np

from alight.contact import ImpactKind, impact
from alight.views import style

#: Title, inertia [kg m^2], lever [m], friction: bodies of 1 kg.
BODIES = [
    ("friction too weak to hold: swerve", (0.02, 0.05, 0.06), (0.12, 0.09, -0.16), 0.1),
    ("strong friction: halt, stick", (0.02, 0.05, 0.06), (0.12, 0.09, -0.16), 0.9),
    ("halt, then slip again", (2.0, 1.5, 1.5), (0.0, 2.8, -0.9), 0.4),
]
RESTITUTION, CLOSING = 0.5, 1.0


def hodograph(inertia, lever, friction, slip):
    """Slip (n, 2) [m/s] along the collision, where compression ends in it, and the collision."""
    whole = impact(
        1.0, inertia, lever, (*slip, -CLOSING), restitution=RESTITUTION, friction=friction
    )
    speeds = np.concatenate([np.geomspace(1e-6, 1e-2, 200), np.linspace(0.0101, 3.0, 3000)])
    start = np.column_stack([np.tile(slip, (len(speeds), 1)), -speeds])
    swept = impact(1.0, inertia, lever, start, restitution=0.0, friction=friction)
    inside = swept.impulse[:, 2] <= whole.impulse[2]
    path = np.vstack([slip, swept.velocity[inside, :2], whole.velocity[:2]])
    middle = np.searchsorted(swept.impulse[inside, 2], whole.compression_impulse)
    return path, path[min(middle + 1, len(path) - 1)], whole


def panel(axes, title, inertia, lever, friction):
    """All directions of slip, from a ring around s = 0."""
    for angle in np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False):
        slip = 0.5 * np.array([np.cos(angle), np.sin(angle)])
        path, middle, hit = hodograph(inertia, lever, friction, slip)
        halted = bool(hit.has(ImpactKind.HALTED))
        colour = style.ALARM if halted else style.GRAVITY(0.45)
        axes.plot(*path.T, color=colour, lw=1.1, zorder=2)
        axes.plot(*slip, "o", color=style.INK, ms=2.6, zorder=3)
        axes.plot(*middle, "|", color=style.INK, ms=5.0, zorder=3)
        axes.plot(*path[-1], "s", color=colour, ms=3.4, zorder=4)
    axes.axhline(0.0, color=style.LINE, lw=0.7, zorder=0)
    axes.axvline(0.0, color=style.LINE, lw=0.7, zorder=0)
    axes.set(aspect="equal", xlabel="slip $v_1$ [m/s]", ylabel="slip $v_2$ [m/s]")
    axes.set_title(f"{title}\n$\\mu$ = {friction}")


def main(file: Path) -> None:
    """Draw the three bodies."""
    with style.figure(13.0, 5.2) as fig:
        for axes, body in zip(fig.subplots(1, 3), BODIES, strict=True):
            panel(axes, *body)
        fig.text(
            0.06,
            0.015,
            "Dots: slip at first touch. Bars: compression ends. Squares: the collision ends "
            f"(e = {RESTITUTION}, approach {CLOSING:g} m/s). Red: slip came to a halt.",
            color=style.GREY,
        )
        fig.subplots_adjust(left=0.06, right=0.99, bottom=0.16, top=0.86, wspace=0.24)
        style.save(fig, file)
    print(f"wrote {file}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/figures/hodographs.png"))
