"""One landing of an articulated lander in full detail: what ``simulate`` returns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from alight.core.checks import Array
from alight.core.errors import InputError
from alight.core.outcomes import AnyEnding, Outcome
from alight.engine.batch import Batch
from alight.engine.columns import Columns
from alight.engine.history import Thinning
from alight.engine.lift import refusal
from alight.engine.told_run import ToldRun
from alight.motions.tree.result import TreePeaks, TreeResult
from alight.motions.tree.state import IN_CONTACT, line_parts
from alight.vehicles.tree.states import Kinematics

if TYPE_CHECKING:
    from alight.motions.tree.model import TreeModel


@dataclass(frozen=True, eq=False, repr=False)
class TreeSolution(ToldRun):
    """The trajectory of one run: a line after every step, thinned in long runs, and every contact.

    Columns of pads, bellies, crushables, actuators and sloshes are in the order in which the
    devices were given (``model.fitted``), those of bodies in that of ``tree.bodies``.
    """

    model: TreeModel
    lines: Array
    """(n, width) as ``motions.tree.state.line_parts`` lays them out; the first is the release."""
    events: Any
    """Structured array of the contacts in order of time (see ``engine.records.Touch``)."""
    outcome: AnyEnding
    """How the run ended; ``print(solution.outcome)`` says it in words."""
    peaks: TreePeaks
    """The largest of everything, one row."""
    thinning: Thinning
    """Which lines are kept; all of them in most runs."""
    result: TreeResult | None = None
    """How it ended, as a batch of one."""

    @property
    def steps(self) -> int:
        """Steps of the run, whether their lines are kept or not."""
        return self.thinning.steps

    def _part(self, name: str, *shape: int) -> Array:
        where = getattr(line_parts(self.model.sizes), name)
        return self.lines[:, where].reshape(len(self.lines), *shape)

    @property
    def time(self) -> Array:
        """(n,) [s]."""
        return self.lines[:, 0]

    @property
    def step(self) -> Array:
        """(n,) size of the step that ended there [s]."""
        return self.lines[:, 1]

    @property
    def order(self) -> npt.NDArray[np.int64]:
        """(n,) its order."""
        return self.lines[:, 2].astype(np.int64)

    @property
    def in_contact(self) -> npt.NDArray[np.bool_]:
        """(n,) whether the ground pushes."""
        return self.lines[:, IN_CONTACT] > 0.0

    @property
    def q(self) -> Array:
        """(n, n_q) configurations."""
        return self._part("state", -1)[:, : self.model.tree.n_q]

    @property
    def v(self) -> Array:
        """(n, n_v) velocities."""
        first = self.model.tree.n_q
        return self._part("state", -1)[:, first : first + self.model.tree.n_v]

    @cached_property
    def bodies(self) -> Kinematics:
        """Poses and velocities of all bodies."""
        return self.model.tree.kinematics(self.q, self.v, device="cpu")

    @property
    def position(self) -> Array:
        """(n, 3) centre of mass, target axes [m]."""
        return self._part("x", 3)

    @property
    def velocity(self) -> Array:
        """(n, 3) of the centre of mass, relative to the turning target [m/s]."""
        return self._part("v", 3)

    @property
    def attitude(self) -> Array:
        """(n, 4) of the first body, quaternion xyzw from its axes to the target's."""
        return self.bodies.attitude[:, 0]

    @property
    def rate(self) -> Array:
        """(n, 3) of the first body, relative to the target, in its axes [rad/s]."""
        return self.bodies.rate[:, 0]

    @property
    def normal_force(self) -> Array:
        """(n,) of all pads and bellies together [N]."""
        return np.asarray(self._part("normals", -1).sum(axis=1))

    @property
    def acceleration(self) -> Array:
        """(n, 3) of the first body's centre of mass, target axes, inertial [m/s^2]."""
        return self._part("acceleration", 3)

    @property
    def turning(self) -> Array:
        """(n, 3) angular acceleration of the first body, target axes [rad/s^2]."""
        return self._part("turning", 3)

    @property
    def joint_force(self) -> Array:
        """(n, bodies, 3) that each body gets through its joint, in its own axes [N]."""
        return self._part("forces", -1, 3)

    @property
    def joint_moment(self) -> Array:
        """(n, bodies, 3) about the body's origin, in its own axes [N m]."""
        return self._part("moments", -1, 3)

    @property
    def pad_force(self) -> Array:
        """(n, pads, 3) of the ground on each pad, target axes [N]."""
        return self._part("pads", -1, 3)[:, : len(self.model.fitted.pads)]

    @property
    def pad_normal_force(self) -> Array:
        """(n, pads) [N]."""
        return self._part("normals", -1)[:, : len(self.model.fitted.pads)]

    @property
    def belly_force(self) -> Array:
        """(n, bellies, 3) of the ground on all points of each belly, target axes [N]."""
        return self._of_bellies(self._part("pads", -1, 3))

    @property
    def belly_normal_force(self) -> Array:
        """(n, bellies) normal forces of its points together [N]."""
        return self._of_bellies(self._part("normals", -1))

    def _of_bellies(self, each: Array) -> Array:
        """Sums over the points of each belly of what all that touches has."""
        parts, owner = self.model.fitted, np.array(self.model.fitted.owners)
        sums = [each[:, owner == k].sum(axis=1) for k in range(len(parts.bellies))]
        return np.stack(sums, axis=1) if sums else each[:, :0]

    @property
    def crushed(self) -> Array:
        """(n, crushables) stroke crushed for good [m]."""
        return self._part("state", -1)[:, self.model.sizes.crushed]

    @property
    def strain(self) -> Array:
        """(n, pads and points of bellies, 3) of the grip of each, target axes [m]: how far
        friction has given."""
        strain = self._part("state", -1)[:, self.model.sizes.strain]
        return strain.reshape(len(self.lines), -1, 3)

    @cached_property
    def crush_force(self) -> Array:
        """(n, crushables) force against compression [N]."""
        tree, found = self.model.tree, []
        for i, part in enumerate(self.model.fitted.crushables):
            x = self.q[:, tree.q_slices[part.body].start]
            u = self.v[:, tree.v_slices[part.body].start]
            force = float(part.stiffness or 0.0) * (x - self.crushed[:, i])
            force = force + float(part.damping or 0.0) * u
            gives = self.crushed[:, i] < part.limit
            found.append(np.where(gives, np.minimum(force, part.force), force))
        return np.array(found).reshape(-1, len(self.lines)).T

    @property
    def levels(self) -> Array:
        """(n, actuators) level of each thruster, motor and brake."""
        return self._part("levels", -1)

    @property
    def slosh(self) -> Array:
        """(n, sloshes) angle of swing [rad]."""
        return self._part("sloshes", -1)

    def _columns(self) -> Columns:
        return self.model.columns

    def _ended(self) -> tuple[AnyEnding, float]:
        return self.outcome, float(self.time[-1])

    def _steps(self) -> str:
        return str(self.thinning)


def tree_solution_of(batch: Batch, result: TreeResult) -> TreeSolution:
    """The trajectory of the only run of a batch that kept its history."""
    outcome = result.ending(result.outcome[0])
    if outcome is Outcome.STARTED_INSIDE:
        raise InputError(refusal("a pad is below it"))
    history, model = batch.histories[0], result.model
    lines, thinning = np.concatenate(history.parts), history.thinning(releases=1)
    return TreeSolution(model, lines, result.touches, outcome, result.peaks, thinning, result)
