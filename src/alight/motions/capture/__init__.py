"""The capture of an asteroid with a membrane."""
