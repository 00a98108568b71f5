"""The report of landings."""
