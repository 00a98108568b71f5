"""Warp's settings, made once, before any kernel is defined.

``core.types`` imports this module and every kernel imports ``core.types``, so no kernel can be
built under other settings. The kernel cache stays where Warp puts it by default.
"""

import ast
import threading
import types
from typing import Any

import warp as wp

# Python 3.11 counts the depth of syntax trees for all threads together. Where one is interrupted
# while it reads a function (garbage is collected then, which may let another thread run) and the
# other reads one too, both fail. Warp reads every function when it is made, in any thread.
_reading = threading.RLock()


def _parse_alone(*given: Any, **options: Any) -> Any:
    with _reading:
        return ast.parse(*given, **options)


_ast: Any = types.ModuleType("ast")
_ast.__dict__.update(vars(ast), parse=_parse_alone)
wp._src.codegen.ast = _ast

# Warp greets and reports every module it loads; Alight's output belongs to its user.
wp.config.log_level = wp.LOG_WARNING

# No law is differentiated in reverse: adjoint code would only double the compile time.
wp.config.enable_backward = False

# On a GPU keep machine code, not an intermediate form that the driver would compile at each start.
wp.config.cuda_output = "cubin"

#: Products and sums are never fused: where they are, the same law gives other bits when a line
#: beside it is moved or a compiler inlines more, and no change of structure could be told from a
#: change of physics. It costs 0.9 to 1.08 of the time.
CPU_FLAGS = "-march=native -ffp-contract=off"


def _options(flags: str) -> dict[str, object]:
    """Options of a module; ``fuse_fp`` is the same rule for a GPU."""
    return {
        "cpu_compiler_flags": f"{CPU_FLAGS} {flags}",
        "optimization_level": 3,
        "fuse_fp": False,
    }


#: Compiler options for kernels that are new or little used: half the time to compile, and a step
#: takes a quarter longer. The same bits, since no option here lets a compiler reorder arithmetic.
QUICK_OPTIONS = {
    "cpu_compiler_flags": f"{CPU_FLAGS} -fno-slp-vectorize",
    "optimization_level": 2,
}

#: Compiler options for kernels that fill tables, and then are done: compiled at once as they will
#: stay. With nothing inline they take twice to four times as long to run, which one table costs
#: already; what a third level of optimisation does, it does not pay back.
TABLE_OPTIONS = {
    **_options("-fno-slp-vectorize -mllvm=-inline-threshold=5000"),
    "optimization_level": 2,
}

#: Compiler options for kernels that call a law at one point: nothing to vectorise, and everything
#: inlined, so that what a caller does not read is mostly not computed.
POINT_OPTIONS = _options("-fno-slp-vectorize -mllvm=-inline-threshold=1000000")

#: The same for kernels that gain by it when the compiler vectorises (tables, blocks of inertias).
VECTOR_OPTIONS = _options("-mllvm=-inline-threshold=1000000")

#: The same for kernels in which hulls meet facets: too much code to have it all inline. They are
#: compiled in a quarter of the time (21 s of 84 on rocks), and a step takes a tenth longer.
HULL_OPTIONS = _options("-fno-slp-vectorize -mllvm=-inline-threshold=1000")

#: Every set of flags above, of which some differ in nothing that concerns Warp's headers.
ALL_FLAGS = (
    CPU_FLAGS,
    *(
        str(options["cpu_compiler_flags"])
        for options in (QUICK_OPTIONS, TABLE_OPTIONS, POINT_OPTIONS, VECTOR_OPTIONS, HULL_OPTIONS)
    ),
)
