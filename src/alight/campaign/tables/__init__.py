"""Columns of a campaign's tables, and how results fill them."""
