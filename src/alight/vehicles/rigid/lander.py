"""``RigidLander``: mass, inertia, hull and contact points of a lander that does not bend."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypedDict, Unpack

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices
from alight.core.checks import Array, checked_number, checked_vector
from alight.core.errors import InputError, unknown_name
from alight.core.types import mat33, scalar, vec3
from alight.shapes import Mesh
from alight.shapes.mass import principal_rotation
from alight.vehicles import checks
from alight.vehicles.rigid import hull_meshes
from alight.vehicles.rigid import inertia as uniform
from alight.vehicles.rigid.contact_points import spread
from alight.vehicles.rigid.data import RigidBody, contact_kernel


class Options(TypedDict, total=False):
    """What every maker of a uniform solid takes besides its size; see ``RigidLander.box``."""

    name: str
    points: int | npt.ArrayLike | None
    extra: npt.ArrayLike | None
    center_of_mass: npt.ArrayLike | None
    inertia: npt.ArrayLike | None


@dataclass(frozen=True, eq=False)
class RigidLander:
    """A lander that does not bend. All lengths are from its centre of mass, in body axes B.

    The ground is touched by contact points. A point may have a radius: it then stands for a ball
    about it, which touches where the ground is nearer to the point than the radius. A sphere is
    its centre with its radius, an exact sphere; everything else has points of radius 0.

    The constructor takes what is given as it stands; ``box``, ``cube``, ``cylinder``, ``prism``,
    ``sphere``, ``point`` and ``from_mesh`` fill it for uniform solids and shift it to the centre of
    mass.
    """

    name: str
    mass: float
    """[kg]"""
    inertia: Array
    """(3, 3) about the centre of mass [kg m^2]; three moments about the body axes will do."""
    points: Array
    """(n, 3) contact points [m]."""
    hull: Mesh
    """Closed surface [m]. Extra points such as spikes may lie outside it."""
    radii: Array = field(default_factory=lambda: np.zeros(1))
    """(n,) radius of each contact point [m]; one for all will do."""
    center_of_mass: Array = field(default_factory=lambda: np.zeros(3))
    """(3,) where the centre of mass lies in the axes the shape was given in [m]: for reference."""

    def __post_init__(self) -> None:
        who = str(self.name)
        points = checks.points(f"contact points of {who}", self.points)
        self.hull.health.require(f"the hull of {who}")
        values = {
            "mass": checked_number(f"the mass of {who} [kg]", self.mass),
            "inertia": checks.inertia_tensor(self.inertia, who),
            "points": points,
            "radii": _radii(self.radii, len(points), who),
            "center_of_mass": checked_vector(f"centre of mass of {who} [m]", self.center_of_mass),
        }
        for key, value in values.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, key, value)

    # -- what follows from the figures ---------------------------------------------------------

    @property
    def n_points(self) -> int:
        """Number of contact points."""
        return len(self.points)

    @cached_property
    def bounding_radius(self) -> float:
        """Radius of the sphere about the centre of mass that holds hull and points [m]."""
        reach = np.linalg.norm(self.points, axis=1) + self.radii
        # Of a sphere the hull is an inscribed mesh, which its one point already holds.
        return max(float(reach.max()), self.hull.bounding_radius)

    @cached_property
    def has_points_beyond(self) -> bool:
        """Whether contact points lie outside the hull, as spikes and feet do."""
        middle = self.hull.vertices.mean(axis=0)
        return not self.hull.contains(middle + (1.0 - 1e-6) * (self.points - middle)).all()

    @cached_property
    def inverse_inertia(self) -> Array:
        """(3, 3) inverse of the inertia [1/(kg m^2)], exactly symmetric."""
        inverse = np.linalg.inv(self.inertia)
        return _frozen(0.5 * (inverse + inverse.T))

    @cached_property
    def principal(self) -> tuple[Array, Array]:
        """Principal moments, ascending (3,) [kg m^2], and their axes, the rows of a rotation."""
        axes = principal_rotation(self.inertia)
        return _frozen(np.einsum("ai,ij,aj->a", axes, self.inertia, axes)), _frozen(axes)

    def kernel_data(self, device: devices.Device) -> Any:
        """The ``RigidBody`` struct for kernels, its arrays on ``device``."""
        body = RigidBody()
        body.mass = self.mass
        body.inertia = mat33(*self.inertia.ravel())
        body.inverse_inertia = mat33(*self.inverse_inertia.ravel())
        body.bounding_radius = self.bounding_radius
        body.points = wp.array(self.points, dtype=vec3, device=device.name)
        body.radii = wp.array(self.radii, dtype=scalar, device=device.name)
        return body

    def inverse_mass(
        self, levers: npt.ArrayLike, device: str = "auto", threads: int | None = None
    ) -> Array:
        """(..., 3, 3) m* [1/kg]: velocity that a unit impulse causes at levers (..., 3) [m]."""
        return self._contact(levers, (0.0, 0.0, 1.0), device, threads)[0]

    def effective_mass(
        self,
        levers: npt.ArrayLike,
        normals: npt.ArrayLike,
        device: str = "auto",
        threads: int | None = None,
    ) -> Array:
        """(...) mass [kg] met by a frictionless hit at levers (..., 3) [m] along ``normals``."""
        return self._contact(levers, normals, device, threads)[1]

    def _contact(
        self, levers: npt.ArrayLike, normals: npt.ArrayLike, device: str, threads: int | None
    ) -> tuple[Array, Array]:
        lever, normal = np.broadcast_arrays(_rows("levers", levers), _rows("normals", normals))
        length = np.linalg.norm(normal, axis=-1, keepdims=True)
        if not (length > 0.0).all():
            raise InputError("normals must have a direction; one of them is zero.")
        flat = [np.ascontiguousarray(a.reshape(-1, 3)) for a in (lever, normal / length)]
        target = devices.resolve(device)
        inputs = [wp.array(a, dtype=vec3, device=target.name) for a in flat]
        count = len(flat[0])
        inverse = wp.empty(count, dtype=mat33, device=target.name)
        mass = wp.empty(count, dtype=scalar, device=target.name)
        if count:
            arguments = [self.kernel_data(target), *inputs]
            kernel = contact_kernel()
            devices.launch(kernel, count, arguments, target, threads, outputs=[inverse, mass])
        shape = lever.shape[:-1]
        return inverse.numpy().reshape(*shape, 3, 3), mass.numpy().reshape(shape)

    def __str__(self) -> str:
        size = " x ".join(f"{x:.4g}" for x in self.hull.extent)
        moments = ", ".join(f"{m:.4g}" for m in self.principal[0])
        return (
            f"{self.name}: {self.mass:.5g} kg, {size} m, principal moments {moments} kg m^2, "
            f"{self.n_points} contact point{'s' if self.n_points > 1 else ''}"
        )

    # -- uniform solids ------------------------------------------------------------------------

    @classmethod
    def box(cls, size: npt.ArrayLike, mass: float, **options: Unpack[Options]) -> RigidLander:
        """A uniform box of sides ``size`` along x, y, z [m] and ``mass`` [kg]; 8 corners touch.

        Every maker of a uniform solid takes these options:

        Args:
            size: Sides [m].
            mass: Mass [kg].
            **options: ``name``: what to call it. ``points``: how many contact points to spread
                over the hull, or their (n, 3) places [m]; its corners if not given. ``extra``:
                (k, 3) further points [m], such as spikes, feet or antenna tips.
                ``center_of_mass``: its place [m], if not the middle. ``inertia``: about the
                centre of mass [kg m^2], if not that of a uniform solid. Places are in the axes
                and from the origin of the shape, which for all but ``from_mesh`` is its middle.

        A centre of mass off the middle, without an ``inertia``, is taken as mass moved about
        inside: the second moments about the middle stay those of the uniform solid (as with a
        density that grows evenly along the offset), so the moments about the centre of mass are
        smaller by m d^2 across the offset d.
        """
        sides = hull_meshes.side_lengths(size)
        mass = checked_number("the mass of a lander [kg]", mass)
        return _made(cls, "box", hull_meshes.box(sides), mass, uniform.box(sides, mass), options)

    @classmethod
    def cube(cls, side: float, mass: float, **options: Unpack[Options]) -> RigidLander:
        """A uniform cube of ``side`` [m] and ``mass`` [kg]; options as for ``box``."""
        checked_number("the side of a cube [m]", side)
        options.setdefault("name", "cube")
        return cls.box((side, side, side), mass, **options)

    @classmethod
    def cylinder(
        cls,
        diameter: float,
        height: float,
        mass: float,
        sides: int = 16,
        **options: Unpack[Options],
    ) -> RigidLander:
        """A uniform round cylinder along z whose hull is a prism of ``sides``.

        The inertia is that of the round cylinder of ``diameter`` [m]; the 2 ``sides`` corners of
        the hull, on that cylinder, touch. Options as for ``box``.
        """
        hull = hull_meshes.prism(sides, diameter, height)
        mass = checked_number("the mass of a lander [kg]", mass)
        inertia = uniform.cylinder(diameter, height, mass)
        return _made(cls, "cylinder", hull, mass, inertia, options)

    @classmethod
    def prism(
        cls, sides: int, diameter: float, height: float, mass: float, **options: Unpack[Options]
    ) -> RigidLander:
        """A uniform regular prism along z; ``diameter`` across its corners [m].

        The inertia is that of the prism; a corner points along x. Options as for ``box``.
        """
        hull = hull_meshes.prism(sides, diameter, height)
        mass = checked_number("the mass of a lander [kg]", mass)
        inertia = uniform.prism(sides, diameter, height, mass)
        return _made(cls, "prism", hull, mass, inertia, options)

    @classmethod
    def sphere(cls, diameter: float, mass: float, **options: Unpack[Options]) -> RigidLander:
        """A uniform ball of ``diameter`` [m] that touches as an exact sphere.

        Its one contact point is its middle, with the radius of the ball. With ``points=32`` it
        touches at 32 points of its surface instead, like any other hull. Options as for ``box``.
        """
        hull = hull_meshes.sphere(diameter)
        mass = checked_number("the mass of a lander [kg]", mass)
        solid = uniform.sphere(diameter, mass)
        if options.get("points") is not None:
            return _made(cls, "sphere", hull, mass, solid, options)
        options["points"] = [[0.0, 0.0, 0.0]]
        return _made(cls, "sphere", hull, mass, solid, options, radius=0.5 * diameter)

    @classmethod
    def point(cls, mass: float, diameter: float = 0.1, **options: Unpack[Options]) -> RigidLander:
        """A point-like object of ``mass`` [kg]: it touches with its centre of mass alone.

        It is drawn, and turns in flight, as a uniform ball of ``diameter`` [m]. Options as for
        ``box``, of which ``name`` and ``inertia`` make sense.
        """
        for option in ("points", "extra", "center_of_mass"):
            if options.get(option) is not None:
                raise InputError(f"a point has no {option}; it touches with its centre of mass.")
        hull = hull_meshes.sphere(diameter)
        mass = checked_number("the mass of a lander [kg]", mass)
        options["points"] = [[0.0, 0.0, 0.0]]
        return _made(cls, "point", hull, mass, uniform.sphere(diameter, mass), options)

    @classmethod
    def from_mesh(
        cls,
        mesh: Mesh,
        mass: float | None = None,
        density: float | None = None,
        **options: Unpack[Options],
    ) -> RigidLander:
        """Any closed ``mesh`` as a hull, with a ``mass`` [kg] or a ``density`` [kg/m^3].

        Without an ``inertia`` it is a uniform solid; it touches at 32 points unless ``points``
        says otherwise. Options as for ``box``.
        """
        mesh.health.require("the hull")
        if (mass is None) == (density is None):
            raise InputError("a lander from a mesh needs its mass [kg] or its density [kg/m^3].")
        if density is not None:
            mass = checked_number("the density of a lander [kg/m^3]", density) * mesh.volume
        mass = checked_number("the mass of a lander [kg]", mass or 0.0)
        solid = mesh.inertia(mass / mesh.volume)
        middle = mesh.center_of_mass
        options.setdefault("points", 32)
        return _made(cls, "mesh", mesh, mass, solid, options, middle=middle)


def _made(
    cls: type[RigidLander],
    kind: str,
    hull: Mesh,
    mass: float,
    solid: Array,
    options: Options,
    *,
    middle: npt.ArrayLike = (0.0, 0.0, 0.0),
    radius: float = 0.0,
) -> RigidLander:
    """A lander from its hull and the inertia ``solid`` of a uniform solid about its ``middle``."""
    for option in options:
        if option not in Options.__annotations__:
            raise unknown_name(f"option of a {kind}", option, Options.__annotations__)
    name = options.get("name", kind)
    center, given = np.asarray(middle, dtype=np.float64), options.get("center_of_mass")
    com = center if given is None else checked_vector("center_of_mass [m]", given)
    inertia = options.get("inertia")
    if inertia is None:
        inertia = _shifted(solid, mass, com - center, name)
    points = _touching(hull, options.get("points"))
    radii, extra = np.full(len(points), radius), options.get("extra")
    if extra is not None:
        further = checks.points("extra points", extra)
        points = np.concatenate([points, further])
        radii = np.concatenate([radii, np.zeros(len(further))])
    return cls(name, mass, np.asarray(inertia), points - com, hull.translated(-com), radii, com)


def _touching(hull: Mesh, points: int | npt.ArrayLike | None) -> Array:
    """Contact points [m]: the hull's corners, as many as asked for, or those given."""
    if points is None:
        return np.array(hull.vertices)
    if isinstance(points, int | float | np.number):
        return spread(hull, points)  # type: ignore[arg-type]  # refuses what is not whole
    return checks.points("contact points", points)


