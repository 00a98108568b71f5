"""The craft that captures: a hexagonal bus, a membrane on struts, two solar arrays on hinges.

As in paper 003, figure 6: arrays are discs at the end of massless booms, each on a ball joint with
spring and damper, its drive assembly (SADA). The paper gives the bus (3 m by 6 m), 15 t in all, six
suspension points 60 degrees apart and 146 m^2. It does not give the arrays' masses and hinges: the
values here are of two arrays of some 25 kW each, with a first frequency of 0.1 Hz.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
import numpy.typing as npt

from alight.core.checks import Array, checked_number
from alight.core.errors import InputError
from alight.membrane import Hoop, Membrane, hexagon
from alight.vehicles import Joint, Tree, TreeBody

#: Standard gravity [m/s^2], by which specific impulses are told.
G0 = 9.80665
#: Names of the arrays in the tree.
ARRAYS = ("array 1", "array 2")


@dataclass(frozen=True, eq=False)
class Spacecraft:
    """Axes: z along the bus toward the membrane, x along the booms; origin in the bus's middle."""

    mass: float = 15e3
    """In all [kg]."""
    width: float = 3.0
    """Of the hexagonal bus, across flats [m]."""
    height: float = 6.0
    """Of the bus, along z [m]."""
    standoff: float = 5.0
    """From the end of the bus to the suspension points, along z [m]: room for the 4.9 m to which a
    pointed asteroid of 1000 t comes. The longer, the more thrust a flat spin takes."""
    side: float = 7.5
    """Of the hexagon of suspension points [m]."""
    hoop_radius: float = 0.15
    """Of the tube along the hexagon's sides [m]; 0: there are the points alone."""
    hoop_stiffness: float = 1e5
    """Of that tube against the asteroid [N/m]."""
    array_mass: float = 300.0
    """Of each [kg]."""
    array_radius: float = 5.0
    """[m]"""
    array_thickness: float = 0.05
    """[m]"""
    boom: float = 2.5
    """From a drive assembly to the rim of its array [m]."""
    frequency: float = 0.1
    """First frequency of an array on a bus that stands still, bending out of its plane [Hz]."""
    damping_ratio: float = 0.01
    """Of that oscillation, over critical damping."""
    moment_limit: float = 1765.0
    """Bending moment that a drive assembly stands [N m] (paper 003)."""
    specific_impulse: float = 285.0
    """Of the thrusters [s]."""
    thruster_arm: float = 1.5
    """Lever of those that turn the craft [m]."""

    def __post_init__(self) -> None:
        zero = ("damping_ratio", "boom", "hoop_radius")
        for item in fields(self):
            name = f"{item.name} of the craft {_UNITS[item.name]}".strip()
            checked_number(name, getattr(self, item.name), above=item.name not in zero)
        if self.bus_mass <= 0.0:
            raise InputError(
                f"the craft has {self.mass:g} kg in all and two arrays of {self.array_mass:g} kg; "
                "nothing is left for the bus. Make the arrays lighter, or the craft heavier."
            )

    @property
    def bus_mass(self) -> float:
        """What is not arrays [kg]."""
        return self.mass - 2.0 * self.array_mass

    @property
    def arm(self) -> float:
        """From a drive assembly to its array's centre of mass [m]."""
        return self.boom + self.array_radius

    @property
    def ring_height(self) -> float:
        """Of the suspension plane above the bus's middle [m]."""
        return 0.5 * self.height + self.standoff

    @cached_property
    def hinge_inertia(self) -> float:
        """Of an array about its drive assembly, bending out of its plane [kg m^2]."""
        disc = 0.25 * self.array_radius**2 + self.array_thickness**2 / 12.0
        return self.array_mass * (disc + self.arm**2)

    @property
    def hinge_stiffness(self) -> float:
        """[N m/rad]"""
        return (2.0 * math.pi * self.frequency) ** 2 * self.hinge_inertia

    @property
    def hinge_damping(self) -> float:
        """[N m s/rad]"""
        return 2.0 * self.damping_ratio * 2.0 * math.pi * self.frequency * self.hinge_inertia

    @cached_property
    def bus_inertia(self) -> Array:
        """(3,) of a uniform hexagonal prism [kg m^2]."""
        edge = self.width / math.sqrt(3.0)
        across = 5.0 / 24.0 * edge**2 + self.height**2 / 12.0
        return self.bus_mass * np.array([across, across, 5.0 / 12.0 * edge**2])

    @cached_property
    def inertia(self) -> Array:
        """(3, 3) of the whole craft with stiff hinges, about the bus's origin [kg m^2]."""
        far = 0.5 * self.width + self.arm
        own = self._array_inertia() + self.array_mass * far**2 * np.array([0.0, 1.0, 1.0])
        return np.diag(self.bus_inertia + 2.0 * own)

    @cached_property
    def tree(self) -> Tree:
        """The craft as bodies and joints; the bus is free."""
        bodies, joints = (
            [TreeBody("bus", self.bus_mass, self.bus_inertia)],
            [Joint("bus", "free")],
        )
        for name, sign in zip(ARRAYS, (1.0, -1.0), strict=True):
            center = (sign * self.arm, 0.0, 0.0)
            bodies.append(TreeBody(name, self.array_mass, self._array_inertia(), center))
            joints.append(
                Joint(
                    name,
                    "spherical",
                    "bus",
                    place=(0.5 * sign * self.width, 0.0, 0.0),
                    stiffness=self.hinge_stiffness,
                    damping=self.hinge_damping,
                )
            )
        return Tree("craft", bodies, joints)

    @property
    def suspension(self) -> Array:
        """(6, 3) points the membrane hangs from, in the craft's axes [m]."""
        return hexagon(self.side) + np.array([0.0, 0.0, self.ring_height])

    @property
    def hoop(self) -> Hoop | None:
        """The tube along the sides of the hexagon."""
        return Hoop(self.hoop_radius, self.hoop_stiffness) if self.hoop_radius > 0.0 else None

    def membrane(
        self,
        stiffness: float | npt.ArrayLike = 1.5,
        damping: float | npt.ArrayLike = 15.0,
        friction: float | npt.ArrayLike = 1.0,
        *,
        stick_stiffness: float | npt.ArrayLike = 2.2e5,
        relaxation: float | npt.ArrayLike = 0.2,
    ) -> Membrane:
        """A membrane on this craft; as in paper 003 if nothing is given."""
        return Membrane(
            stiffness,
            damping,
            friction,
            suspension=self.suspension,
            hoop=self.hoop,
            stick_stiffness=stick_stiffness,
            relaxation=relaxation,
        )

    def propellant(
        self, force_impulse: npt.ArrayLike, torque_impulse: npt.ArrayLike = 0.0
    ) -> Array:
        """[kg] for impulses of forces [N s] and torques [N m s]; the craft's mass stays."""
        pushed = np.asarray(force_impulse) + np.asarray(torque_impulse) / self.thruster_arm
        return np.asarray(pushed / (self.specific_impulse * G0))

    def _array_inertia(self) -> Array:
        """(3,) of a disc in the plane of x and y [kg m^2]."""
        thick = self.array_thickness**2 / 12.0
        across, along = 0.25 * self.array_radius**2 + thick, 0.5 * self.array_radius**2
        return self.array_mass * np.array([across, across, along])


_UNITS = {
    "mass": "[kg]", "width": "[m]", "height": "[m]", "standoff": "[m]", "side": "[m]",
    "hoop_radius": "[m]", "hoop_stiffness": "[N/m]",
    "array_mass": "[kg]", "array_radius": "[m]", "array_thickness": "[m]", "boom": "[m]",
    "frequency": "[Hz]", "damping_ratio": "", "moment_limit": "[N m]", "specific_impulse": "[s]",
    "thruster_arm": "[m]",
}  # fmt: skip
