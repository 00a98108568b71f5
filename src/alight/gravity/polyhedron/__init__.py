"""The exact field of a homogeneous polyhedron."""
