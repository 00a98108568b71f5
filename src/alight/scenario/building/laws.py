"""The laws of a scenario, each made once and kept: meshes, fields and tables are costly."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from alight import contact as contact_laws
from alight import flight, gravity, motions, surfaces
from alight.contact import Compliant, GroundLaw, GroundMap, Impulse, Regions, Sliding
from alight.core import frames
from alight.core.constants import AU, G
from alight.core.errors import InputError
from alight.core.progress import Progress
from alight.core.registry import Entry
from alight.engine import Stop, StopLaw
from alight.gravity import Gravity
from alight.gravity.linearised import reach_for
from alight.scenario import ephemeris
from alight.scenario.building.articulated_landers import Articulated, commanded_devices
from alight.scenario.building.lander import lander_of
from alight.scenario.building.releases import ground_radius
from alight.scenario.errors import blame
from alight.scenario.registered import entry_of, own_values
from alight.scenario.schema.landing import Scenario
from alight.scenario.schema.manoeuvre import manoeuvres_of
from alight.scenario.schema.run import CompanionSection
from alight.scenario.schema.section import Section
from alight.scenario.schema.stops import stops_of
from alight.scenario.schema.sun import Sun
from alight.scenario.schema.target import Noise
from alight.shapes import Mesh
from alight.shapes.radius_series.series import HarmonicSeries
from alight.surfaces import Surface
from alight.vehicles import RigidLander

#: Landers and planes that are kept.
LATELY = 16

#: Of a plan's farthest cell from the middle: how far its cells may be off the ground.
_OFF_GROUND = 0.05


class ScenarioLaws:
    """Makes the laws of scenarios that differ from ``nominal`` in some numbers."""

    def __init__(self, nominal: Scenario, device: str, progress: str | Progress) -> None:
        self.nominal, self.device, self.progress = nominal, device, progress
        self._kept: dict[Any, Any] = {}

    def _once(self, key: Any, make: Callable[[], Any]) -> Any:
        """What ``make`` gave for this key the first time."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def _lately(self, kind: str, key: Any, make: Callable[[], Any]) -> Any:
        """The same of small things, of which those made last are kept: there may be one a run."""
        shelf = self._kept.setdefault(kind, {})
        if key not in shelf:
            shelf[key] = make()
            for old in list(shelf)[:-LATELY]:
                del shelf[old]
        return shelf[key]

    # -- the body ------------------------------------------------------------------------------

    def mesh(self, scenario: Scenario) -> Mesh:
        """The shape of the body."""
        body = scenario.body

        def make() -> Mesh:
            with blame(scenario.source, "body"):
                if body.name is None and body.mesh is None:
                    raise InputError("has no shape; give name or mesh")
                if body.entry is not None:
                    return body.entry.mesh(body.facets)
                mesh = Mesh.read(str(body.mesh), body.unit, repair=bool(body.repair))
                return mesh.recentred() if body.recentre else mesh

        return self._once(("mesh", *_mesh_key(scenario)), make)

    def gm(self, scenario: Scenario) -> float:
        """GM of the body [m^3/s^2]."""
        body = scenario.body
        if body.density is not None:
            return float(G * body.density * self.mesh(scenario).volume)
        if body.gm is None:
            raise InputError('body.gm is missing; it must be such as "30 m^3/s^2".')
        return float(body.gm)

    # -- laws of other packages ----------------------------------------------------------------

    def _registered(self, scenario: Scenario, section: Section, wanted: type) -> Any:
        """The law that a section names and that is none of Alight's own; None if it is."""
        entry = entry_of(section)
        if entry is None:
            return None
        offers = self._offers(scenario)
        asked = [name for name in ("gm", "mesh", "lander") if name in entry.asks()]
        key = [entry.name, repr(section.written())]
        key += [str(self.gm(scenario))] if "gm" in asked else []
        key += [repr(_mesh_key(scenario))] if "mesh" in asked else []
        key += [repr(scenario.lander.written())] if "lander" in asked else []

        def make() -> Any:
            law = entry.called(own_values(section, entry), offers)
            if not isinstance(law, wanted):
                raise InputError(f"{entry} makes {law!r}, which is no {wanted.__name__}.")
            return law

        return self._lately(f"registered {entry.kind}", tuple(key), make)

    def _offers(self, scenario: Scenario) -> dict[str, Callable[[], Any]]:
        """What registered laws may ask for by the names of their parameters."""
        return {
            "gm": lambda: self.gm(scenario),
            "mesh": lambda: self.mesh(scenario),
            "rotation": lambda: self.rotation(scenario),
            "lander": lambda: self.lander(scenario),
            "seed": lambda: int(scenario.seed),
            "device": lambda: self.device,
            "progress": lambda: self.progress,
        }

    def gravity(self, scenario: Scenario) -> Gravity:
        """The gravity law; another mass than the nominal scales the nominal table."""
        with blame(scenario.source, "gravity"):
            section = scenario.gravity
            own = self._registered(scenario, section, Gravity)
            if own is not None:
                return cast("Gravity", own)
            if section.law == "uniform":
                return gravity.Uniform([float(a) for a in section.acceleration])
            if section.law == "point-mass":
                return gravity.PointMass(self.gm(scenario))
            field: Gravity = self._field(scenario)
            ratio = self.gm(scenario) / self.gm(self.nominal)
            same = _mesh_key(scenario) == _mesh_key(self.nominal)
            if same and self.gm(scenario) != self.gm(self.nominal):
                from alight.scenario.building.scaled_gravity import Scaled

                field = Scaled(field, ratio)
            if section.linearise is not None:
                return gravity.Linearised(field, float(section.linearise))
            if section.error is not None:
                radius = self.mesh(scenario).bounding_radius
                return gravity.Linearised(field, reach_for(section.error, radius))
            return field

    def _field(self, scenario: Scenario) -> Gravity:
        section, mesh = scenario.gravity, self.mesh(scenario)
        same = _mesh_key(scenario) == _mesh_key(self.nominal)
        gm = self.gm(self.nominal if same else scenario)
        options: dict[str, Any] = {"device": self.device, "progress": self.progress}

        def make() -> Gravity:
            if section.law == "reduced":
                assert section.vertices is not None
                return gravity.Reduced(mesh, gm=gm, vertices=section.vertices)
            full = gravity.Polyhedron(mesh, gm=gm)
            if section.law == "cached":
                return gravity.CachedField(
                    full, tolerance=float(section.tolerance or 1e-5), **options
                )
            if section.law == "smooth":
                spacing = None if section.spacing is None else float(section.spacing)
                return gravity.SmoothField(full, spacing=spacing, **options)
            return full

        numbers = (section.law, section.spacing, section.vertices, section.tolerance, gm)
        return self._once(("field", *_mesh_key(scenario), *numbers), make)

    def rotation(self, scenario: Scenario) -> flight.Rotation:
        """How the body turns."""
        with blame(scenario.source, "body.rotation"):
            return ephemeris.rotation_of(scenario.body.rotation)

    # -- the ground ----------------------------------------------------------------------------

    def ground(self, scenario: Scenario) -> Surface:
        """What is touched."""
        with blame(scenario.source, "ground"):
            return self._rocky(scenario, self._rough(scenario, self._base(scenario)))

    def _rough(self, scenario: Scenario, base: Surface) -> Surface:
        """``base`` with hills where there are any."""
        noise = scenario.ground.noise
        if noise is None:
            return base
        hills = self._hills(scenario, noise)
        return self._once(("rough", id(base), id(hills)), lambda: surfaces.Rough(base, hills))

    def _rocky(self, scenario: Scenario, base: Surface) -> Surface:
        """``base`` with rocks where there are any."""
        section = scenario.ground.rocks
        if section is None:
            return base
        mesh = self.mesh(scenario)

        def make() -> Surface:
            with blame(scenario.source, "ground.rocks"):
                return surfaces.Rocky(base, mesh, section.rocks(mesh.bounding_radius))

        return self._once(("rocky", id(base), id(mesh), repr(section.written())), make)

    def _hills(self, scenario: Scenario, noise: Noise) -> surfaces.FractalNoise:
        def make() -> surfaces.FractalNoise:
            modulation = None
            if noise.map is not None:
                modulation = surfaces.AmplitudeMap(noise.map, self._radius(scenario))
            return surfaces.FractalNoise(
                amplitude=float(noise.amplitude),
                wavelength=float(noise.wavelength),
                octaves=noise.octaves,
                roughness=noise.roughness,
                lacunarity=noise.lacunarity,
                seed=noise.seed or 0,
                modulation=modulation,
            )

        return self._once(("hills", repr(noise.written()), *_mesh_key(scenario)), make)

    def _radius(self, scenario: Scenario) -> float:
        if scenario.ground.radius is not None:
            return float(scenario.ground.radius)
        return self.mesh(scenario).bounding_radius

    def _base(self, scenario: Scenario) -> Surface:
        ground = scenario.ground
        own = self._registered(scenario, ground, Surface)
        if own is not None:
            return cast("Surface", own)
        if ground.kind == "plane":
            numbers = (*map(float, ground.point), *ground.normal)
            return self._lately("plane", numbers, lambda: surfaces.Plane(numbers[:3], numbers[3:]))
        if ground.kind == "patch":
            sizes = [float(v) for v in (ground.length, ground.width, ground.thickness) if v]
            point, normal = [float(v) for v in ground.point], ground.normal
            key = ("patch", *point, *normal, *ground.along, *sizes)
            return self._once(key, lambda: surfaces.Patch(point, normal, ground.along, *sizes))
        if ground.kind == "sphere":
            radius = self._radius(scenario)
            return self._once(("sphere", radius), lambda: surfaces.Sphere(radius=radius))
        if ground.kind == "parametric":
            return self._series(scenario)
        mesh = self.mesh(scenario)
        if ground.kind == "facets":
            return self._once(("facets", *_mesh_key(scenario)), lambda: surfaces.Facets(mesh))
        spacing = float(ground.spacing or mesh.extent.max() / 100.0)
        band = self._band(scenario, spacing)

        def make() -> Surface:
            return surfaces.DistanceField.from_mesh(
                mesh,
                spacing,
                band=band,
                interpolation=ground.interpolation or "smooth",
                device=self.device,
                progress=self.progress,
            )

        return self._once(
            ("ground", *_mesh_key(scenario), spacing, band, ground.interpolation), make
        )

    def _series(self, scenario: Scenario) -> Surface:
        """The built-in series of a body, as far as asked, or that of its own mesh."""
        entry, degree = scenario.body.entry, scenario.ground.degree
        assert degree is not None

        def make() -> Surface:
            if entry is None:
                return surfaces.Parametric.from_mesh(self.mesh(scenario), degree)
            whole = surfaces.Parametric.from_body(entry.shape)
            if degree == whole.series.degree:
                return whole
            # Harmonics are orthogonal: the first of them are the best series of their degree.
            first = whole.series.coefficients[: (degree + 1) ** 2]
            return surfaces.Parametric(HarmonicSeries(first), whole.center)

        return self._once(("series", *_mesh_key(scenario), degree), make)

    def _band(self, scenario: Scenario, spacing: float) -> float | None:
        """The band asked for; wider than the default where the hills need it."""
        ground = scenario.ground
        if ground.band is not None:
            return float(ground.band)
        if ground.noise is None:
            return None
        need = self._hills(scenario, ground.noise).max_height + 2.0 * float(
            scenario.contact.depth or scenario.contact.hop or 0.0
        )
        return None if need <= 4.0 * spacing else 1.01 * need

    # -- lander and contact --------------------------------------------------------------------

    def model(
        self, scenario: Scenario, arrays: dict[str, Any]
    ) -> motions.Model | motions.TreeModel:
        """All laws together; ``arrays`` hold what differs from run to run, by key."""
        contact = {k.partition(".")[2]: a[:, 0] for k, a in arrays.items() if k[:8] == "contact."}
        laws: dict[str, Any] = {
            "gravity": self.gravity(scenario),
            "surface": self._ground_of_runs(scenario, arrays),
            "rotation": self.rotation(scenario),
            "externals": self.externals(scenario),
            "stops": self.stops(scenario),
            "stop": self.stop(scenario),
            "steps": self.steps(scenario),
        }
        lander, ground = self.lander(scenario), self.properties(scenario, arrays)
        where = "manoeuvre" if scenario.manoeuvre else "lander"
        if isinstance(lander, Articulated):
            with blame(scenario.source, "contact"):
                law = contact_laws.Hertz(**{**scenario.contact.numbers(), **contact}, ground=ground)
            laws["manoeuvres"], laws["sun"] = self.manoeuvres(scenario)
            with blame(scenario.source, where):
                tree, devices, up = lander[:3]
                devices = commanded_devices(scenario.lander, devices, laws["manoeuvres"])
                return motions.TreeModel(tree, devices, contact=law, up=up, **laws)
        laws["contact"] = self.contact(scenario, contact, ground)
        laws["manoeuvres"], laws["sun"] = self.manoeuvres(scenario)
        with blame(scenario.source, where):
            return motions.Model(
                lander=lander, actuators=tuple(scenario.lander.actuators()), **laws
            )

    def _ground_of_runs(self, scenario: Scenario, arrays: dict[str, Any]) -> Surface:
        """The ground, with a plane for each run where they differ."""
        own = {k: arrays[f"ground.{k}"] for k in ("point", "normal") if f"ground.{k}" in arrays}
        if not own:
            return self.ground(scenario)
        with blame(scenario.source, "ground"):
            return cast("surfaces.Plane", self.ground(scenario)).changed(**own)

    def manoeuvres(self, scenario: Scenario) -> tuple[tuple[Any, ...], Any]:
        """What the lander does by itself, and where the Sun is that it may wait for."""
        friction = float(scenario.contact.friction or 0.6)
        at = functools.partial(self.ground_at, scenario)
        found = manoeuvres_of(scenario.source, scenario.manoeuvre, friction, at, int(scenario.seed))
        for number, one in enumerate(scenario.manoeuvre):
            if one.command == "policy":
                with blame(scenario.source, f"manoeuvre.{one.name or number}.plan"):
                    self._check_plan(scenario, found[number].command.plan)
        sun = scenario.environment.sun
        if sun is None or not any(one.sun_above is not None for one in found):
            return found, None
        with blame(scenario.source, "environment.sun"):
            place, law = ephemeris.sun_place(scenario, sun), self.rotation(scenario)
            seen = place.evaluate([0.0], law, device="cpu")[0]
            q_NT = law.evaluate([0.0], device="cpu")[2][0]
        return found, tuple(frames.quat_rotate(q_NT, seen / math.hypot(*seen)))

    def _check_plan(self, scenario: Scenario, plan: Any) -> None:
        """Raise where a plan is one over another body: its cells are not on the ground here."""
        key = ("plan", plan.name, id(plan), repr(scenario.ground.written()), _mesh_key(scenario))
        off = self._lately("plan", repr(key), lambda: self._off_ground(scenario, plan))
        far = float(np.linalg.norm(plan.centres, axis=1).max())
        if off > _OFF_GROUND * far:
            raise InputError(
                f"{plan.name} is for another body: its cells are up to {off:.4g} m off the ground "
                "of this scenario. Make a plan for this body with alight mobility."
            )

    def _off_ground(self, scenario: Scenario, plan: Any) -> float:
        distance, _ = self.ground(scenario).query(plan.centres, device="cpu")
        return float(np.abs(distance).max())

    def lander(self, scenario: Scenario) -> RigidLander | Articulated:
        """What lands."""
        with blame(scenario.source, "lander"):
            key = repr(scenario.lander.written())
            return self._lately("lander", key, lambda: lander_of(scenario.lander))

    def properties(self, scenario: Scenario, arrays: dict[str, Any]) -> GroundLaw | None:
        """How the ground varies; ``arrays`` hold what differs from run to run, by key."""
        section, under = scenario.ground, None
        if section.map is not None:
            with blame(scenario.source, "ground.map"):
                path = section.map
                under = self._once(("map", section.sha256), lambda: GroundMap.read(path))
        if not section.region:
            return under
        regions = []
        for one in section.region:
            with blame(scenario.source, one.where):
                place = None
                if one.latitude is not None:
                    assert one.longitude is not None
                    place = self.ground_at(scenario, float(one.latitude), float(one.longitude))
                regions.append(one.region(place, arrays))
        with blame(scenario.source, "ground.region"):
            return Regions(regions, under)

    def ground_at(self, scenario: Scenario, latitude: float, longitude: float) -> Any:
        """The place [m] on the ground at a latitude and longitude [rad]."""
        up = frames.direction(latitude, longitude)
        return up * ground_radius(self.ground(scenario), up[None])[0]

    def stops(self, scenario: Scenario) -> tuple[StopLaw, ...]:
        """What else ends runs."""
        offers = {
            **self._offers(scenario),
            "ground_at": lambda: functools.partial(self.ground_at, scenario),
            "companion": lambda: self._companion_place(scenario),
        }
        return stops_of(scenario.source, scenario.stop.when, offers)

    def _companion_place(self, scenario: Scenario) -> flight.Place:
        section = scenario.environment.companion
        if section is None:
            raise InputError("needs the table [environment.companion].")
        return self._companion(scenario, section).orbit

    def contact(
        self, scenario: Scenario, arrays: dict[str, Any], ground: GroundLaw | None
    ) -> Compliant:
        """The contact law on ``ground``; ``arrays`` hold what differs from run to run."""
        section, options = scenario.contact, scenario.contact.numbers()
        with blame(scenario.source, "contact"):
            entry = entry_of(section)
            if entry is not None:
                return self._own_contact(entry, section, {**options, **arrays}, ground)
            if section.law == "impulse":
                return Impulse(**{**options, **arrays}, ground=ground)
            if section.law == "sliding":
                return Sliding(**{**options, **arrays}, ground=ground)
            chosen = {name: getattr(section, name) for name in ("scheme", "rolling_law", "touch")}
            return Compliant(**{**options, **chosen, **arrays}, ground=ground)

    def _own_contact(
        self, entry: Entry, section: Section, numbers: dict[str, Any], ground: GroundLaw | None
    ) -> Compliant:
        """The contact law of another package, with what of the common keys it takes."""
        own = own_values(section, entry)
        common = {k: v for k, v in {**numbers, "ground": ground}.items() if k not in own}
        if entry.takes_more:
            own, common = {**own, **common}, {}
        law = entry.called(own, {k: functools.partial(_same, v) for k, v in common.items()})
        if not isinstance(law, Compliant):
            raise InputError(f"{entry} makes {law!r}, which is no Compliant contact law.")
        return law

    def stop(self, scenario: Scenario) -> Stop | motions.TreeStop:
        """When runs end; those of articulated landers also where they tip over."""
        section, tree = scenario.stop, scenario.lander.is_tree
        names = ("max_time", "escape_radius", "settle_speed", "settle_rate", "settle_time")
        more = ("tip_angle",) if tree else ()
        made: type[Stop] | type[motions.TreeStop] = motions.TreeStop if tree else Stop
        with blame(scenario.source, "stop"):
            numbers = {n: float(getattr(section, n)) for n in (*names, *more)}
            return made(**numbers, max_steps=section.max_steps)

    def steps(self, scenario: Scenario) -> motions.Steps | motions.TreeSteps:
        """How motion is followed."""
        section, tree = scenario.steps, scenario.lander.is_tree
        names = ("tolerance", "longest", "shortest", *(("step", "contact_step") if tree else ()))
        given = {n: float(v) for n in names if (v := getattr(section, n)) is not None}
        with blame(scenario.source, "steps"):
            return (
                motions.TreeSteps(str(section.integrator), **given)
                if tree
                else motions.Steps(**given)
            )

    # -- Sun and companion ---------------------------------------------------------------------

    def externals(self, scenario: Scenario) -> tuple[flight.External, ...]:
        """Pushes from outside."""
        found: list[flight.External] = []
        sun, companion = scenario.environment.sun, scenario.environment.companion
        if sun is not None:
            with blame(scenario.source, "environment.sun"):
                found += self._sun(scenario, sun)
        if companion is not None:
            with blame(scenario.source, "environment.companion"):
                found.append(self._companion(scenario, companion))
        for push in scenario.environment.push:
            with blame(scenario.source, f"environment.push.{push.name}"):
                found.append(self._registered(scenario, push, flight.External))
        return tuple(found)

    def _sun(self, scenario: Scenario, sun: Sun) -> list[flight.External]:
        if not (sun.tide or sun.pressure):
            return []  # it shines on the report alone
        place = ephemeris.sun_place(scenario, sun)
        found: list[flight.External] = [flight.SunTide(place)] if sun.tide else []
        if sun.pressure:
            area = sun.area_over_mass
            if area is None:  # the mean over all directions of a convex hull: a quarter of it
                lander = self.lander(scenario)
                assert isinstance(lander, RigidLander)  # others have been told to give it
                area = 0.25 * float(lander.hull.face_areas.sum()) / lander.mass
            found.append(
                flight.SolarPressure(float(area), place, sun.reflectivity, float(sun.shadow_radius))
            )
        return found

    def _companion(self, scenario: Scenario, section: CompanionSection) -> flight.Companion:
        assert section.gm is not None
        own = self.gm(scenario) if (scenario.body.gm or scenario.body.density) else 0.0
        distance = None if section.distance is None else float(section.distance)
        if section.kind == "synchronous":
            rotation = self.rotation(scenario)
            assert isinstance(rotation, flight.UniformRotation)
            return flight.Companion.synchronous(
                float(section.gm), distance, section.direction, gm_target=own, rotation=rotation
            )
        names = ("eccentricity", "inclination", "node", "periapsis", "mean_anomaly")
        elements = [float(getattr(section, name)) for name in names]
        total = float(section.gm) + own
        return flight.Companion(
            float(section.gm), flight.Orbit(distance or AU, *elements, gm=total)
        )


def _same(value: Any) -> Any:
    return value


def _mesh_key(scenario: Scenario) -> tuple[Any, ...]:
    body = scenario.body
    return body.name, body.facets, body.sha256, body.unit, body.recentre, body.repair
