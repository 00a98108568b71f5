"""How a lander's whole hull meets facets and rocks: distances, contacts, overlaps."""
