"""How long the GPU kernels of a scenario take to compile, on a machine with or without a GPU.

``python -m tools.gpu_compile itokawa_cube`` compiles each kernel of the scenario's runs (of each
phase, and of all phases) to machine code, and prints CPU seconds, the size of source and code,
registers and stack of a thread, and the functions that the optimiser spent most time on.

The optimiser's time grows faster than the size of a function, and what a kernel calls becomes part
of it. Where a kernel takes long, the list of its functions says what to do: one that stands there
by itself is large; where all the time is the kernel's own, a large function that it calls should be
``@out_of_line``, called at one place, and given small structs: they are copied. A ``for``
over a fixed number of at most 16 is written out by Warp that many times, with all that is called in
it: use ``while`` where that is much. Time that no function has is the assembler's, which goes with
the size of the code.
"""

from __future__ import annotations

import argparse
import collections
import json
import pathlib
import re
import struct
import sys
import tempfile
import time
from typing import Any, NamedTuple

import warp as wp

from alight.core.errors import AlightError
from alight.engine.loop import loop_kernel
from alight.scenario import load, prepare
from alight.scenario.shipped_scenarios import find

#: Functions that are told of each kernel, and the least time of one [s].
FUNCTIONS, LEAST = 5, 0.5

#: Attributes in the ``.nv.info`` section of machine code: a word for a function each.
_REGISTERS, _STACK = 0x2F, 0x12
_WORD_ATTRIBUTE = 4


class Compiled(NamedTuple):
    """One kernel, compiled."""

    name: str
    seconds: float
    """CPU time."""
    source: int
    """[bytes]"""
    code: int
    """[bytes]"""
    registers: int
    """Of a thread: the most of kernel and functions."""
    stack: int
    """Of a thread, with all that is called [bytes]: local arrays, spilled registers, arguments."""
    slowest: list[tuple[str, float]]
    """Functions and the time that they were optimised for [s], the slowest first."""


def compiled(kernel: Any, name: str, folder: pathlib.Path, arch: int) -> Compiled:
    """Compile one kernel into ``folder``."""
    module = kernel.module
    module.options["compile_time_trace"] = True
    began = time.process_time()
    (path,) = wp.compile_aot_module(module, arch=arch, module_dir=folder, use_ptx=False)
    seconds = time.process_time() - began
    binary = pathlib.Path(path).read_bytes()
    registers, stack = resources(binary)
    source = sum(file.stat().st_size for file in folder.glob("*.cu"))
    return Compiled(name, seconds, source, len(binary), registers, stack, slowest(folder))


def sections(binary: bytes) -> dict[str, bytes]:
    """The sections of a 64-bit ELF file by name."""
    start, size, count, names = (
        *struct.unpack_from("<Q", binary, 0x28),
        *struct.unpack_from("<HHH", binary, 0x3A),
    )
    rows = [struct.unpack_from("<IIQQQQ", binary, start + i * size) for i in range(count)]
    table = binary[rows[names][4] :]
    return {
        table[row[0] : table.index(b"\0", row[0])].decode(): binary[row[4] : row[4] + row[5]]
        for row in rows
    }


def resources(binary: bytes) -> tuple[int, int]:
    """Registers and stack [bytes] of a thread, the most of any function in machine code."""
    info = sections(binary)[".nv.info"]
    most: dict[int, int] = collections.defaultdict(int)
    at = 0
    while at + 4 <= len(info):
        form, attribute, size = struct.unpack_from("<BBH", info, at)
        at += 4
        if form == _WORD_ATTRIBUTE:
            if attribute in (_REGISTERS, _STACK):
                most[attribute] = max(most[attribute], struct.unpack_from("<II", info, at)[1])
            at += size
    return most[_REGISTERS], most[_STACK]


def slowest(folder: pathlib.Path) -> list[tuple[str, float]]:
    """Functions that the optimiser was busy with for some time [s]."""
    spent: dict[str, float] = collections.defaultdict(float)
    for file in folder.rglob("*compile-time-trace*"):
        for event in json.loads(file.read_text())["traceEvents"]:
            if event.get("name") == "OptFunction":
                spent[_plain(event["args"]["detail"])] += 1e-6 * event["dur"]
    order = sorted(spent.items(), key=lambda item: -item[1])
    return [(name, took) for name, took in order if took >= LEAST][:FUNCTIONS]


def _plain(name: str) -> str:
    """The name of a function as it is in Python, as far as it is known from the compiler's."""
    if name.endswith("_cuda_kernel_forward"):
        return "the kernel"
    found = re.search(r"_cu_[0-9a-f]{8}(\d+)", name)
    if found is None:
        return name
    rest = name[found.end() :]
    # The length of the name is written before it.
    return re.sub(r"_\d+E?$", "", rest[: int(found.group(1))]).replace("__locals__", ".")


def kernels(scenario: str) -> list[tuple[str, Any]]:
    """The kernels of a scenario's runs, with their names."""
    file = pathlib.Path(scenario)
    path = file if file.is_file() else find(scenario).path
    loop = prepare(load(path), "cpu").nominal().model.loop()
    found = [(launch.name, loop_kernel(loop, launch)) for launch in loop.apart]
    return [*found, (loop.whole.name, loop_kernel(loop))]


def main(arguments: list[str] | None = None) -> int:
    """The table of one scenario."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("scenario", help="name of a shipped scenario, or a scenario file")
    parser.add_argument("--arch", type=int, default=90, help="of the GPU; 90 is an H100 or H200")
    parser.add_argument("--only", default="", help="kernels with this in their name")
    given = parser.parse_args(arguments)
    try:
        listed = kernels(given.scenario)
    except AlightError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{'kernel':20} {'CPU s':>6} {'source kB':>10} {'code kB':>8} {'regs':>5} {'stack B':>8}")
    for name, kernel in listed:
        if given.only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            row = compiled(kernel, name, pathlib.Path(folder), given.arch)
        sizes = f"{row.source / 1e3:10.0f} {row.code / 1e3:8.0f} {row.registers:5} {row.stack:8}"
        print(f"{name:20} {row.seconds:6.1f} {sizes}", flush=True)
        for function, took in row.slowest:
            print(f"{'':20} {took:6.1f} of it {function}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
