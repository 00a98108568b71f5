"""Tools of those who work on Alight: slow studies, what a change touches, mutants."""
