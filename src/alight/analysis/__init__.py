"""What a body or a stored result says: pure functions from arrays to arrays and tables."""
