"""``Membrane``: the law as users give it, and its load evaluated alone."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices, frames
from alight.core.checks import Array, checked_number
from alight.core.errors import InputError
from alight.core.given import Given
from alight.core.types import quat, vec3
from alight.core.warp_setup import POINT_OPTIONS
from alight.membrane.captive import Captive
from alight.membrane.forces import (
    MembraneLoad,
    MembraneRow,
    Moving,
    linear_stored,
    linear_tension,
    membrane_load,
)
from alight.membrane.geometry import CaptiveData, hull_memory
from alight.membrane.hoop import Hoop
from alight.membrane.hull import UPRIGHT, hang_function, require_same_kind
from alight.membrane.memory import HullMemory, vectors
from alight.membrane.ring import Ring, RingData

Numbers = float | npt.ArrayLike
#: Parameters of which each run may have its own.
NUMBERS = ("stiffness", "damping", "friction", "stick_stiffness", "relaxation", "more")


class LoadResult(NamedTuple):
    """What ``Membrane.load`` returns for n states."""

    load: Any
    """n records with the fields of ``MembraneLoad``, inertial axes."""
    vertices: Array
    """(n, V, 3) where the vertices of the body's hull are [m], inertial axes."""
    normal: Array
    """(n, V, 3) what the fabric presses on each, without friction [N]."""
    pull: Array
    """(n, k, 3) what the fabric pulls at each suspension point, as they were given, without
    friction [N]."""


