"""States, slopes and errors of the stages of a step, inside a kernel.

Most vertices have no strain all through a step, as nothing touches there: the others are in a list.
"""

import warp as wp

from alight.core.rows import put_vector, vector_at
from alight.core.types import scalar, vec3, vec4
from alight.membrane.geometry import CaptiveData
from alight.membrane.memory import AT_ONCE, mat43
from alight.membrane.ring import RingData
from alight.motions.membrane.state import CaughtMemory, Control


@wp.func
def stage_state(control: Control, memory: CaughtMemory, stage: int, h: scalar, slot: int):
    """Fill ``at`` with the state of a stage, but for strains."""
    width = memory.y.shape[0]
    for first in range(0, control.kept, wp.static(AT_ONCE)):
        total = vec4()
        for j in range(stage):
            for u in range(wp.static(AT_ONCE)):
                r = j * width + wp.min(first + u, control.kept - 1)
                total[u] += control.a[stage, j] * memory.k[r, slot]
        for u in range(wp.static(AT_ONCE)):
            total[u] = memory.y[wp.min(first + u, control.kept - 1), slot] + h * total[u]
        for u in range(wp.static(AT_ONCE)):
            if first + u < control.kept:
                memory.at[first + u, slot] = total[u]


@wp.func
def row_errors(
    control: Control, memory: CaughtMemory, h: scalar, first: int, count: int, slot: int
):
    """Errors of a step in rows from ``first`` on over what is allowed, 0 where it is not looked at;
    of ``count`` rows, the last of which stands for those beyond."""
    width = memory.y.shape[0]
    errors = vec4()
    if control.order > 0:
        total = vec4()
        scale = vec4()
        for u in range(wp.static(AT_ONCE)):
            scale[u] = memory.scale[first + wp.min(u, count - 1), slot]
        for j in range(control.stages + 1):
            for u in range(wp.static(AT_ONCE)):
                r = first + wp.min(u, count - 1)
                total[u] += control.error[j] * memory.k[j * width + r, slot]
        for u in range(wp.static(AT_ONCE)):
            if scale[u] > scalar(0.0):
                errors[u] = wp.abs(h * total[u]) / scale[u]
    return errors


@wp.func
def worse(worst: scalar, errors: vec4):
    """The greatest, NaN passed on."""
    out = worst
    for u in range(wp.static(AT_ONCE)):
        if not (errors[u] <= out):
            out = errors[u]
    return out


@wp.func
def step_error(control: Control, memory: CaughtMemory, h: scalar, slot: int):
    """Greatest error of a step over what is allowed; 0 for fixed steps, NaN passed on."""
    worst = scalar(0.0)
    for first in range(0, control.kept, wp.static(AT_ONCE)):
        left = control.kept - first
        worst = worse(worst, row_errors(control, memory, h, first, left, slot))
        for u in range(wp.static(AT_ONCE)):
            if not wp.isfinite(memory.at[first + wp.min(u, left - 1), slot]):
                return scalar(wp.nan)
    for n in range(memory.strains[0, slot]):
        j = memory.strains[1 + n, slot]
        worst = worse(worst, row_errors(control, memory, h, control.kept + 3 * j, 3, slot))
        if not wp.isfinite(vector_at(memory.hull.strain, 3 * j, slot)):
            return scalar(wp.nan)
    return worst


@wp.func
def keep_state(control: Control, memory: CaughtMemory, slot: int):
    """State and slope of the last stage become those of the run, but for strains."""
    last = control.stages * memory.y.shape[0]
    for first in range(0, control.kept, wp.static(AT_ONCE)):
        state = vec4()
        slope = vec4()
        for u in range(wp.static(AT_ONCE)):
            r = wp.min(first + u, control.kept - 1)
            state[u] = memory.at[r, slot]
            slope[u] = memory.k[last + r, slot]
        for u in range(wp.static(AT_ONCE)):
            if first + u < control.kept:
                memory.y[first + u, slot] = state[u]
                memory.k[first + u, slot] = slope[u]


# -- strains: of most vertices 0 all through a step, as nothing touches there. The others are in a
# list; of what is not, strain and first slope are 0 in memory -------------------------------------


@wp.func
def sticking(captive: CaptiveData, ring: RingData):
    """Vertices and beads that fabric may stick to."""
    return captive.vertices.shape[0] + ring.beads.shape[0]


@wp.func
def _is_zero(v: vec3):
    """Exactly; False for NaN."""
    return v[0] == scalar(0.0) and v[1] == scalar(0.0) and v[2] == scalar(0.0)


