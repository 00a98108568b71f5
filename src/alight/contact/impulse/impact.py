"""``impact``: what a collision at one point does to a rigid body, alone or for many at once."""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.contact.impulse import impact_phases
from alight.contact.impulse.impact_kernel import ImpactResult, impact_each
from alight.core import devices
from alight.core.checks import Array
from alight.core.errors import AlightError, InputError
from alight.core.types import mat33, real, scalar, vec3
from alight.vehicles.checks import ROUNDING


class ImpactKind(enum.IntFlag):
    """What a collision went through. Numbers are stored in files: they never change meaning."""

    SLID = impact_phases.SLID
    """The contact point slid at some time."""
    SWERVED = impact_phases.SWERVED
    """It did so along a curve."""
    HALTED = impact_phases.HALTED
    """Its slip came to a halt."""
    STUCK = impact_phases.STUCK
    """It stuck until the end."""
    RESUMED = impact_phases.RESUMED
    """It slid again after the halt (in the plane: slip reversal)."""
    JAMMED = impact_phases.JAMMED
    """While it slid, the normal impulse pressed it further in."""
    RECOMPRESSED = impact_phases.RECOMPRESSED
    """Jamming stopped the restitution: there was a second compression."""


@dataclass(frozen=True)
class Impact:
    """Collisions, in contact axes (the third along the outward normal): arrays of the batch."""

    impulse: Array
    """On the body, (..., 3) [N s]."""
    velocity: Array
    """Of the contact point afterwards, (..., 3) [m/s]."""
    work_normal: Array
    """Work of the normal force, (...) [J]: never positive."""
    work_friction: Array
    """Work of friction, (...) [J]: never positive."""
    compression_impulse: Array
    """Normal impulse of compression, (...) [N s]; the rest was restitution."""
    kind: npt.NDArray[np.int32]
    """Bits of ``ImpactKind``, (...); 0 where the point did not approach."""

    @property
    def work(self) -> Array:
        """Change of the kinetic energy, (...) [J]."""
        return self.work_normal + self.work_friction

    def has(self, kind: ImpactKind) -> npt.NDArray[np.bool_]:
        """Where a collision went through all of ``kind``, such as ``ImpactKind.STUCK``."""
        return (self.kind & int(kind)) == int(kind)


def impact(
    mass: npt.ArrayLike,
    inertia: npt.ArrayLike,
    lever: npt.ArrayLike,
    velocity: npt.ArrayLike,
    *,
    restitution: npt.ArrayLike,
    friction: npt.ArrayLike,
    device: str = "auto",
) -> Impact:
    """Collide rigid bodies with the ground at one point each (paper 000, section 5).

    Everything is in contact axes, the third along the outward normal. Arguments are broadcast
    against each other over their leading axes. A point that does not approach the ground (third
    component of its velocity at least 0) is left as it is.

    Parameters
    ----------
    mass:
        [kg].
    inertia:
        About the centre of mass, (..., 3, 3), or three moments (3,) [kg m^2].
    lever:
        From the centre of mass to the contact point, (..., 3) [m].
    velocity:
        Of the contact point relative to the ground, (..., 3) [m/s].
    restitution:
        Energetic coefficient, 0 to 1: e^2 is what restitution returns of the work of compression.
    friction:
        Coefficient of Coulomb friction, at least 0.
    device:
        ``"auto"``, ``"cpu"``, ``"cuda:0"``, ...
    """
    M = _numbers("mass [kg]", mass)
    c = _vectors("lever [m]", lever)
    v = _vectors("velocity [m/s]", velocity)
    e = _numbers("restitution", restitution)
    mu = _numbers("friction", friction)
    _require("mass [kg]", M, M > 0.0, "positive")
    _require("restitution", e, (e >= 0.0) & (e <= 1.0), "from 0 to 1: the energy given back over "
             "that taken is its square")  # fmt: skip
    _require("friction", mu, mu >= 0.0, "0 or more")
    tensors = _tensors(inertia)
    shapes = [M.shape, tensors.shape[:-2], c.shape[:-1], v.shape[:-1], e.shape, mu.shape]
    batch = _batch(shapes)
    return _launched(batch, inverse_mass(M, tensors, c), v, e, mu, device)


