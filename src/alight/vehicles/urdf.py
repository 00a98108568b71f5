"""Robot descriptions (URDF files) as trees.

Read: ``link`` with ``inertial`` (origin, mass, inertia); ``joint`` of type fixed, revolute,
continuous, prismatic, floating or spherical, with parent, child, origin, axis, limit (lower and
upper) and dynamics (damping, friction). Knowingly not read: looks and hulls (``visual``,
``material``; ``collision`` is read by ``urdf_collision``), limits of effort and velocity, and what
belongs to other programs (``transmission``, ``gazebo``, ``ros2_control``, ``safety_controller``,
``calibration``). Anything else, ``mimic`` and planar joints among it, is an error: it would change
the motion.
"""

from __future__ import annotations

import itertools
import os
import pathlib
from dataclasses import dataclass, field
from xml.parsers import expat

import numpy as np

from alight.core import frames
from alight.core.checks import Array
from alight.core.errors import InputError, did_you_mean
from alight.core.files import read_bounded
from alight.vehicles.tree.parts import MOST, Joint, TreeBody
from alight.vehicles.tree.structure_checks import require_count
from alight.vehicles.tree.tree import Tree

#: Largest file [bytes], most elements in it, and how deep they may be nested.
MOST_BYTES, MOST_ELEMENTS, MOST_DEPTH = 10_000_000, 200_000, 100
#: Longest name, number or file name [characters].
MOST_TEXT = 1000

#: Types of joints in a file, and what they are here.
TYPES = {
    "fixed": "fixed",
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "floating": "free",
    "spherical": "spherical",
}

#: What an element may hold: children that are read, and children that are passed over.
_ALLOWED = {
    "robot": (
        ("link", "joint"),
        ("material", "transmission", "gazebo", "ros2_control"),
    ),
    "link": (("inertial",), ("visual", "collision")),
    "inertial": (("origin", "mass", "inertia"), ()),
    "joint": (
        ("parent", "child", "origin", "axis", "limit", "dynamics"),
        ("safety_controller", "calibration"),
    ),
}

#: Attributes of elements; those of "joint", "link" and "robot" besides their names.
_ATTRIBUTES = {
    "robot": ("name", "version"),
    "link": ("name", "type"),
    "joint": ("name", "type"),
    "inertial": (),
    "origin": ("xyz", "rpy"),
    "mass": ("value",),
    "inertia": ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"),
    "parent": ("link",),
    "child": ("link",),
    "axis": ("xyz",),
    "limit": ("lower", "upper", "effort", "velocity"),
    "dynamics": ("damping", "friction"),
}


@dataclass
class Element:
    """An element of the file, with the line it begins on."""

    tag: str
    line: int
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list)

    def one(self, tag: str) -> Element | None:
        """The child of that tag, of which there may be one."""
        found = [child for child in self.children if child.tag == tag]
        if len(found) > 1:
            raise InputError(
                f"line {found[1].line}: a second <{tag}> in the <{self.tag}> of line {self.line}; "
                "there may be one. Take one out."
            )
        return found[0] if found else None

    def text(self, name: str) -> str:
        """An attribute that must be there."""
        if name not in self.attributes:
            raise InputError(f'line {self.line}: <{self.tag}> needs the attribute "{name}".')
        return self.attributes[name]

    def numbers(self, name: str, count: int, default: tuple[float, ...] | None = None) -> Array:
        """``count`` numbers of an attribute."""
        if default is not None and name not in self.attributes:
            return np.array(default)
        words = self.text(name).split()
        try:
            found = np.array([float(word) for word in words])
        except ValueError:
            found = np.zeros(0)
        if len(found) != count or not (np.abs(found) <= MOST).all():
            raise InputError(
                f'line {self.line}: {name}="{self.text(name)}" of <{self.tag}> must be {count} '
                f"finite number{'s' if count > 1 else ''}, {MOST:g} at most."
            )
        return found

    def number(self, name: str, default: float | None = None) -> float:
        """The number of an attribute."""
        return float(self.numbers(name, 1, None if default is None else (default,))[0])


