"""Descriptions in the JSON schema: meaning, unit and default of every key, for editors."""

from __future__ import annotations

import functools
import tomllib
from importlib import resources
from typing import Any

#: The entries that serve sections without one of their own.
ANY = "any"


@functools.cache
def meanings() -> dict[str, dict[str, str]]:
    """What keys mean, by section and key."""
    text = resources.files("alight.scenario.schema").joinpath("meanings.toml").read_text("utf-8")
    return tomllib.loads(text)


def describe(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with a description of every property."""
    for name, section in {**schema["$defs"], "TOP": schema}.items():
        for key, told in section.get("properties", {}).items():
            meaning = meaning_of(name, key)
            if meaning:
                told["description"] = _sentence(meaning, told.get("description", ""))
            # Defaults are told in the words of files; pydantic has them as numbers in SI units.
            told.pop("default", None)
    return schema


def meaning_of(section: str, key: str) -> str:
    """What a key of a section means; "" where nobody says, as of keys of other packages."""
    known = meanings()
    homes = sorted((n for n in known if section.startswith(n)), key=len, reverse=True)
    return next((known[home][key] for home in (*homes, ANY) if key in known[home]), "")


def _sentence(meaning: str, kind: str) -> str:
    """``Height above the ground (length at least 0 m). Default: 60 m.``"""
    what, _, default = meaning.partition(" | ")
    unit = f" ({kind})" if kind and kind not in what else ""
    return f"{what}{unit}." + (f" Default: {default}." if default else "")