def _shifted(solid: Array, mass: float, offset: Array, name: str) -> Array:
    """Inertia about a centre of mass that is ``offset`` [m] from the middle of a solid."""
    tensor = solid - uniform.parallel_axis(mass, offset)
    # Integrals of x x^T over the mass: what is left of them must be those of some body.
    second = 0.5 * np.trace(tensor) * np.eye(3) - tensor
    if np.linalg.eigvalsh(second)[0] < -checks.ROUNDING * np.trace(solid):
        raise InputError(
            f"the centre of mass of {name} is {np.linalg.norm(offset):.4g} m from the middle of "
            "its uniform hull; so far off the inertia cannot be guessed. Give inertia= about the "
            "centre of mass [kg m^2]."
        )
    return tensor


def _radii(value: npt.ArrayLike, count: int, who: str) -> Array:
    """(count,) radii [m], none negative."""
    try:
        radii = np.array(np.broadcast_to(np.asarray(value, dtype=np.float64), (count,)))
    except (TypeError, ValueError):
        raise InputError(
            f"radii of the contact points of {who} must be one number or {count} numbers [m]."
        ) from None
    if not (np.isfinite(radii).all() and (radii >= 0.0).all()):
        raise InputError(
            f"radii of the contact points of {who} must be finite and not negative [m]."
        )
    return radii


def _rows(name: str, value: npt.ArrayLike) -> Array:
    array = np.asarray(value, dtype=np.float64)
    if array.shape[-1:] != (3,) or not np.isfinite(array).all():
        raise InputError(f"{name} must be finite numbers of shape (..., 3); got {array.shape}.")
    return array


def _frozen(array: Array) -> Array:
    array.flags.writeable = False
    return array
