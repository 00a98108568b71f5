"""Does a mesh bound a solid? Every check, what it found, and what can be done about it.

A mesh passes when its vertices are finite, its facets are proper triangles used once, every edge
joins exactly two facets that wind the same way, the facets around each vertex form one fan, the
surface is one piece and encloses a positive volume. Self-intersection is not looked for.

Elements are counted from 0 in every message, whatever the file counted from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alight.core.errors import MeshError
from alight.shapes.integrity.arrays import BoolArray, FloatArray, IntArray, bounding_diagonal
from alight.shapes.integrity.topology import (
    EdgeTable,
    coincident_groups,
    facet_pieces,
    fans_per_vertex,
    find_edges,
    repeated_facets,
    winding_flips,
)
from alight.shapes.mass import mass_properties

#: A facet is degenerate when its height is below this part of the body's size: its normal would
#: be rounding noise.
FLAT_HEIGHT = 1e-12

#: A solid whose volume is below this part of its size cubed is a folded sheet.
FLAT_VOLUME = 1e-12


@dataclass(frozen=True)
class Check:
    """One thing that is looked at.

    Attributes:
        title: Name in the health table.
        one, many: What is wrong with one element, or with several, for the error message.
        mendable: Whether ``repair=True`` fixes it.
        fatal: Whether a mesh with this fault is refused.
    """

    title: str
    one: str
    many: str
    mendable: bool
    fatal: bool = True


CHECKS = {
    "nonfinite_vertices": Check(
        "finite vertices", "vertex is not finite", "vertices are not finite", False
    ),
    "bad_indices": Check(
        "indices in range",
        "facet names a vertex that does not exist",
        "facets name vertices that do not exist",
        False,
    ),
    "degenerate_facets": Check("proper facets", "facet has no area", "facets have no area", True),
    "repeated_facets": Check(
        "facets used once", "facet repeats an earlier one", "facets repeat an earlier one", True
    ),
    "loose_vertices": Check(
        "vertices in use", "vertex belongs to no facet", "vertices belong to no facet", True
    ),
    "coincident_vertices": Check(
        "distinct vertices",
        "vertex coincides with an earlier one",
        "vertices coincide with an earlier one",
        True,
        fatal=False,
    ),
    "open_edges": Check(
        "closed",
        "open edge with one facet only",
        "open edges with one facet only: the surface has a hole",
        False,
    ),
    "crowded_edges": Check(
        "manifold edges", "edge has more than two facets", "edges have more than two facets", False
    ),
    "pinched_vertices": Check(
        "manifold vertices",
        "vertex joins parts of the surface by a point only",
        "vertices join parts of the surface by a point only",
        False,
    ),
    "one_sided_facets": Check(
        "two-sided",
        "facet belongs to a one-sided surface",
        "facets belong to a one-sided surface",
        False,
    ),
    "flipped_facets": Check(
        "consistent winding",
        "facet winds against its neighbours",
        "facets wind against their neighbours",
        True,
    ),
    "extra_pieces": Check(
        "one piece", "piece lies apart from the first", "pieces lie apart from the first", False
    ),
    "flat": Check("encloses a volume", "surface that encloses no volume", "", False),
    "inside_out": Check("faces outward", "surface that is turned inside out", "", True),
}


@dataclass(frozen=True)
class Finding:
    """What one check found: ``count`` faults, ``None`` if an earlier fault left it no meaning."""

    check: Check
    count: int | None
    first: str = ""

    @property
    def passed(self) -> bool:
        """Whether the check was made and found nothing."""
        return self.count == 0

    @property
    def fatal(self) -> bool:
        """Whether this finding alone refuses the mesh."""
        return bool(self.count) and self.check.fatal

    def __str__(self) -> str:
        if self.count is None:
            return "not examined"
        if self.count == 0:
            return "ok"
        if self.count == 1:
            return f"1 {self.check.one} ({self.first})"
        return f"{self.count} {self.check.many} (first: {self.first})"


@dataclass(frozen=True)
class MeshHealth:
    """The findings of every check, by name, in the order of ``CHECKS``."""

    n_vertices: int
    n_faces: int
    findings: dict[str, Finding]

    def __getitem__(self, name: str) -> Finding:
        return self.findings[name]

    @property
    def ok(self) -> bool:
        """Whether the mesh bounds a solid: every check that can refuse it was made and passed."""
        return all(f.passed for f in self.findings.values() if f.check.fatal)

    @property
    def faults(self) -> list[Finding]:
        """The findings that refuse the mesh."""
        return [f for f in self.findings.values() if f.fatal]

    def table(self) -> list[tuple[str, str]]:
        """(check, verdict) rows for a person to read."""
        return [(f.check.title, str(f)) for f in self.findings.values()]

    def require(self, name: str) -> None:
        """Raise a ``MeshError`` about the mesh called ``name`` unless it bounds a solid."""
        if self.n_faces == 0:
            raise MeshError(f"{name} has no facets; a solid needs at least four.")
        if not self.ok:
            faults = "; ".join(str(f) for f in self.faults)
            raise MeshError(f"{name} does not bound a solid: {faults}. {self._advice()}")

    def _advice(self) -> str:
        if all(f.check.mendable for f in self.faults):
            return "repair=True fixes this."
        if self.findings["coincident_vertices"].count and self.findings["open_edges"].count:
            return (
                f"{self.findings['coincident_vertices']}: repair=True welds them, "
                "which may close the surface."
            )
        return "repair=True cannot fix this: fix the mesh in a mesh editor and read it again."


def inspect(vertices: FloatArray, faces: IntArray, table: EdgeTable | None = None) -> MeshHealth:
    """Look at everything that must hold of a mesh; nothing is raised or changed.

    Args:
        vertices: (n, 3) coordinates [m].
        faces: (m, 3) vertex indices, counted from 0.
        table: ``find_edges(faces)``, where it is already at hand.
    """
    findings = {name: Finding(check, None) for name, check in CHECKS.items()}
    for name, count, first in _examine(vertices, faces, table):
        findings[name] = Finding(CHECKS[name], count, first)
    return MeshHealth(len(vertices), len(faces), findings)


#: (name of the check, how many, which first)
Result = tuple[str, int, str]


def _examine(vertices: FloatArray, faces: IntArray, table: EdgeTable | None) -> Iterator[Result]:
    """Make the checks, each group only where the ones before it leave it a meaning."""
    basics = [_nonfinite(vertices), _bad_indices(vertices, faces)]
    yield from basics
    if any(count for _, count, _ in basics) or len(faces) == 0:
        return
    yield from _elements(vertices, faces)
    table = find_edges(faces) if table is None else table
    edges = [_edges(table, table.counts == 1, "open_edges")]
    edges.append(_edges(table, table.counts > 2, "crowded_edges"))
    yield from edges
    yield _pieces(faces, table)
    winding = _winding(faces, table)
    yield from winding
    if any(count for _, count, _ in edges):
        return
    yield _pinched(vertices, faces, table)
    if not any(count for _, count, _ in winding):
        yield from _volume(vertices, faces)


def _result(name: str, mask: BoolArray, describe: Callable[[int], str]) -> Result:
    """Count ``mask`` and describe its first element."""
    count = int(np.count_nonzero(mask))
    return name, count, describe(int(np.argmax(mask))) if count else ""


def _facet_text(faces: IntArray) -> Callable[[int], str]:
    return lambda i: f"facet {i}, vertices {', '.join(str(v) for v in faces[i])}"


def _vertex_text(vertices: FloatArray) -> Callable[[int], str]:
    return lambda i: f"vertex {i} at {', '.join(f'{x:.6g}' for x in vertices[i])} m"


def _nonfinite(vertices: FloatArray) -> Result:
    bad = np.asarray(~np.isfinite(vertices).all(axis=1))
    return _result("nonfinite_vertices", bad, _vertex_text(vertices))


def _bad_indices(vertices: FloatArray, faces: IntArray) -> Result:
    bad = np.asarray(((faces < 0) | (faces >= len(vertices))).any(axis=1))
    name, count, first = _result("bad_indices", bad, _facet_text(faces))
    return name, count, f"{first}; there are {len(vertices)} vertices" if count else ""


def _elements(vertices: FloatArray, faces: IntArray) -> Iterator[Result]:
    yield _result("degenerate_facets", degenerate_facets(vertices, faces), _facet_text(faces))
    yield _result("repeated_facets", repeated_facets(faces), _facet_text(faces))
    loose = np.ones(len(vertices), dtype=bool)
    loose[faces.ravel()] = False
    yield _result("loose_vertices", loose, _vertex_text(vertices))
    _, leader = coincident_groups(vertices)
    later = leader != np.arange(len(vertices))
    yield _result("coincident_vertices", later, _vertex_text(vertices))


def degenerate_facets(vertices: FloatArray, faces: IntArray) -> BoolArray:
    """Facets that name a vertex twice or whose height vanishes beside the body's size."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    longest = np.zeros(len(faces))
    for edge in (b - a, c - b, a - c):
        np.maximum(longest, np.einsum("ij,ij->i", edge, edge), out=longest)
    longest = np.sqrt(longest)
    twice_area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    flat = twice_area <= FLAT_HEIGHT * bounding_diagonal(vertices) * longest
    repeats = (faces == faces[:, [1, 2, 0]]).any(axis=1)
    return flat | repeats


