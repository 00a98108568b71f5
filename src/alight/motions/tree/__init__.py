"""Articulated landers: trees of bodies and joints."""
