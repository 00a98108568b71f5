"""Runs and campaigns as files for other tools."""
