"""Distances between landers and facets, rocks too, from Python, for many poses at once."""

import functools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.contact.hull.contact_list import MOST, HullContact
from alight.contact.hull.proximity import Proximity
from alight.contact.hull.supported_surfaces import hull_functions
from alight.core import devices
from alight.core.checks import Array, checked_number, checked_points
from alight.core.errors import InputError
from alight.core.types import quat, scalar, vec3
from alight.core.warp_setup import HULL_OPTIONS
from alight.surfaces import Rocky, Surface
from alight.surfaces.rocks.nearby_cache import Shelves
from alight.vehicles.rigid.hull_data import HullData, hull_data


class Gap(NamedTuple):
    """What ``distance`` returns, in target axes."""

    distance: Array
    """(...) [m]; not above 0 where lander and ground overlap; the reach where nothing is near."""
    on_ground: Array
    """(..., 3) the point of the ground nearest to the lander [m]."""
    on_lander: Array
    """(..., 3) the point of the lander nearest to the ground [m]."""
    normal: Array
    """(..., 3) unit, from the ground to the lander; 0 where nothing is near."""
    facet: Any
    """(...) the facet of the mesh; -1 where nothing is near, -2 for a rock."""
    kind: Any
    """(...) a key of ``pairs.KINDS``."""


def distance(
    ground: Surface,
    hull: Any,
    positions: npt.ArrayLike,
    attitudes: npt.ArrayLike,
    *,
    reach: float = np.inf,
    device: str = "auto",
    threads: int | None = None,
) -> Gap:
    """How far a lander is from facets at each pose.

    Parameters
    ----------
    ground:
        Facets, or Facets with rocks on them (``Rocky``).
    hull:
        A ``RigidLander``, or a closed ``Mesh`` in body axes about the centre of mass [m].
    positions:
        (..., 3) of the centre of mass [m].
    attitudes:
        (..., 4) quaternions xyzw, body to target; made unit.
    reach:
        Nothing farther than this is looked for [m].
    """
    x, q = checked_poses(ground, positions, attitudes)
    target = devices.resolve(device)
    launch, out = prepared(ground, hull, x.reshape(-1, 3), q.reshape(-1, 4), target, reach, threads)
    launch()
    rows, shape = out.numpy(), x.shape[:-1]
    facet = _in_mesh(ground, rows["facet"])
    return Gap(
        distance=rows["distance"].reshape(shape),
        on_ground=rows["on_ground"].reshape(x.shape),
        on_lander=rows["on_lander"].reshape(x.shape),
        normal=rows["normal"].reshape(x.shape),
        facet=facet.reshape(shape),
        kind=rows["kind"].reshape(shape),
    )


def contacts(
    ground: Surface,
    hull: Any,
    positions: npt.ArrayLike,
    attitudes: npt.ArrayLike,
    margin: float,
    *,
    device: str = "auto",
    threads: int | None = None,
) -> list[Any]:
    """Every contact within ``margin`` [m] of each of (n, 3) positions and (n, 4) attitudes.

    A list of structured arrays with the fields of ``collected.Contact``, sorted by gap; ``facet``
    is that of the mesh, or below -1 the name of a rock. The margin should be small against lander
    and facets. More than ``collected.MOST`` contacts are thinned out: the lowest and those far from
    each other stay.
    """
    x, q = checked_poses(ground, positions, attitudes)
    x, q = x.reshape(-1, 3), q.reshape(-1, 4)
    target = devices.resolve(device)
    found = wp.zeros((MOST, len(x)), dtype=HullContact, device=target.name)
    count = wp.zeros(len(x), dtype=int, device=target.name)
    inputs = [
        ground.data(target),
        hull_data(hull, target),
        wp.array(np.ascontiguousarray(x), dtype=vec3, device=target.name),
        wp.array(np.ascontiguousarray(q), dtype=quat, device=target.name),
        scalar(checked_number("margin [m]", margin)),
    ]
    if len(x):
        kernel, outputs = _contacts_kernel(ground), [found, count]
        devices.launch(kernel, len(x), inputs, target, threads, outputs=outputs, min_items=16)
    rows = found.numpy()
    rows["facet"] = _in_mesh(ground, rows["facet"])
    numbers = count.numpy()
    columns = [rows[: numbers[i], i] for i in range(len(x))]
    return [column[np.argsort(column["gap"], kind="stable")] for column in columns]


