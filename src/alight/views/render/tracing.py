"""Kernels of the ray tracer: what a ray meets, how much light falls there, what a pixel shows.

Arithmetic is in single precision, about an origin that a scene chooses where it is looked at
closely: trees of facets are Warp's, which has them in single precision alone. A picture of a body
a kilometre across is right to 0.1 mm; nothing here is fed back into a simulation.
"""

import warp as wp

from alight.core import warp_setup

# Compiled quickly at first; films, which trace rays for minutes, have it compiled in full.
wp.set_module_options({"enable_backward": False, **warp_setup.POINT_OPTIONS})


@wp.struct
class World:
    """What can be seen: things, each a part at a pose, found by a tree of their boxes."""

    tree: wp.uint64
    part: wp.array(dtype=wp.int32)
    """(things,) its part."""
    place: wp.array(dtype=wp.vec3)
    turn: wp.array(dtype=wp.quat)
    """(things,) from axes of the part to those of the scene."""
    mesh: wp.array(dtype=wp.uint64)
    """(parts,) facets and their tree."""
    first: wp.array(dtype=wp.int32)
    """(parts,) number of its first facet among all."""
    lunar: wp.array(dtype=wp.float32)
    """(parts,) weight of Lommel and Seeliger's law against Lambert's."""
    corner: wp.array(dtype=wp.vec3i)
    """(facets,) vertices, counted through all parts."""
    vertex: wp.array(dtype=wp.vec3)
    normal: wp.array(dtype=wp.vec3)
    sky: wp.array(dtype=wp.float32)
    """(vertices,) open part of the sky."""
    grain: wp.array(dtype=wp.float32)
    """(parts,) slopes of a fine roughness that is drawn for scale alone."""
    hole: wp.int32
    """Thing that is not there inside a prism, where another stands for it; -1 for none."""
    middle: wp.vec3
    prism: wp.mat33
    """Rows: axes of the prism, each divided by half its side."""
    lift: wp.float32
    """Shadow rays begin so far above the ground [m]."""


@wp.struct
class Lens:
    """Where rays begin, and their directions."""

    eye: wp.vec3
    right: wp.vec3
    up: wp.vec3
    ahead: wp.vec3
    left: wp.float32
    top: wp.float32
    """Upper left corner of the picture: [m], or tangents of angles where lines converge."""
    pixel: wp.float32
    columns: wp.int32
    parallel: wp.int32


@wp.struct
class Lamps:
    """The Sun and a weak light that fills its shadows."""

    sun: wp.vec3
    aside: wp.vec3
    """Perpendicular to the Sun's direction, as long as the Sun's radius is wide [rad]."""
    over: wp.vec3
    rays: wp.int32
    """Over the disc of the Sun."""
    fill: wp.vec3


@wp.struct
class Met:
    """Where a ray ends."""

    thing: wp.int32
    facet: wp.int32
    u: wp.float32
    v: wp.float32
    t: wp.float32


@wp.struct
class Samples:
    """What was found along rays; ``grid`` squared of them to a pixel."""

    grid: wp.int32
    pixel: wp.array(dtype=wp.int32)
    """Which pixels; none for all of them."""
    thing: wp.array(dtype=wp.int32)
    facet: wp.array(dtype=wp.int32)
    share: wp.array(dtype=wp.vec2)
    """Of the first and second corner."""
    depth: wp.array(dtype=wp.float32)
    light: wp.array(dtype=wp.vec3)
    """Of the Sun, of what fills its shadows, and of the sky."""


@wp.func
def _struck(world: World, thing: int, start: wp.vec3, way: wp.vec3, far: float) -> Met:
    """Where a ray first meets a thing, its hole left out, no farther than ``far``."""
    found = Met()
    found.thing = -1
    part = world.part[thing]
    turn = world.turn[thing]
    begin = wp.quat_rotate_inv(turn, start - world.place[thing])
    toward = wp.quat_rotate_inv(turn, way)
    passed = float(0.0)
    for _ in range(8):  # a ray passes through few facets of a hole
        hit = wp.mesh_query_ray(world.mesh[part], begin + passed * toward, toward, far - passed)
        if not hit.result:
            return found
        t = passed + hit.t
        inside = False
        if thing == world.hole:
            at = world.prism * (start + t * way - world.middle)
            inside = wp.max(wp.abs(at)) < 1.0
        if not inside:
            found.thing = thing
            found.facet = world.first[part] + hit.face
            found.u = hit.u
            found.v = hit.v
            found.t = t
            return found
        passed = t * 1.000001 + world.lift
    return found