def inverse_mass(mass: Array, inertia: Array, lever: Array) -> Array:
    """m* = 1/M - [c] I^-1 [c] (..., 3, 3) [1/kg], exactly symmetric (paper 000, equation 20)."""
    c = np.zeros((*lever.shape, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        c[..., j, k], c[..., k, j] = -lever[..., i], lever[..., i]
    m = np.eye(3) / mass[..., None, None] - c @ np.linalg.inv(inertia) @ c
    return 0.5 * (m + np.swapaxes(m, -1, -2))


def _launched(
    batch: tuple[int, ...], m: Array, v: Array, e: Array, mu: Array, device: str
) -> Impact:
    """Run the law on ``batch`` collisions."""
    target = devices.resolve(device)
    count = int(np.prod(batch))

    def given(values: Array, inner: tuple[int, ...], kind: type) -> wp.array:
        flat = np.broadcast_to(values, batch + inner).reshape((count, *inner))
        return devices.array(flat, kind, target)

    inputs = [given(m, (3, 3), mat33), given(v, (3,), vec3), given(e, (), scalar)]
    inputs.append(given(mu, (), scalar))
    (found,) = devices.computed(impact_each, count, inputs, [ImpactResult], target, block=128)
    lost = np.flatnonzero(found["flags"] & int(impact_phases.UNRESOLVED))
    if len(lost):
        raise AlightError(
            f"{len(lost)} of {count} collisions could not be followed to their end (first: number "
            f"{lost[0]}). This is a defect of Alight: please report mass, inertia, lever, "
            "velocity, restitution and friction of that collision."
        )
    return Impact(
        found["impulse"].reshape((*batch, 3)),
        found["velocity"].reshape((*batch, 3)),
        found["work_normal"].reshape(batch),
        found["work_friction"].reshape(batch),
        found["compression"].reshape(batch),
        found["flags"].reshape(batch),
    )


# -- checks --------------------------------------------------------------------------------------


def _numbers(name: str, value: npt.ArrayLike) -> Array:
    """``value`` as finite numbers."""
    try:
        array = np.asarray(value, dtype=real)
    except (TypeError, ValueError):
        raise InputError(f"{name} is {value!r}; it must be a number or an array of them") from None
    _require(name, array, np.isfinite(array), "finite")
    return array


def _vectors(name: str, value: npt.ArrayLike) -> Array:
    """``value`` as finite vectors (..., 3)."""
    array = _numbers(name, value)
    if array.ndim == 0 or array.shape[-1] != 3:
        raise InputError(
            f"{name} has the shape {array.shape}; it must be three components in contact axes, "
            "shape (3,) or (..., 3)"
        )
    return array


def _tensors(value: npt.ArrayLike) -> Array:
    """``value`` as inertias (..., 3, 3) that rigid bodies have."""
    name = "inertia [kg m^2]"
    tensors = _numbers(name, value)
    if tensors.shape == (3,):
        tensors = np.diag(tensors)
    if tensors.ndim < 2 or tensors.shape[-2:] != (3, 3):
        raise InputError(
            f"{name} has the shape {tensors.shape}; it must be a tensor (..., 3, 3), or three "
            "moments (3,) for all. Moments of many bodies: give moments[:, :, None] * numpy.eye(3)"
        )
    size = np.abs(tensors).max(axis=(-2, -1))
    skew = np.abs(tensors - np.swapaxes(tensors, -1, -2)).max(axis=(-2, -1))
    _require(name, tensors, skew <= ROUNDING * size, "symmetric. Check the products of inertia")
    moments = np.linalg.eigvalsh(tensors)
    _require(
        name,
        tensors,
        (moments[..., 0] > 0.0) & (moments[..., 0] > ROUNDING * moments[..., 2]),
        "positive definite, for otherwise a torque would turn the body infinitely fast. A slender "
        "rod needs a small moment about its axis; which one hardly matters",
    )
    _require(
        name,
        tensors,
        moments[..., 2] <= (moments[..., 0] + moments[..., 1]) * (1.0 + ROUNDING),
        "a tensor of which no principal moment exceeds the sum of the other two, as for any mass "
        "distribution. Check its units, its signs, and that it is about the centre of mass",
    )
    return tensors


def _require(name: str, values: Array, good: npt.NDArray[np.bool_], kind: str) -> None:
    """Raise unless all are ``good``: says how many are not, and shows the first."""
    good = np.asarray(good)
    if good.all():
        return
    first = tuple(int(i) for i in np.argwhere(~good)[0]) if good.ndim else ()
    shown = np.array2string(values[first], precision=6).replace("\n", "")
    where = f" at index {first if len(first) > 1 else first[0]}" if first else ""
    count = f" ({int((~good).sum())} of {good.size} are at fault)" if good.size > 1 else ""
    raise InputError(f"{name} is {shown}{where}{count}; it must be {kind}")


def _batch(shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape that leading axes broadcast to."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        names = ("mass", "inertia", "lever", "velocity", "restitution", "friction")
        told = ", ".join(f"{n} {s}" for n, s in zip(names, shapes, strict=True) if s)
        raise InputError(
            f"leading axes do not fit each other: {told}. Each must be as many as the others, 1, "
            "or left out"
        ) from None
