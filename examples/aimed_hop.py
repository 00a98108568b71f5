"""A hop that is aimed: the push-offs that lead from one place on a body to another."""

import math

import alight

SCENARIO = """
[body]
name = "bennu"
[gravity]
law = "point-mass"
[ground]
kind = "sphere"
[lander]
shape = "sphere"
diameter = "30 cm"
mass = "2 kg"
[release]
kind = "ground"
latitude = "0 deg"
longitude = "0 deg"
[contact]
restitution = 0.4
"""


def main() -> None:
    """Aim from the equator to a place 40 m off, and print each hop."""
    given = alight.scenario.loads(SCENARIO)
    found = alight.aim(given, (0.0, 0.0), (math.radians(5.0), math.radians(8.0)))
    print(f"{found.distance:.1f} m in one hop")
    for hop in found.hops:
        long, short = hop.ellipse((0.01 * hop.speed, 0.02, 0.02)).semi_axes
        print(
            f"{hop.name:<12} {100.0 * hop.speed:5.2f} cm/s, "
            f"azimuth {math.degrees(hop.azimuth):5.1f} deg, "
            f"elevation {math.degrees(hop.elevation):4.1f} deg, {hop.time / 60.0:5.1f} min, "
            f"ellipse {long:.2f} x {short:.2f} m, miss {1000.0 * hop.miss:.2f} mm"
        )


if __name__ == "__main__":
    main()
