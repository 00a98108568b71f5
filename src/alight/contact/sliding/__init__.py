"""A point that slides on a smooth surface: the law as users give it, and its kernel."""
