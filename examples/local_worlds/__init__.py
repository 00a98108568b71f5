"""The atlas of paper 000: facets by latitude and longitude, in local worlds.

``python -m examples.local_worlds`` shows one. Landings go by the tree of ``surfaces.Facets``.
"""
