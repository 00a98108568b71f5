"""Words that people try in scenario files, and what they are called there."""

from __future__ import annotations

from collections.abc import Iterable

from alight.core.errors import did_you_mean

#: By what a person may write, without case, blanks, - and _: names that may be meant.
WORDS: dict[str, tuple[str, ...]] = {
    # laws of contact
    **dict.fromkeys(("rigid", "hard", "impulsive", "collision", "stiff"), ("impulse",)),
    **dict.fromkeys(("spring", "springs", "soft", "penalty", "kelvinvoigt"), ("compliant",)),
    **dict.fromkeys(("hertzian", "pads"), ("hertz",)),
    **dict.fromkeys(("slide", "slip"), ("sliding",)),
    # dispersions
    **dict.fromkeys(("gauss", "gaus", "gaussian", "gausian", "sigma"), ("normal",)),
    **dict.fromkeys(("even", "flatdistribution", "box"), ("uniform", "box")),
    **dict.fromkeys(("lognormal", "loggauss"), ("log-normal",)),
    **dict.fromkeys(("multivariate", "mvn", "correlated", "cov", "multinormal"), ("covariance",)),
    **dict.fromkeys(("grid", "list", "scan", "parametric", "steps"), ("sweep", "parametric")),
    **dict.fromkeys(("discrete", "categorical", "options"), ("choice",)),
    **dict.fromkeys(("clipped", "bounded", "truncatednormal"), ("truncated", "clipped")),
    **dict.fromkeys(("quaternion", "attitudes", "rotation"), ("orientation", "attitude")),
    # gravity, ground, rotation
    **dict.fromkeys(("constant", "homogeneous"), ("uniform",)),
    **dict.fromkeys(("point", "kepler", "central", "newton"), ("point-mass", "orbit", "point")),
    **dict.fromkeys(("mesh", "triangles", "exact"), ("mesh", "facets", "polyhedron")),
    **dict.fromkeys(("sdf", "field", "voxels"), ("distance-field",)),
    **dict.fromkeys(("flat", "floor", "ground"), ("plane", "uniform", "ground")),
    **dict.fromkeys(("series", "harmonics", "smooth"), ("parametric", "smooth")),
    **dict.fromkeys(("static", "fixed", "nonrotating"), ("none",)),
    **dict.fromkeys(("tumble", "nonprincipal", "complex"), ("tumbling",)),
    # landers
    **dict.fromkeys(("cuboid", "brick"), ("box",)),
    **dict.fromkeys(("articulated", "multibody", "urdf", "legged", "legs"), ("tree", "hertz")),
    # releases
    **dict.fromkeys(("rest", "surface", "landed", "onground"), ("ground", "rest-within")),
    **dict.fromkeys(("elements", "keplerian"), ("orbit",)),
    **dict.fromkeys(("raan", "lan", "ascendingnode", "longitudeofascendingnode"), ("node",)),
    **dict.fromkeys(("argp", "aop", "argperi", "argumentofperiapsis"), ("periapsis",)),
    **dict.fromkeys(("sma", "a", "semimajor", "axis"), ("semi_major_axis",)),
    **dict.fromkeys(("ecc",), ("eccentricity",)),
    **dict.fromkeys(("inc", "incl", "i"), ("inclination",)),
    **dict.fromkeys(("nu", "ta", "anomaly"), ("true_anomaly",)),
    **dict.fromkeys(("m", "meananomaly0"), ("mean_anomaly", "mass")),
    **dict.fromkeys(("cartesian", "eci", "j2000", "state"), ("inertial",)),
    **dict.fromkeys(("file", "csv", "oem", "spice", "ephemeris"), ("states",)),
    **dict.fromkeys(("gravityvector", "plumb", "local"), ("plumb line",)),
    **dict.fromkeys(("normal", "facetnormal"), ("surface normal", "normal")),
    # requirements, stops, manoeuvres
    **dict.fromkeys(("lessthan", "less", "under", "smallerthan", "smaller"), ("below",)),
    **dict.fromkeys(("greaterthan", "greater", "over", "larger", "morethan"), ("above",)),
    **dict.fromkeys(("maximum", "max", "upper", "limit"), ("below", "at_most", "value")),
    **dict.fromkeys(("minimum", "min", "lower"), ("above", "at_least")),
    **dict.fromkeys(("within", "landingsite", "footprint", "target"), ("rest-within",)),
    **dict.fromkeys(("altitudebelow", "heightbelow", "belowaltitude"), ("below-height",)),
    **dict.fromkeys(("spin", "spinrateabove", "tumbling"), ("spin-above",)),
    **dict.fromkeys(("jump", "leap"), ("hop",)),
    # sampling
    **dict.fromkeys(("lhs", "latin", "hypercube"), ("latin-hypercube",)),
    **dict.fromkeys(("montecarlo", "mc"), ("random",)),
    **dict.fromkeys(("quasirandom", "qmc"), ("sobol",)),
    # keys
    **dict.fromkeys(("lat",), ("latitude",)),
    **dict.fromkeys(("lon", "long", "lng"), ("longitude",)),
    **dict.fromkeys(("altitude", "alt", "elevationabove"), ("height",)),
    **dict.fromkeys(("pos", "place", "location"), ("position", "place")),
    **dict.fromkeys(("vel", "v"), ("velocity",)),
    **dict.fromkeys(("orientationquaternion", "quat", "q"), ("attitude",)),
    **dict.fromkeys(("omega", "spinrate", "angularvelocity"), ("rate",)),
    **dict.fromkeys(("mu", "frictioncoefficient"), ("friction", "gm")),
    **dict.fromkeys(("cor", "restitutioncoefficient", "bounce"), ("restitution",)),
    **dict.fromkeys(("e",), ("restitution", "eccentricity")),
    **dict.fromkeys(("weight",), ("mass",)),
    **dict.fromkeys(("duration", "tmax", "endtime", "maxtime"), ("max_time", "duration")),
    **dict.fromkeys(("n", "samples", "number", "count"), ("runs", "count")),
}  # fmt: skip


def meant(word: object, allowed: Iterable[str]) -> str:
    """``' Did you mean "impulse"?'`` for a word that people use, or one that is nearly spelt so."""
    if not isinstance(word, str):
        return ""
    names = list(allowed)
    plain = word.lower().replace("-", "").replace("_", "").replace(" ", "")
    for name in WORDS.get(plain, ()):
        if name in names:
            return f' Did you mean "{name}"?'
    return did_you_mean(word, names)
