"""What articulated landers look like: masses, inertias, and what touches, in their places."""

import numpy as np
import pytest

from alight.shapes import Mesh
from alight.staging.lander_parts import tree_parts
from alight.vehicles import Belly, Joint, Pad, Tree, TreeBody, dcap_lander


def volume_and_inertia(part):
    """Of a closed part of density 1."""
    mesh = Mesh(part.vertices, part.faces)
    return mesh.volume, mesh.inertia(1.0)


def parts_of(bodies, joints, devices=()):
    return tree_parts(Tree("lander", bodies, joints), devices)


def test_a_box_has_the_inertia_of_its_body():
    sides = np.array([0.4, 0.6, 1.0])
    square = sides**2
    body = TreeBody("bus", 12.0, square.sum() - square)
    ((part,), owners) = parts_of([body], [Joint("bus", "free")])
    volume, inertia = volume_and_inertia(part)
    # 12 kg / 12 (b^2 + c^2): its sides are found again, or less of all where it must fit.
    size = np.ptp(part.vertices, axis=0)
    assert size / size[2] == pytest.approx(sides / sides[2])
    assert volume == pytest.approx(size.prod())
    assert inertia / volume == pytest.approx(np.diag((size**2).sum() - size**2) / 12.0)
    assert owners == [0]


def test_a_wheel_is_a_disc_of_its_inertia():
    radius, height, mass = 0.1, 0.04, 2.0
    about = 0.5 * mass * radius**2
    across = mass * (3.0 * radius**2 + height**2) / 12.0
    bodies = [
        TreeBody("bus", 10.0, (1.0, 1.0, 1.0)),
        TreeBody("wheel", mass, (across, about, across)),
    ]
    joints = [
        Joint("bus", "free"),
        Joint("wheel", "revolute", "bus", place=(0.3, 0.0, 0.0), axis=(0.0, 1.0, 0.0)),
    ]
    parts, owners = parts_of(bodies, joints)
    (wheel,) = [p for p, i in zip(parts, owners, strict=True) if i == 1 and p.role == "lander"]
    assert np.ptp(wheel.vertices[:, 1]) == pytest.approx(height)
    assert np.hypot(*wheel.vertices[:, ::2].T).max() == pytest.approx(radius)


def test_what_touches_is_drawn_as_it_touches():
    corners = Belly.box("bus", (1.0, 2.0, 0.5), (0.0, 0.0, 0.1), name="belly")
    pad = Pad("bus", (0.0, 0.0, -0.6), 0.05, "pad")
    body = TreeBody("bus", 10.0, (1.0, 1.0, 1.0))
    parts, _ = parts_of([body], [Joint("bus", "free")], (corners, pad))
    by_role = {part.role: part for part in parts}
    hull = by_role["lander"].vertices
    assert np.ptp(hull, axis=0) == pytest.approx([1.0, 2.0, 0.5])
    away = np.linalg.norm(by_role["pad"].vertices - np.asarray(pad.place), axis=1)
    assert away == pytest.approx(0.05)


def test_the_body_of_dcap_stands_clear_of_its_legs():
    made = dcap_lander()
    parts, owners = tree_parts(made.tree, made.devices)
    assert sorted({part.role for part in parts}) == ["lander", "leg", "pad"]
    body = parts[0]
    assert owners[0] == 0
    assert body.role == "lander"
    joints = np.array([j.place for j in made.tree.joints if str(j.body).startswith("leg")])
    reach = np.linalg.norm(body.vertices, axis=1).max()
    assert 0.3 < reach < np.linalg.norm(joints, axis=1).min()
