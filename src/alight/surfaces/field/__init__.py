"""The distance field: how it is built, read, bounded and kept on disk."""
