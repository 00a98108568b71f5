"""Lines, dots and text over a picture: what is behind the ground is left faint.

Lines are runs of points, each a soft dot no farther than a pixel from the next: every one is
compared with the depth of the picture, so a path disappears behind a hill where it should.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.core.checks import Array
from alight.core.text import printable
from alight.views.render.lens import Lens

Bytes = npt.NDArray[np.uint8]
Colour = tuple[float, float, float]
#: Text, its size, whether it is bold, and its colour.
Line = tuple[str, float, bool, Colour]

#: How much of a line shows where the ground hides it.
FAINT = 0.16

#: A point counts as seen if it is no farther behind the surface than this part of its distance.
BEHIND = 2e-3


class Canvas:
    """A picture that is drawn on."""

    def __init__(self, picture: Bytes, depth: npt.NDArray[np.float32], lens: Lens) -> None:
        self.picture = np.array(picture)
        self._depth, self._lens = depth, lens

    @property
    def scale(self) -> float:
        """Widths are given for pictures 720 pixels high."""
        return self.picture.shape[0] / 720.0

    def path(self, points: Array, colour: Colour, width: float, alpha: Array | float = 1.0) -> None:
        """A line through points in space [m]; ``alpha`` at each point."""
        if len(points) < 2:
            return
        flat, distance = self._lens.project(points)
        opacity = np.broadcast_to(alpha, len(points))
        self._dots(*_resampled(flat, distance, opacity), colour, width)

    def dots(self, points: Array, colour: Colour, width: float, alpha: float = 1.0) -> None:
        """Round marks at points in space [m]."""
        if len(points):
            flat, distance = self._lens.project(points)
            self._dots(flat, distance, np.full(len(flat), alpha), colour, width)

    def ring(self, point: Array, colour: Colour, radius: float, width: float = 1.6) -> None:
        """A circle about a point in space, ``radius`` pixels wide, drawn in front of all."""
        flat, _ = self._lens.project(point)
        angle = np.linspace(0.0, 2.0 * np.pi, max(16, int(8 * radius * self.scale)))
        r = radius * self.scale
        around = flat + r * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        self._dots(around, np.zeros(len(angle)), np.full(len(angle), 0.9), colour, width)

    def sky(self, directions: Array, brightness: Array) -> None:
        """Stars where nothing else is."""
        far = self._lens.eye + 1e9 * directions
        flat, _ = self._lens.project(far)
        inside = _inside(flat, self.picture.shape)
        column, row = flat[inside].astype(int).T
        clear = self._depth[row, column] > 1e29
        value = 255.0 * brightness[inside][clear]
        where = self.picture[row[clear], column[clear]]
        self.picture[row[clear], column[clear]] = np.maximum(where, value[:, None]).astype(np.uint8)

    def _dots(
        self, flat: Array, distance: Array, alpha: Array, colour: Colour, wide: float
    ) -> None:
        """Soft dots, blended once wherever they overlap."""
        inside = _inside(flat, self.picture.shape)
        flat, distance, alpha = flat[inside], distance[inside], alpha[inside].copy()
        if not len(flat):
            return
        column, row = flat.astype(int).T
        hidden = distance > self._depth[row, column] * (1.0 + BEHIND)
        alpha[hidden] *= FAINT
        radius = 0.5 * max(1.0, wide * self.scale)
        reach = int(np.ceil(radius)) + 1
        step = np.arange(-reach, reach + 1)
        x, y = (g.ravel() for g in np.meshgrid(step, step))
        columns, rows = column[:, None] + x, row[:, None] + y
        away = np.hypot(columns + 0.5 - flat[:, :1], rows + 0.5 - flat[:, 1:])
        cover = np.clip(radius + 0.5 - away, 0.0, 1.0) * alpha[:, None]
        height, across = self.picture.shape[:2]
        valid = (cover > 0.0) & (columns >= 0) & (columns < across) & (rows >= 0) & (rows < height)
        index = (rows * across + columns)[valid]
        touched, place = np.unique(index, return_inverse=True)
        most = np.zeros(len(touched))
        np.maximum.at(most, place, cover[valid])
        pixels = self.picture.reshape(-1, 3)
        blended = pixels[touched] * (1.0 - most[:, None]) + 255.0 * np.outer(most, colour)
        pixels[touched] = (blended + 0.5).astype(np.uint8)


def _inside(flat: Array, shape: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    with np.errstate(invalid="ignore"):
        found = (flat >= 0.0).all(axis=-1) & (flat[..., 0] < shape[1]) & (flat[..., 1] < shape[0])
    return np.asarray(found)


def _resampled(flat: Array, distance: Array, alpha: Array) -> tuple[Array, Array, Array]:
    """Points along a line, no more than a pixel apart; parts far outside stay coarse."""
    known = np.isfinite(flat).all(axis=1)
    flat, distance, alpha = flat[known], distance[known], alpha[known]
    if len(flat) < 2:
        return flat, distance, alpha
    step = np.linalg.norm(np.diff(flat, axis=0), axis=1)
    count = np.clip(np.ceil(step), 1, 4000).astype(int)
    at = np.concatenate([[0.0], np.cumsum(count)])
    wanted = np.arange(int(at[-1]) + 1)
    x, y = (np.interp(wanted, at, flat[:, k]) for k in range(2))
    # Distances are inverse along a line of the picture: what is half way is nearer than the mean.
    near = 1.0 / np.interp(wanted, at, 1.0 / np.maximum(distance, 1e-12))
    return np.stack([x, y], axis=1), near, np.interp(wanted, at, alpha)


# -- text ---------------------------------------------------------------------------------------


def plain(text: str) -> str:
    """Text of others in one line: control characters are written out, nothing is markup."""
    return printable(" ".join(str(text).split()))


@functools.lru_cache(maxsize=16)
def font(size: int, bold: bool) -> Any:
    """The typeface of all figures."""
    from matplotlib import font_manager
    from PIL import ImageFont

    weight = "bold" if bold else "normal"
    file = font_manager.findfont(font_manager.FontProperties(family="DejaVu Sans", weight=weight))
    return ImageFont.truetype(file, size)


def darkened(picture: Bytes, top: bool, part: float = 0.17) -> Bytes:
    """A picture that fades at an edge, so that text on it can be read over bright ground."""
    rows = max(1, round(part * picture.shape[0]))
    ramp = np.linspace(0.3, 1.0, rows)[:, None, None]
    out = picture.copy()
    edge = slice(0, rows) if top else slice(picture.shape[0] - rows, None)
    out[edge] = (out[edge] * (ramp if top else ramp[::-1])).astype(np.uint8)
    return out


def write(picture: Bytes, lines: list[Line], corner: str, margin: float = 26.0) -> Bytes:
    """Lines of text, (text, size, bold, colour), at a corner: "top left", "bottom right", ..."""
    from PIL import Image, ImageDraw

    scale = picture.shape[0] / 720.0
    image = Image.fromarray(picture)
    draw = ImageDraw.Draw(image)
    edge = margin * scale
    top, left = corner.startswith("top"), corner.endswith("left")
    y = edge if top else image.height - edge - sum(1.32 * s * scale for _, s, _, _ in lines)
    for text, size, bold, colour in lines:
        face = font(max(7, round(size * scale)), bold)
        shown = _fitted(plain(text), face, image.width - 2.0 * edge)
        x = edge if left else image.width - edge - face.getlength(shown)
        ink = tuple(round(255.0 * c) for c in colour)
        stroke = max(1, round(1.4 * scale))
        draw.text((x, y), shown, font=face, fill=ink, stroke_width=stroke, stroke_fill=(8, 9, 12))
        y += 1.32 * size * scale
    return np.asarray(image)


def _fitted(text: str, face: Any, width: float) -> str:
    """Text that is no wider than ``width`` pixels, with an ellipsis where it was cut."""
    if face.getlength(text) <= width:
        return text
    low, high = 0, len(text)
    while low < high:
        half = (low + high + 1) // 2
        if face.getlength(text[:half] + "…") <= width:
            low = half
        else:
            high = half - 1
    return text[:low] + "…"