@wp.func
def _nearest(world: World, start: wp.vec3, way: wp.vec3) -> Met:
    found = Met()
    found.thing = -1
    found.t = float(1.0e30)
    thing = int(0)
    query = wp.bvh_query_ray(world.tree, start, way)
    while wp.bvh_query_next(query, thing):
        met = _struck(world, thing, start, way, found.t)
        if met.thing >= 0:
            found = met
    return found


@wp.func
def _hidden(world: World, start: wp.vec3, way: wp.vec3) -> bool:
    thing = int(0)
    query = wp.bvh_query_ray(world.tree, start, way)
    while wp.bvh_query_next(query, thing):
        turn = world.turn[thing]
        begin = wp.quat_rotate_inv(turn, start - world.place[thing])
        toward = wp.quat_rotate_inv(turn, way)
        part = world.part[thing]
        if wp.mesh_query_ray_anyhit(world.mesh[part], begin, toward, float(1.0e30)):
            if thing != world.hole:
                return True
            if _struck(world, thing, start, way, float(1.0e30)).thing >= 0:
                return True
    return False


@wp.func
def _sunlight(world: World, lamps: Lamps, start: wp.vec3) -> float:
    """Part of the Sun's disc that a point sees: rays to points of a golden spiral on it."""
    seen = float(0.0)
    for k in range(lamps.rays):
        r = wp.sqrt((float(k) + 0.5) / float(lamps.rays))
        a = 2.39996323 * float(k)
        way = lamps.sun
        if lamps.rays > 1:
            way = wp.normalize(way + r * (wp.cos(a) * lamps.aside + wp.sin(a) * lamps.over))
        if not _hidden(world, start, way):
            seen += 1.0
    return seen / float(lamps.rays)


@wp.func
def _above(p: wp.vec3, corner: wp.vec3, normal: wp.vec3) -> wp.vec3:
    """How far a point of a facet lies beneath the plane that touches the round surface there."""
    return wp.min(wp.dot(p - corner, normal), 0.0) * normal


@wp.func
def _roughness(at: wp.vec3, toward: wp.vec3, wide: float) -> float:
    """Slope along a direction of three octaves of noise, the finest some pixels wide: as the viewer
    comes nearer, finer ones appear."""
    seed = wp.rand_init(7)
    level = wp.log2(5.0 * wide)
    finest = wp.floor(level)
    slope = float(0.0)
    for k in range(3):
        wave = wp.pow(2.0, finest + float(k))
        part = float(1.0)
        if k == 0:
            part = finest + 1.0 - level
        if k == 2:
            part = level - finest
        q = at / wave
        slope += part * (wp.noise(seed, q + 0.3 * toward) - wp.noise(seed, q)) / 0.3
    return slope


@wp.func
def _light(world: World, lamps: Lamps, met: Met, way: wp.vec3, wide: float) -> wp.vec3:
    """Light where a ray ends; the Sun's by the lunar-Lambert law (McEwen 1991): a share k of
    Lommel and Seeliger's 2 m / (m + e) and 1 - k of Lambert's m, with the cosines m of the Sun and
    e of the viewer."""
    corner = world.corner[met.facet]
    w = 1.0 - met.u - met.v
    turn = world.turn[met.thing]
    n0 = world.normal[corner[0]]
    n1 = world.normal[corner[1]]
    n2 = world.normal[corner[2]]
    sky = met.u * world.sky[corner[0]] + met.v * world.sky[corner[1]] + w * world.sky[corner[2]]
    p0 = world.vertex[corner[0]]
    p1 = world.vertex[corner[1]]
    p2 = world.vertex[corner[2]]
    p = met.u * p0 + met.v * p1 + w * p2
    # Facets stand for a round surface: where shadows begin, on it (Hanika 2021), no facet is seen.
    p = p - met.u * _above(p, p0, n0) - met.v * _above(p, p1, n1) - w * _above(p, p2, n2)
    normal = wp.quat_rotate(turn, wp.normalize(met.u * n0 + met.v * n1 + w * n2))
    flat = wp.quat_rotate(turn, wp.normalize(wp.cross(p1 - p0, p2 - p0)))
    if wp.dot(flat, way) > 0.0:  # a sheet seen from behind
        normal = -normal
        flat = -flat
    found = wp.vec3(0.0, wp.max(wp.dot(normal, lamps.fill), 0.0) * sky, sky)
    m = wp.dot(normal, lamps.sun)
    grain = world.grain[world.part[met.thing]]
    if grain > 0.0:
        at = world.place[met.thing] + wp.quat_rotate(turn, p)
        m -= grain * _roughness(at, lamps.sun - m * normal, wide) * wp.min(m, 0.5)
    if m > 0.0:
        seen = wp.max(-wp.dot(normal, way), 0.02)
        k = world.lunar[world.part[met.thing]]
        begin = world.place[met.thing] + wp.quat_rotate(turn, p)
        begin += (world.lift + 2.0e-5 * met.t) * flat
        found[0] = m * (2.0 * k / (m + seen) + 1.0 - k) * _sunlight(world, lamps, begin)
    return found


