"""[[manoeuvre]] of articulated landers, and of plans that are followed: what goes with what."""

import pathlib

import numpy as np
import pytest

from alight.actuators import Hop, Manoeuvre, Motor, Pulse, SpinAndBrake, Upright, UprightByJoints
from alight.core.errors import AlightError, InputError
from alight.scenario import load, loads, prepare

SHIPPED = pathlib.Path(__file__).resolve().parents[4] / "scenarios" / "idefix_drop_phobos.toml"
FLAT = """
[gravity]
law = "uniform"
acceleration = ["0 m/s^2", "0 m/s^2", "-1e-3 m/s^2"]
[ground]
kind = "plane"
[lander]
{lander}
[release]
position = ["0 m", "0 m", "1 m"]
[contact]
{contact}
"""
TREE = FLAT.format(
    lander='name = "idefix"', contact='law = "hertz"\nstiffness = "2e4 N/m^1.5"\nfriction = 0.6'
)
POINT = FLAT.format(lander='shape = "point"\nmass = "1 kg"', contact="restitution = 0.3")


def entry(**keys):
    """A table of the list."""
    return "\n[[manoeuvre]]\n" + "\n".join(f"{key} = {value}" for key, value in keys.items())


UPRIGHT = entry(
    command='"upright"', actuators='["front-left"]', levels="[1.0]", duration='"5 s"',
    tilt='"20 deg"',
)  # fmt: skip


def test_idefix_rights_itself_by_its_motors():
    model = prepare(loads(TREE + UPRIGHT)).nominal().model
    (one,) = model.manoeuvres
    assert one.command == UprightByJoints({"front-left": 1.0}, 5.0, np.radians(20.0))
    assert model.tree.mass == pytest.approx(25.0)
    assert {"end_tilt", "upright"} <= {column.name for column in model.columns.runs}
    assert model.columns.hops
    prepared = prepare(loads(TREE))
    assert "end_tilt" not in {column.name for column in prepared.nominal().model.columns.runs}
    # Its legs are stowed at the release.
    assert prepared.nominal().release.q[0, 7:] == pytest.approx(np.pi / 2)


def test_the_shipped_scenario_says_what_it_does():
    model = prepare(load(SHIPPED)).nominal().model
    assert len(model.tour.rows) == 6
    assert model.tour.upright == pytest.approx(np.radians(30.0))


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("has pulse and upright", TREE + entry(command='"hop"', speed='"1 m/s"')),
        ("has pulse and upright", TREE + entry(command='"policy"', plan='"p"')),
        ("margin: goes with rigid landers", TREE + UPRIGHT + "\nmargin = 1.5"),
        ("duration: is missing", TREE + UPRIGHT.replace('duration = "5 s"', "")),
        ("gives motor", TREE + UPRIGHT.replace("[1.0]", "[1.5]")),
        ('Did you mean "front-left"', TREE + UPRIGHT.replace("front-left", "front-lef")),
        ("a rigid one gets upright by its wheels", POINT + UPRIGHT),
        ("needs actuators to do it with", POINT + entry(command='"upright"')),
        ("plan: is missing", POINT + entry(command='"policy"')),
        ("cannot read", POINT + entry(command='"policy"', plan='"none.npz"')),
        ("goes with name = \"idefix\"", TREE.replace('"idefix"', '"dcap"\nleg_rate = "1 rad/s"')),
        ("less than 6.25 kg", TREE.replace('"idefix"', '"idefix"\nleg_mass = "7 kg"')),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_one_sentence(said, text):
    with pytest.raises(AlightError) as caught:
        prepare(loads(text)).nominal()
    assert said in " ".join(str(caught.value).split())


@pytest.mark.parametrize("command", [Hop(speed=0.1), SpinAndBrake({"x": 1.0}), Upright()])
def test_commands_of_rigid_landers_are_refused_in_python(command):
    model = prepare(loads(TREE)).nominal().model
    with pytest.raises(InputError, match="the lander is articulated"):
        type(model)(**{**_given(model), "manoeuvres": (Manoeuvre(command),)})


def test_a_part_with_a_schedule_is_not_commanded_too():
    text = TREE + UPRIGHT
    model = prepare(loads(text)).nominal().model
    on = [d for d in model.devices if getattr(d, "name", "") == "front-left"][-1]
    other = Motor("front-left", on.torque)  # on from the release
    devices = [other if d is on else d for d in model.devices]
    with pytest.raises(InputError, match="has a schedule of its own"):
        type(model)(**{**_given(model), "devices": devices,
                       "manoeuvres": (Manoeuvre(Pulse({"front-left": 1.0}, 1.0)),)})  # fmt: skip


def _given(model):
    names = ("tree", "devices", "gravity", "surface", "contact", "stop", "up")
    return {name: getattr(model, name) for name in names}
