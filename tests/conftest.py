"""What every test can ask for: the real shape models, when they are at hand."""

import dataclasses
import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shapes_dir() -> pathlib.Path:
    """Folder of real shape models [km]: ``ALIGHT_SHAPES``, or ``shared/shapes`` beside the tree."""
    folder = pathlib.Path(os.environ.get("ALIGHT_SHAPES", ROOT.parent / "shared" / "shapes"))
    if not folder.is_dir():
        pytest.skip(f"no real shape models: set ALIGHT_SHAPES to their folder (looked in {folder})")
    return folder


@pytest.fixture
def paced(monkeypatch):
    """``paced(kind, steps=37, gpu_steps=41)``: models of a kind advance so much at once."""

    def change(kind, gpu_steps=None, **pace):
        own, loop = kind.pace, kind.loop

        def looped(self):
            made = loop(self)
            few = [dataclasses.replace(part, gpu_steps=3 + i) for i, part in enumerate(made.apart)]
            whole = dataclasses.replace(made.whole, gpu_steps=gpu_steps)
            return dataclasses.replace(made, whole=whole, apart=tuple(few))

        monkeypatch.setattr(kind, "pace", lambda self, d: dataclasses.replace(own(self, d), **pace))
        if gpu_steps is not None:
            monkeypatch.setattr(kind, "loop", looped)

    return change