@wp.kernel(enable_backward=False)
def trace(offset: int, world: World, lens: Lens, lamps: Lamps, out: Samples) -> None:
    """One ray, and what it finds."""
    i = wp.tid() + offset
    each = out.grid * out.grid
    k = i // each
    sub = i - k * each
    pixel = k
    if out.pixel.shape[0] > 0:
        pixel = out.pixel[k]
    row = pixel // lens.columns
    column = pixel - row * lens.columns
    a = float(sub % out.grid) + 0.5
    b = float(sub // out.grid) + 0.5
    x = lens.left + lens.pixel * (float(column) + a / float(out.grid))
    y = lens.top - lens.pixel * (float(row) + b / float(out.grid))
    start = lens.eye
    way = lens.ahead
    if lens.parallel == 1:
        start = start + x * lens.right + y * lens.up
    else:
        way = wp.normalize(way + x * lens.right + y * lens.up)
    met = _nearest(world, start, way)
    out.thing[i] = met.thing
    out.depth[i] = met.t
    if met.thing >= 0:
        out.facet[i] = met.facet
        out.share[i] = wp.vec2(met.u, met.v)
        wide = lens.pixel
        if lens.parallel == 0:
            wide = lens.pixel * met.t
        out.light[i] = _light(world, lamps, met, way, wide)


@wp.kernel(enable_backward=False)
def paint(
    offset: int,
    world: World,
    given: Samples,
    strength: wp.vec3,
    colour: wp.array(dtype=wp.vec3),
    tint: wp.array(dtype=wp.vec3),
    rgba_out: wp.array(dtype=wp.vec4),
) -> None:
    """A pixel from its rays: mean linear light of those that met something, and their part."""
    k = wp.tid() + offset
    each = given.grid * given.grid
    total = wp.vec3(0.0)
    count = float(0.0)
    for sub in range(each):
        i = k * each + sub
        thing = given.thing[i]
        if thing >= 0:
            corner = world.corner[given.facet[i]]
            s = given.share[i]
            mixed = s[0] * colour[corner[0]] + s[1] * colour[corner[1]]
            mixed += (1.0 - s[0] - s[1]) * colour[corner[2]]
            total += wp.dot(strength, given.light[i]) * wp.cw_mul(mixed, tint[thing])
            count += 1.0
    pixel = k
    if given.pixel.shape[0] > 0:
        pixel = given.pixel[k]
    total = total / wp.max(count, 1.0)
    rgba_out[pixel] = wp.vec4(total[0], total[1], total[2], count / float(each))


@wp.func
def _screen(light: float) -> wp.uint8:
    """sRGB value for an amount of light (IEC 61966-2-1), of 255."""
    x = wp.clamp(light, 0.0, 1.0)
    value = 12.92 * x
    if x > 0.0031308:
        value = 1.055 * wp.pow(x, 1.0 / 2.4) - 0.055
    return wp.uint8(255.0 * value + 0.5)


@wp.kernel(enable_backward=False)
def show(
    offset: int,
    rgba: wp.array(dtype=wp.vec4),
    behind: wp.vec3,
    rgb_out: wp.array(dtype=wp.uint8, ndim=2),
) -> None:
    """Bytes for a screen, with a colour behind what is seen."""
    i = wp.tid() + offset
    for k in range(3):
        rgb_out[i, k] = _screen(rgba[i][3] * rgba[i][k] + (1.0 - rgba[i][3]) * behind[k])
