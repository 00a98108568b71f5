"""The stops that are shipped: heights, regions, a companion, rates of turning."""

import functools
from typing import Any

import numpy as np
import warp as wp

from alight.contact.ground_properties.region_shapes import (
    AnyShape,
    Ball,
    Box,
    Cap,
    Polygon,
    Shape,
    within,
)
from alight.core import devices
from alight.core.checks import checked_number
from alight.core.errors import InputError
from alight.core.frames import wp_latitude_longitude
from alight.core.outcomes import AnyEnding, Outcome
from alight.core.types import scalar, vec2
from alight.engine.scene import Scene
from alight.engine.stops.law import StopLaw
from alight.flight.places import Place


@wp.struct
class HeightData:
    """A height [m]."""

    height: scalar


@wp.func
def below_height(data: HeightData, scene: Scene):
    """Whether the centre of mass is nearer to the ground."""
    return scene.height < data.height


class BelowHeight(StopLaw):
    """Ends a run when its centre of mass is less than ``height`` [m] from the ground.

    The distance is the one that the model's surface gives. Of a body over a membrane it is the
    height of its lowest point above the suspension plane, and ``height`` may be below 0: so deep.
    """

    Data, test = HeightData, below_height
    ending = Outcome.BELOW_HEIGHT
    uses_height = True

    def __init__(
        self,
        height: float,
        *,
        hold: float = 0.0,
        when: str | None = None,
        ending: AnyEnding | None = None,
    ) -> None:
        self.height = checked_number("height [m]", height, -np.inf)
        self.options(hold, when, ending)

    def data(self, device: devices.Device) -> Any:
        """Parameters; no arrays."""
        data = HeightData()
        data.height = self.height
        return data


@wp.struct
class RegionData:
    """A shape and the corners of its polygon."""

    shape: wp.array(dtype=Shape)
    corners: wp.array(dtype=vec2)


@wp.func
def in_region(data: RegionData, scene: Scene):
    """Whether the centre of mass is in the shape."""
    p = wp.normalize(scene.x)
    return within(data.shape[0], data.corners, scene.x, p, wp_latitude_longitude(scene.x))


@wp.func
def out_of_region(data: RegionData, scene: Scene):
    """Whether it is not."""
    return not in_region(data, scene)


class InRegion(StopLaw):
    """Ends a run that touches the ground with its centre of mass in a region.

    ``shape`` is a ``contact.Cap``, ``Box`` or ``Polygon`` of latitudes and longitudes, or a
    ``Ball`` about a place. With ``when="always"`` runs end that fly over it, too.
    """

    Data, test = RegionData, in_region
    ending: AnyEnding = Outcome.IN_REGION
    when = "contact"
    of_target = True

    def __init__(
        self,
        shape: AnyShape,
        *,
        hold: float = 0.0,
        when: str | None = None,
        ending: AnyEnding | None = None,
    ) -> None:
        if not isinstance(shape, Cap | Ball | Box | Polygon):
            raise InputError(
                f"shape of a region is {shape!r}; it must be a contact.Cap, Ball, Box or Polygon."
            )
        self.shape = shape
        self.options(hold, when, ending)

    def data(self, device: devices.Device) -> Any:
        """The shape as regions of the ground have it."""
        kind: Any = Shape
        row = np.zeros(1, dtype=kind.numpy_dtype())
        row[0] = self.shape.row(0)
        corners = np.concatenate([self.shape.corners, np.zeros((1, 2))])  # none would be no array
        data = RegionData()
        data.shape = wp.array(row, dtype=Shape, device=device.name)
        data.corners = wp.array(corners, dtype=vec2, device=device.name)
        return data


class OutOfRegion(InRegion):
    """Ends a run that touches the ground with its centre of mass outside a region."""

    test = out_of_region
    ending = Outcome.OUT_OF_REGION


@wp.struct
class SpinData:
    """A rate [rad/s]."""

    rate: scalar


@wp.func
def spin_above(data: SpinData, scene: Scene):
    """Whether the body turns faster."""
    return wp.length(scene.w) > data.rate


class SpinAbove(StopLaw):
    """Ends a run whose body turns faster than ``rate`` [rad/s] relative to the target."""

    Data, test = SpinData, spin_above
    ending = Outcome.SPIN_ABOVE

    def __init__(
        self,
        rate: float,
        *,
        hold: float = 0.0,
        when: str | None = None,
        ending: AnyEnding | None = None,
    ) -> None:
        self.rate = checked_number("rate [rad/s]", rate, above=False)
        self.options(hold, when, ending)

    def data(self, device: devices.Device) -> Any:
        """Parameters; no arrays."""
        data = SpinData()
        data.rate = self.rate
        return data


@functools.cache
def _companion(place: Any, place_data: Any) -> tuple[Any, Any]:
    """Data and test of a ball that is where a law of places says."""

    @wp.struct
    class CompanionData:
        radius: scalar  # [m]
        place: place_data

    @wp.func
    def hit_companion(data: CompanionData, scene: Scene):
        """Whether the centre of mass is inside."""
        return wp.length(scene.x - place(data.place, scene.t, scene.turn)) < data.radius

    return CompanionData, hit_companion


class HitCompanion(StopLaw):
    """Ends a run whose centre of mass comes within ``radius`` [m] of a companion.

    ``place`` is where the companion is: ``flight.Orbit``, ``Fixed`` or ``FixedInTarget``.
    """

    ending = Outcome.HIT_COMPANION
    uses_turn = True
    of_target = True

    def __init__(
        self,
        radius: float,
        place: Place,
        *,
        hold: float = 0.0,
        when: str | None = None,
        ending: AnyEnding | None = None,
    ) -> None:
        self.radius = checked_number("radius [m]", radius)
        if not isinstance(place, Place):
            raise InputError(
                f"place of the companion is {place!r}; it must be a place, such as flight.Orbit."
            )
        self.place = place
        self.Data, self.test = _companion(place.place, place.Data)
        self.options(hold, when, ending)

    def data(self, device: devices.Device) -> Any:
        """Its radius, and the parameters of its place."""
        data = self.Data()
        data.radius, data.place = self.radius, self.place.data(device)
        return data
