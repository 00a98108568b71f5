"""Kinds of joints, for trees and for scenario files, which do without Warp."""

#: By name: their code, and the numbers of a configuration and of a velocity.
KINDS = {
    "fixed": (0, 0, 0),
    "revolute": (1, 1, 1),
    "prismatic": (2, 1, 1),
    "spherical": (3, 4, 3),
    "free": (4, 7, 6),
}
