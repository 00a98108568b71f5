"""What every test can ask for: real shape models, when they are at hand, and a small scenario."""

import dataclasses
import os
import pathlib

import pytest

# Tests compile two hundred kernels and run most of them for moments. Bits are the same either way.
os.environ.setdefault("ALIGHT_COMPILER", "quick")

from alight.core import garbage
from alight.scenario import toml_text

ROOT = pathlib.Path(__file__).resolve().parent.parent

# As the command line does: with Python's own numbers a tenth of the suite's time goes there.
garbage.look_less_often()


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


#: A cube that falls on a plane and lands in milliseconds.
CUBE = {
    "seed": 5,
    "gravity": {"law": "uniform", "acceleration": ["0 m/s^2", "0 m/s^2", "-5.7e-3 m/s^2"]},
    "ground": {"kind": "plane"},
    "lander": {"shape": "cube", "side": "20 cm", "mass": "1 kg"},
    "release": {"position": ["0 m", "0 m", "0.5 m"]},
    "contact": {"restitution": 0.5},
    "stop": {"max_time": "150 s"},
    "dispersions": {"release.attitude": {"kind": "orientation"}},
    "campaign": {"runs": 4, "shard": 2},
}


@pytest.fixture(scope="session")
def cube_drop():
    """``cube_drop(stop={"max_time": "1 s"})``: the text of a scenario, some of it changed; None
    takes a table away."""

    def text(**changes):
        table = dict(CUBE)
        for name, value in changes.items():
            table[name] = {**CUBE.get(name, {}), **value} if isinstance(value, dict) else value
        return toml_text.dumps({name: v for name, v in table.items() if v is not None})

    return text
