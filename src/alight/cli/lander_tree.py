"""What ``alight lander`` prints of articulated landers: their bodies, joints and devices."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alight.cli import screen
from alight.cli.body import figure_place, file_stem, is_file_name, writing
from alight.core.errors import InputError

if TYPE_CHECKING:
    from alight.vehicles import Tree
    from alight.vehicles.fittings import Device


def articulated_target(target: str) -> bool:
    """Whether ``target`` names an articulated lander, or a URDF file."""
    from alight.scenario.building.articulated_landers import ready_name

    return Path(target).suffix.lower() == ".urdf" or ready_name(target) is not None


def show(target: str, options: Mapping[str, object], as_json: bool) -> None:
    """Tell an articulated lander; ``options`` are those of the command line."""
    figure = options["--figure"]
    place = figure_place(None if figure is None else str(figure))
    options = {name: value for name, value in options.items() if name != "--figure"}
    for option in (name for name, value in options.items() if value is not None):
        raise InputError(f"{option} is for rigid landers; {target} has joints.")
    tree, devices = _found(target)
    drawn = [] if place is None else _draw(target, tree, devices, place)
    if as_json:
        screen.echo_json({**_facts(tree, devices), "figures": [str(file) for file in drawn]})
    else:
        _tell(tree, devices)
        screen.lines(screen.console(), (f"wrote {file}" for file in drawn), "green")


def _draw(target: str, tree: Tree, devices: tuple[Device, ...], place: Path) -> list[Path]:
    """Draw the sheet; into a folder as .png and .svg."""
    from alight.cli.report_lander import pose_of
    from alight.scenario.building.articulated_landers import READY, UP, ready_name
    from alight.views.figures import articulated as view

    stem = file_stem(tree.name, "lander")
    files = [place] if is_file_name(place) else [place / f"{stem}.png", place / f"{stem}.svg"]
    rows = [
        ("mass", f"{tree.mass:g} kg"),
        ("bodies, degrees of freedom", f"{tree.count}, {tree.n_v}"),
    ]
    rows += [(body.name, f"{body.mass:g} kg") for body in tree.bodies if body.mass > 0.0]
    notes = [f"{d.name}: {_device_text(d)}." for d in devices]
    pose = pose_of(tree, devices, tree.neutral())
    name = ready_name(target)
    up = UP if name is None else READY[name].up
    sheet = view.Sheet(tree.name, "articulated lander, joints as built", pose, rows, notes, up)
    with writing(place):
        view.draw(sheet, *files)
    return files


def _found(target: str) -> tuple[Tree, tuple[Device, ...]]:
    from alight.scenario.building.articulated_landers import ready_name
    from alight.vehicles import read_urdf

    name = ready_name(target)
    if name is None:
        return read_urdf(target, ignore_limits=True), ()  # stops move nothing here
    return ready_tree(name)


def ready_tree(name: str) -> tuple[Tree, tuple[Device, ...]]:
    """An articulated lander of the catalogue."""
    from alight import vehicles
    from alight.scenario.building.articulated_landers import READY

    made = getattr(vehicles, READY[name].make)()
    return made.tree, made.devices


def _joint_text(joint: Any) -> str:
    """Kind of a joint and where it sits."""
    if joint.parent is None:
        return str(joint.kind)
    place = ", ".join(f"{x:.3g}" for x in joint.place)
    return f"{joint.kind} on {joint.parent} at {place} m"


def _device_text(device: Any) -> str:
    """What a device does, in a few words."""
    kind = type(device).__name__
    said = {
        "Pad": lambda: f"touches the ground, radius {device.radius:g} m",
        "Crushable": lambda: f"gives at {device.force:g} N, up to {device.limit:g} m",
        "Thruster": lambda: f"{device.force:g} N {_when(device.schedule)}",
        "Belly": lambda: f"{len(device.points)} points touch the ground",
        "Motor": lambda: f"{device.torque:g} N m {_when(device.schedule)}",
        "Brake": lambda: f"{device.torque:g} N m {_when(device.schedule)}",
        "Slosh": lambda: f"its swing against {device.parent} is recorded",
    }
    return said[kind]()


def _when(schedule: Any) -> str:
    begins, trigger = schedule.times[0], f"the {schedule.after}"
    since = f"from {trigger} on" if begins == 0.0 else f"from {begins:g} s after {trigger} on"
    return since if len(schedule.times) == 1 else f"{since}, in {len(schedule.times)} steps"


def _tell(tree: Tree, devices: tuple[Device, ...]) -> None:
    console = screen.console()
    screen.lines(console, [tree.name], "bold")
    screen.lines(console, [f"{tree.count} bodies, {tree.n_v} degrees of freedom, {tree.mass:g} kg"])
    bodies = [
        (body.name, f"{body.mass:g}", _joint_text(joint))
        for body, joint in zip(tree.bodies, tree.joints, strict=True)
    ]
    console.print(screen.table(("body", "mass [kg]", "joint"), bodies))
    if devices:
        fitted = [(d.name, type(d).__name__.lower(), str(d.body), _device_text(d)) for d in devices]
        console.print(screen.table(("device", "kind", "on", "does"), fitted))


def _facts(tree: Tree, devices: tuple[Device, ...]) -> dict[str, Any]:
    """The same for scripts, SI."""
    bodies = [
        {
            "name": body.name,
            "mass_kg": float(body.mass),
            "inertia_kg_m2": body.inertia.tolist(),  # type: ignore[union-attr]
            "center_of_mass_m": body.center.tolist(),  # type: ignore[union-attr]
            "joint": joint.kind,
            "parent": joint.parent,
            "place_m": joint.place.tolist(),  # type: ignore[union-attr]
        }
        for body, joint in zip(tree.bodies, tree.joints, strict=True)
    ]
    fitted = [
        {"name": d.name, "kind": type(d).__name__.lower(), "body": d.body, "does": _device_text(d)}
        for d in devices
    ]
    return {"name": tree.name, "mass_kg": tree.mass, "bodies": bodies, "devices": fitted}
