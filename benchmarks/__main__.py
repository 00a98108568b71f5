"""Run every benchmark on this machine and write its section of RESULTS.md."""

import argparse
import os
import pathlib
import re
import sys

from alight.cli import bench
from alight.core.devices import resolve
from benchmarks import (
    atlas,
    dispersed,
    drops,
    film,
    gravity,
    host_work,
    impacts,
    integrators,
    landings,
    machine,
    membrane,
    memory,
    parametric,
    peers,
    proximity,
    reports,
    rigid_landings,
    rocks,
    shapes,
    starts,
    tree_landings,
    trees,
    viewer,
)

PARTS = {
    "gravity": gravity,
    "shapes": shapes,
    "impacts": impacts,
    "landings": landings,
    "parametric": parametric,
    "proximity": proximity,
    "atlas": atlas,
    "rigid_landings": rigid_landings,
    "rocks": rocks,
    "dispersed": dispersed,
    "host_work": host_work,
    "drops": drops,
    "film": film,
    "integrators": integrators,
    "trees": trees,
    "tree_landings": tree_landings,
    "membrane": membrane,
    "reports": reports,
    "peers": peers,
    "starts": starts,
    "memory": memory,
    "viewer": viewer,
}

RESULTS = pathlib.Path(__file__).parent / "RESULTS.md"

HEAD = """\
# Benchmark results

Written by `make bench`: one section for each machine, replaced when it is run there again.
"""


def main() -> int:
    """Measure, print, write; 1 when a result is wrong (a slow one is only reported)."""
    os.environ.setdefault("ALIGHT_COMPILER", "full")  # what long campaigns run
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda:0, ...")
    parser.add_argument("--repeats", type=int, default=5, help="timings of which the median counts")
    parser.add_argument("--only", choices=sorted(PARTS), help="print one part alone")
    parser.add_argument("--out", type=pathlib.Path, default=RESULTS, help="the file to write")
    options = parser.parse_args()
    device = resolve(options.device)
    print(machine.label(device))
    parts, right = [], True
    for part in [PARTS[options.only]] if options.only else PARTS.values():
        rows = part.rows(device, options.repeats)
        right = right and all(row.right for row in rows)
        if rows:
            table = getattr(part, "markdown_of", bench.markdown_of)(rows)
            print(f"\n{part.TITLE}\n{table}", flush=True)
            parts.append(f"### {part.TITLE}\n\n{part.NOTES}\n{table}")
    if options.only:
        return 0 if right else 1
    section = f"## {machine.label(device)}\n\n{machine.versions()}\n\n" + "\n".join(parts)
    written(options.out, machine.label(device), section)
    print(f"written to {options.out.name}")
    return 0 if right else 1


def written(path: pathlib.Path, label: str, section: str) -> None:
    """Put a machine's section into the file in place of its last one, and keep the others."""
    old = path.read_text() if path.is_file() else HEAD
    sections = re.split(r"(?m)^(?=## )", old)
    kept = [s.rstrip() + "\n" for s in sections[1:] if s.splitlines()[0] != f"## {label}"]
    path.write_text("\n".join([HEAD, *sorted([*kept, section.rstrip() + "\n"])]))


if __name__ == "__main__":
    sys.exit(main())
