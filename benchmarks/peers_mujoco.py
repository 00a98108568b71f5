"""MuJoCo's side of the comparison with other engines: the best settings that were found for it.

MuJoCo has no restitution; a contact is a spring and a damper per unit of the mass it meets
(``solref`` with negative numbers), a = -k r - b v, that never pulls. Two ways lead to a wanted e:

- ``spring``: k = omega^2, b = 2 zeta omega. With d(t) = v/omega_d exp(-zeta omega t) sin omega_d t
  the push ends where d'' = 0, at omega_d t = 2 arccos zeta, and so
  e = exp(-2 zeta arccos(zeta)/sqrt(1 - zeta^2)). omega is chosen for a dent of 1 mm.
- ``damper``: b = (1 + e)/dt turns the speed v into -e v in one step, at any speed. A weak spring,
  omega dt = 0.05, carries the weight, and changes e by (omega dt)^2 at most.

Friction has a reference of its own (``solreffriction``), b = 1/dt in the second: slip ends in one
step. The impedance is as near to 1 as MuJoCo lets it be (0.9999). The solver is Newton's with a
tolerance of 1e-14: with the default of 1e-8 it stops too early where forces are 1e-4 N.
"""

import dataclasses
import math
from typing import Any

import numpy as np
from scipy.optimize import brentq

from benchmarks import peers_cube as cube

#: The largest impedance that MuJoCo takes (mjMAXIMP).
IMPEDANCE = 0.9999

XML = """
<mujoco>
  <option gravity="0 0 0" timestep="{step!r}" integrator="{integrator}" cone="{cone}"
          solver="Newton" jacobian="dense" tolerance="1e-14" iterations="100" ls_tolerance="1e-6"
          noslip_iterations="{noslip}" noslip_tolerance="1e-14"/>
  <worldbody>
    <geom name="ground" type="plane" size="0 0 1"/>
    <body name="lander"><freejoint/>{geom}</body>
  </worldbody>
  <contact>
    <pair geom1="ground" geom2="lander" condim="3" friction="{mu!r} {mu!r} 0 0 0"
          solref="{k!r} {b!r}" solreffriction="0 {grip!r}" solimp="{d} {d} 0.001 0.5 2"/>
  </contact>
</mujoco>
"""
GEOMS = {
    "cube": '<geom name="lander" type="box" size="{half} {half} {half}" mass="{mass}"/>',
    "ball": '<geom name="lander" type="sphere" size="{half}" mass="{mass}"/>',
}


@dataclasses.dataclass(frozen=True)
class Setting:
    """How MuJoCo is asked for the contact."""

    kind: str
    """``"spring"`` or ``"damper"``."""
    step: float
    """Time step [s]."""
    omega: float
    """Of the spring [rad/s]."""
    integrator: str = "Euler"
    cone: str = "elliptic"
    noslip: int = 0
    """Iterations of the solver that takes creep away."""
    friction: float = cube.FRICTION

    @classmethod
    def spring(cls, speed: float, share: float, **more: Any) -> "Setting":
        """A dent of 1 mm at ``speed`` [m/s]; a step covers ``share`` radians of the oscillation."""
        omega = speed / 1e-3
        return cls("spring", share / omega, omega, **more)

    @classmethod
    def damper(cls, step: float, **more: Any) -> "Setting":
        """One step for a hit."""
        return cls("damper", step, 0.05 / step, **more)

    @property
    def damping(self) -> float:
        """b [1/s]."""
        if self.kind == "damper":
            return (1.0 + cube.RESTITUTION) / self.step
        return 2.0 * damping_ratio(cube.RESTITUTION) * self.omega

    @property
    def grip(self) -> float:
        """b of friction [1/s]."""
        return 1.0 / self.step if self.kind == "damper" else self.damping

    @property
    def words(self) -> str:
        """In a line."""
        more = [w for w, on in (("RK4", self.integrator == "RK4"), ("noslip", self.noslip)) if on]
        return ", ".join([self.kind, f"{1e3 * self.step:g} ms", *more])


def damping_ratio(restitution: float) -> float:
    """zeta of a spring and damper that never pull."""

    def left(zeta: float) -> float:
        return math.exp(-2.0 * zeta * math.acos(zeta) / math.sqrt(1.0 - zeta**2)) - restitution

    return float(brentq(left, 1e-9, 1.0 - 1e-9, xtol=1e-15))


def model(mujoco: Any, setting: Setting, gravity: Any = None, body: str = "cube") -> Any:
    """The cube (or a ball as wide) on the plane."""
    geom = GEOMS[body].format(half=0.5 * cube.SIDE, mass=cube.MASS)
    text = XML.format(
        step=setting.step,
        integrator=setting.integrator,
        cone=setting.cone,
        noslip=setting.noslip,
        geom=geom,
        mu=setting.friction,
        k=-(setting.omega**2),
        b=-setting.damping,
        grip=-setting.grip,
        d=IMPEDANCE,
    )
    made = mujoco.MjModel.from_xml_string(text)
    made.opt.gravity[:] = cube.slope(0.0) if gravity is None else gravity
    return made


def qpos(states: cube.States) -> np.ndarray:
    """Positions and attitudes as MuJoCo has them: (n, 7), quaternions wxyz."""
    return np.hstack([states.position, np.roll(states.attitude, 1, axis=1)])


def qvel(states: cube.States) -> np.ndarray:
    """Velocities in axes of the ground, rates in body axes: (n, 6)."""
    return np.hstack([states.velocity, states.rate])


def states_of(position: np.ndarray, velocity: np.ndarray) -> cube.States:
    """The other way round."""
    turned = np.roll(position[:, 3:], -1, axis=1)
    return cube.States(position[:, :3], velocity[:, :3], turned, velocity[:, 3:])


class Batch:
    """Cubes in MuJoCo on one core, each in memory of its own."""

    precision, device = "float64", "cpu"

    def __init__(
        self, mujoco: Any, setting: Setting, states: cube.States, gravity: Any = None,
        body: str = "cube",
    ) -> None:  # fmt: skip
        self._mujoco, self.setting = mujoco, setting
        pulls = [gravity] if np.ndim(gravity) < 2 else gravity
        made = [model(mujoco, setting, pull, body) for pull in pulls]
        self._models = made * (len(states) // len(made))
        self._data = [mujoco.MjData(one) for one in self._models]
        for data, place, speed in zip(self._data, qpos(states), qvel(states), strict=True):
            data.qpos[:], data.qvel[:] = place, speed

    def ready(self, steps: int) -> None:
        """Nothing to compile."""

    def advance(self, steps: int, moving: np.ndarray) -> None:
        """Take so many steps with those that are ``moving``."""
        for i in np.flatnonzero(moving):
            self._mujoco.mj_step(self._models[i], self._data[i], nstep=steps)

    def states(self) -> cube.States:
        """Where they are now."""
        return states_of(
            np.array([data.qpos for data in self._data]),
            np.array([data.qvel for data in self._data]),
        )
