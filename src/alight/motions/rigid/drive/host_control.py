"""Levels that functions of Python set, between the launches of a single run."""

from __future__ import annotations

from typing import Any

import numpy as np

from alight.actuators.python_controller import PythonController, Seen
from alight.core import frames
from alight.core.outcomes import Outcome
from alight.engine.motion import Start
from alight.motions.rigid.state import CONTACT


def steer(model: Any, states: Start, number: int) -> None:
    """Write what functions say that are due in run ``number``; its kernel reads it next."""
    run, rows = states.runs[number], states.rows["drives"][number]
    laws = model.drives.laws
    due = [c for c in laws.hosted if run["t"] >= rows[laws.due_row + c]]
    if run["outcome"] != Outcome.RUNNING or not due:
        return
    omega, _, _ = model.rotation.evaluate(np.array([run["t"]]), device="cpu")
    star = frames.inertial_rate(run["q"][None], run["w"][None], omega)
    told = model.drives.told(rows[None], star)
    for c in due:
        command = model.drives.commands[c]
        assert isinstance(command, PythonController)
        seen = Seen(
            time=float(run["t"]),
            position=run["x"].copy(),
            velocity=run["v"].copy(),
            attitude=run["q"].copy(),
            rate=run["w"].copy(),
            contacts=int(run["touches"]),
            touching=bool(run["phase"] == int(CONTACT)),
            wheel_speed=told.wheel_speed[0],
            arm_angle=told.arm_angle[0],
            level=float(rows[laws.level_row + c]),
            surface=model.surface,
        )
        rows[laws.said_row + c] = command.level(seen)
