"""Campaigns side by side: what differs in their scenarios, and what in their answers."""
