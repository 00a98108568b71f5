"""A body on a membrane."""
