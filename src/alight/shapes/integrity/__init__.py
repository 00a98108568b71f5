"""Is a mesh the boundary of a solid: checks, topology, repair."""
