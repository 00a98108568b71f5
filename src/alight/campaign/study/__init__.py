"""Studies: campaigns of models made in Python."""
