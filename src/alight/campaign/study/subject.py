"""What a study is about, in the words of scenarios, as far as its model shows: for reports."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from alight import contact, surfaces
from alight.shapes.mesh import Mesh

#: File of the body within the folder of a campaign.
BODY_FILE = "body.ply"


def subject(model: Any, body: Mesh | str | None, mesh: Mesh | None) -> dict[str, Any]:
    """Sections ``body``, ``ground``, ``lander`` and ``contact``; what is not known is left out."""
    out: dict[str, Any] = {}
    if isinstance(body, str):
        out["body"] = {"name": body}
    elif mesh is not None:
        out["body"] = {"mesh": BODY_FILE, "unit": "m", "sha256": _sum(mesh), "label": "the body"}
    surface = getattr(model, "surface", None)
    if surface is not None:
        out["ground"] = _ground(surface)
        laws = {
            "impulse": contact.Impulse,
            "sliding": contact.Sliding,
            "hertz": contact.Hertz,
        }
        kinds = (word for word, kind in laws.items() if isinstance(model.contact, kind))
        law = next(kinds, "compliant")
        out["contact"] = {"law": law}
    vehicle = getattr(model, "lander", None) or getattr(model, "tree", None)
    if vehicle is not None:
        out["lander"] = {"name": str(vehicle.name)}
    return out


def _ground(surface: Any) -> dict[str, Any]:
    if isinstance(surface, surfaces.Plane):
        return {"kind": "plane", "normal": surface.normal.tolist()}
    if isinstance(surface, surfaces.Patch):
        return {"kind": "patch", "normal": surface.axes[2].tolist()}
    if isinstance(surface, surfaces.Sphere):
        return {"kind": "sphere", "radius": f"{surface.radius!r} m"}
    base = getattr(surface, "base", None)
    return {"kind": type(surface).__name__} if base is None else _ground(base)


def mesh_of(model: Any) -> Mesh | None:
    """The mesh that surface or gravity of a model are made of; None where there is none."""
    for start in (getattr(model, "surface", None), getattr(model, "gravity", None)):
        here = start
        while here is not None:
            if isinstance(getattr(here, "mesh", None), Mesh):
                found: Mesh = here.mesh
                return found
            here = getattr(here, "base", None) or getattr(here, "full", None)
    return None


def _sum(mesh: Mesh) -> str:
    found = hashlib.sha256(np.ascontiguousarray(mesh.vertices).tobytes())
    found.update(np.ascontiguousarray(mesh.faces).tobytes())
    return found.hexdigest()
