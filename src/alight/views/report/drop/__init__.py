"""The report of drops on a membrane."""
