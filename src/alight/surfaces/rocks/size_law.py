"""How many rocks of which size: a power law between two sizes, and the ground it covers.

Counts of boulders follow N(>= D) ~ D^-slope over decades of size. Here the number of rocks per
square metre and metre of size is

    n(D) = slope K D^(-slope - 1)    from the smallest to the largest size,

with K such that the counted density of rocks of at least the reference size comes out. The larger
part of the cover, pi/4 share D^2 for each rock, comes from small rocks where the slope is above 2:
carried on to small sizes, a steep law covers more ground than there is. A cap on the cover bends
the law over below some size, as counts on real bodies do: there it falls with slope ``BENT`` only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import scipy

from alight.core.checks import checked_number
from alight.core.errors import InputError, did_you_mean

#: Slope of the law below the size at which a cap on the cover bends it.
BENT = 1.0
#: Roughness above which rocks, bent icosahedra, are not convex.
MOST_ROUGH = math.sqrt(5.0) - 2.0


@dataclass(frozen=True)
class Counted:
    """Rocks as they were counted on a body."""

    slope: float
    density: float
    """Rocks of at least ``reference`` on a square metre [1/m^2]."""
    reference: float
    """[m]"""
    largest: float
    """About the size of the largest boulder [m]."""
    source: str


#: Boulder counts of bodies that spacecraft have seen from close by.
COUNTS = {
    "itokawa": Counted(
        3.1, 373 / 0.393e6, 5.0, 50.0, "373 boulders of 5 m and more (Michikami et al. 2008)"
    ),
    "ryugu": Counted(
        2.65, 4400 / 2.7e6, 5.0, 160.0, "4400 boulders of 5 m and more (Michikami et al. 2019)"
    ),
    "bennu": Counted(
        2.9, 3.9 / 3.5 * 4400 / 2.7e6, 5.0, 95.0,
        "slope of large boulders; their density from its ratio to Ryugu's (Pajola et al. 2024)",
    ),
}  # fmt: skip


def counted(name: str) -> Counted:
    """The boulder count of a body."""
    key = name.strip().lower() if isinstance(name, str) else ""
    if key not in COUNTS:
        raise InputError(
            f"no boulder count of {name!r} is known, only of {', '.join(COUNTS)}."
            f"{did_you_mean(key, COUNTS)} Give slope, density and reference instead."
        )
    return COUNTS[key]


class SizeLaw:
    """Rocks per square metre by size, checked and capped.

    Parameters
    ----------
    slope:
        Of the cumulative count, positive.
    density, reference:
        Rocks of at least the size ``reference`` [m] on a square metre [1/m^2], none larger than
        ``largest``.
    smallest, largest:
        Sizes between which there are rocks [m].
    cover:
        The most ground that rocks may cover, above 0 and at most 1, or None: no cap, and a law that
        covers more than all of it is an error.
    share:
        Ground under a rock over that under a disc whose diameter is the rock's size.
    """

    def __init__(
        self,
        slope: float,
        density: float,
        reference: float,
        smallest: float,
        largest: float,
        cover: float | None = None,
        share: float = 1.0,
    ) -> None:
        self.slope = checked_number("slope", slope)
        self.density = checked_number("density [1/m^2]", density, above=False)
        self.reference = checked_number("reference [m]", reference)
        self.smallest = checked_number("smallest [m]", smallest)
        self.largest = checked_number("largest [m]", largest)
        self.share = share
        if not self.smallest < self.largest:
            raise InputError(
                f"smallest is {self.smallest:g} m and largest {self.largest:g} m; the smallest "
                "size must be below the largest"
            )
        if not self.reference < self.largest:
            raise InputError(
                f"reference is {self.reference:g} m and largest {self.largest:g} m; the density is "
                "that of rocks from the reference size to the largest, so it must be below it"
            )
        #: Below this size [m] the law is bent by the cap; 0 where it is not.
        self.bend = 0.0
        try:
            #: K of n(D) = slope K D^(-slope - 1) [m^(slope - 2)].
            self.amount = self.density / self._between(self.reference, self.largest)
            self._cap(cover)
        except ArithmeticError:
            raise InputError(
                f"a slope of {self.slope:g} from {self.smallest:g} to {self.largest:g} m, with "
                f"{self.density:g} rocks per m^2 of {self.reference:g} m and more, is beyond what "
                "numbers can hold: slopes of counts are 1 to 5"
            ) from None

    def _between(self, low: float, high: float) -> float:
        """N over K: low^-slope - high^-slope, without cancellation."""
        return float(-(low**-self.slope) * math.expm1(-self.slope * math.log(high / low)))

    # -- the law ------------------------------------------------------------------------------

    def number(self, size: float) -> float:
        """Rocks of at least ``size`` [m] on a square metre [1/m^2]."""
        low = max(size, self.smallest)
        if low >= self.largest:
            return 0.0
        straight = max(low, self.bend)
        total = self.amount * self._between(straight, self.largest)
        if low < self.bend:
            total += self.bent_amount * (low**-BENT - self.bend**-BENT)
        return total

    @property
    def cover(self) -> float:
        """Share of the ground under rocks; where they overlap it counts once for each."""
        return self._cover(self.smallest, self.bend)

    def _cover(self, smallest: float, bend: float) -> float:
        """pi/4 share times the integral of D^2 n(D)."""
        straight = max(smallest, bend)
        total = self.amount * self.slope * _power_integral(1.0 - self.slope, straight, self.largest)
        if bend > smallest:
            n = BENT * self._bent_amount(bend)
            total += n * _power_integral(1.0 - BENT, smallest, bend)
        return 0.25 * math.pi * self.share * total

    @property
    def bent_amount(self) -> float:
        """Below the bend n(D) = BENT bent_amount D^(-BENT - 1) [m^(BENT - 2)]."""
        return self._bent_amount(self.bend) if self.bend > 0.0 else 0.0

    def _bent_amount(self, bend: float) -> float:
        """Such that n(D) is the same on either side of the bend."""
        return self.slope / BENT * self.amount * bend ** (BENT - self.slope)

    # -- the cap ------------------------------------------------------------------------------

    def _cap(self, cover: float | None) -> None:
        full = self._cover(self.smallest, 0.0)
        if cover is None:
            if full > 1.0:
                raise InputError(self._too_much(full))
            return
        cap = checked_number("cover", cover)
        if cap > 1.0:
            raise InputError(f"cover is {cover!r}; it is a share of the ground, at most 1")
        if full <= cap:
            return
        least = self._cover(self.smallest, self.largest) if self.slope > BENT else full
        if least > cap:
            raise InputError(
                f"cover is {cap:g}, but even with few small rocks these would cover {least:.3g} "
                "of the ground: lower the density or the largest size"
            )

        def over(bend: float) -> float:
            return self._cover(self.smallest, bend) - cap

        self.bend = float(
            scipy.optimize.brentq(over, self.smallest, self.largest, xtol=1e-14, rtol=1e-14)
        )

    def _too_much(self, full: float) -> str:
        """What to do about a law that covers more than all the ground."""
        least = self._cover(self.largest, 0.0)

        def over(smallest: float) -> float:
            return self._cover(smallest, 0.0) - 1.0

        ways = [f"lower the density to less than {self.density / full:.3g} per m^2"]
        if least < 1.0:
            enough = float(scipy.optimize.brentq(over, self.smallest, self.largest))
            ways.insert(0, f"raise the smallest size from {self.smallest:g} m to {enough:.3g} m")
        if self.slope > BENT:
            ways.append("give cover=0.6, say, which thins out the smaller rocks")
        return (
            f"rocks would cover {full:.3g} times the ground, more than all of it: "
            f"{', '.join(ways[:-1])}, or {ways[-1]}"
        )

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, SizeLaw) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))


def _power_integral(power: float, low: float, high: float) -> float:
    """The integral of D^power from ``low`` to ``high``; exact near power = -1 too."""
    if high <= low:
        return 0.0
    log, n = math.log(high / low), power + 1.0
    return float(low**n * log * (math.expm1(n * log) / (n * log) if n * log != 0.0 else 1.0))