def _in_mesh(ground: Any, facet: Any) -> Any:
    """Facets of the tree's order by their number in the mesh; what is below 0 stays."""
    facets: Any = ground.base if isinstance(ground, Rocky) else ground
    order = facets.tree.order
    return np.where(facet < 0, facet, order[np.maximum(facet, 0)])


def checked_poses(
    ground: Surface, positions: npt.ArrayLike, attitudes: npt.ArrayLike
) -> tuple[Array, Array]:
    """Positions (..., 3) and unit quaternions (..., 4) of one shape."""
    if hull_functions(ground) is None:
        raise InputError(
            f"ground is {ground!r}; distances of hulls are those to Facets, or to Rocky facets"
        )
    x = checked_points(positions, "a distance")
    q = np.asarray(attitudes, dtype=np.float64)
    if q.shape[-1:] != (4,) or not np.isfinite(q).all():
        raise InputError(f"attitudes have shape {q.shape}; expected finite (..., 4), xyzw")
    length = np.linalg.norm(q, axis=-1, keepdims=True)
    if not (length > 0.0).all():
        raise InputError("an attitude is zero; a quaternion xyzw needs a length")
    try:
        shape = np.broadcast_shapes(x.shape[:-1], q.shape[:-1])
    except ValueError:
        raise InputError(
            f"positions have shape {x.shape} and attitudes {q.shape}; one of each is needed for "
            "every pose, or one for all"
        ) from None
    return np.broadcast_to(x, (*shape, 3)), np.broadcast_to(q / length, (*shape, 4))


def prepared(
    ground: Surface,
    hull: Any,
    positions: Array,
    attitudes: Array,
    device: devices.Device,
    reach: float = np.inf,
    threads: int | None = None,
) -> tuple[Any, wp.array]:
    """A call that fills an array of ``Proximity``, and the array; all of it on the device."""
    if reach != np.inf:
        reach = checked_number("reach [m]", reach)
    inputs = [
        ground.data(device),
        hull_data(hull, device),
        devices.array(positions, vec3, device),
        devices.array(attitudes, quat, device),
        scalar(reach),
    ]
    launch, (out,) = devices.prepared(
        _nearest_kernel(ground), len(positions), inputs, [Proximity], device, threads, min_items=16
    )
    return launch, out


def _functions(ground: Any) -> Any:
    """``nearest`` and ``contacts`` of a ground that has been checked."""
    return hull_functions(ground)


def _nearest_kernel(ground: Surface) -> Any:
    return _kernel_of_nearest(ground.Data, _functions(ground)[0])


def _contacts_kernel(ground: Surface) -> Any:
    return _kernel_of_contacts(ground.Data, _functions(ground)[1])


@functools.cache
def _kernel_of_nearest(GroundData: Any, nearest: Any) -> Any:
    """A kernel that finds the distance of one pose a thread."""

    @wp.kernel(module="unique", enable_backward=False, module_options=HULL_OPTIONS)
    def find_nearest(
        offset: int,
        ground: GroundData,
        hull: HullData,
        position: wp.array(dtype=vec3),
        attitude: wp.array(dtype=quat),
        reach: scalar,
        found_out: wp.array(dtype=Proximity),
    ) -> None:
        i = wp.tid() + offset
        found_out[i] = nearest(ground, hull, position[i], attitude[i], reach)

    return find_nearest


@functools.cache
def _kernel_of_contacts(GroundData: Any, contacts: Any) -> Any:
    """A kernel that finds the contacts of one pose a thread."""

    @wp.kernel(module="unique", enable_backward=False, module_options=HULL_OPTIONS)
    def find_all(
        offset: int,
        ground: GroundData,
        hull: HullData,
        position: wp.array(dtype=vec3),
        attitude: wp.array(dtype=quat),
        margin: scalar,
        found_out: wp.array2d(dtype=HullContact),
        count_out: wp.array(dtype=int),
    ) -> None:
        i = wp.tid() + offset
        count_out[i] = contacts(
            ground, hull, position[i], attitude[i], margin, found_out, i, Shelves()
        )

    return find_all
