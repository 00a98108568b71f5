"""A stop: the lander touches the ground inside a polygon of latitudes and longitudes."""

from typing import Annotated, Any

import numpy as np
import warp as wp

from alight.core.frames import wp_latitude_longitude
from alight.core.outcomes import Ending
from alight.core.types import vec2
from alight.engine.scene import Scene
from alight.engine.stops import StopLaw
from alight.scenario.keys import Fault, ListField, Measure, Section


class PolygonKeys(Section):
    """What stands under [[stop.when]] besides kind = "polygon"."""

    corners: Annotated[Any, ListField(ListField(Measure(dimension="angle"), 2), 0)]

    def problems(self, where):
        """What one look at the keys shows to be wrong."""
        said = f"found {len(self.corners)} corners; a polygon has three or more"
        return [] if len(self.corners) > 2 else [Fault(f"{where}.corners", said)]


@wp.struct
class PolygonData:
    """Latitude and longitude of each corner [rad]."""

    corners: wp.array(dtype=vec2)


@wp.func
def in_polygon(data: PolygonData, scene: Scene):
    """Whether a line to the north of the place crosses the outline an odd number of times."""
    place = wp_latitude_longitude(scene.x)
    inside = bool(False)
    count = data.corners.shape[0]
    for i in range(count):
        a, b = data.corners[i], data.corners[(i + 1) % count]
        if (a[1] > place[1]) != (b[1] > place[1]):
            along = (place[1] - a[1]) / (b[1] - a[1])
            if place[0] < a[0] + along * (b[0] - a[0]):
                inside = not inside
    return inside


class Polygon(StopLaw):
    """Ends a run in contact with its centre of mass above the polygon; no date line inside."""

    Data, test = PolygonData, in_polygon
    ending = Ending(64, "in_polygon", "touched the ground in the polygon")
    when = "contact"

    def __init__(self, corners):
        self.corners = np.asarray(corners, dtype=np.float64)

    def data(self, device):
        """Parameters as the kernel reads them, on the device."""
        data = PolygonData()
        data.corners = wp.array(self.corners, dtype=vec2, device=device.name)
        return data
