"""The viewer: playbacks as one offline page, or a part of one, drawn by WebGL in the browser."""

from alight.views.viewer.page import View, fragment, page_text

__all__ = ["View", "fragment", "page_text"]
