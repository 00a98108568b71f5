"""Collisions of paper 000 (Van wal, Scheeres, Tardivel), section 5: do its identities hold?

Random bodies hit the ground at one point. Whatever their inertia, lever, restitution and friction:
energy never rises, friction stays in its cone, the point leaves the ground. And slip that ends in
sticking is followed as the paper does it, in the clock dtau = mu dp/s in which it takes for ever,
to the paper's threshold; the impulses agree with those of ``contact.impact``.

Run it with:  python examples/paper_000_impacts.py [FILE.png]
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from alight.contact import ImpactKind, impact
from alight.contact.impulse.impact import Impact, inverse_mass
from alight.views import style

BLUE, ORANGE, GREEN, PURPLE, SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9"
#: Behind words that lie on a plot.
PAPER = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 2.0}

# -- random bodies ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Impacts:
    """Collisions of random bodies of 1 kg, in contact axes."""

    inverse: Any
    """(n, 3, 3) m* [1/kg]."""
    before: Any
    """(n, 3) velocity of the contact point [m/s]."""
    restitution: Any
    friction: Any
    hit: Impact

    def __len__(self) -> int:
        return len(self.before)

    @property
    def available(self) -> Any:
        """(n,) energy [J] that an impulse at the point can take at most: ½ v·m*⁻¹v."""
        momentum = np.linalg.solve(self.inverse, self.before[..., None])[..., 0]
        return 0.5 * np.einsum("ni,ni->n", self.before, momentum)

    @property
    def lost(self) -> Any:
        """(n,) share of that energy which was lost: 0 to 1."""
        return -self.hit.work / self.available

    @property
    def grip(self) -> Any:
        """(n,) |P_t| as a share of the most that friction can do, mu P_3: 0 to 1."""
        across = np.hypot(self.hit.impulse[:, 0], self.hit.impulse[:, 1])
        return across / (self.friction * self.hit.impulse[:, 2])

    def breaches(self) -> dict[str, Any]:
        """(n,) by how much each thing that must hold is broken, relative to its own size."""
        hit, v, m = self.hit, self.before, self.inverse
        after = v + np.einsum("nij,nj->ni", m, hit.impulse)
        speed = np.abs(v).max(axis=1) + np.abs(m).max(axis=(1, 2)) * hit.impulse[:, 2]
        work = 0.5 * np.einsum("ni,ni->n", hit.impulse, v + hit.velocity)
        size = np.abs(hit.work_normal) + np.abs(hit.work_friction) + hit.impulse[:, 2] * -v[:, 2]
        return {
            "velocities close": np.abs(after - hit.velocity).max(axis=1) / speed,
            "works close": np.abs(work - hit.work) / size,
            "energy gained": np.maximum(0.0, work) / size,
            "normal work gained": np.maximum(0.0, hit.work_normal) / size,
            "friction work gained": np.maximum(0.0, hit.work_friction) / size,
            "friction beyond its cone": np.maximum(0.0, self.grip - 1.0),
            "still going in": np.maximum(0.0, -hit.velocity[:, 2]) / speed,
        }


def impacts(count: int = 100_000, seed: int = 0, device: str = "cpu") -> Impacts:
    """Any uniform body, levers of 0.2 to 5 radii of gyration, e from 0 to 1, mu from 0.01 to 3."""
    rng = np.random.default_rng(seed)
    second = rng.uniform(0.05, 1.0, (count, 3)) ** 2  # integrals of x², y², z² over the mass
    moments = second.sum(axis=1, keepdims=True) - second
    axes = np.linalg.qr(rng.normal(size=(count, 3, 3)))[0]
    inertia = np.einsum("nij,nj,nkj->nik", axes, moments, axes)
    inertia = 0.5 * (inertia + np.swapaxes(inertia, 1, 2))
    way = rng.normal(size=(count, 3))
    reach = np.sqrt(moments.mean(axis=1)) * np.geomspace(0.2, 5.0, count)
    lever = way * (reach / np.linalg.norm(way, axis=1))[:, None]
    before = rng.normal(size=(count, 3))
    before[:, 2] = -np.abs(before[:, 2]) - 1e-3
    e, mu = rng.uniform(0.0, 1.0, count), 10.0 ** rng.uniform(-2.0, np.log10(3.0), count)
    hit = impact(1.0, inertia, lever, before, restitution=e, friction=mu, device=device)
    return Impacts(inverse_mass(np.ones(count), inertia, lever), before, e, mu, hit)


def stories(found: Impacts) -> dict[str, Any]:
    """(n,) which collisions went through what; each belongs to one."""
    halted, resumed = (found.hit.has(k) for k in (ImpactKind.HALTED, ImpactKind.RESUMED))
    return {
        "slips to the end": ~halted,
        "halts and sticks": halted & ~resumed,
        "halts, slips again": halted & resumed,
    }


# -- slip that ends, in the paper's clock -------------------------------------------------------

#: The paper's threshold: slip below it has ended [m/s].
EPSILON = 1e-10


@dataclass(frozen=True)
class Case:
    """A body whose slip halts: 1 kg, inertia [kg m^2], lever [m], velocity [m/s]."""

    inertia: Any
    lever: Any
    velocity: Any
    friction: float
    restitution: float
    impulse: Any = None
    """Known beforehand, to as many digits as were written down [N s]."""


def _rod(theta: float) -> tuple[Any, Any]:
    """A slender rod of 1 m in the plane of axes 1 and 3, its tip touching."""
    return np.full(3, 1.0 / 12.0), 0.5 * np.array([np.cos(theta), 0.0, -np.sin(theta)])


def _cases() -> dict[str, Case]:
    steep = float(np.arctan(2.0))
    corner = (0.032553293489, -0.054949229927, -0.160999581408)
    brick, lever = (0.02, 0.05, 0.06), (0.12, 0.09, -0.16)
    swerving = (-0.022911468258, -0.037640872162, -1.0)
    return {
        "rod at 45°, sticks": Case(
            *_rod(np.pi / 4), (-0.5, 0.0, -1.0), 0.8, 0.5, (-0.202633068, 0.0, 0.671055114)
        ),
        "rod at 45°, reverses": Case(
            *_rod(np.pi / 4), (-0.5, 0.0, -1.0), 0.3, 0.5, (-0.046304498, 0.0, 0.598792770)
        ),
        "rod at 63°, sticks": Case(
            *_rod(steep), (0.1, 0.0, -1.0), 1.3, 0.5, (-0.495200673, 0.0, 1.319735239)
        ),
        "cube on a corner, sticks": Case(
            np.full(3, 0.04 / 6.0), corner, (0.1, 0.05, -0.2), 0.6, 0.6,
            (-0.064459069128, 0.069024053486, 0.287165865225),
        ),
        "brick, sticks": Case(
            brick, lever, swerving, 0.9, 0.5, (-0.270703898519, -0.311465375038, 1.074731827116)
        ),
        "long lever, slides again": Case(
            (2.0, 1.5, 1.5), (0.0, 2.8, -0.9), (0.148, -0.478, -1.0), 0.4, 0.5
        ),
    }  # fmt: skip


@dataclass(frozen=True, eq=False)
class Halt:
    """A collision in the clock tau: how the slip went down, and what came of it."""

    tau: Any
    slip: Any
    """[m/s]"""
    impulse: Any
    """Of the whole collision, followed in tau to the threshold and then in closed form [N s]."""
    ours: Any
    """That of ``contact.impact`` [N s]."""
    known: Any
    """As written down beforehand, or None [N s]."""


def halts() -> dict[str, Halt]:
    """Each case in the paper's way and in ours."""
    out = {}
    for name, case in _cases().items():
        ours = impact(
            1.0, case.inertia, case.lever, case.velocity, restitution=case.restitution,
            friction=case.friction, device="cpu",
        )  # fmt: skip
        tau, slip, impulse = in_tau(case)
        out[name] = Halt(tau, slip, impulse, ours.impulse, case.impulse)
    return out


