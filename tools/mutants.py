"""How many small faults of a file the tests notice: ``make mutants FILES=src/alight/...``.

A copy of the sources gets one fault after the other (``mutations``); tests run in a fork of a
process that has NumPy, SciPy and Warp loaded already, until the first one fails. A fault that every
test lets pass survives and is printed: either nothing checks that line, or it changes nothing.

Other tools do this for plain Python; none that is at hand mutates kernels, which Warp reads from
the file, or makes results 1 % larger, which is the fault that statistics overlook.
"""

from __future__ import annotations

import argparse
import importlib
import os
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import time

from tools import depends
from tools.mutations import Mutation, mutations

ROOT = depends.ROOT


def main() -> int:
    """Mutate the files named on the command line."""
    given = _arguments()
    _load_libraries()
    survivors, killed = [], 0
    with tempfile.TemporaryDirectory(prefix="mutants_") as folder:
        copy = pathlib.Path(folder) / "src"
        # Kernels of mutants are of no use to anyone: not in the folder that everyone shares.
        os.environ["WARP_CACHE_PATH"] = given.kernels or str(pathlib.Path(folder) / "kernels")
        shutil.copytree(depends.SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        for file in given.files:
            found = _file(pathlib.Path(file).resolve(), copy, given)
            killed += found[0]
            survivors += found[1]
    total = killed + len(survivors)
    print(f"\n{killed} of {total} faults noticed ({100.0 * killed / max(1, total):.1f} %)")
    print("\n".join(survivors))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", help="sources to mutate")
    parser.add_argument("--tests", nargs="*", help="tests to run; found by imports if not given")
    parser.add_argument("--sample", type=int, help="this many faults of each file, at random")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--limit", type=float, default=300.0, help="of one run of the tests [s]")
    parser.add_argument("--kernels", help="folder of compiled kernels, one of its own if not given")
    parser.add_argument("--lines", help="only faults in these lines: 10-40")
    return parser.parse_args()


def _load_libraries() -> None:
    """What takes seconds to import and is no part of Alight: loaded once, before the forks."""
    for name in ("numpy", "scipy.stats", "warp", "pyarrow.parquet", "pydantic", "pint", "pytest"):
        importlib.import_module(name)


def _file(
    file: pathlib.Path, copy: pathlib.Path, given: argparse.Namespace
) -> tuple[int, list[str]]:
    """How many faults of a file were noticed, and the lines of those that were not."""
    text, place = file.read_text("utf-8"), copy / file.relative_to(depends.SOURCE)
    tests = given.tests or _tests_of(file)
    name = str(file.relative_to(ROOT))
    if not tests or _passes(tests, copy, given.limit) is not True:
        print(f"{name}: its tests do not pass as it is, or there are none: {tests}")
        return 0, []
    for old in place.parent.glob(f"__pycache__/{file.stem}.*.pyc"):
        old.unlink()
    killed, survivors, start = 0, [], time.monotonic()
    chosen = _chosen(text, given)
    for mutation in chosen:
        place.write_text(mutation.apply(text), "utf-8")
        if _passes(tests, copy, given.limit, keep_bytecode=False):
            survivors.append(f"{name}:{mutation.describe(text)}")
        else:
            killed += 1
    place.write_text(text, "utf-8")
    print(
        f"{name}: {killed} of {len(chosen)} noticed in {time.monotonic() - start:.0f} s",
        *survivors,
        sep="\n  ",
        flush=True,
    )
    return killed, survivors


def _chosen(text: str, given: argparse.Namespace) -> list[Mutation]:
    found = mutations(text)
    if given.lines:
        first, last = (int(n) for n in given.lines.split("-"))
        found = [m for m in found if first <= m.line <= last]
    if given.sample is not None and given.sample < len(found):
        picked = random.Random(given.seed).sample(range(len(found)), given.sample)
        found = [found[i] for i in sorted(picked)]
    return found


def _tests_of(file: pathlib.Path) -> list[str]:
    """Unit tests of the file's room that rest on it, those that name it first."""
    room = file.relative_to(depends.SOURCE / "alight").parts[0]
    tests = sorted((ROOT / "tests" / "unit" / room).glob("test_*.py"))
    found = depends.resting_on([file], tests)
    found.sort(key=lambda test: (file.stem not in test.read_text("utf-8"), test.name))
    return [str(test.relative_to(ROOT)) for test in found]


def _passes(
    tests: list[str], source: pathlib.Path, limit: float, *, keep_bytecode: bool = True
) -> bool:
    """Whether tests pass with the sources in another folder, in a process of their own."""
    child = os.fork()
    if child == 0:
        _run(tests, source, keep_bytecode)
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False  # a run without end is noticed


def _run(tests: list[str], source: pathlib.Path, keep_bytecode: bool) -> None:
    """In the fork: pytest, silent, until the first failure."""
    os.setsid()
    silent = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silent, stream)
    os.environ["PYTHONPATH"] = str(source)
    sys.path.insert(0, str(source))
    sys.dont_write_bytecode = not keep_bytecode
    os.environ["PYTHONDONTWRITEBYTECODE"] = "" if keep_bytecode else "1"
    import pytest
    import warp

    warp.config.kernel_cache_dir = os.environ["WARP_CACHE_PATH"]
    code = 1
    try:
        code = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests]))
    finally:
        os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
