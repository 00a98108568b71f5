"""From the [lander] of a scenario to an articulated lander, every fault reported with its key."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from alight import vehicles
from alight.core.checks import Array
from alight.core.errors import AlightError, InputError
from alight.scenario.errors import Fault
from alight.scenario.schema.articulated_lander import DEVICES

if TYPE_CHECKING:
    from alight.vehicles import Tree
    from alight.vehicles.fittings import Device

#: Which way is up in the first body of a tree unless it says otherwise.
UP = (0.0, 0.0, 1.0)


class Ready(NamedTuple):
    """An articulated lander of the catalogue."""

    about: str
    make: str
    """What makes it, of ``alight.vehicles``."""
    keys: tuple[str, ...]
    """Its own in a scenario, which ``make`` takes."""
    up: tuple[float, float, float]
    """Which way is up in its first body."""
    folds: bool = False
    """Whether its legs are stowed at the release (``vehicles.idefix.STOWED``)."""


READY = {
    "dcap": Ready(
        "DCAP lander, articulated (paper 002)",
        "dcap_lander",
        ("leg_mass", "crush_force", "stroke", "thrust", "delay", "pad_radius", "bus_touches"),
        (0.0, 1.0, 0.0),
    ),
    "idefix": Ready(
        "IDEFIX (MMX, Phobos), articulated: four leg-wheels, sizes assumed",
        "idefix_lander",
        ("leg_mass", "leg_torque", "leg_rate"),
        UP,
        folds=True,
    ),
}


class Articulated(NamedTuple):
    """A tree with its devices, and how its joints stand at the release."""

    tree: Tree
    devices: tuple[Device, ...]
    up: Array
    """Which way is up when it stands, in the axes of the first body."""
    joints: Array
    """(n_q - 7,) configuration of all joints but the first."""
    speeds: Array
    """(n_v - 6,) their velocities."""


def ready_name(name: str) -> str | None:
    """The articulated lander of the catalogue of that name, in any letter case."""
    plain = "".join(c for c in name.lower() if c.isalnum())
    return next((known for known in READY if plain == known), None)


#: Landers made last, by what scenarios say of them: one that differs from run to run in its ground
#: or its release alone is made once.
_LATELY: dict[str, tuple[Articulated | None, list[Fault]]] = {}
_KEPT = 16


def articulated(section: Any) -> tuple[Articulated | None, list[Fault]]:
    """The lander that ``section`` (a ``LanderSection``) describes, or what is wrong with it."""
    key = repr(section.written())
    if section.urdf is not None:
        return _made(section)  # a file may change
    if key not in _LATELY:
        _LATELY[key] = _made(section)
        for old in list(_LATELY)[:-_KEPT]:
            del _LATELY[old]
    lander, problems = _LATELY[key]
    return lander, list(problems)


def _made(section: Any) -> tuple[Articulated | None, list[Fault]]:
    maker = _Maker(section)
    with np.errstate(all="ignore"):
        try:
            return maker.made(), maker.problems
        except (ArithmeticError, np.linalg.LinAlgError):
            said = "has numbers so large or so small that its motion cannot be computed"
            return None, [*maker.problems, Fault("lander", said)]


class _Maker:
    def __init__(self, section: Any) -> None:
        self.section = section
        self.problems: list[Fault] = []

    def _try(self, key: str, make: Callable[[], Any]) -> Any:
        """What ``make`` gives; None where it raises, which is then a problem under ``key``."""
        try:
            return make()
        except AlightError as cause:
            self.problems.append(Fault(key, " ".join(str(cause).split())))
            return None

    def made(self) -> Articulated | None:
        """The lander; None where there are problems."""
        from alight.vehicles.fittings import fitted

        tree, devices = self._parts()
        if tree is None or self.problems:
            return None
        kind = tree.joints[0].kind
        if kind != "free":
            said = f'found "{kind}"; the first body must be "free", to be released by its place'
            self.problems.append(Fault(f"lander.joint.{tree.joints[0].name}.kind", said))
            return None
        if self._try("lander", lambda: fitted(tree, devices)) is None:
            return None
        if not fitted(tree, devices).touching:
            said = (
                "has no [[lander.pad]], with which it would touch the ground; it needs one, or a "
                "[[lander.belly]]"
            )
            self.problems.append(Fault("lander", said))
            return None
        joints, speeds = self._start(tree)
        own = UP if self.section.name is None else READY[self.section.name].up
        up = np.asarray(self.section.up or own, dtype=np.float64)
        return Articulated(tree, tuple(devices), up, joints, speeds)

    def _parts(self) -> tuple[Tree | None, list[Device]]:
        section = self.section
        if section.name is not None:
            ready = READY[section.name]
            given = {n: getattr(section, n) for n in ready.keys}
            options: dict[str, Any] = {
                n: v if isinstance(v, bool) else float(v) for n, v in given.items()
            }
            found = self._try("lander", lambda: getattr(vehicles, ready.make)(**options))
            return (None, []) if found is None else (found.tree, list(found.devices))
        tree = self._urdf() if section.urdf is not None else self._written()
        return tree, self._hulls() + self._devices(tree) if tree is not None else []

    def _hulls(self) -> list[Device]:
        """The collision geometry of a URDF file, where it is asked for."""
        if not self.section.collision:
            return []
        return self._try("lander.urdf", lambda: vehicles.read_urdf_bellies(self.section.urdf)) or []

    def _urdf(self) -> Tree | None:
        section = self.section
        stops: dict[str, Any] = {}
        for name in ("hinge", "slide"):
            stiffness, damping = (getattr(section, f"{name}_{n}") for n in ("stiffness", "damping"))
            if stiffness is not None:
                stops[f"{name}_stop"] = (float(stiffness), float(damping or 0.0))
        ignore = bool(section.ignore_limits)
        made: Tree | None = self._try(
            "lander.urdf", lambda: vehicles.read_urdf(section.urdf, ignore_limits=ignore, **stops)
        )
        return made

    def _written(self) -> Tree | None:
        from alight.vehicles.tree.structure_checks import ordered

        section = self.section
        bodies = [self._try(part.where, part.make) for part in section.body]
        joints = [self._try(part.where, part.make) for part in section.joint]
        if self.problems:
            return None
        # The structure first: what is wrong with it concerns the joints.
        if self._try("lander.joint", lambda: ordered("the lander", bodies, joints)) is None:
            return None
        made: Tree | None = self._try(
            "lander.body", lambda: vehicles.Tree("lander", bodies, joints)
        )
        return made

    def _devices(self, tree: Tree) -> list[Device]:
        found = []
        for part in (part for name in DEVICES for part in getattr(self.section, name)):
            index = self._try(f"{part.where}.body", partial(tree.index, part.body))
            if index is not None:
                slides = tree.joints[index].kind == "prismatic"
                found.append(self._try(part.where, partial(part.make, slides)))
        return [device for device in found if device is not None]

    def _start(self, tree: Tree) -> tuple[Array, Array]:
        """Where all joints but the first stand, and how fast they move."""
        q, v = tree.neutral(), np.zeros(tree.n_v)
        if self.section.name is not None and READY[self.section.name].folds:
            from alight.vehicles.idefix import STOWED

            q[7:] = STOWED
        for part in self.section.joint:
            if part.kind in ("revolute", "prismatic"):
                q[tree.q_slices[part.body]], v[tree.v_slices[part.body]] = part.first()
        return q[7:], v[6:]


def require(found: tuple[Articulated | None, list[Fault]]) -> Articulated:
    """The lander, which was checked when the scenario was read."""
    lander, problems = found
    if lander is None:
        raise InputError("; ".join(map(str, problems)))
    return lander


def commanded_devices(
    section: Any, devices: Sequence[Device], manoeuvres: Sequence[Any]
) -> tuple[Device, ...]:
    """The devices of a lander whose manoeuvres command some of them: a motor of which the file says
    no schedule is off until it is commanded, not on from the release."""
    named = {name for one in manoeuvres for name in getattr(one.command, "levels", ())}
    parts = [part for kind in ("thruster", "motor", "brake") for part in getattr(section, kind)]
    own = {part.called for part in parts if part.is_scheduled}
    return tuple(_silenced(one) if parts and one.name in named - own else one for one in devices)


@functools.lru_cache(maxsize=256)
def _silenced(device: Any) -> Any:
    """The same without a schedule: one object for each, as data of kernels are kept by it."""
    from alight.actuators import Schedule

    if not hasattr(device, "schedule"):
        return device
    other = copy.copy(device)
    other.schedule = Schedule.never()
    return other