def in_tau(case: Case) -> tuple[Any, Any, Any]:
    """Equations 36 and 37 in axes: dv = m*(-v1, -v2, s/mu) dtau, until s = EPSILON or the end."""
    m = inverse_mass(np.ones(()), np.diag(case.inertia), np.asarray(case.lever, float))
    mu, e = case.friction, case.restitution

    def rates(_: float, y: Any) -> Any:
        s = np.hypot(y[0], y[1])
        push = np.array([-y[0], -y[1], s / mu])
        return np.concatenate([m @ push, push, [y[2] * s / mu]])

    def halted(_: float, y: Any) -> float:
        return float(np.log(np.hypot(y[0], y[1]) / EPSILON))

    def turned(_: float, y: Any) -> float:
        return float(y[2])

    halted.terminal = True  # type: ignore[attr-defined]
    turned.direction = 1.0  # type: ignore[attr-defined]
    start = np.concatenate([case.velocity, np.zeros(4)])
    scale = np.full(7, 1e-16)
    run = solve_ivp(
        rates, (0.0, 1e3), start, "DOP853", events=(halted, turned), rtol=1e-13, atol=scale
    )
    y, compressed = run.y[:, -1], run.y_events[1]
    taken = compressed[0][6] if len(compressed) else None
    whole = y[3:6] + _from_halt(m, mu) * _left(m, mu, e, y[2], y[6], taken)
    return run.t, np.hypot(run.y[0], run.y[1]), whole


