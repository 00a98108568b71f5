"""The page about a mobility map and its plan."""
