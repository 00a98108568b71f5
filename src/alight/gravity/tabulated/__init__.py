"""Fields of polyhedra from tables: how these are filled, kept on disk and read."""
