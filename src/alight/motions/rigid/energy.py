"""E_J of stored states: the engine's own function, evaluated on arrays."""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from alight.core import devices
from alight.core.checks import Array
from alight.core.warp_setup import POINT_OPTIONS
from alight.motions.rigid.composition import Composition, Energy
from alight.motions.rigid.state import Row, Run


@dataclass(frozen=True, eq=False)
class EnergyParts:
    """E_J and its parts [J], each of shape (n,).

    ``linear`` and ``angular`` are kinetic, relative to the turning target (``angular`` less the
    part of the target's own rate), ``centrifugal`` and ``gravity`` potential, ``elastic`` in the
    springs. ``total`` is conserved by free flight, by elastic and by truly sticking contact on a
    target that turns evenly, and falls under damping and slip.
    """

    linear: Array
    angular: Array
    centrifugal: Array
    gravity: Array
    elastic: Array
    total: Array
    wheels: Array | float = 0.0
    """What free wheels add [J]."""
    arms: Array | float = 0.0
    """What arms add that are not as released [J]."""


@functools.cache
def _energy_kernel(parts: Composition) -> Any:
    World: Any = parts.World
    energy, field = parts.energy, parts.laws.gravity_field

    @wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
    def evaluate_energy(
        offset: int,
        world: World,
        rows: wp.array(dtype=Row),
        energy_out: wp.array(dtype=Energy),
    ) -> None:
        i = wp.tid() + offset
        row = rows[i]
        run = Run()
        run.t = row.t
        run.x = row.x
        run.v = row.v
        run.q = row.q
        run.w = row.w
        run.elastic = row.elastic
        energy_out[i] = energy(world, run, field(world.gravity, row.x))

    return evaluate_energy


def energies(model: Any, rows: Any, device: devices.Device) -> EnergyParts:
    """E_J and its parts for the lines of a history, with gravity evaluated in full."""
    out = wp.empty(len(rows), dtype=Energy, device=device.name)
    inputs = [model.data(device), wp.array(rows, dtype=Row, device=device.name)]
    devices.launch(_energy_kernel(model.composition()), len(rows), inputs, device, outputs=[out])
    table = out.numpy()
    names = ("linear", "angular", "centrifugal", "gravity", "elastic", "total")
    return EnergyParts(**{name: np.asarray(table[name]) for name in names})
