"""Local worlds on comet 67P: one of them, and that it answers as all facets do."""

import numpy as np
from examples.local_worlds.atlas import Atlas

from alight.scenario import bodies
from alight.surfaces import Facets


def main() -> None:
    """Points 1 cm over the ground, by their local worlds and by the tree over all facets."""
    mesh = bodies.find("67P").mesh(20_000)
    atlas = Atlas(mesh, cells=16)
    centre = mesh.vertices[mesh.faces].mean(axis=1)
    points = (centre + 0.01 * mesh.face_normals)[::40]
    world = atlas.world(points[0])
    print(
        f"{atlas.count} local worlds of {mesh.n_faces} facets; that of {points[0].round(1)} m, "
        f"chart {world.chart}, has {len(world.facets)} within {world.radius:.0f} m"
    )
    found = atlas.nearest(points)
    apart = np.abs(found.distance - Facets(mesh).query(points)[0]).max()
    print(f"{len(points)} distances differ from those of all facets by {apart:.1g} m at most")


if __name__ == "__main__":
    main()
