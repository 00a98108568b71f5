"""What every shipped scenario and some hundred random landings give, to the last bit.

A change of structure must not change a result. Of each table this keeps a hash of every column, and
its first and last value, so that a difference can be read. ``python tests/net/recorded.py`` writes
the record again: do so only where results are meant to change, and say why
in the commit.

Bits depend on the compiler, on the mathematical library and on the processor. Kernels give the same
on all that have FMA and AVX2. NumPy's sines and its matrix products (OpenBLAS) do not: both choose
code for the processor they find, by its width of vectors and by its family. So every case is run by
a process in which both are held to ``ENVIRONMENT``, and which finds no tables that other processes
kept: one record serves all. A stamp says what else bits depend on; the record is compared where
that is the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np
import warp as wp

import alight
from alight.engine import run_batch
from alight.scenario import load
from alight.scenario.document import LANDING

HERE = pathlib.Path(__file__).resolve().parent
SCENARIOS = HERE.parents[1] / "scenarios"

sys.path.insert(0, str(HERE.parent / "properties"))  # tests are no package

from landing_cases import FAMILIES, random_case  # noqa: E402

#: Runs of each scenario, the first two with their trajectories; of each random model.
RUNS, MODELS, LANDERS = 8, 8, 5

Facts = dict[str, Any]


#: What NumPy and OpenBLAS choose on a processor with AVX2 and no wider vectors.
ENVIRONMENT = {
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    "OPENBLAS_CORETYPE": "Haswell",
}
#: What this processor must have.
NEEDED = ("fma", "avx2")
RECORD = HERE / "record.json"


def stamp() -> Facts:
    """What the bits depend on, beside the code."""
    return {
        "warp": wp.__version__,
        "numpy": np.__version__,
        "libc": " ".join(platform.libc_ver()),
        "processor": " ".join([platform.machine(), *_processor()]),
    }


def _processor() -> list[str]:
    """Which of ``NEEDED`` it has; nothing where the system does not say."""
    file = pathlib.Path("/proc/cpuinfo")
    lines = file.read_text(encoding="utf-8").split("\n") if file.exists() else []
    flags = next((line for line in lines if line.startswith("flags")), "").split()
    return [name for name in NEEDED if name in flags]


def known() -> Facts:
    """The record: a stamp, and cases by name."""
    return dict(json.loads(RECORD.read_text(encoding="utf-8")))


def column(values: Any) -> Facts:
    """A hash of one column, and its ends."""
    data = np.asarray(values)
    if data.dtype == object or data.dtype.kind in "US":
        raw = json.dumps([str(value) for value in data.ravel()]).encode()
    else:
        raw = np.ascontiguousarray(data).tobytes()
    ends = [str(data.ravel()[i]) for i in (0, -1)] if data.size else []
    return {
        "type": str(data.dtype),
        "count": int(data.size),
        "hash": hashlib.sha256(raw).hexdigest()[:16],
        "ends": ends,
    }


def table(found: Any) -> Facts:
    """Every column of an Arrow table."""
    named = zip(found.column_names, found.columns, strict=True)
    return {name: column(values.to_numpy(zero_copy_only=False)) for name, values in named}


def record_of(rows: Any, prefix: str = "") -> Facts:
    """Every field of a structured array, nested ones too."""
    found: Facts = {}
    for name in rows.dtype.names:
        if rows[name].dtype.names:
            found |= record_of(rows[name], f"{prefix}{name}.")
        else:
            found[prefix + name] = column(rows[name])
    return found


def coarse(scenario: Any) -> Any:
    """The same with small tables: what they hold is checked elsewhere."""
    changes: Facts = {"record.trajectories": (0, 1)}
    if scenario.KIND == LANDING and scenario.body.name is not None:
        changes["body.facets"] = 320
        if scenario.ground.kind == "distance-field":
            changes["ground.spacing"] = max(scenario.body.entry.size) / 40.0
            changes["ground.band"] = None
        if scenario.gravity.law == "reduced":
            changes["gravity.vertices"] = 42
    return scenario.replaced(changes)


def of_scenario(name: str) -> Facts:
    """The tables of a small campaign."""
    given = coarse(load(SCENARIOS / f"{name}.toml"))
    with tempfile.TemporaryDirectory() as place:
        done = alight.run_campaign(
            given, RUNS, out=pathlib.Path(place) / "runs", device="cpu", show="silent"
        )
        campaign = alight.open_campaign(done.folder)
        tables = {"runs": table(campaign.read("runs"))}
        if (campaign.folder / "contacts").is_dir():
            tables["contacts"] = table(campaign.read("contacts"))
        for run in campaign.trajectories:
            tables[f"trajectory {run}"] = table(campaign.trajectory(run))
    return tables


def of_family(family: str) -> Facts:
    """Final states and contacts of random landers."""
    tables = {}
    for seed in range(MODELS):
        case = random_case(family, 1000 + seed, LANDERS)
        found = run_batch(case.model, case.release, device="cpu", show="silent")
        # When the next step must end is no result.
        known = [name for name in found.final.dtype.names if name not in ("until", "due", "spare")]
        tables[f"final {seed}"] = record_of(found.final[known])
        tables[f"contacts {seed}"] = record_of(found.touches)
    return tables


def cases() -> dict[str, Any]:
    """What is recorded, by name."""
    shipped = sorted(file.stem for file in SCENARIOS.glob("*.toml"))
    found: dict[str, Any] = {name: lambda name=name: of_scenario(name) for name in shipped}
    for family in FAMILIES:
        found[f"random, {family}"] = lambda family=family: of_family(family)
    return found


def differences(old: Facts, new: Facts) -> list[str]:
    """One line for each table and column that differs."""
    said = []
    for name in sorted(set(old) | set(new)):
        if name not in old or name not in new:
            said.append(f"{name}: {'new' if name in new else 'gone'}")
            continue
        before, after = old[name], new[name]
        for key in sorted(set(before) | set(after)):
            a, b = before.get(key), after.get(key)
            if a != b:
                was = "none" if a is None else f"{a['count']} {a['type']} {a['ends']}"
                now = "none" if b is None else f"{b['count']} {b['type']} {b['ends']}"
                said.append(f"{name}, {key}: was {was}, is {now}")
    return said


def result_of(name: str) -> Facts:
    """What a case gives now, by a process that is like all others."""
    command = [sys.executable, str(HERE / "recorded.py"), "--print", name]
    wp.init()
    with tempfile.TemporaryDirectory() as tables:
        # Kernels are shared with other processes. Tables are not: they may have been made with
        # what NumPy chooses elsewhere.
        kernels = pathlib.Path(wp.config.kernel_cache_dir).parent  # Warp adds its version
        places = {"XDG_CACHE_HOME": tables, "WARP_CACHE_PATH": str(kernels)}
        done = subprocess.run(
            command,
            env=os.environ | ENVIRONMENT | places,
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main(names: list[str]) -> None:
    """Write the record again; of some cases alone if they are named."""
    if names[:1] == ["--print"]:
        print(_short(cases()[names[1]]()))
        return
    kept = known()["cases"] if names else {}
    made = cases()
    for name in names or made:
        kept[name] = result_of(name)
        print(name, flush=True)
        lines = [f"{json.dumps(name)}: {_short(kept[name])}" for name in made if name in kept]
        whole = ",\n".join(lines)
        text = f'{{"stamp": {json.dumps(stamp())}, "cases": {{\n{whole}\n}}}}\n'
        RECORD.write_text(text, encoding="utf-8")


def _short(facts: Facts) -> str:
    return json.dumps(facts, separators=(",", ":"))


if __name__ == "__main__":
    main(sys.argv[1:])
