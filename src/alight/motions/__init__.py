"""What moves, and how: the motions that run under the engine."""
