"""Contact by springs: the law as users give it, its parameters, and its two schemes."""
