"""Articulated landers: trees of rigid bodies and joints, and their dynamics in O(n)."""
