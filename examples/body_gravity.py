"""Gravity, slope and escape speed on the surface of Ryugu, from Python.

Run it with:  python examples/body_gravity.py
"""

import numpy as np

from alight.analysis.surface import examine
from alight.gravity.polyhedron.field import Polyhedron
from alight.scenario import bodies

body = bodies.find("ryugu")
mesh = body.mesh(5120)  # or Mesh.read("my_shape.obj", unit="km", recentre=True)
field = Polyhedron(mesh, gm=body.gm)  # or density=1190.0

# The field at any point: potential U > 0 [m^2/s^2], acceleration [m/s^2], its gradient [1/s^2].
above = [[0.0, 0.0, 600.0], [700.0, 0.0, 0.0]]
potential, acceleration, gradient = field.evaluate(above)
print("600 m up the spin axis and 700 m out on the equator, gravity [µm/s²]:")
print(np.round(1e6 * np.linalg.norm(acceleration, axis=1), 1), "\n")

# The field on every facet, with the spin, and what follows from it.
surface = examine(mesh, field, body.gm, body.spin_vector)
print("[SI units, radians]     least       mean       most")
for name, found in surface.ranges().items():
    print(f"{name:18} {found.least:10.4g} {found.mean:10.4g} {found.most:10.4g}")

flat = np.degrees(surface.slope) < 5.0
print(f"\n{100 * surface.area_fraction(flat):.0f} % of the surface slopes by less than 5 degrees.")