def read_urdf(
    path: str | os.PathLike[str],
    *,
    base: str = "free",
    hinge_stop: tuple[float, float] | None = None,
    slide_stop: tuple[float, float] | None = None,
    ignore_limits: bool = False,
) -> Tree:
    """The tree that a URDF file describes.

    Parameters
    ----------
    path:
        The file.
    base:
        How the root link is held: "free", or "fixed" to the world.
    hinge_stop, slide_stop:
        Stiffness and damping of the stops at the limits of revolute joints [N m/rad], [N m s/rad]
        and of prismatic ones [N/m], [N s/m]. URDF has limits but not how stiff they are.
    ignore_limits:
        True to have no stops.
    """
    if base not in ("free", "fixed"):
        raise InputError(f'base is {base!r}; the root link is held "free" or "fixed"')
    file = pathlib.Path(path)
    text = read_bounded(file, MOST_BYTES, "the URDF file")
    stops = None if ignore_limits else {"revolute": hinge_stop, "prismatic": slide_stop}
    try:
        return _tree(_parsed(text), base, stops)
    except InputError as cause:
        raise InputError(f"{file.name}: {cause}") from None


def _parsed(text: bytes) -> Element:
    """The elements of a file, checked against what is known."""
    robot = elements(text)
    _check(robot)
    return robot


def elements(text: bytes) -> Element:
    """All elements of a file, as they are."""
    parser = expat.ParserCreate()
    top = Element("", 0, {})
    stack, count = [top], itertools.count(1)

    def start(tag: str, attributes: dict[str, str]) -> None:
        line = parser.CurrentLineNumber
        if len(stack) > MOST_DEPTH or next(count) > MOST_ELEMENTS:
            raise InputError(
                f"line {line}: this is one element too many; a file has at most {MOST_ELEMENTS}, "
                f"nested at most {MOST_DEPTH} deep. Take out what is not read."
            )
        longest = max(map(len, (tag, *attributes, *attributes.values())))
        if longest > MOST_TEXT:
            raise InputError(
                f"line {line}: a name or value of {longest} characters; at most {MOST_TEXT} are "
                "read."
            )
        element = Element(tag, line, attributes)
        stack[-1].children.append(element)
        stack.append(element)

    def entity(*declared: object) -> None:
        raise InputError(
            f"line {parser.CurrentLineNumber}: an entity is declared; entities are not read. Write "
            "what it stands for where it is used."
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: stack.pop()
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(text, True)
    except expat.ExpatError as cause:
        raise InputError(f"this is not an XML file: {cause}.") from None
    except InputError:
        raise
    except (LookupError, ValueError) as cause:  # expat asks Python for encodings it does not know
        raise InputError(
            f"its encoding cannot be read: {cause}. Save it as UTF-8, and say so in its first line."
        ) from None
    robot = top.children[0]
    if robot.tag != "robot":
        raise InputError(f"line {robot.line}: the file holds a <{robot.tag}>; a URDF has <robot>.")
    return robot


def _check(element: Element) -> None:
    """Raise at what is neither read nor passed over by rule, and drop what is passed over."""
    known = _ATTRIBUTES[element.tag]
    for name in element.attributes:
        if name not in known and ":" not in name:
            raise InputError(
                f'line {element.line}: <{element.tag}> has an unknown attribute "{name}".'
                f"{did_you_mean(name, known)} Known: {', '.join(known)}."
            )
    read, passed = _ALLOWED.get(element.tag, ((), ()))
    for child in element.children:
        if child.tag not in (*read, *passed):
            raise InputError(
                f"line {child.line}: unknown element <{child.tag}> in <{element.tag}>."
                f"{did_you_mean(child.tag, read)} Read: {', '.join(read) or 'none'}; passed over: "
                f"{', '.join(passed) or 'none'}. Take it out if the motion does not depend on it."
            )
    element.children = [child for child in element.children if child.tag in read]
    for child in element.children:
        _check(child)


def _tree(robot: Element, base: str, stops: dict[str, tuple[float, float] | None] | None) -> Tree:
    name = robot.attributes.get("name", "robot")
    links = [child for child in robot.children if child.tag == "link"]
    hinges = [child for child in robot.children if child.tag == "joint"]
    require_count(f'tree "{name}"', max(len(links), len(hinges)))
    joints = [_joint(child, stops) for child in hinges]
    carried = {joint.body for joint in joints}
    roots = [link.text("name") for link in links if link.text("name") not in carried]
    held = [Joint(root, base, name=f"{root} to the world") for root in roots]
    return Tree(name, [_body(link) for link in links], [*held, *joints])


def _body(link: Element) -> TreeBody:
    """A link; without an <inertial> it has no mass."""
    name, inertial = link.text("name"), link.one("inertial")
    if inertial is None:
        return TreeBody(name)
    mass, inertia = inertial.one("mass"), inertial.one("inertia")
    if mass is None or inertia is None:
        raise InputError(f"line {inertial.line}: <inertial> needs a <mass> and an <inertia>.")
    xx, yy, zz = (inertia.number(key) for key in ("ixx", "iyy", "izz"))
    xy, xz, yz = (inertia.number(key, 0.0) for key in ("ixy", "ixz", "iyz"))
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    center, turn = origin_of(inertial)
    R = frames.quat_to_matrix(turn)
    return TreeBody(name, mass.number("value"), R @ tensor @ R.T, center)


def origin_of(element: Element) -> tuple[Array, Array]:
    """Place [m] and turn of an <origin>: roll, pitch, yaw about fixed x, y, z, in this order."""
    origin = element.one("origin")
    if origin is None:
        return np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])
    rpy = origin.numbers("rpy", 3, (0.0, 0.0, 0.0))
    x, y, z = (frames.quat_from_axis_angle(np.eye(3)[k], rpy[k]) for k in range(3))
    place = origin.numbers("xyz", 3, (0.0, 0.0, 0.0))
    return place, frames.quat_multiply(z, frames.quat_multiply(y, x))


