"""Landings as tracks: of solutions, and of histories that a campaign has kept."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from alight.analysis import columns
from alight.core import frames
from alight.core.checks import Array
from alight.scenario.building.articulated_landers import Articulated
from alight.scenario.building.laws import ScenarioLaws
from alight.staging.lander_parts import rigid_parts, tree_parts
from alight.staging.tracks import (
    Lines,
    contacts_of,
    exact_turns,
    rigid_course,
    stored_contacts,
)
from alight.views.playback import Contacts, Part, Track


class Landers:
    """The lander of a playback: its parts, and tracks of it."""

    parts: tuple[Part, ...]

    def of_solution(self, solution: Any, run: int, row: Any) -> Track:
        """The track of a run that was followed."""
        raise NotImplementedError

    def of_table(self, table: Any, contacts: Any, run: int, row: Any, outcome: str) -> Track:
        """The track of a stored history, a ``pyarrow.Table``."""
        raise NotImplementedError


class RigidLanders(Landers):
    """A rigid lander on a target that turns."""

    def __init__(self, lander: Any, rotation: Any) -> None:
        self.lander, self.rotation = lander, rotation
        self.parts = rigid_parts(lander)

    def of_solution(self, solution: Any, run: int, row: Any) -> Track:
        """Of a ``Solution``."""
        names = ("time", "position", "velocity", "attitude", "rate", "uneven")
        lines = Lines(*(np.asarray(getattr(solution, name)) for name in names))
        met = contacts_of(solution.events)
        return self._track(lines, met, run, solution.outcome.name.lower(), row)

    def of_table(self, table: Any, contacts: Any, run: int, row: Any, outcome: str) -> Track:
        """Of a kept trajectory; steps under actuators are not marked there: turns are free."""
        lines = Lines(
            columns.column(table, "time_s"),
            *_moving(table),
            columns.column(table, "in_contact") > 0.0,
        )
        return self._track(lines, stored_contacts(contacts), run, outcome, row)

    def _track(self, lines: Lines, met: Contacts, run: int, outcome: str, row: Any) -> Track:
        exact = None
        if len(lines.time) < 2:
            time, place, speed, turn, jumps = *lines[:4], np.zeros(0)
        else:
            laws = self.lander.inertia, self.rotation
            time, place, speed, turn, jumps = rigid_course(lines, *laws)
            exact = exact_turns(lines, *laws)
        place, speed, turn = place[:, None], speed[:, None], turn[:, None]
        about = jumps, met, row or {}
        return Track(run, outcome, time, place, speed, turn, *about, exact=exact)


class TreeLanders(Landers):
    """An articulated lander."""

    def __init__(self, tree: Any, devices: Any, joints: Any = None) -> None:
        self.tree, self.devices, self.joints = tree, devices, joints
        parts, self.owners = tree_parts(tree, devices)
        self.parts = tuple(parts)

    def of_solution(self, solution: Any, run: int, row: Any) -> Track:
        """Of a ``TreeSolution``."""
        met = contacts_of(solution.events)
        outcome = solution.outcome.name.lower()
        return self._track(solution.time, solution.bodies, run, outcome, met, row)

    def of_table(self, table: Any, contacts: Any, run: int, row: Any, outcome: str) -> Track:
        """Of a kept trajectory, whose joints are columns."""
        place, speed, turn, rate = _moving(table)
        q, v = self._joints(table, turn), np.zeros((len(place), self.tree.n_v))
        v[:, 3:6] = rate
        found = self.tree.kinematics(q, v, device="cpu")
        mass = np.array([float(body.mass) for body in self.tree.bodies])
        middle = np.einsum("b,nbi->ni", mass, found.center) / mass.sum()
        drift = np.einsum("b,nbi->ni", mass, found.center_velocity) / mass.sum()
        bodies = found._replace(
            position=found.position + (place - middle)[:, None],
            velocity=found.velocity + (speed - drift)[:, None],
        )
        met = stored_contacts(contacts)
        return self._track(columns.column(table, "time_s"), bodies, run, outcome, met, row)

    def _joints(self, table: Any, turn: Array) -> Array:
        """(n, n_q) configurations; joints that have no column stand as at the start."""
        q = np.zeros((len(turn), self.tree.n_q))
        q[:] = self.tree.neutral()
        if self.joints is not None:
            q[:, 7:] = self.joints
        q[:, 3:7] = turn
        known = columns.column_names(table)
        for joint in self.tree.joints[1:]:
            part = self.tree.q_slices[joint.body]
            name = re.sub(r"[^A-Za-z0-9]+", "_", joint.body).strip("_")
            single = [n for n in (f"joint_{name}_m", f"joint_{name}_rad") if n in known]
            several = [f"joint_{name}_{axis}" for axis in "xyzw"]
            if single:
                q[:, part.start] = columns.column(table, single[0])
            elif all(n in known for n in several):
                q[:, part] = np.stack([columns.column(table, n) for n in several], axis=1)
        return q

    def _track(
        self, time: Array, bodies: Any, run: int, outcome: str, met: Contacts, row: Any
    ) -> Track:
        place, speed = bodies.position[:, self.owners], bodies.velocity[:, self.owners]
        turn, none = bodies.attitude[:, self.owners], np.zeros(0)
        return Track(run, outcome, np.asarray(time), place, speed, turn, none, met, row or {})


def _moving(table: Any) -> tuple[Array, Array, Array, Array]:
    """Places, velocities, attitudes and rates of a stored history."""

    def rows(start: str, end: str, axes: str = "xyz") -> Array:
        return np.stack([columns.column(table, f"{start}{a}{end}") for a in axes], axis=1)

    turn = frames.quat_normalize(rows("q", "", "xyzw"))
    return rows("", "_m"), rows("v", "_m_per_s"), turn, rows("w", "_rad_per_s")


@dataclass(frozen=True, eq=False)
class Setting:
    """What is seen of a model of a landing; gravity, which is costly to build, is left out."""

    surface: Any
    rotation: Any
    lander: Any = None
    tree: Any = None
    devices: Any = ()
    joints: Any = None
    externals: Any = ()

    @classmethod
    def of(cls, scenario: Any, device: str = "cpu", show: str = "silent") -> Setting:
        """That of a scenario."""
        laws = ScenarioLaws(scenario, device, show)
        ground, rotation = laws.ground(scenario), laws.rotation(scenario)
        lander = laws.lander(scenario)
        if isinstance(lander, Articulated):
            own = {"tree": lander.tree, "devices": lander.devices, "joints": lander.joints}
            return cls(ground, rotation, **own)
        return cls(ground, rotation, lander)


def landers_of(model: Any) -> Landers:
    """The lander of a model of a landing, or of a ``Setting``."""
    if getattr(model, "tree", None) is not None:
        return TreeLanders(model.tree, model.devices, getattr(model, "joints", None))
    return RigidLanders(model.lander, model.rotation)
