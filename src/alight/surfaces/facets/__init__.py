"""The triangles of a mesh as a surface: trees over them, and exact distances."""
