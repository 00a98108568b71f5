"""Pictures and maps of a body, of its rocks, and of where things lift off."""