def _from_halt(m: Any, mu: float) -> Any:
    """Impulse for each unit of normal impulse once the slip has ended: holding, or sliding on."""
    block, b = m[:2, :2], m[:2, 2]
    hold = -np.linalg.solve(block, b)
    if np.hypot(*hold) <= mu:
        return np.array([*hold, 1.0])

    def direction(growth: float) -> Any:
        return np.linalg.solve(mu * block + growth * np.eye(2), b)

    # The one direction in which slip grows (erratum 000-17): its length falls to 1 at one growth.
    growth = brentq(lambda g: np.hypot(*direction(g)) - 1.0, 0.0, 1e3, xtol=1e-15)
    return np.array([*(-mu * direction(growth)), 1.0])


def _left(m: Any, mu: float, e: float, v3: float, work: float, taken: float | None) -> float:
    """Normal impulse from the halt to the end, W_r = -e² W_c (erratum 000-11) [N s]."""
    rate = float(m[2] @ _from_halt(m, mu))
    if taken is None:  # the halt is in compression: its end is at v3 = 0
        taken = work - v3**2 / (2.0 * rate)
    goal = (1.0 - e**2) * taken
    return float((-v3 + np.sqrt(v3**2 + 2.0 * rate * (goal - work))) / rate)


# -- the figure ---------------------------------------------------------------------------------


def draw_impacts(found: Impacts, halted: dict[str, Halt], file: Path) -> None:
    """Energy, friction, rounding and the end of slip: a sheet of four."""
    with style.figure(12.0, 8.0) as fig:
        grid = fig.subplots(2, 2)
        fig.subplots_adjust(
            left=0.065, right=0.985, bottom=0.075, top=0.95, hspace=0.33, wspace=0.2
        )
        _draw_energy(fig, grid[0, 0], found)
        _draw_grip(grid[0, 1], found)
        _draw_breaches(grid[1, 0], found)
        _draw_halts(grid[1, 1], halted)
        for axes in grid.flat:
            axes.grid(color=style.LINE, lw=0.4)
            axes.set_axisbelow(True)
        style.save(fig, file)


def _draw_energy(fig: Any, axes: Any, found: Impacts) -> None:
    bins: Any = (np.linspace(0.0, 1.0, 81), np.linspace(0.0, 1.0, 81))
    share = np.histogram2d(found.restitution, found.lost, bins)[0].T
    share = np.where(share > 0.0, 100.0 * share / len(found), np.nan)
    look = axes.pcolormesh(*bins, share, cmap="viridis_r", norm="log", rasterized=True)
    e = bins[0]
    axes.plot(e, 1.0 - e**2, color=style.ALARM, lw=1.4)
    axes.text(0.035, 0.86, "1 − e²: a ball, straight down", color=style.ALARM, bbox=PAPER)
    fig.colorbar(look, ax=axes, label="share of collisions [%]", pad=0.02)
    axes.set_title(f"Energy lost by {len(found):,} random bodies: never less than none")
    axes.set(xlabel="restitution e", ylabel="share of ½ v·m*⁻¹v, the most there is to lose")
    axes.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0))


