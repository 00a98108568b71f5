"""Warp's settings, made once, before any kernel is defined.

``core.types`` imports this module and every kernel imports ``core.types``, so no kernel can be
built under other settings. The kernel cache stays where Warp puts it by default.
"""

import warp as wp

# Warp greets and reports every module it loads; Alight's output belongs to its user.
wp.config.log_level = wp.LOG_WARNING

# No law is differentiated in reverse: adjoint code would only double the compile time.
wp.config.enable_backward = False

# On a GPU keep machine code, not an intermediate form that the driver would compile at each start.
wp.config.cuda_output = "cubin"

#: Compiler options for kernels that call a law at one point: nothing to vectorise, and everything
#: inlined, so that what a caller does not read is mostly not computed.
POINT_OPTIONS = {
    "cpu_compiler_flags": "-march=native -ffp-contract=fast -fno-slp-vectorize"
    " -mllvm=-inline-threshold=1000000",
    "optimization_level": 3,
}

#: The same for kernels in which hulls meet facets: too much code to have it all inline. They are
#: compiled in a quarter of the time (21 s of 84 on rocks), and a step takes a tenth longer.
HULL_OPTIONS = {
    "cpu_compiler_flags": "-march=native -ffp-contract=fast -fno-slp-vectorize"
    " -mllvm=-inline-threshold=1000",
    "optimization_level": 3,
}
