"""Many landings of an articulated lander at once: ``TreeRuns``, the batch of a ``TreeModel``.

As in ``batch``: runs in slots, chunks of steps, records drained between launches, waiting runs put
in the place of those that ended. What a run does depends on nothing but its own state.
"""

import itertools
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import warp as wp

from alight.core import devices
from alight.core.checks import Array, checked_whole
from alight.core.errors import InputError
from alight.core.outcomes import Outcome
from alight.core.progress import Progress
from alight.core.types import scalar
from alight.engine.batch import BatchResult, spread
from alight.engine.flow import Flow, check_count
from alight.engine.history import MAX_LINES, History
from alight.engine.placing import placed_tree
from alight.engine.slots import state_dtype
from alight.engine.tree_advance import GPU_BLOCK, TreeChunk, tree_kernel
from alight.engine.tree_model import TreeModel, TreeRelease
from alight.engine.tree_state import (
    IN_CONTACT,
    PEAKS,
    TreeNotes,
    TreeRun,
    TreeSpace,
    line_parts,
    make_space,
)

#: Runs in slots at a time, steps of one launch, contacts kept of one launch.
CPU_SLOTS, CPU_STEPS, TOUCHES = 256, 2000, 8
GPU_SLOTS, GPU_STEPS, GPU_MEMORY = 65_536, 200, 8 << 30
#: A time that does not come [s], as in kernels.
NEVER = 1e30


@wp.kernel(enable_backward=False)
def _seat(
    offset: int,
    slots: wp.array(dtype=int),
    runs: wp.array(dtype=TreeRun),
    notes: wp.array(dtype=TreeNotes),
    y: wp.array2d(dtype=scalar),
    space: TreeSpace,
    runs_out: wp.array(dtype=TreeRun),
) -> None:
    i = wp.tid() + offset
    slot = slots[i]
    runs_out[slot] = runs[i]
    space.notes[slot] = notes[i]
    for k in range(space.rows.y.shape[0]):
        space.rows.y[k, slot] = y[i, k]
    for k in range(space.level.shape[0]):
        space.level[k, slot] = scalar(0.0)
    for k in range(space.peaks.shape[0]):
        space.peaks[k, slot] = scalar(0.0)


@wp.kernel(enable_backward=False)
def _leave(
    offset: int,
    slots: wp.array(dtype=int),
    runs: wp.array(dtype=TreeRun),
    space: TreeSpace,
    runs_out: wp.array(dtype=TreeRun),
    notes_out: wp.array(dtype=TreeNotes),
    y_out: wp.array2d(dtype=scalar),
    peaks_out: wp.array2d(dtype=scalar),
) -> None:
    i = wp.tid() + offset
    slot = slots[i]
    runs_out[i] = runs[slot]
    notes_out[i] = space.notes[slot]
    for k in range(space.rows.y.shape[0]):
        y_out[i, k] = space.rows.y[k, slot]
    for k in range(space.peaks.shape[0]):
        peaks_out[i, k] = space.peaks[k, slot]


class TreePeaks(NamedTuple):
    """The largest of everything in each run; columns in the order of the tree and its devices."""

    acceleration: Array
    """(n,) of the first body's centre of mass, inertial [m/s^2]."""
    tilt: Array
    """(n,) between the lander's up and the local vertical [rad]."""
    speed: Array
    """(n,) of the centre of mass, relative to the target [m/s]."""
    rate: Array
    """(n,) of the first body, relative to the target [rad/s]."""
    joint_force: Array
    """(n, bodies) through the joint of each body [N]."""
    joint_moment: Array
    """(n, bodies) about the body's origin [N m]."""
    pad_force: Array
    """(n, pads) normal force [N]."""
    slosh: Array
    """(n, sloshes) angle of swing [rad]."""
    stroke: Array
    """(n, crushables) crushed for good by the end [m]."""


@dataclass(frozen=True, eq=False)
class TreeResult(BatchResult):
    """How the runs of articulated landers ended; row i is run i.

    ``final`` has the fields of rigid landers, so that tables of campaigns take it: ``x`` and ``v``
    are of the centre of mass, ``q`` and ``w`` of the first body; ``gain`` and ``drift`` are 0 for
    landers with thrusters, motors or brakes, whose energy may rise.
    """

    model: TreeModel
    q: Array
    """(n, n_q) last configurations."""
    v: Array
    """(n, n_v) last velocities."""
    peaks: TreePeaks


