"""The schema of scenario files: a module for each part of a file."""