def _edges(table: EdgeTable, bad: BoolArray, name: str) -> Result:
    def describe(i: int) -> str:
        low, high = table.edges[i]
        facet = int(table.half_edges[table.starts[i]]) // 3
        return f"edge {low}-{high} of facet {facet}"

    return _result(name, bad, describe)


def _pieces(faces: IntArray, table: EdgeTable) -> Result:
    count, label = facet_pieces(table, len(faces))
    return "extra_pieces", count - 1, _pieces_text(label) if count > 1 else ""


def _pieces_text(label: IntArray) -> str:
    sizes = np.bincount(label)
    start = int(np.argmax(label != label[0]))
    return f"the piece of facet {start}; facets per piece: {_shortened(np.sort(sizes)[::-1])}"


def _shortened(sizes: npt.NDArray[np.int64]) -> str:
    shown = ", ".join(str(s) for s in sizes[:4])
    return shown + (", ..." if len(sizes) > 4 else "")


def _winding(faces: IntArray, table: EdgeTable) -> list[Result]:
    one, other = table.pairs()
    if not (table.forward[one] == table.forward[other]).any():
        return [("one_sided_facets", 0, ""), ("flipped_facets", 0, "")]
    flips, one_sided = winding_flips(table, len(faces))
    return [
        _result("one_sided_facets", one_sided, _facet_text(faces)),
        _result("flipped_facets", flips, _facet_text(faces)),
    ]


def _pinched(vertices: FloatArray, faces: IntArray, table: EdgeTable) -> Result:
    fans = fans_per_vertex(faces, table, len(vertices))
    return _result("pinched_vertices", fans > 1, _vertex_text(vertices))


def _volume(vertices: FloatArray, faces: IntArray) -> Iterator[Result]:
    volume = mass_properties(vertices, faces).volume
    text = f"volume {volume:.6g} m^3"
    flat = abs(volume) <= FLAT_VOLUME * bounding_diagonal(vertices) ** 3
    yield "flat", int(flat), text if flat else ""
    inward = not flat and volume < 0.0
    yield "inside_out", int(inward), text if inward else ""