def _joint(element: Element, stops: dict[str, tuple[float, float] | None] | None) -> Joint:
    name, given = element.text("name"), element.text("type")
    if given not in TYPES:
        raise InputError(
            f'line {element.line}: joint "{name}" has type "{given}".{did_you_mean(given, TYPES)} '
            f"Known: {', '.join(TYPES)}."
        )
    ends = []
    for tag in ("parent", "child"):
        end = element.one(tag)
        if end is None:
            raise InputError(f'line {element.line}: joint "{name}" needs a <{tag} link="..."/>.')
        ends.append(end.text("link"))
    place, turn = origin_of(element)
    kind = TYPES[given]
    dynamics, axis = element.one("dynamics"), element.one("axis")
    _refuse_what_floats(element, name, given)
    options: dict[str, float] = {}
    if dynamics is not None and kind not in ("fixed", "free"):
        options["damping"] = dynamics.number("damping", 0.0)
        options["friction"] = dynamics.number("friction", 0.0)
    if given in ("revolute", "prismatic"):
        options |= _limits(element, name, kind, stops)
    along = None
    if kind in ("revolute", "prismatic"):
        along = np.array([1.0, 0.0, 0.0]) if axis is None else axis.numbers("xyz", 3)
    return Joint(ends[1], kind, ends[0], place, turn, along, name=name, **options)


def _refuse_what_floats(element: Element, name: str, given: str) -> None:
    """Raise at limits and dynamics that would change the motion of a joint that has none here."""
    limit, dynamics = element.one("limit"), element.one("dynamics")
    if given in ("spherical", "floating") and limit is not None:
        for key in ("lower", "upper"):
            if key in limit.attributes:
                raise InputError(
                    f'line {limit.line}: joint "{name}" is {given} and has the limit {key}; only '
                    "revolute and prismatic joints have stops. Take it out."
                )
    if given == "floating" and dynamics is not None:
        raise InputError(
            f'line {dynamics.line}: joint "{name}" is floating and has <dynamics>; a free joint '
            "has neither damping nor friction. Take it out."
        )


def _limits(
    element: Element,
    name: str,
    kind: str,
    stops: dict[str, tuple[float, float] | None] | None,
) -> dict[str, float]:
    """Where the stops of a joint begin, and how stiff they are."""
    limit = element.one("limit")
    if limit is None:
        raise InputError(
            f'line {element.line}: joint "{name}" needs a <limit lower="..." upper="..."/>; a '
            "revolute joint without limits is of type continuous."
        )
    if stops is None:
        return {}
    stop, argument = stops[kind], "hinge_stop" if kind == "revolute" else "slide_stop"
    if stop is None:
        raise InputError(
            f'line {limit.line}: joint "{name}" has limits, and the file does not say how stiff '
            f"its stops are. Give {argument}=(stiffness, damping), or ignore_limits=True."
        )
    lower, upper = limit.number("lower", 0.0), limit.number("upper", 0.0)
    if not lower < upper:
        raise InputError(
            f'line {limit.line}: the limits of joint "{name}" are {lower:g} to {upper:g}; the '
            "lower one must be less than the upper."
        )
    return {
        "lower": lower,
        "upper": upper,
        "stop_stiffness": stop[0],
        "stop_damping": stop[1],
    }
