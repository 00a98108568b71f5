"""What moves, where and when: what pages, films and files for other tools are made from."""

from alight.views.playback.model import Contacts, Part, Playback, Sites, Surface, Track

__all__ = ["Contacts", "Part", "Playback", "Sites", "Surface", "Track"]
