"""The report of captures."""
