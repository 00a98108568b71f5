"""The picture of a local world: the ground is that of the facets, rocks stand on it."""

from pathlib import Path

import matplotlib.image
import numpy as np
import pytest

from alight.shapes import icosphere
from alight.surfaces import RockField, Rocks
from alight.views import style
from alight.views.figures.body import local_world
from alight.views.figures.body.local_world import Words, World, draw, piece


@pytest.fixture
def world(monkeypatch):
    """A square of 20 m on a ball of 60 m, drawn coarsely."""
    for name, value in {"CELLS": 40, "PIXELS": 240, "BODY_PIXELS": 80}.items():
        monkeypatch.setattr(local_world, name, value)
    monkeypatch.setattr(style, "DPI", 160)
    mesh = icosphere(3, 60.0)
    up = np.array([0.6, 0.0, 0.8])
    facet = np.argmax((mesh.vertices[mesh.faces].mean(axis=1) / 60.0) @ up)
    place = mesh.vertices[mesh.faces[facet]].mean(axis=0)
    rocks = Rocks(slope=2.5, density=0.02, reference=1.0, smallest=0.5, largest=4.0, seed=3)
    found = RockField(rocks, mesh).near(place, 9.0)
    return World(
        mesh, place, up, 20.0, found.vertices, found.faces, found.ground, found.up, found.size,
        rocks.number, (0.5, 4.0),
    )  # fmt: skip


def test_the_piece_is_ground_sides_and_rocks(world):
    mesh, colours, sides = piece(world)
    assert len(colours) == mesh.n_vertices == len(sides)
    ground = mesh.vertices[: 41 * 41]
    assert np.abs(ground[:, :2]).max() == pytest.approx(10.0)
    # On a ball the ground falls off as the square of the way; facets cut a little below.
    round_ = np.sqrt(60.0**2 - np.sum(ground[:, :2] ** 2, axis=1)) - 60.0
    assert np.abs(ground[:, 2] - ground[:, 2].max() - round_).max() < 0.6
    assert sides.sum() == 8 * 41
    assert mesh.vertices[sides][:, 2].min() < ground[:, 2].min() - 1.0
    # Faces of rocks look out of the ground; those wholly below are left out.
    number = mesh.n_faces - 2 * 40 * 40 - 8 * 40
    assert 0.5 * 20 * len(world.size) < number < 20 * len(world.size)
    top = world.local(world.vertices).max(axis=1)[:, 2]
    below = world.local(world.ground)[:, 2]
    assert (top > below).all()


def test_without_rocks(world):
    bare = World(
        world.mesh, world.place, world.up, world.side, world.vertices[:0], world.faces,
        world.ground[:0], world.normals[:0], world.size[:0], world.law, world.ends,
    )  # fmt: skip
    assert piece(bare)[0].n_faces == 2 * 40 * 40 + 8 * 40


def test_the_figure_is_drawn_and_the_same_again(world, tmp_path):
    words = Words("Ball", "a ball", [("seed", "3")], source="no source")
    files = [tmp_path / "a.png", tmp_path / "b.png"]
    for file in files:
        draw(world, words, file)
    pixels = matplotlib.image.imread(files[0])
    assert pixels.shape[:2] == (1440, 2560)
    assert np.std(pixels[300:1200, 300:1500, :3]) > 0.05
    assert Path(files[0]).read_bytes() == Path(files[1]).read_bytes()
