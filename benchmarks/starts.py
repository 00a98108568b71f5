"""How long ``alight run`` takes from an empty cache and from a warm one, beside processor time.

``python -m benchmarks.starts`` prints this part alone.
"""

import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

from alight.cli.bench import Row
from alight.core.devices import Device

TITLE = "Starts"

NOTES = """\
`alight run SCENARIO --json` in a process of its own: from empty caches (no table, no kernel, none
of Warp's headers compiled) and again with what the first has left, the median of repeats. *core*
is the time of all cores together, which a busy machine changes little. "first scenario" has no
[gravity] section. *error* is how far the place where the lander ends differs between the two,
relative to its distance from the centre of the body: quick and full kernels give the same bits.
"""

#: A scenario as a newcomer writes it: nothing said of gravity or ground.
FIRST = """\
[body]
name = "itokawa"

[lander]
name = "minerva-ii-1"

[release]
latitude = "0 deg"
longitude = "30 deg"
height = "60 m"

[contact]
restitution = 0.6
friction = 0.5
rolling_resistance = "7.5 mm"
"""

#: Scenario, and what it may take from an empty cache and from a warm one [s].
CASES = (
    ("ryugu_minerva", 10.0, 2.0),
    ("ryugu_minerva_rocks", 20.0, None),
    ("first scenario", None, None),
)


class Start(NamedTuple):
    """One process."""

    wall: float
    """Time until it ended [s]."""
    core: float
    """Time of all cores [s]."""
    place: list[float]
    """Where the lander ended [m]."""


def rows(device: Device, repeats: int = 3) -> list[Row]:
    """Starts of each scenario; one from an empty cache, as many as asked from a warm one."""
    found: list[Row] = []
    with tempfile.TemporaryDirectory() as place:
        first = pathlib.Path(place) / "first.toml"
        first.write_text(FIRST, "utf-8")
        for name, empty, warm in CASES:
            print(f"  starts of {name}", flush=True)
            cache = pathlib.Path(place) / name.replace(" ", "_")
            scenario = str(first) if name == "first scenario" else name
            cold = start(scenario, cache)
            later = sorted((start(scenario, cache) for _ in range(repeats)), key=lambda s: s.wall)
            middle = later[repeats // 2]
            error = difference(cold.place, middle.place)
            found += [
                Row(f"{name}: empty cache", cold.wall, "s", asked=empty),
                Row(f"{name}: empty cache, core", cold.core, "s"),
                Row(f"{name}: warm", middle.wall, "s", asked=warm, error=error, error_allowed=0.0),
                Row(f"{name}: warm, core", middle.core, "s"),
            ]
    return found


def start(scenario: str, cache: pathlib.Path) -> Start:
    """Run a scenario once with caches under ``cache``."""
    own = {"WARP_CACHE_PATH": str(cache / "kernels"), "XDG_CACHE_HOME": str(cache / "tables")}
    left_out = ("ALIGHT_COMPILER", "PYTHONDONTWRITEBYTECODE")
    environment = {key: v for key, v in os.environ.items() if key not in left_out} | own
    command = [sys.executable, "-m", "alight", "run", scenario, "--json"]
    before, begun = _core(), time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    wall, core = time.perf_counter() - begun, _core() - before
    return Start(wall, core, json.loads(done.stdout)["position_m"])


def difference(one: list[float], other: list[float]) -> float:
    """Of two places, relative to the first's distance from the centre."""
    apart = sum((a - b) ** 2 for a, b in zip(one, other, strict=True))
    return float((apart / sum(a * a for a in one)) ** 0.5)


def _core() -> float:
    """Time of all cores in processes that have ended [s]."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


if __name__ == "__main__":
    for row in rows(Device("cpu", "")):
        print(row)
