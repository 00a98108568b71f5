"""Names that this package gives to scenario files of Alight."""


def register(registry):
    """Add them; Alight calls this when a name is first looked up."""
    from alight.scenario.keys import VALUE
    from small_worlds.dumbbell import Dumbbell, DumbbellKeys
    from small_worlds.flywheel import Flywheel, FlywheelKeys
    from small_worlds.polygon import Polygon, PolygonKeys
    from small_worlds.roll_out import roll_out, roll_out_section
    from small_worlds.triangular import Triangular

    registry.add("gravity", "dumbbell", Dumbbell, keys=DumbbellKeys, text="two point masses")
    registry.add("stop", "polygon", Polygon, keys=PolygonKeys, text="on the ground in a polygon")
    registry.add(
        "actuator", "flywheel", Flywheel, keys=FlywheelKeys, text="a wheel that is stopped"
    )
    limits = {"low": VALUE, "peak": VALUE, "high": VALUE}
    registry.add("dispersion", "triangular", Triangular, keys=limits, text="likely at its peak")
    far = "distance from the first contact to the end"
    registry.add("column", "roll_out", roll_out, text=far, unit="m")
    registry.add("report section", "roll_out", roll_out_section, text="how far landers get")
