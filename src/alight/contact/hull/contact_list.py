"""Contacts that were found: what is kept of each, no contact twice, and no more than fit."""

import warp as wp

from alight.contact.hull.feature_pairs import Search
from alight.core.types import scalar, vec3
from alight.surfaces.facets.bvh import Extent
from alight.vehicles.rigid.hull_data import HullData

#: Contacts kept for one pose.
MOST = 16

#: Two contacts closer than this share of the hull's radius, with one normal, are one.
_SAME = wp.constant(scalar(1e-6))


@wp.struct
class HullContact:
    """One contact, in target axes."""

    point: vec3  # of the lander [m]; that of the ground is point - gap normal
    normal: vec3  # unit, from the ground to the lander
    gap: scalar  # [m]; below 0 where the lander is inside
    kind: int  # a key of ``pairs.KINDS``
    facet: int  # of the ground, in the order of its tree
    feature: int  # of the hull: vertex, edge or face, by kind


@wp.struct
class Collecting:
    """A search that keeps every contact within ``margin`` [m], in column ``slot`` of an array."""

    extent: Extent
    limit2: scalar
    search: Search
    margin: scalar
    slot: int
    count: int


@wp.func
def apart2(a: HullContact, b: HullContact):
    """Squared distance of two contacts [m^2]."""
    d = a.point - b.point
    return wp.dot(d, d)


@wp.func
def kept(found: wp.array2d(dtype=HullContact), given: Collecting, new: HullContact, hull: HullData):
    """``given`` with one contact more: the lowest where two are one, spread where all are full."""
    out = given
    slot = given.slot
    same = _SAME * hull.radius
    for i in range(given.count):
        other = found[i, slot]
        alike = wp.dot(other.normal, new.normal) > scalar(1.0) - _SAME
        if alike and apart2(other, new) < same * same:
            if new.gap < other.gap:
                found[i, slot] = new
            return out
    if given.count < MOST:
        found[given.count, slot] = new
        out.count += 1
        return out
    # One too many: of the closest two the higher goes, so the lowest of all stays.
    closest = scalar(wp.inf)
    leaves = int(-1)
    for i in range(given.count):
        one = found[i, slot]
        d2 = apart2(one, new)
        if d2 < closest:
            closest = d2
            leaves = wp.where(one.gap > new.gap, i, -1)
        for j in range(i):
            other = found[j, slot]
            d2 = apart2(one, other)
            if d2 < closest:
                closest = d2
                leaves = wp.where(one.gap > other.gap, i, j)
    if leaves >= 0:
        found[leaves, slot] = new
    return out


@wp.func
def contact_at(search: Search, q: vec3, normal: vec3, gap: scalar, facet: int):
    """A contact at q of the lander, in target axes."""
    new = HullContact()
    new.point = search.x + search.turn * q
    new.normal = search.turn * normal
    new.gap = gap
    new.facet = facet
    return new
