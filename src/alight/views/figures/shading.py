"""Light and colour of the pixels of a picture: kernels of ``solid``."""

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.analysis.depth_buffer import DepthBuffer, DepthData, corner_shares, lit_share
from alight.core import devices
from alight.core.types import scalar, vec3
from alight.shapes.mesh import Mesh

Array = npt.NDArray[np.float64]


@wp.kernel(enable_backward=False)
def _light(
    offset: int,
    seen: DepthData,
    shadow: DepthData,
    faces: wp.array(dtype=wp.int32, ndim=2),
    vertex: wp.array(dtype=vec3),
    vertex_normal: wp.array(dtype=vec3),
    vertex_sky: wp.array(dtype=scalar),
    sun: vec3,
    fill: vec3,
    light_out: wp.array(dtype=vec3),
) -> None:
    """Light of the Sun, of what fills its shadows and of the sky at a pixel."""
    i = wp.tid() + offset
    columns = seen.facet.shape[1]
    row = i // columns
    column = i - row * columns
    facet = seen.facet[row, column]
    found = vec3()
    if facet >= 0:
        share = corner_shares(seen, facet, row, column)
        first = scalar(1.0) - share[0] - share[1]
        a = faces[facet, 0]
        b = faces[facet, 1]
        c = faces[facet, 2]
        mixed = first * vertex_normal[a] + share[0] * vertex_normal[b] + share[1] * vertex_normal[c]
        normal = wp.normalize(mixed)
        sky = first * vertex_sky[a] + share[0] * vertex_sky[b] + share[1] * vertex_sky[c]
        facing = wp.dot(normal, sun)
        if facing > scalar(0.0):
            point = first * vertex[a] + share[0] * vertex[b] + share[1] * vertex[c]
            found[0] = facing * lit_share(shadow, point, normal)
        found[1] = wp.max(wp.dot(normal, fill), scalar(0.0)) * sky
        found[2] = sky
    light_out[i] = found


@wp.func
def _screen(linear: scalar) -> wp.float32:
    """sRGB value for an amount of light (IEC 61966-2-1)."""
    light = wp.clamp(linear, scalar(0.0), scalar(1.0))
    if light <= scalar(0.0031308):
        return wp.float32(scalar(12.92) * light)
    return wp.float32(scalar(1.055) * wp.pow(light, scalar(1.0 / 2.4)) - scalar(0.055))


@wp.kernel(enable_backward=False)
def _paint(
    offset: int,
    seen: DepthData,
    light: wp.array(dtype=vec3),
    strength: vec3,
    faces: wp.array(dtype=wp.int32, ndim=2),
    colour: wp.array(dtype=vec3),
    oversampling: int,
    rgba_out: wp.array(dtype=wp.float32, ndim=3),
) -> None:
    """A pixel from the fine ones in it; beside the body they are clear, and take no part."""
    i = wp.tid() + offset
    columns = rgba_out.shape[1]
    row = i // columns
    column = i - row * columns
    total = vec3()
    count = int(0)
    for m in range(oversampling):
        for n in range(oversampling):
            r = row * oversampling + m
            c = column * oversampling + n
            if r < seen.facet.shape[0] and c < seen.facet.shape[1]:
                facet = seen.facet[r, c]
                if facet >= 0:
                    share = corner_shares(seen, facet, r, c)
                    mixed = (scalar(1.0) - share[0] - share[1]) * colour[faces[facet, 0]]
                    mixed += share[0] * colour[faces[facet, 1]] + share[1] * colour[faces[facet, 2]]
                    total += wp.dot(strength, light[r * seen.facet.shape[1] + c]) * mixed
                    count += 1
    if count > 0:
        for k in range(3):
            rgba_out[row, column, k] = _screen(total[k] / scalar(count))
        part = scalar(count) / scalar(oversampling * oversampling)
        rgba_out[row, column, 3] = wp.float32(part)


def light(
    seen: DepthBuffer, shadow: DepthBuffer, mesh: Mesh, sky: Array, sun: Array, fill: Array
) -> wp.array:
    """For every pixel the light of the Sun, of what fills its shadows, and of the sky."""
    out = wp.empty(seen.depth.size, dtype=vec3, device="cpu")
    given = [_floats(x, vec3) for x in (mesh.vertices, mesh.vertex_normals)]
    inputs = [seen.data, shadow.data, _faces(mesh), *given, _floats(sky, scalar)]
    inputs += [vec3(*sun), vec3(*fill)]
    devices.launch(_light, seen.depth.size, inputs, devices.resolve("cpu"), outputs=[out])
    return out


def paint(
    seen: DepthBuffer,
    light: wp.array,
    strength: tuple[float, float, float],
    mesh: Mesh,
    colours: Array,
    oversampling: int,
) -> npt.NDArray[np.float32]:
    """(rows, columns, 4) screen values of a picture; ``colours`` (n, 3) reflect linear light."""
    rows, columns = (-(-n // oversampling) for n in seen.depth.shape)
    out = wp.zeros((rows, columns, 4), dtype=wp.float32, device="cpu")
    inputs = [seen.data, light, vec3(*strength), _faces(mesh), _floats(colours, vec3), oversampling]
    devices.launch(_paint, rows * columns, inputs, devices.resolve("cpu"), outputs=[out])
    return out.numpy()


def _floats(values: Array, kind: object) -> wp.array:
    return wp.array(np.ascontiguousarray(values), dtype=kind, device="cpu")


def _faces(mesh: Mesh) -> wp.array:
    return wp.array(np.ascontiguousarray(mesh.faces), dtype=wp.int32, device="cpu")
