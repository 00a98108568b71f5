"""SmoothField: a polyhedron's field from a spline alone, a third of a microsecond anywhere.

``CachedField`` adds the sharp shares of near facets exactly, which on the ground costs ten times
what the table does. Here the table holds all of the potential. It cannot follow the kinks that the
facets make, so on the ground the acceleration errs by about 3 h/R times a few hundredths, h being
the finest spacing; but it is the gradient of one potential with four continuous derivatives, so
that energy is conserved, and its cost is the same for every mesh and every place. That is what many
landings need: shape models and densities are known far less well.
"""

import time
from typing import Any

import numpy as np

from alight.core import devices
from alight.core import store as core_store
from alight.core.checks import checked_number
from alight.core.errors import InputError
from alight.core.store import Store
from alight.gravity.polyhedron.field import Polyhedron
from alight.gravity.tabulated import build
from alight.gravity.tabulated import store as cached_store
from alight.gravity.tabulated.cached_field import (
    SHELL,
    CachedData,
    CachedField,
    CacheReport,
    cached_field,
)

#: Finest spacings in a bounding radius, where none is given.
FINE = 100.0


class SmoothField(CachedField):
    """A polyhedron's gravity as one smooth spline: constant time everywhere, also on the ground.

    Parameters
    ----------
    field:
        The polyhedron law to tabulate.
    spacing:
        Finest spacing of the table [m], next to the surface; a hundredth of the bounding radius
        if not given.
    memory:
        Most memory the table may take [bytes].
    store:
        Keep the table in this folder, or read it from there: a path, True for the user's cache
        folder, False for neither.
    progress:
        "auto", "rich", "text" or "silent".

    ``report`` holds the errors measured against the polyhedron.
    """

    field = cached_field(True, False)
    flight = cached_field(False, False)

    def __init__(
        self,
        field: Polyhedron,
        *,
        spacing: float | None = None,
        memory: float = 256e6,
        store: Store = True,
        device: str = "auto",
        progress: str = "silent",
    ) -> None:
        if not isinstance(field, Polyhedron):
            raise InputError(
                f"SmoothField tabulates a gravity.Polyhedron; got {type(field).__name__}."
            )
        self.full, self.series = field, field.series
        self.shell = tuple(s * self.series.radius for s in SHELL)
        if spacing is None:
            spacing = self.series.radius / FINE
        self.spacing = checked_number("spacing [m]", spacing)
        if self.spacing > 0.2 * self.series.radius:
            raise InputError(
                f"spacing is {self.spacing:g} m; a table for a body of radius "
                f"{self.series.radius:.4g} m needs one of at most a fifth of that."
            )
        self.tolerance, self.reach = np.inf, 0.0
        self._devices: dict[str, Any] = {}
        numbers = [field.density.hex(), field.G.hex(), self.spacing.hex()]
        key = core_store.name_of(__name__, [field.mesh.content_hash, *numbers])
        arrays = core_store.load(cached_store.folder(store), key)
        if arrays is None or int(arrays["nbytes"]) > memory:
            arrays = self._tabulate(
                devices.resolve(device), checked_number("memory", memory), progress
            )
            core_store.save(cached_store.folder(store), key, arrays)
        self._take(arrays)

    def _tabulate(self, device: devices.Device, memory: float, show: str) -> dict[str, Any]:
        started = time.perf_counter()
        corner = self.full.mesh.vertices[self.full.mesh.faces]
        builder = build.Builder(corner, self._strength, self.series, 0.0, self.shell[1], device)
        builder.set_spacing(self.spacing)
        if builder.bytes_needed() > memory:
            raise InputError(
                f"a table with a spacing of {self.spacing:g} m takes "
                f"{builder.bytes_needed() / 1e6:.0f} MB, more than the {memory / 1e6:.0f} MB "
                "allowed. Take a wider spacing or allow more memory."
            )
        self.origin, self.grids = builder.origin, builder.build(show)
        worst, mean, count = self._check(device)
        seconds = time.perf_counter() - started
        numbers = [worst, mean, count, seconds, len(self.grids)]
        arrays = {"numbers": np.array(numbers), "origin": self.origin}
        arrays["nbytes"] = np.array(sum(g.nbytes for g in self.grids))
        for i, grid in enumerate(self.grids):
            arrays |= {f"grid{i}_{k}": np.asarray(v) for k, v in grid._asdict().items()}
        return arrays

    def _take(self, arrays: dict[str, Any]) -> None:
        worst, mean, count, seconds, levels = arrays["numbers"].tolist()
        names = build.TableGrid._fields
        self.origin = arrays["origin"]
        self.grids = [
            build.TableGrid(**{name: arrays[f"grid{i}_{name}"] for name in names})
            for i in range(int(levels))
        ]
        self.report = CacheReport(
            max_error=worst,
            mean_error=mean,
            points=int(count),
            tolerance=self.tolerance,
            nbytes=int(arrays["nbytes"]),
            levels=int(levels),
            spacing=self.spacing,
            reach=0.0,
            seconds=seconds,
        )

    def data(self, device: devices.Device) -> Any:
        """The table on ``device``, copied there once."""
        if device.name not in self._devices:
            data = CachedData()
            data.levels = build.levels_data(self.grids, self.origin, self.spacing, device)
            data.far = self.series.data(device)
            data.shell_inner, data.shell_outer = self.shell
            self._devices[device.name] = data
        return self._devices[device.name]

    def __repr__(self) -> str:
        return f"SmoothField({self.full!r}, mean_error={self.report.mean_error:.1e})"
