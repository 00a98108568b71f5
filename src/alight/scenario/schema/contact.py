"""The contact law in a scenario: springs that give way, rigid hits, a point that slides, or the
springs of Hertz under the pads of an articulated lander."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from alight.contact.compliant.restitution import SMALLEST
from alight.contact.defaults import (
    IMPULSE_HOP,
    ROLLING_LAW,
    ROLLING_LAWS,
    SLIDING_HOP,
    STRIDE,
    TANGENTIAL_RESTITUTION,
)
from alight.scenario.errors import Fault, told
from alight.scenario.field_types import (
    ChoiceField,
    FieldType,
    Measure,
    NameField,
    Number,
    OneOf,
)
from alight.scenario.quantities import DIMENSIONS, Quantity, in_si
from alight.scenario.registered import own_problems
from alight.scenario.schema.lander import LanderSection
from alight.scenario.schema.section import Section
from alight.scenario.schema.target import GroundSection

#: Keys that each law has to itself.
LAWS = {
    "compliant": (
        "stiffness", "damping", "depth", "speed", "rolling_law", "scheme", "touch", "resolution",
        "slip_speed", "slip_rate",
    ),
    "impulse": ("hop", "stride"),
    "sliding": ("tangential_restitution", "hop"),
    "hertz": ("stiffness", "damping", "tangential_stiffness", "tangential_damping"),
}  # fmt: skip
#: Those of them that are words, and numbers that are one for all runs of a model.
WORDS = ("rolling_law", "scheme", "touch")
SHARED = ("depth", "resolution", "slip_speed", "slip_rate", "hop", "stride")
#: Keys that only some laws have, though more than one does.
WITHOUT = {
    "sliding": ("rolling_resistance", "patch_radius"),
    "hertz": ("restitution", "static_friction", "rolling_resistance", "patch_radius"),
}
#: Dimension of the stiffness of each law that has one.
STIFFNESS = {"compliant": "stiffness", "hertz": "Hertz stiffness"}
#: Grounds that a point can slide on: smooth ones.
SMOOTH = ("parametric", "sphere", "plane")


#: What stands in where a key of a law is not given.
DEFAULTS: dict[str, dict[str, Any]] = {
    "compliant": {
        "depth": Quantity(1e-3, "1 mm"),
        "speed": Quantity(0.1, "0.1 m/s"),
        "scheme": "clipped",
        "resolution": 0.2,
        "slip_speed": Quantity(1e-4, "0.1 mm/s"),
        "slip_rate": Quantity(1e-3, "1 mrad/s"),
        "rolling_law": ROLLING_LAW,
    },
    "impulse": {
        "hop": in_si(IMPULSE_HOP, "length"),
        "stride": STRIDE,
    },
    "sliding": {
        "tangential_restitution": TANGENTIAL_RESTITUTION,
        "hop": in_si(SLIDING_HOP, "length"),
    },
    "hertz": {"damping": Quantity(0.0, "0 N*s/m")},
}
#: Keys that every law may have, also one that another package brings.
COMMON = ("restitution", "friction", "static_friction", "rolling_resistance", "patch_radius")
#: Numbers of each law, and those that may differ from run to run within one model.
NUMBERS = {
    law: tuple(
        key for key in (*COMMON, *keys) if key not in WORDS and key not in WITHOUT.get(law, ())
    )
    for law, keys in LAWS.items()
}
ARRAYS = {law: tuple(k for k in keys if k not in SHARED) for law, keys in NUMBERS.items()}
#: Restitution of springs, of which none can take all the energy.
OF_SPRINGS = Number(least=SMALLEST, most=1)


class ContactSection(Section):
    """The contact law."""

    FORMS: ClassVar = ("law", LAWS)
    REGISTRY: ClassVar = "contact"

    law: Annotated[str, NameField("contact")] = "compliant"
    restitution: Annotated[float | None, Number(least=0, most=1)] = None
    friction: Annotated[float, Number(least=0)] = 0.6
    stiffness: Annotated[
        float | None, OneOf(dimensions=("stiffness", "Hertz stiffness"), above=0)
    ] = None
    damping: Annotated[float | None, Measure(dimension="damping", least=0)] = None
    depth: Annotated[float | None, Measure(dimension="length", above=0)] = None
    speed: Annotated[float | None, Measure(dimension="speed", above=0)] = None
    static_friction: Annotated[float | None, Number(least=0)] = None
    rolling_resistance: Annotated[float | None, Measure(dimension="length", least=0)] = None
    patch_radius: Annotated[float | None, Measure(dimension="length", least=0)] = None
    rolling_law: Annotated[str | None, ChoiceField(ROLLING_LAWS)] = None
    scheme: Annotated[str | None, ChoiceField(("clipped", "smooth"))] = None
    touch: Annotated[str | None, ChoiceField(("points", "hull"))] = None
    resolution: Annotated[float | None, Number(above=0, most=1)] = None
    slip_speed: Annotated[float | None, Measure(dimension="speed", above=0)] = None
    slip_rate: Annotated[float | None, Measure(dimension="angular rate", above=0)] = None
    hop: Annotated[float | None, Measure(dimension="length", above=0)] = None
    stride: Annotated[float | None, Number(above=0, most=1)] = None
    tangential_restitution: Annotated[float | None, Number(least=0, most=1)] = None
    tangential_stiffness: Annotated[float | None, Measure(dimension="stiffness", above=0)] = None
    tangential_damping: Annotated[float | None, Measure(dimension="damping", above=0)] = None

    def problems(self, ground: GroundSection, lander: LanderSection) -> list[Fault]:
        """What does not fit together, or with ground and lander."""
        found = self.misplaced("contact") + self._dimension_problems()
        found += own_problems(self, "contact")
        if self.law in ("impulse", "sliding"):
            found += self.missing("contact", "restitution")
        if self.law == "sliding":
            found += self._sliding_problems(ground, lander)
        elif self.law == "hertz":
            found += self.missing("contact", "stiffness")
        elif self.law == "compliant" and not lander.is_tree:
            found += self._spring_problems() + self._touch_problems(ground)
        found += self._tree_problems(ground, lander)
        for key in WITHOUT.get(self.law, ()):
            if getattr(self, key) is not None:
                why = {"sliding": ": a point does not roll"}.get(self.law, "")
                found.append(Fault(f"contact.{key}", f'does not go with law = "{self.law}"{why}'))
        if self.static_friction is not None and self.static_friction < self.friction:
            found.append(
                Fault(
                    "contact.static_friction",
                    f"found {self.static_friction:g}, below friction = {self.friction:g}; sticking "
                    "must hold at least what sliding does",
                )
            )
        return found

    def _dimension_problems(self) -> list[Fault]:
        """A stiffness in the unit of another law."""
        kind, wanted = self.kinds()["stiffness"], STIFFNESS.get(self.law)
        if not isinstance(kind, OneOf):
            return []  # a law of another package has a stiffness of its own
        if self.stiffness is None or wanted in (None, kind.dimension_of(self.stiffness)):
            return []
        said = (
            f"found {told(getattr(self.stiffness, 'text', self.stiffness))}; with law = "
            f'"{self.law}" it must be such as "{DIMENSIONS[str(wanted)].example}"'
        )
        return [Fault("contact.stiffness", said)]

    def _tree_problems(self, ground: GroundSection, lander: LanderSection) -> list[Fault]:
        """Pads of articulated landers, and they alone, are pushed by springs of Hertz."""
        if lander.is_tree == (self.law == "hertz"):
            return [] if not lander.is_tree else self._region_problems(ground)
        if lander.is_tree:
            said = (
                f'found "{self.law}"; an articulated lander needs law = "hertz" with its stiffness'
            )
        else:
            said = (
                'found "hertz", which is for articulated landers: lander.shape = "tree", or '
                'lander.name = "dcap" or "idefix"'
            )
        return [Fault("contact.law", said)]

    def _region_problems(self, ground: GroundSection) -> list[Fault]:
        """Of all that ground may vary, springs of Hertz know friction alone."""
        from alight.contact.hertz import WITHOUT as OTHERS_THAN_HERTZ

        keys = [(region, name) for region in ground.region for name in OTHERS_THAN_HERTZ]
        return [
            Fault(
                f"{region.where}.{key}",
                f"found {getattr(region, key):g}, {OTHERS_THAN_HERTZ[name]}",
            )
            for region, name in keys
            for key in (name, f"{name}_factor")
            if getattr(region, key) is not None
        ]

    def _sliding_problems(self, ground: GroundSection, lander: LanderSection) -> list[Fault]:
        """A point without size, on ground that knows how it bends."""
        found = []
        rough = ground.noise is not None or ground.rocks is not None
        if ground.kind not in SMOOTH or rough:
            has = "with hills or rocks" if rough else f'of kind "{ground.kind}"'
            said = (
                f'found "sliding", which needs smooth ground, not ground {has}: take ground.kind = '
                '"parametric" (or "sphere", "plane"), or law = "impulse"'
            )
            found.append(Fault("contact.law", said))
        if lander.shape != "point":
            said = (
                'found "sliding", which follows a point: give the lander shape = "point" and a '
                'mass, or take law = "impulse" for its own shape'
            )
            found.append(Fault("contact.law", said))
        return found

    def _spring_problems(self) -> list[Fault]:
        springs = self.stiffness is not None or self.damping is not None
        if springs == (self.restitution is not None) or (springs and self.stiffness is None):
            return [
                Fault(
                    "contact",
                    'needs either restitution = 0.6, or stiffness = "4e4 N/m" with damping = '
                    '"162 N*s/m"; give one of the two',
                )
            ]
        if self.restitution is not None and self.restitution < SMALLEST:
            said = (
                f"found {self.restitution:g}; springs need at least {SMALLEST:g}: use 1e-6 for "
                'ground that does not bounce, or 0 with law = "impulse"'
            )
            return [Fault("contact.restitution", said)]
        return []

    def _touch_problems(self, ground: GroundSection) -> list[Fault]:
        """A whole hull touches facets, by springs that follow the speed."""
        if self.touch != "hull":
            return []
        found = []
        if ground.kind != "facets" or ground.noise is not None:
            from alight.contact.hull.supported_surfaces import HULL_TOUCHES

            found.append(Fault("contact.touch", f'found "hull": {HULL_TOUCHES}'))
        if self.scheme == "smooth" or self.stiffness is not None:
            said = 'found "hull", which needs restitution, and no scheme = "smooth"'
            found.append(Fault("contact.touch", f'{said}; "points" goes with everything'))
        return found

    def kind_of(self, key: str) -> FieldType | None:
        """The kind of value that this law has under ``key``; None where it has no such key."""
        _, laws = self.FORMS
        own = {k for keys in laws.values() for k in keys}
        if key in own and key not in laws[self.law]:
            return None
        if key in WITHOUT.get(self.law, ()):
            return None
        if key == "restitution" and self.law == "compliant":
            return OF_SPRINGS
        return self.kinds().get(key)

    def completed(self) -> ContactSection:
        """With the defaults of its law, and a damper where there is a spring."""
        made = self.filled(**DEFAULTS.get(self.law, {}))
        if self.law == "hertz" or self.law not in LAWS:
            return made
        return made.filled(damping=Quantity(0.0, "0 N*s/m")) if self.stiffness is not None else made

    def numbers(self) -> dict[str, float]:
        """The numbers of its law that are given, by name."""
        names = NUMBERS.get(self.law, COMMON)
        return {name: float(v) for name in names if (v := getattr(self, name)) is not None}
