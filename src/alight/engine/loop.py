"""The kernel of every motion: a loop over steps, one thread a run."""

import functools
from typing import Any

import warp as wp

from alight.core.outcomes import Outcome
from alight.core.types import scalar
from alight.engine.grouping import listed_slot
from alight.engine.motion import Launch, Loop
from alight.engine.records import Touch
from alight.engine.stops.judging import NoWatch
from alight.engine.worlds import ALL, CONTACT

_SETTLED = wp.constant(int(Outcome.SETTLED))
_RUNNING = wp.constant(int(Outcome.RUNNING))
_OUT_OF_STEPS = wp.constant(int(Outcome.OUT_OF_STEPS))

#: Threads of a block on a GPU.
GPU_BLOCK = 64
#: What a launch says of a run that has taken all steps it may take here, and goes on elsewhere.
HANDED_OVER = wp.constant(-1)


@wp.struct
class Chunk:
    """What one launch may do."""

    steps: int  # most steps of a run
    lines: int  # room for this many lines of history of each run; 0 keeps none
    touches: int  # room for this many contacts of each run
    most_steps: int  # of a run since its start: then it is handed over
    first: int  # groups of runs that a launch of some phases carries on (``grouping``)
    last: int


@functools.cache
def loop_kernel(loop: Loop, launch: Launch | None = None) -> Any:
    """The kernel of all phases, or of those of one launch: then a run that leaves the groups of
    that launch waits for its next one, and no history is kept.

    ``index`` has a slot for each thread, or, of a launch of some phases, those of each group of
    runs with their ``counts``.

    ``worlds`` hold the parameters of the models, ``world_of`` which one the run in each slot has.
    What all runs have in common is read in ``world``, which a GPU keeps closer at hand than what
    each thread copies from there (``loop.own``).
    """
    World: Any = loop.World
    Run: Any = loop.Run
    Memory: Any = loop.Memory
    holds = launch is not None
    of = launch or loop.whole
    step, account, told, line = of.step, of.account, loop.told, loop.line
    group = loop.group
    switches, following, wake = loop.next is not None, loop.next, loop.wake
    alone = launch is not None and launch.prepares
    prepares = loop.before is not None and not alone
    ready: Any = getattr(loop.before, "ready", None)
    prepare: Any = getattr(loop.before, "prepare", None)
    judge: Any = None if alone else loop.judge
    Watch: Any = NoWatch if judge is None else judge.Watch
    decide: Any = getattr(judge, "decide", None)
    scene: Any = getattr(judge, "scene", None)
    kept: Any = getattr(judge, "kept", None)
    bounds = None if of.gpu_blocks is None else (GPU_BLOCK, of.gpu_blocks)

    @wp.kernel(
        module="unique",
        enable_backward=False,
        module_options=dict(loop.options),
        launch_bounds=bounds,
    )
    def advance(
        offset: int,
        world: World,
        worlds: wp.array(dtype=World),
        world_of: wp.array(dtype=int),
        watch: Watch,
        chunk: Chunk,
        index: wp.array2d(dtype=int),
        counts: wp.array(dtype=int),
        memory: Memory,
        runs: wp.array(dtype=Run),
        touches_out: wp.array2d(dtype=Touch),
        touch_count: wp.array(dtype=int),
        lines_out: wp.array2d(dtype=scalar),
        line_count_out: wp.array(dtype=int),
        status_out: wp.array(dtype=int),
    ) -> None:
        slot = int(-1)
        if wp.static(holds):
            slot = listed_slot(index, counts, chunk.first, chunk.last, wp.tid() + offset)
        else:
            slot = index[0, wp.tid() + offset]
        if slot < 0:
            return
        run = runs[slot]
        here = world
        if wp.static(loop.own == ALL):
            here = worlds[world_of[slot]]
        if wp.static(loop.own == CONTACT):
            here.contact = worlds[world_of[slot]].contact
        taken = int(0)
        logged = int(touch_count[slot])
        written = int(0)
        going = run.outcome == _RUNNING
        while going:
            # Static conditions stand alone: what they rule out is not even looked at.
            if wp.static(switches):  # noqa: SIM102
                if run.t >= run.until:
                    run.until = following(here, run, memory, slot)
            if wp.static(prepares):  # noqa: SIM102
                if not ready(here, run, memory, slot):
                    if wp.static(holds):
                        run.due = 1
                        break
                    else:
                        run = prepare(here, run, memory, slot)
            before = run.phase
            known = run.touches
            run = step(here, run, memory, slot)
            # Before the account is kept: a contact under way ends with its run.
            if wp.static(judge is not None):  # noqa: SIM102
                if run.outcome == _RUNNING and kept(run):
                    seen = scene(here, run, memory, slot)
                    if wp.static(loop.own != ""):
                        stops = watch.own[world_of[slot]]
                        run.outcome = decide(stops, seen, watch.since, slot)
                    else:
                        run.outcome = decide(watch.shared, seen, watch.since, slot)
            run = account(here, run, memory, slot, before)
            if wp.static(switches):  # noqa: SIM102
                if run.outcome == _SETTLED:
                    run = wake(here, run, memory, slot)
            taken += 1
            if run.touches != known:
                touches_out[slot, logged] = memory.notes[slot].touch
                logged += 1
            if run.outcome == _RUNNING and run.steps >= here.limits.max_steps:
                run.outcome = _OUT_OF_STEPS
            if wp.static(not holds) and chunk.lines > 0 and told(run, before):
                row = slot * chunk.lines + written
                line(here, run, memory, slot, before, lines_out, row)
                written += 1
            going = run.outcome == _RUNNING and taken < chunk.steps and logged < chunk.touches
            going = going and run.steps < chunk.most_steps
            if wp.static(loop.waits):
                going = going and run.t < run.until
            if wp.static(holds):
                number = group(run)
                going = going and number >= chunk.first and number <= chunk.last
            elif chunk.lines > 0:
                going = going and written < chunk.lines
        runs[slot] = run
        touch_count[slot] = logged
        line_count_out[slot] = written
        status_out[slot] = run.outcome
        if run.outcome == _RUNNING and run.steps >= chunk.most_steps:
            status_out[slot] = HANDED_OVER

    return advance