class Membrane(Given):
    """A membrane that hangs from ``suspension`` points (paper 003).

    Its shape is the convex hull of these points and of the body's vertices below their plane; its
    tension follows from how much area it has gained, and how fast. With two suspension points
    (2, 2) it is a line in the plane of x and z, and its length stands for the area.

    Args:
        stiffness: k [N/m^3]; in 2D [N/m]. One number, or one for each run, as all four.
        damping: c [N s/m^3]; in 2D [N s/m].
        friction: Coulomb's coefficient between fabric and body.
        suspension: (k, 3) points [m] in the axes of what carries the membrane, or (2, 2), or a
            ``Ring``.
        up: To which side of the suspension points the body is.
        hoop: A tube along the sides of the polygon that the body can touch, or None. Friction on it
            is that of the fabric.
        stick_stiffness: Of fabric that sticks to the body, along it [N/m]: of all the body's
            surface together, of which each vertex that touches has its share. Under the limit of
            friction the fabric gives by friction times normal force over stiffness, and comes
            back. 1000 k A0 unless given (in 2D 1000 k).
        relaxation: Damping over stiffness of fabric that sticks [s]. Steps are no longer than this
            while it slides.
        more: Three numbers for profiles of your own.

    Another profile of energy and damping is a subclass that names two Warp functions:
    ``tension(row, stretch, rate)`` [N/m] and ``stored(row, stretch)`` [J], the energy of its part
    at rest. A tension below 0 counts as 0.
    """

    tension: Any = linear_tension
    stored: Any = linear_stored

    def __init__(
        self,
        stiffness: Numbers,
        damping: Numbers = 0.0,
        friction: Numbers = 0.0,
        *,
        suspension: Ring | npt.ArrayLike,
        up: npt.ArrayLike = (0.0, 0.0, 1.0),
        hoop: Hoop | None = None,
        stick_stiffness: Numbers | None = None,
        relaxation: Numbers = 1e-2,
        more: npt.ArrayLike = (0.0, 0.0, 0.0),
    ) -> None:
        self.ring = suspension if isinstance(suspension, Ring) else Ring(suspension, up)
        self.hoop = hoop
        if hoop is not None and self.planar:
            raise InputError("a membrane of 2D hangs from two points: it has no hoop")
        unit = "" if self.planar else "^3"
        self.stiffness = _values(f"stiffness [N/m{unit}]", stiffness, above=True)
        self.damping = _values(f"damping [N s/m{unit}]", damping)
        self.friction = _values("friction", friction)
        if stick_stiffness is None:
            stick_stiffness = 1e3 * self.stiffness * (1.0 if self.planar else self.nominal_area)
        self.stick_stiffness = _values("stick_stiffness [N/m]", stick_stiffness, above=True)
        self.relaxation = _values("relaxation [s]", relaxation, above=True)
        self.more = np.atleast_2d(np.asarray(more, dtype=np.float64))
        if self.more.shape[1] != 3 or not np.isfinite(self.more).all():
            raise InputError(f"more is {more!r}; it must be three finite numbers")
        _ = self.runs

    @property
    def planar(self) -> bool:
        """True for a membrane in the plane of x and z."""
        return self.ring.planar

    @property
    def nominal_area(self) -> float:
        """A0 [m^2]; in 2D the length between the suspension points [m]."""
        return self.ring.area

    @property
    def runs(self) -> int:
        """For how many runs parameters are given; 1 if they are for all."""
        given = {
            "stiffness": len(self.stiffness),
            "damping": len(self.damping),
            "friction": len(self.friction),
            "stick_stiffness": len(self.stick_stiffness),
            "relaxation": len(self.relaxation),
            "more": len(self.more),
        }
        several = {name: count for name, count in given.items() if count > 1}
        if len(set(several.values())) > 1:
            raise InputError(f"parameters are given for different numbers of runs: {several}")
        return max(given.values())

    def rows(self) -> Any:
        """One record of ``MembraneRow`` for each run, or one for all."""
        row: Any = MembraneRow
        rows: Any = np.zeros(self.runs, dtype=row.numpy_dtype())
        for name in NUMBERS:
            rows[name] = getattr(self, name)
        return rows

    @property
    def hang(self) -> Any:
        """The kernel function of the shape."""
        return hang_function(self.planar)

    @property
    def load_function(self) -> Any:
        """The kernel function of the load, with this law's profiles."""
        kind = type(self)
        return membrane_load(self.hang, kind.tension, kind.stored)

    def load(
        self,
        body: Captive,
        position: npt.ArrayLike,
        velocity: npt.ArrayLike = (0.0, 0.0, 0.0),
        attitude: npt.ArrayLike = UPRIGHT,
        rate: npt.ArrayLike = (0.0, 0.0, 0.0),
        *,
        carrier_position: npt.ArrayLike = (0.0, 0.0, 0.0),
        carrier_velocity: npt.ArrayLike = (0.0, 0.0, 0.0),
        carrier_attitude: npt.ArrayLike = UPRIGHT,
        carrier_rate: npt.ArrayLike = (0.0, 0.0, 0.0),
        device: str = "auto",
        threads: int | None = None,
    ) -> LoadResult:
        """What the membrane does in n states of a body and of what carries the suspension points.

        Places [m] and velocities [m/s] (n, 3) in inertial axes, attitudes (n, 4) from body to
        inertial axes, rates (n, 3) [rad/s] in body axes. One row stands for all. Friction is that
        of a contact just made, which nothing has strained yet.
        """
        states = (position, velocity, attitude, rate)
        carriers = (carrier_position, carrier_velocity, carrier_attitude, carrier_rate)
        names = ("position", "velocity", "attitude", "rate")
        given = [state_rows(name, a) for name, a in zip(names, states, strict=True)]
        given += [state_rows(f"carrier_{n}", a) for n, a in zip(names, carriers, strict=True)]
        launch, out, memory = self.prepared(body, given, devices.resolve(device), threads)
        launch()
        return self._result(out.numpy(), memory, given[4], given[6])

    def prepared(
        self, body: Captive, states: list[Array], device: devices.Device, threads: int | None = None
    ) -> tuple[Callable[[], None], Any, HullMemory]:
        """A call that fills an array of ``MembraneLoad``, the array, and the memory it uses.

        ``states`` are the eight arguments of ``load`` in order. All stays on the device.
        """
        require_same_kind(self.ring, body)
        count = max(*(len(a) for a in states), self.runs)
        if any(len(a) not in (1, count) for a in states) or self.runs not in (1, count):
            raise InputError(f"states and parameters must be for 1 or for {count} runs each")
        captive = body.kernel_data(device)
        ring = self.ring.data(device, self.hoop)
        memory = hull_memory(captive, ring, count, device, pulls=True)
        kinds = (vec3, vec3, quat, vec3) * 2
        arrays = [
            wp.array(np.broadcast_to(a, (count, a.shape[1])), dtype=kind, device=device.name)
            for a, kind in zip(states, kinds, strict=True)
        ]
        out = wp.zeros(count, dtype=MembraneLoad, device=device.name)
        rows = wp.array(self.rows(), dtype=MembraneRow, device=device.name)
        inputs = [rows, ring, captive, *arrays, memory]
        kernel = _load_kernel(self.load_function)

        def launch() -> None:
            devices.launch(kernel, count, inputs, device, threads, outputs=[out])

        return launch, out, memory

    def _result(self, load: Any, memory: HullMemory, place: Array, turned: Array) -> LoadResult:
        """Vectors of vertices and suspension points, turned to inertial axes."""
        slope = np.concatenate([vectors(memory.slope), vectors(memory.pull)]).transpose(1, 0, 2)
        R_NC = frames.quat_to_matrix(frames.quat_normalize(turned))
        R_NM = R_NC @ self.ring.R
        forces = np.einsum("nij,nvj->nvi", np.broadcast_to(R_NM, (len(load), 3, 3)), slope)
        forces = -load["tension"][:, None, None] * forces
        points = vectors(memory.place).transpose(1, 0, 2) @ self.ring.R.T + self.ring.origin
        turn = np.broadcast_to(R_NC, (len(load), 3, 3))
        points = np.einsum("nij,nvj->nvi", turn, points) + place[:, None]
        count = points.shape[1]
        pull = np.empty_like(forces[:, count:])
        pull[:, self.ring.order] = forces[:, count:]
        return LoadResult(load, points, forces[:, :count], pull)

    def __str__(self) -> str:
        one = {name: getattr(self, name) for name in ("stiffness", "damping", "friction")}
        words = ", ".join(f"{name} {_words(values)}" for name, values in one.items())
        size = f"{self.nominal_area:.4g} {'m' if self.planar else 'm^2'}"
        return f"membrane of {size} on {self.ring.count} points: {words}"