@wp.func
def find_strained(control: Control, memory: CaughtMemory, begin: int, count: int, slot: int):
    """List what is strained, or begins to be, at the start of a step; all of ``count`` where the
    first slope is not known yet (``begin`` is 0)."""
    if begin == 0:
        for j in range(count):
            memory.strained[j, slot] = 1
            memory.strains[1 + j, slot] = j
            strain = vector_at(memory.y, control.kept + 3 * j, slot)
            put_vector(memory.hull.strain, 3 * j, slot, strain)
        memory.strains[0, slot] = count
        return
    left = int(0)
    for n in range(memory.strains[0, slot]):
        j = memory.strains[1 + n, slot]
        row = control.kept + 3 * j
        strain = vector_at(memory.y, row, slot)
        put_vector(memory.hull.strain, 3 * j, slot, strain)
        if _is_zero(strain) and _is_zero(vector_at(memory.k, row, slot)):
            memory.strained[j, slot] = 0
        else:
            left += 1
            memory.strains[left, slot] = j
    memory.strains[0, slot] = left


@wp.func
def strained_rows(memory: CaughtMemory, first: int, count: int, slot: int):
    """Rows of the strains that are listed from entry ``first`` on; of ``count`` entries, the last
    of which stands for those beyond."""
    rows = wp.vec4i()
    for u in range(wp.static(AT_ONCE)):
        rows[u] = 3 * memory.strains[1 + wp.min(first + u, count - 1), slot]
    return rows


@wp.func
def stage_strains(control: Control, memory: CaughtMemory, stage: int, h: scalar, slot: int):
    """Strains of a stage, for the membrane to read."""
    width = memory.y.shape[0]
    count = memory.strains[0, slot]
    for first in range(0, count, wp.static(AT_ONCE)):
        rows = strained_rows(memory, first, count, slot)
        strain = mat43()
        for i in range(stage):
            for u in range(wp.static(AT_ONCE)):
                rate = vector_at(memory.k, i * width + control.kept + rows[u], slot)
                for c in range(3):
                    strain[u, c] += control.a[stage, i] * rate[c]
        for u in range(wp.static(AT_ONCE)):
            for c in range(3):
                start = memory.y[control.kept + rows[u] + c, slot]
                strain[u, c] = start + h * strain[u, c]
        for u in range(wp.static(AT_ONCE)):
            for c in range(3):
                memory.hull.strain[rows[u] + c, slot] = strain[u, c]


@wp.func
def add_strained(control: Control, memory: CaughtMemory, stage: int, slot: int):
    """List also what begins to be strained in this stage: its slopes before were 0."""
    width = memory.y.shape[0]
    count = memory.strains[0, slot]
    for n in range(memory.hull.touched[0, slot]):
        j = memory.hull.touched[1 + n, slot]
        rate = vector_at(memory.hull.strain_rate, 3 * j, slot)
        if memory.strained[j, slot] == 0 and not _is_zero(rate):
            memory.strained[j, slot] = 1
            count += 1
            memory.strains[count, slot] = j
            for i in range(1, stage):
                put_vector(memory.k, i * width + control.kept + 3 * j, slot, vec3())
    memory.strains[0, slot] = count


@wp.func
def put_strain_rates(control: Control, memory: CaughtMemory, stage: int, slot: int):
    """Slopes of the strains, which the membrane has written."""
    add_strained(control, memory, stage, slot)
    slopes = stage * memory.y.shape[0] + control.kept
    count = memory.strains[0, slot]
    for first in range(0, count, wp.static(AT_ONCE)):
        rows = strained_rows(memory, first, count, slot)
        rates = mat43()
        for u in range(wp.static(AT_ONCE)):
            for c in range(3):
                rates[u, c] = memory.hull.strain_rate[rows[u] + c, slot]
        for u in range(wp.static(AT_ONCE)):
            for c in range(3):
                memory.k[slopes + rows[u] + c, slot] = rates[u, c]


@wp.func
def keep_strains(control: Control, memory: CaughtMemory, slot: int):
    """Strains of the last stage become those of the state.

    None is left where the fabric does not touch: it comes back as if never touched.
    """
    last = control.stages * memory.y.shape[0]
    for n in range(memory.strains[0, slot]):
        j = memory.strains[1 + n, slot]
        row = control.kept + 3 * j
        strain = vector_at(memory.hull.strain, 3 * j, slot)
        if memory.hull.limit[j, slot] == scalar(0.0):
            strain = vec3()
        put_vector(memory.y, row, slot, strain)
        put_vector(memory.k, row, slot, vector_at(memory.k, last + row, slot))
