"""What can be composed: the members of each axis of the matrix, in Python and in scenario files.

Everything is as small as it can be: a ball of 50 m cut into 80 facets, landers of 10 kg let go some
centimetres above its north pole (or above a plane through it), and pulled down by 1 cm/s^2.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from alight import contact, flight, gravity, surfaces
from alight.actuators import Arm, Brake, Motor, Spring, Thruster, Wheel
from alight.contact.hertz import Hertz
from alight.shapes import Mesh
from alight.shapes.icosphere import icosphere
from alight.vehicles import Belly, Joint, Pad, RigidLander, Tree, TreeBody, dcap_lander

RADIUS, GM, PULL, HEIGHT = 50.0, 25.0, 0.01, 0.02


@dataclass(frozen=True, eq=False)
class Member:
    """One member of an axis."""

    name: str
    make: Callable[..., Any] = lambda: None
    """What Python gives a model."""
    file: dict[str, Any] = field(default_factory=dict)
    """The sections of a scenario file that say the same."""
    kinds: tuple[type, ...] = ()
    """The laws that it stands for."""


@functools.cache
def mesh() -> Mesh:
    """The body; two of its vertices are its poles, near enough."""
    return icosphere(1, RADIUS)


@functools.cache
def _field() -> Any:
    return surfaces.DistanceField.from_mesh(mesh(), 4.0, device="cpu")


def _hills() -> surfaces.FractalNoise:
    return surfaces.FractalNoise(amplitude=0.05, wavelength=5.0, octaves=1)


def _rocks() -> surfaces.Rocks:
    return surfaces.Rocks(slope=2.65, density=1e-3, reference=1.0, smallest=0.5, largest=2.0)


#: The same in a file.
HILLS = {"amplitude": "5 cm", "wavelength": "5 m", "octaves": 1}
ROCKS = {
    **{"slope": 2.65, "density": "1e-3 1/m^2", "reference": "1 m"},
    **{"smallest": "50 cm", "largest": "2 m"},
}


def _on(kind: str, **keys: Any) -> dict[str, Any]:
    return {"ground": {"kind": kind, **keys}}


GROUNDS = (
    Member(
        "plane",
        lambda: surfaces.Plane((0, 0, RADIUS)),
        _on("plane", point=["0 m", "0 m", "50 m"]),
        (surfaces.Plane,),
    ),
    Member(
        "patch",
        lambda: surfaces.Patch((0, 0, RADIUS), length=9.0, width=9.0),
        _on("patch", point=["0 m", "0 m", "50 m"], length="9 m", width="9 m"),
        (surfaces.Patch,),
    ),
    Member(
        "sphere",
        lambda: surfaces.Sphere(radius=RADIUS),
        _on("sphere", radius="50 m"),
        (surfaces.Sphere,),
    ),
    Member(
        "parametric",
        lambda: surfaces.Parametric.from_mesh(mesh(), 4),
        _on("parametric", degree=4),
        (surfaces.Parametric,),
    ),
    Member(
        "distance field", _field, _on("distance-field", spacing="4 m"), (surfaces.DistanceField,)
    ),
    Member("facets", lambda: surfaces.Facets(mesh()), _on("facets"), (surfaces.Facets,)),
    Member(
        "hills on a plane",
        lambda: surfaces.Rough(surfaces.Plane((0, 0, RADIUS)), _hills()),
        _on("plane", point=["0 m", "0 m", "50 m"], noise=HILLS),
        (surfaces.Rough,),
    ),
    Member(
        "hills on a distance field",
        lambda: surfaces.Rough(_field(), _hills()),
        _on("distance-field", spacing="4 m", noise=HILLS),
    ),
    Member(
        "hills on facets",
        lambda: surfaces.Rough(surfaces.Facets(mesh()), _hills()),
        _on("facets", noise=HILLS),
    ),
    Member(
        "rocks on facets",
        lambda: surfaces.Rocky(surfaces.Facets(mesh()), mesh(), _rocks()),
        _on("facets", rocks=ROCKS),
        (surfaces.Rocky,),
    ),
    Member(
        "rocks on a distance field",
        lambda: surfaces.Rocky(_field(), mesh(), _rocks()),
        _on("distance-field", spacing="4 m", rocks=ROCKS),
    ),
)


def _pond(**numbers: float) -> contact.Regions:
    return contact.Regions([contact.Region("pond", contact.Ball((0, 0, RADIUS), 9.0), **numbers)])


def _pond_file(**numbers: float) -> dict[str, Any]:
    shape = {"name": "pond", "center": ["0 m", "0 m", "50 m"], "radius": "9 m"}
    return {"ground": {"region": [{**shape, **numbers}]}}


#: How the ground varies: its own axis, given to the contact law.
VARIED = (
    Member("the same everywhere"),
    Member(
        "regions of friction",
        lambda: _pond(friction=0.3),
        _pond_file(friction=0.3),
        (contact.Regions,),
    ),
    Member("regions of restitution", lambda: _pond(restitution=0.3), _pond_file(restitution=0.3)),
    Member(
        "map of friction",
        lambda: contact.GroundMap({"friction": [[1.0, 1.0], [0.5, 0.8], [1.0, 1.0]]}),
        {"ground": {"map": "ground.csv"}},
        (contact.GroundMap,),
    ),
)

#: The map in a file of its own.
MAP_FILE = "latitude_deg,longitude_deg,friction\n" + "".join(
    f"{lat},{lon},{0.5 if lat else 1}\n" for lat in (-60, 0, 60) for lon in (0, 180)
)

GRAVITIES = (
    Member(
        "uniform",
        lambda: gravity.Uniform((0, 0, -PULL)),
        {"gravity": {"law": "uniform", "acceleration": ["0 m/s^2", "0 m/s^2", "-0.01 m/s^2"]}},
        (gravity.Uniform,),
    ),
    Member(
        "point mass",
        lambda: gravity.PointMass(GM),
        {"gravity": {"law": "point-mass"}},
        (gravity.PointMass,),
    ),
    Member(
        "polyhedron",
        lambda: gravity.Polyhedron(mesh(), gm=GM),
        {"gravity": {"law": "polyhedron"}},
        (gravity.Polyhedron,),
    ),
    Member(
        "reduced",
        lambda: gravity.Reduced(mesh(), gm=GM, vertices=12),
        {"gravity": {"law": "reduced", "vertices": 12}},
        (gravity.Reduced,),
    ),
    Member(
        "cached",
        lambda: gravity.CachedField(
            gravity.Polyhedron(mesh(), gm=GM), tolerance=1e-2, device="cpu"
        ),
        {"gravity": {"law": "cached", "tolerance": 1e-2}},
        (gravity.CachedField,),
    ),
    Member(
        "smooth",
        lambda: gravity.SmoothField(gravity.Polyhedron(mesh(), gm=GM), spacing=10.0, device="cpu"),
        {"gravity": {"law": "smooth", "spacing": "10 m"}},
        (gravity.SmoothField,),
    ),
    Member(
        "linearised",
        lambda: gravity.Linearised(gravity.Polyhedron(mesh(), gm=GM), 1.0),
        {"gravity": {"law": "polyhedron", "linearise": "1 m"}},
        (gravity.Linearised,),
    ),
    Member(
        "multipole",
        lambda: gravity.Multipole.from_mesh(mesh(), gm=GM, degree=2),
        {"gravity": {"law": "multipole"}},
        (gravity.Multipole,),
    ),
)


def _turning(**keys: Any) -> dict[str, Any]:
    return {"body": {"rotation": keys}}


ROTATIONS = (
    Member("none", lambda: flight.UniformRotation(0.0), _turning(kind="none")),
    Member(
        "even",
        lambda: flight.UniformRotation(1e-4),
        _turning(kind="uniform", rate="1e-4 rad/s"),
        (flight.UniformRotation,),
    ),
    Member(
        "tumbling",
        lambda: flight.Tumbling((1, 2, 3), (1e-5, 2e-5, 1e-4)),
        _turning(
            kind="tumbling", inertia=[1, 2, 3], rate=["1e-5 rad/s", "2e-5 rad/s", "1e-4 rad/s"]
        ),
        (flight.Tumbling,),
    ),
)


def _sun() -> flight.Fixed:
    return flight.Fixed((1.5e11, 0.0, 0.0))


_SUN = {"direction": [1, 0, 0], "distance": "1 AU"}
_PUSH = {"name": "push", "kind": "steady", "acceleration": ["0 m/s^2", "0 m/s^2", "1e-4 m/s^2"]}
EXTERNALS = (
    Member("none", lambda: ()),
    Member(
        "tide of the Sun",
        lambda: (flight.SunTide(_sun()),),
        {"environment": {"sun": _SUN}},
        (flight.SunTide,),
    ),
    Member(
        "pressure of light",
        lambda: (flight.SolarPressure(0.02, _sun()),),
        {
            "environment": {
                "sun": {**_SUN, "tide": False, "pressure": True, "area_over_mass": "0.02 m^2/kg"}
            }
        },
        (flight.SolarPressure,),
    ),
    Member(
        "companion",
        lambda: (flight.Companion(1.0, flight.Fixed((1e4, 0.0, 0.0))),),
        {"environment": {"companion": {"kind": "orbit", "gm": "1 m^3/s^2", "distance": "10 km"}}},
        (flight.Companion,),
    ),
    Member(
        "steady push",
        lambda: (flight.SteadyPush((0, 0, 1e-4)),),
        {"environment": {"push": [_PUSH]}},
        (flight.SteadyPush,),
    ),
    Member(
        "timed push",
        lambda: (flight.Timed(flight.SteadyPush((0, 0, 1e-4)), 0.1, 0.2),),
        {"environment": {"push": [{**_PUSH, "kind": "timed", "start": "0.1 s", "end": "0.2 s"}]}},
        (flight.Timed,),
    ),
)


def _law(kind: Any, *numbers: float, **options: Any) -> Callable[..., Any]:
    """A contact law, once it is given how the ground varies."""
    return lambda ground=None: kind(*numbers, **options, ground=ground)


CONTACTS = (
    Member(
        "clipped springs",
        _law(contact.Compliant, 0.5, touch="points"),
        {"contact": {"restitution": 0.5, "touch": "points"}},
        (contact.Compliant,),
    ),
    Member(
        "springs on the hull",
        _law(contact.Compliant, 0.5, touch="hull"),
        {"contact": {"restitution": 0.5, "touch": "hull"}},
    ),
    Member(
        "smooth springs",
        _law(contact.Compliant, 0.5, scheme="smooth"),
        {"contact": {"restitution": 0.5, "scheme": "smooth"}},
    ),
    Member(
        "rigid hits",
        _law(contact.Impulse, 0.5, 0.6),
        {"contact": {"law": "impulse", "restitution": 0.5}},
        (contact.Impulse,),
    ),
    Member(
        "sliding point",
        _law(contact.Sliding, 0.5, 0.6),
        {"contact": {"law": "sliding", "restitution": 0.5}},
        (contact.Sliding,),
    ),
    Member(
        "springs of Hertz",
        _law(Hertz, 1e5, 100.0, 0.6),
        {"contact": {"law": "hertz", "stiffness": "1e5 N/m^1.5", "damping": "100 N*s/m"}},
        (Hertz,),
    ),
)

BUS = Tree(
    "walker",
    [TreeBody("bus", 9.0, (1, 1, 1)), TreeBody("wheel", 1.0, (0.01, 0.01, 0.02))],
    [Joint("bus", "free"), Joint("wheel", "revolute", "bus", axis=(0, 0, 1))],
)
FEET = [(0.2, 0.0, -0.1), (-0.1, 0.2, -0.1), (-0.1, -0.2, -0.1)]
_BODIES: dict[str, Any] = {
    "shape": "tree",
    "body": [
        {"name": "bus", "mass": "9 kg", "inertia": ["1 kg*m^2"] * 3},
        {"name": "wheel", "mass": "1 kg", "inertia": ["0.01 kg*m^2", "0.01 kg*m^2", "0.02 kg*m^2"]},
    ],
    "joint": [
        {"body": "bus", "kind": "free"},
        {"body": "wheel", "kind": "revolute", "parent": "bus", "axis": [0, 0, 1]},
    ],
}


def _metres(place: tuple[float, ...]) -> list[str]:
    return [f"{x} m" for x in place]


_PADS = [{"body": "bus", "name": f"pad-{i}", "place": _metres(p)} for i, p in enumerate(FEET)]

#: What moves. Trees are their devices.
VEHICLES = (
    Member(
        "rigid box",
        lambda: RigidLander.cube(0.2, 10.0),
        {"lander": {"shape": "cube", "side": "20 cm", "mass": "10 kg"}},
        (RigidLander,),
    ),
    Member(
        "rigid ball",
        lambda: RigidLander.sphere(0.2, 10.0),
        {"lander": {"shape": "sphere", "diameter": "20 cm", "mass": "10 kg"}},
    ),
    Member(
        "point", lambda: RigidLander.point(10.0), {"lander": {"shape": "point", "mass": "10 kg"}}
    ),
    Member(
        "tree on pads",
        lambda: (BUS, [Pad("bus", p, name=f"pad-{i}") for i, p in enumerate(FEET)]),
        {"lander": {**_BODIES, "pad": _PADS}},
        (Tree, Pad),
    ),
    Member(
        "tree on its belly",
        lambda: (BUS, [Belly("bus", FEET)]),
        {"lander": {**_BODIES, "belly": [{"body": "bus", "points": [_metres(p) for p in FEET]}]}},
        (Belly,),
    ),
    Member("lander of paper 002", lambda: tuple(dcap_lander()), {"lander": {"name": "dcap"}}),
    Member("drop on a membrane"),
    Member("capture"),
)

ACTUATORS = (
    Member("none", lambda: []),
    Member(
        "thruster",
        lambda: [Thruster(1e-3, (0, 0, 1))],
        {"thruster": [{"name": "jet", "direction": [0, 0, 1], "force": "1e-3 N"}]},
        (Thruster,),
    ),
    Member(
        "thruster in a body",
        lambda: [Thruster(1e-3, (0, 0, 1), body="bus")],
        {
            "thruster": [
                {"body": "bus", "place": ["0 m"] * 3, "direction": [0, 0, 1], "force": "1e-3 N"}
            ]
        },
    ),
    Member(
        "motor in a joint",
        lambda: [Motor("wheel", 1e-4)],
        {"motor": [{"body": "wheel", "torque": "1e-4 N*m"}]},
        (Motor,),
    ),
    Member(
        "brake in a joint",
        lambda: [Brake("wheel", 1e-4)],
        {"brake": [{"body": "wheel", "torque": "1e-4 N*m"}]},
        (Brake,),
    ),
    Member(
        "wheel",
        lambda: [Wheel((0, 0, 1), 1e-4, torque=1e-5)],
        {
            "wheel": [
                {"name": "wheel", "axis": [0, 0, 1], "inertia": "1e-4 kg*m^2", "torque": "1e-5 N*m"}
            ]
        },
        (Wheel,),
    ),
    Member(
        "spring",
        lambda: [Spring(1e-3, (0, 0, 1))],
        {"spring": [{"name": "spring", "direction": [0, 0, 1], "energy": "1e-3 J"}]},
        (Spring,),
    ),
    Member(
        "swing arm",
        lambda: [Arm(0.1, (0, 0, 1), (0.02, 0, 0), 1.0, 1.0)],
        {
            "actuator": [
                {
                    "kind": "arm",
                    "mass": "0.1 kg",
                    "axis": [0, 0, 1],
                    "reach": ["2 cm", "0 m", "0 m"],
                    "rate": "1 rad/s",
                    "acceleration": "1 rad/s^2",
                }
            ]
        },
        (Arm,),
    ),
)