def _words(values: Array) -> str:
    if len(values) == 1:
        return f"{values[0]:.4g}"
    return f"{values.min():.4g} to {values.max():.4g} in {len(values)} runs"


def _values(name: str, given: Numbers, above: bool = False) -> Array:
    """One finite number or one for each run, none negative."""
    try:
        values = np.atleast_1d(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError):
        values = np.empty((0, 0))
    if values.ndim != 1 or not len(values):
        raise InputError(f"{name} is {given!r}; it must be one number, or one for each run")
    for value in values:
        checked_number(name, float(value), above=above)
    return values


def state_rows(name: str, given: npt.ArrayLike) -> Array:
    """(n, 3) or, for attitudes, (n, 4) finite numbers; attitudes of unit length."""
    width = 4 if name.endswith("attitude") else 3
    try:
        values = np.atleast_2d(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError):
        values = np.empty((0, 0))
    if values.ndim != 2 or values.shape[1] != width or not np.isfinite(values).all():
        raise InputError(f"{name} is {given!r}; it must be finite numbers of shape (n, {width})")
    if width == 4:
        if not (np.linalg.norm(values, axis=1) > 0.0).all():
            raise InputError(f"{name} has a quaternion of zeros, which is no attitude")
        return frames.quat_normalize(values)
    return values


@functools.cache
def _load_kernel(load_of: Any) -> Any:
    """A kernel that evaluates one state a thread."""

    @wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
    def evaluate_load(
        offset: int,
        rows: wp.array(dtype=MembraneRow),
        ring: RingData,
        captive: CaptiveData,
        x: wp.array(dtype=vec3),
        v: wp.array(dtype=vec3),
        q: wp.array(dtype=quat),
        w: wp.array(dtype=vec3),
        carrier_x: wp.array(dtype=vec3),
        carrier_v: wp.array(dtype=vec3),
        carrier_q: wp.array(dtype=quat),
        carrier_w: wp.array(dtype=vec3),
        memory: HullMemory,
        load_out: wp.array(dtype=MembraneLoad),
    ) -> None:
        i = wp.tid() + offset
        body = Moving()
        body.x = x[i]
        body.v = v[i]
        body.q = q[i]
        body.rate = w[i]
        carrier = Moving()
        carrier.x = carrier_x[i]
        carrier.v = carrier_v[i]
        carrier.q = carrier_q[i]
        carrier.rate = carrier_w[i]
        row = rows[wp.min(i, rows.shape[0] - 1)]
        load_out[i] = load_of(row, ring, captive, body, carrier, memory, i)

    return evaluate_load


def holding_radius(thrust: float, mass: float, rate: float) -> float:
    """How far from the axis of a flat spin ``thrust`` [N] holds a craft [m]: F / (m w^2).

    ``mass`` [kg] is the craft's and ``rate`` [rad/s] that of the pair (paper 003, "flat spin").
    """
    values = {"thrust [N]": thrust, "mass [kg]": mass, "rate [rad/s]": rate}
    F, m, w = (checked_number(name, value) for name, value in values.items())
    return F / (m * w * w)
