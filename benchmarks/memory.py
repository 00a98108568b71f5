"""Memory of campaigns of more and more runs: what is kept of a run must not stay in memory.

``python -m benchmarks --only memory`` prints this part alone.
"""

import pathlib
import subprocess
import sys
import tempfile

from alight.cli.bench import Row
from alight.core.devices import Device

TITLE = "Memory of campaigns"

NOTES = """\
`alight campaign` of a sphere that falls 30 cm on a plane, in shards of 1 000 runs, in a process of
its own, on the host's cores. Memory is the most that the process held (resident). The largest
campaign may take a fifth more than the smallest.
"""

#: Numbers of runs, the smallest first.
CASES = (10_000, 100_000, 1_000_000)
#: How much more than the smallest campaign a larger one may take.
MORE = 1.2

SCENARIO = """\
seed = 5
[gravity]
law = "uniform"
acceleration = ["0 m/s^2", "0 m/s^2", "-1e-3 m/s^2"]
[ground]
kind = "plane"
[lander]
shape = "sphere"
diameter = "20 cm"
mass = "1 kg"
[release]
position = ["0 m", "0 m", "0.3 m"]
[contact]
law = "impulse"
restitution = 0.2
friction = 0.5
[stop]
max_time = "1000 s"
[dispersions]
"release.velocity" = { kind = "normal", sigma = "1 cm/s" }
[campaign]
runs = 1000
shard = 1000
"""

#: Runs a command, and says what its process held at most [kB].
_WATCH = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def rows(device: Device, repeats: int = 1) -> list[Row]:
    """The memory of each campaign."""
    found: list[Row] = []
    with tempfile.TemporaryDirectory() as place:
        scenario = pathlib.Path(place) / "drop.toml"
        scenario.write_text(SCENARIO, "utf-8")
        for runs in CASES:
            print(f"  a campaign of {runs} runs", flush=True)
            peak = held(scenario, runs, pathlib.Path(place) / str(runs))
            most = MORE * found[0].value if found else None
            found.append(Row(f"{runs} runs", peak, "GB", asked=most))
    return found


def held(scenario: pathlib.Path, runs: int, out: pathlib.Path) -> float:
    """The most that a campaign on the host holds [GB]."""
    campaign = ["campaign", str(scenario), "--runs", str(runs), "--out", str(out)]
    command = [sys.executable, "-m", "alight", *campaign, "--device", "cpu"]
    done = subprocess.run(
        [sys.executable, "-c", _WATCH, *command], capture_output=True, text=True, check=True
    )
    return float(done.stdout) * 1024.0 / 1e9


if __name__ == "__main__":
    for row in rows(Device("cpu", "")):
        print(row)
