"""Gravity fields: time per facet and point, per point on a GPU, against polyhedral-gravity.

The measuring code is that of ``alight bench gravity`` (``alight.cli.bench``): cases are added
there, to the list ``GRAVITY``.
"""

from alight.cli import bench
from alight.core.devices import Device

TITLE = "Gravity"

NOTES = """\
U, g and its gradient in float64. *peer* is ESA's polyhedral-gravity on one core, timed turn by
turn with Alight; *faster* is the median ratio of the turns. *error* is the largest relative
error of g, against an exterior series of degree 30 at three radii and, where it is installed,
the peer at the points timed (which loses digits with distance first). *asked* is the time at
most, then the ratio at least.
"""


def rows(device: Device, repeats: int = 5) -> list[bench.Row]:
    """Every figure of the table."""
    peer, line = bench.find_peer()
    if line:
        print(line)
    setting = bench.Setting(device, repeats, peer, say=lambda text: print(f"  {text}", flush=True))
    return bench.run_cases(bench.GRAVITY, setting)
