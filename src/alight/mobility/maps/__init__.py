"""Mobility maps: hops from every cell by every command, plans over them, and plans flown."""
