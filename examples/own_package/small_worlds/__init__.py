"""Names that this package gives to scenario files of Alight."""


def register(registry):
    """Add them; Alight calls this when a name is first looked up."""
    from alight.scenario.keys import VALUE
    from small_worlds.dumbbell import Dumbbell, DumbbellKeys
    from small_worlds.triangular import Triangular

    registry.add(
        "gravity", "dumbbell", Dumbbell, keys=DumbbellKeys, text="two point masses on a rod"
    )
    registry.add(
        "dispersion",
        "triangular",
        Triangular,
        keys={"low": VALUE, "peak": VALUE, "high": VALUE},
        text="most likely at a peak between two limits",
    )
