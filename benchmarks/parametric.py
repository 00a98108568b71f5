"""Smooth parametric ground: a radius series of degree 22 and its derivatives, point by point."""

import numpy as np

from alight.cli.bench import Row, median_time, turn_by_turn
from alight.core.devices import Device, resolve
from alight.surfaces import Parametric

TITLE = "Parametric surface"

NOTES = """\
Ryugu as 529 terms; random points from the ground to two radii. *all* is distance, gradient and
Hessian, what sliding asks for; *distance and gradient* is what flight asks for. Times are of the
kernel, arrays in place. *peer* is the same series on the host, `HarmonicSeries.evaluate`: NumPy,
thousands of points at once, on as many cores as its BLAS takes. *error* is the largest difference
to it over all points, relative to the largest value there is.
"""

#: Points of a timing.
MANY = 200_000

#: What one evaluation with second derivatives may take on one core [us].
ASKED = 2.0


def rows(device: Device, repeats: int = 5) -> list[Row]:
    """Every figure of the table."""
    ground = Parametric.from_body("ryugu")
    x = random_points(ground)
    print("  parametric: correctness", flush=True)
    error = wrong(ground, x, "cpu")
    cpu = resolve("cpu")
    ours, _ = ground.prepared_bends(x, cpu, threads=1)
    towards = x - ground.center

    print("  parametric: one core, against NumPy", flush=True)
    mine, other, ratio = turn_by_turn(ours, lambda: ground.series.evaluate(towards), repeats, 1.0)
    found = [
        Row(
            "degree 22, all, 1 core",
            1e6 * mine / MANY,
            "us",
            asked=ASKED,
            peer=1e6 * other / MANY,
            ratio=ratio,
            error=error,
        ),
        _flight(ground, x, cpu, "1 core", repeats, threads=1),
    ]
    if device.is_gpu:
        launch, _ = ground.prepared_bends(x, device)
        time = median_time(lambda: (launch(), device.synchronize()), repeats)
        error = wrong(ground, x, device.name)
        found.append(Row(f"degree 22, all, {device.label}", 1e6 * time / MANY, "us", error=error))
        found.append(_flight(ground, x, device, device.label, repeats))
    return found


def random_points(ground: Parametric, seed: int = 0) -> np.ndarray:
    """Points in all directions, poles among them, from the ground to two radii."""
    rng = np.random.default_rng(seed)
    n = np.concatenate([rng.normal(size=(MANY - 2, 3)), [[0, 0, 1.0], [0, 0, -1.0]]])
    return ground.center + (ground.at(n) - ground.center) * rng.uniform(1.0, 2.0, (MANY, 1))


def wrong(ground: Parametric, x: np.ndarray, device: str) -> float:
    """The largest difference to the host's evaluation, of each quantity relative to its size."""
    place = x - ground.center
    length = np.linalg.norm(place, axis=1)
    n = place / length[:, None]
    r, dr, d2r = ground.series.evaluate(n)
    across = np.eye(3) - n[:, :, None] * n[:, None, :]
    same = (
        length - r,
        n - dr / length[:, None],
        across / length[:, None, None] - d2r / length[:, None, None] ** 2,
    )
    found = ground.bends(x, device)
    sample = ground.sample(x, device)
    pairs = [*zip(found, same, strict=True), (sample.distance, same[0]), (sample.gradient, same[1])]
    return float(max(np.abs(a - b).max() / np.abs(b).max() for a, b in pairs))


def _flight(ground, x, device: Device, where: str, repeats: int, threads: int | None = None) -> Row:
    launch, _ = ground.prepared(x, device, threads)
    time = median_time(lambda: (launch(), device.synchronize()), repeats)
    return Row(f"degree 22, distance and gradient, {where}", 1e6 * time / MANY, "us")
