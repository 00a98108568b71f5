"""The atlas: facets by latitude and longitude, in local worlds."""
