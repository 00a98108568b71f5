"""What every test can ask for: the real shape models, when they are at hand."""

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