class TreeRuns(Flow[TreeResult]):
    """Runs of one articulated lander under way; see ``Flow``."""

    told: ClassVar[dict[str, Outcome]] = {"settled": Outcome.SETTLED, "tipped": Outcome.TIPPED_OVER}
    model: TreeModel
    release: TreeRelease

    def __init__(
        self,
        model: TreeModel,
        release: TreeRelease,
        *,
        device: str = "auto",
        threads: int | None = None,
        slots: int | None = None,
        history: int = 0,
        max_lines: int = MAX_LINES,
    ) -> None:
        if release.tree is not model.tree:
            raise InputError(
                f'the release is of tree "{release.tree.name}" and the model of another, '
                f'"{model.tree.name}"; make the release with the model\'s own tree.'
            )
        check_count(model.contact.count, len(release))
        super().__init__(model, release, device, threads, np.zeros(0, dtype=np.int64))
        most = checked_whole("slots", slots or self._most_slots(), 1)
        self._first_states()
        self._waiting = np.flatnonzero(self._outcomes() == Outcome.RUNNING)[::-1]
        self._prepare(max(1, min(len(self._waiting), most)), history)
        self._history = History(max_lines)

    def _most_slots(self) -> int:
        if self.device.is_cpu:
            return CPU_SLOTS
        return max(1, min(GPU_SLOTS, GPU_MEMORY // self.model.sizes.bytes_each))

    def _first_states(self) -> None:
        """The runs as they are released; those inside the ground have already failed."""
        tree, release, n = self.model.tree, self.release, len(self.release)
        q, refused = placed_tree(self.model, release, self.threads)
        kinds: tuple[Any, Any] = (TreeRun, TreeNotes)
        self._runs, self._notes = (np.zeros(n, dtype=kind.numpy_dtype()) for kind in kinds)
        masses = np.array([body.mass for body in tree.bodies]) / tree.mass
        poses = tree.kinematics(q, release.v, device="cpu", threads=self.threads)
        self._runs["x"] = np.einsum("b,nbi->ni", masses, poses.center)
        self._runs["v"] = np.einsum("b,nbi->ni", masses, poses.center_velocity)
        self._runs["fresh"] = 1
        self._runs["outcome"][refused] = Outcome.STARTED_INSIDE
        for name in ("touched", "event", "bound"):
            self._runs[name] = NEVER
        self._notes["number"] = np.arange(n)
        self._notes["row"] = np.arange(n) if self.model.contact.count > 1 else 0
        self._notes["anchor_x"] = np.nan  # nowhere yet
        crushed = np.array([part.crushed for part in self.model.fitted.crushables])
        rest = np.broadcast_to(crushed, (n, len(crushed)))
        strain = np.zeros((n, 3 * self.model.sizes.pads))
        self._y = np.concatenate([q, release.v, rest, strain], axis=1)
        self._peaks = np.zeros((n, self.model.sizes.peaks))

    def _prepare(self, slots: int, history: int) -> None:
        name, model = self.device.name, self.model
        self._kernel = tree_kernel(model.composition())
        self._world = model.data(self.device)
        self._space = make_space(model.sizes, slots, *model.allowed(), self.device)
        self._chunk = TreeChunk()
        self._chunk.steps = GPU_STEPS if self.device.is_gpu else CPU_STEPS
        self._chunk.touches, self._chunk.lines = TOUCHES, history
        self._on_device = wp.zeros(slots, dtype=TreeRun, device=name)
        self._make_slots(slots, TOUCHES)
        width = line_parts(model.sizes).width
        self._lines = wp.zeros((slots * max(1, history), width), dtype=scalar, device=name)

    def _outcomes(self) -> Any:
        return self._runs["outcome"]

    def _launch_all(self, busy: Any) -> None:
        """One launch."""
        index = spread(busy) if self.device.is_gpu else busy
        inputs = [
            *(self._world, self._chunk, wp.array(index, dtype=int, device=self.device.name)),
            *(self._space, self._on_device),
        ]
        outputs = [*(self._touches, self._touch_count, self._lines, self._line_count, self._status)]
        devices.launch(
            *(self._kernel, len(index), inputs, self.device, self.threads),
            outputs=outputs,
            min_items=1,
            block=GPU_BLOCK,
        )

    def _put(self, chosen: Any, slots: Any) -> None:
        name = self.device.name
        inputs = [
            wp.array(slots, dtype=int, device=name),
            wp.array(self._runs[chosen], dtype=TreeRun, device=name),
            wp.array(self._notes[chosen], dtype=TreeNotes, device=name),
            wp.array(np.ascontiguousarray(self._y[chosen]), dtype=scalar, device=name),
            self._space,
            self._on_device,
        ]
        devices.launch(_seat, len(slots), inputs, self.device)

    def _take(self, chosen: Any, slots: Any) -> None:
        name, n = self.device.name, len(slots)
        runs = wp.empty(n, dtype=TreeRun, device=name)
        notes = wp.empty(n, dtype=TreeNotes, device=name)
        y = wp.empty((n, self._y.shape[1]), dtype=scalar, device=name)
        peaks = wp.empty((n, self._peaks.shape[1]), dtype=scalar, device=name)
        index = wp.array(slots, dtype=int, device=name)
        inputs = [index, self._on_device, self._space, runs, notes, y, peaks]
        devices.launch(_leave, n, inputs, self.device)
        self._runs[chosen], self._notes[chosen] = runs.numpy(), notes.numpy()
        self._y[chosen], self._peaks[chosen] = y.numpy(), peaks.numpy()

    def _keep_lines(self, busy: Any) -> None:
        if self._chunk.lines:
            written, lines = self._line_count.numpy(), self._lines.numpy()
            room = self._chunk.lines
            for slot in busy:
                own = lines[slot * room : slot * room + written[slot]]
                self._history.add(own, own[:, IN_CONTACT] > 0.0)

    def result(self) -> TreeResult:
        """Runs as far as they have come, and all contacts so far."""
        touches = self._so_far()
        n_q, n_v = self.model.tree.n_q, self.model.tree.n_v
        return TreeResult(
            final=self._final(),
            touches=touches,
            model=self.model,
            q=self._y[:, :n_q].copy(),
            v=self._y[:, n_q : n_q + n_v].copy(),
            peaks=self._peaks_by_name(),
        )

    def _final(self) -> Any:
        """Last states with the fields that rigid landers have."""
        final: Any = np.zeros(len(self.release), dtype=state_dtype())
        for source in (self._runs, self._notes):
            for name in set(source.dtype.names) & set(final.dtype.names):
                if name != "touch":
                    final[name] = source[name]
        touched = self._runs["touched"] < NEVER
        final["first_time"] = np.where(touched, self._runs["touched"], 0.0)
        tree = self.model.tree
        q, v = self._y[:, : tree.n_q], self._y[:, tree.n_q : tree.n_q + tree.n_v]
        poses = tree.kinematics(q, v, device="cpu", threads=self.threads)
        final["q"], final["w"] = poses.attitude[:, 0], poses.rate[:, 0]
        return final

    def _peaks_by_name(self) -> TreePeaks:
        sizes, rows = self.model.sizes, self._peaks
        b = sizes.bodies
        edges = np.cumsum([int(PEAKS), b, b, sizes.pads, sizes.sloshes])
        parts = [rows[:, i:j].copy() for i, j in itertools.pairwise(edges)]
        stroke = self._y[:, sizes.crushed].copy()
        heads = [row.copy() for row in rows[:, : int(PEAKS)].T]
        return TreePeaks._make([*heads, *parts, stroke])

    @property
    def history(self) -> History:
        """Lines of the run, in batches of one run that were asked to keep them."""
        return self._history


def run_trees(
    model: TreeModel,
    release: TreeRelease,
    *,
    device: str = "auto",
    threads: int | None = None,
    show: str | Progress = "silent",
) -> TreeResult:
    """Carry every run of ``release`` to its end: final states, peaks and all contacts.

    ``show`` is how progress is told: "silent", "auto", "text" or "rich".
    """
    return TreeRuns(model, release, device=device, threads=threads).run(show)
