"""Physical constants, each with its unit and its source."""

import math

#: Newton's constant of gravitation [m^3 kg^-1 s^-2] (CODATA 2018).
G = 6.6743e-11

#: Gravitational parameter of the Sun [m^3 s^-2] (JPL DE440).
GM_SUN = 1.3271244004127942e20

#: Gravitational parameter of Mars without its moons [m^3 s^-2] (JPL DE440).
GM_MARS = 4.282837362069909e13

#: Astronomical unit [m] (IAU 2012 Resolution B2, exact).
AU = 149_597_870_700.0

#: Speed of light in vacuum [m/s] (SI, exact).
SPEED_OF_LIGHT = 299_792_458.0

#: Nominal total solar irradiance at 1 AU [W/m^2] (IAU 2015 Resolution B3).
SOLAR_FLUX = 1361.0

#: Obliquity of the ecliptic at J2000 [rad] (84381.448 arc seconds, IAU 1976).
OBLIQUITY = math.radians(84381.448 / 3600.0)

#: Largest eccentricity of an orbit here: up to it Kepler's equation is solved to rounding.
MOST_ECCENTRIC = 0.99

#: Hour [s].
HOUR = 3600.0

#: Day [s].
DAY = 86_400.0
