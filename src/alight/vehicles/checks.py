"""What a lander may be made of: inertias and points, or an error that helps."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from alight.core.checks import Array
from alight.core.errors import InputError
from alight.core.types import real

#: Part of the largest moment by which rounding may break symmetry or the triangle inequality: a
#: tensor typed with ten digits passes, a slip does not.
ROUNDING = 1e-9
#: Smallest principal moment [kg m^2] whose inverse, and its squares, are still finite numbers.
LEAST_MOMENT = 1e-100


def points(name: str, value: npt.ArrayLike) -> Array:
    """``value`` as a fresh (n, 3) array of finite coordinates [m], n at least 1."""
    array = _numbers(value)
    if array is None or array.ndim != 2 or array.shape[1] != 3:
        shape = "" if array is None else f" of shape {array.shape}"
        raise InputError(f"{name}{shape} must be rows of x, y, z in metres, shape (n, 3).")
    if len(array) == 0:
        raise InputError(f"{name}: there are none. A lander touches the ground at one at least.")
    bad = ~np.isfinite(array).all(axis=1)
    if bad.any():
        first = int(np.argmax(bad))
        raise InputError(
            f"{name}: {int(bad.sum())} of {len(array)} are not finite (first: number {first}, "
            f"{array[first]})."
        )
    return array


def inertia_tensor(value: npt.ArrayLike, who: str) -> Array:
    """``value`` as a (3, 3) inertia [kg m^2] that some rigid body has; three moments will do.

    A solid's principal moments are sums of two of the three integrals of x^2, y^2, z^2 over its
    mass, so none exceeds the sum of the other two.
    """
    name = f"the inertia of {who} [kg m^2]"
    tensor = _numbers(value)
    if tensor is not None and tensor.shape == (3,):
        tensor = np.diag(tensor)
    if tensor is None or tensor.shape != (3, 3) or not np.isfinite(tensor).all():
        raise InputError(
            f"{name} is {value!r}; it must be a finite (3, 3) tensor, or three moments about the "
            "body axes."
        )
    size = float(np.abs(tensor).max())
    skew = float(np.abs(tensor - tensor.T).max())
    if skew > ROUNDING * size:
        raise InputError(
            f"{name} is not symmetric: entries across the diagonal differ by up to {skew:.4g}. "
            "Check the products of inertia."
        )
    tensor = 0.5 * (tensor + tensor.T)
    _require_solid(name, np.linalg.eigvalsh(tensor).astype(real))
    return tensor


def _require_solid(name: str, moments: Array) -> None:
    """Raise unless ascending principal ``moments`` are those of a body with extent."""
    told = ", ".join(f"{m:.6g}" for m in moments)
    if 0.0 < moments[2] < LEAST_MOMENT:
        raise InputError(
            f"{name} has principal moments {told}; they must be above {LEAST_MOMENT:g} kg m^2, for "
            "otherwise no rate could be computed. Check the units of mass and size."
        )
    if not moments[0] > ROUNDING * moments[2]:
        raise InputError(
            f"{name} has principal moments {told}; all three must be positive, for otherwise a "
            "torque would turn the body infinitely fast."
        )
    if moments[2] > (moments[0] + moments[1]) * (1.0 + ROUNDING):
        raise InputError(
            f"{name} has principal moments {told}: the largest exceeds the sum of the other two, "
            "which no distribution of mass allows. Check its units, its signs, and that it is "
            "about the centre of mass."
        )


def _numbers(value: npt.ArrayLike) -> Array | None:
    """A fresh float array, or None where ``value`` is not numbers."""
    try:
        return np.array(value, dtype=real, order="C")
    except (TypeError, ValueError):
        return None