def _draw_grip(axes: Any, found: Impacts) -> None:
    bins = np.linspace(0.0, 1.0, 61)
    looks = (BLUE, ORANGE, GREEN)
    values, names = [], []
    for name, which in stories(found).items():
        values.append(found.grip[which])
        names.append(f"{name}: {100.0 * which.mean():.1f} %")
    axes.hist(values, bins, stacked=True, color=looks, label=names)
    axes.axvline(1.0, color=style.ALARM, lw=1.6)
    axes.text(0.96, 3e4, "the cone", color=style.ALARM, ha="right")
    axes.set_yscale("log")
    axes.set_title("Friction used: never more than there is")
    axes.set(xlabel="|P_t| / (μ P₃)", ylabel="collisions", xlim=(0.0, 1.03))
    axes.legend(frameon=False, loc="upper left")


def _draw_breaches(axes: Any, found: Impacts) -> None:
    looks = (BLUE, ORANGE, GREEN, PURPLE, SKY, style.INK, style.GREY)
    bins = np.linspace(-18.0, -7.5, 85)
    for (name, value), colour in zip(found.breaches().items(), looks, strict=True):
        some = value[value > 0.0]
        said = f"{name}: {some.max():.0e} at most" if len(some) else f"{name}: never"
        axes.hist(np.log10(some), bins, histtype="step", lw=1.5, color=colour,
                  label=said)  # fmt: skip
    axes.axvline(-8.0, color=style.ALARM, lw=1.4)
    axes.text(-8.1, 0.45, "asked", color=style.ALARM, ha="right",
              transform=axes.get_xaxis_transform())  # fmt: skip
    axes.set_yscale("log")
    axes.set_ylim(0.6, 1e4 * axes.get_ylim()[1])  # room for the words
    axes.set_title("Every identity, relative to its size")
    axes.set(xlabel="log₁₀ of the breach (none is 0, and not drawn)", ylabel="collisions")
    axes.legend(frameon=False, loc="upper right", bbox_to_anchor=(0.91, 1.0), fontsize=8)


def _draw_halts(axes: Any, halted: dict[str, Halt]) -> None:
    looks = (BLUE, SKY, GREEN, ORANGE, PURPLE, style.INK)
    for (name, one), colour in zip(halted.items(), looks, strict=True):
        off = np.abs(one.impulse - one.ours).max()
        axes.semilogy(one.tau, one.slip, color=colour, lw=1.5, label=f"{name}: ΔP {off:.0e} N s")
    axes.axhline(EPSILON, color=style.ALARM, lw=1.4)
    axes.text(0.01, 1.6 * EPSILON, "ε = 10⁻¹⁰ m/s", color=style.ALARM,
              transform=axes.get_yaxis_transform())  # fmt: skip
    axes.set_title("Slip dies away in the blow-up variable; impulses agree")
    axes.set(xlabel="τ, dτ = μ dp/s [kg]", ylabel="slip [m/s]")
    axes.set_xlim(left=0.0)
    axes.legend(frameon=False, loc="upper right", fontsize=8)


def verdict(found: Impacts, halted: dict[str, Halt]) -> str:
    """What holds, in words and numbers."""
    lines = [f"{len(found):,} random bodies:"]
    lines += [f"  {name}: {value.max():.1e} at most" for name, value in found.breaches().items()]
    lines += [f"  {name}: {100.0 * which.mean():.2f} %" for name, which in stories(found).items()]
    lines.append("slip followed to 1e-10 m/s in the paper's clock, impulses against impact():")
    for name, one in halted.items():
        off = np.abs(one.impulse - one.ours).max()
        known = "" if one.known is None else f", known {np.abs(one.ours - one.known).max():.0e}"
        lines.append(f"  {name}: {off:.1e} N s at slip {one.slip[-1]:.1e} m/s{known}")
    return "\n".join(lines)


def main(file: Path) -> None:
    """A figure and a verdict."""
    found, halted = impacts(), halts()
    draw_impacts(found, halted, file)
    print(verdict(found, halted))
    print("wrote", file)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/paper_000/impacts.png"))
