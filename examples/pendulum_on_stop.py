"""A pendulum that hits a stop, by RK4 and by the Adams method of variable order and step.

The example of paper 002 (section 3.3, Figs. 3 to 5): a body on a hinge with a damped spring starts
at 50 deg/s and hits a surface; RK4 takes steps of 1e-4 s, the Adams method has a tolerance of 1e-6.
The paper gives no other figures. Here the body is 1 kg at the end of a rod of 1 m (or the rod
itself: an inertia of 1/3), the hinge has 0.5 N m/rad and 0.05 N m s/rad, and the stop, at 30 deg,
pushes back with 1e5 N/m^1.5 times depth^1.5 and no damping. There is no gravity.

Run it with:  python examples/pendulum_on_stop.py [FILE.png]   (out/figures/pendulum.png if none)
"""

import math
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from alight.integrators import Solved, solve
from alight.views import style


@dataclass(frozen=True)
class Pendulum:
    """A body on a hinge, and a stop."""

    inertia: float = 1.0
    """About the hinge [kg m^2]."""
    length: float = 1.0
    """From the hinge to the tip that touches [m]."""
    spring: float = 0.5
    """Of the hinge [N m/rad]."""
    damper: float = 0.05
    """Of the hinge [N m s/rad]."""
    stop: float = math.radians(30.0)
    """Angle at which the tip touches [rad]."""
    stiffness: float = 1e5
    """Of the stop [N/m^1.5] (002 Eq. 37, with c = 0)."""
    speed: float = math.radians(50.0)
    """At the start, where the angle is 0 [rad/s]."""
    span: float = 10.0
    """Time followed [s]."""

    def rhs(self, t, y):
        """Rates of angle [rad] and speed [rad/s]."""
        angle, speed = y
        beyond = max(0.0, angle - self.stop)
        push = self.stiffness * (self.length * math.sin(beyond)) ** 1.5
        torque = -self.spring * angle - self.damper * speed
        torque -= push * self.length * math.cos(beyond)
        return np.array([speed, torque / self.inertia])

    def touch(self, t, y):
        """Passes through 0 where the tip meets the stop, and where it leaves it."""
        return y[0] - self.stop

    def solved(self, method: str) -> Solved:
        """The motion by ``"pece"`` at 1e-6 or by ``"rk4"`` at 1e-4 s."""
        wishes = {"rtol": 1e-6, "atol": 1e-9, "dense": True, "events": self.touch}
        if method == "rk4":
            wishes = {"step": 1e-4}
        return solve(self.rhs, (0.0, self.span), [0.0, self.speed], method, **wishes)


def draw(case: Pendulum, adams: Solved, rk4: Solved, file: Path) -> None:
    """Angle, difference, step and order over time, and a close view of the first hit."""
    hit = adams.events[0].t[0]
    with style.figure(11.0, 7.2) as fig:
        grid = fig.add_gridspec(3, 2, width_ratios=[2.2, 1.0], height_ratios=[1.5, 1.0, 1.0])
        for column, (low, high) in enumerate([(0.0, case.span), (hit - 0.02, hit + 0.05)]):
            angle = fig.add_subplot(grid[0, column])
            size, order = (fig.add_subplot(grid[i, column], sharex=angle) for i in (1, 2))
            angles(angle, case, adams, rk4, low, high)
            steps(size, order, adams, low, high)
            for axes in (angle, size, order):
                axes.set_xlim(low, high)
                axes.spines[["top", "right"]].set_visible(False)
                axes.tick_params(labelbottom=axes is order)
            order.set_xlabel("time [s]")
            if column == 0:
                angle.set(ylabel="angle [deg]", title="A pendulum hits a stop")
                size.set_ylabel("step [s]")
                order.set_ylabel("order")
                angle.legend(frameon=False, loc="lower right", ncols=3)
                size.text(case.span, 1.2e-4, "step of RK4", ha="right", va="bottom")
            else:
                angle.set_title("The first hit")
                order.text(hit, 12.9, "touch ", ha="right", va="top", color=style.ALARM)
                left = adams.events[0].t[1]
                order.text(left, 12.9, " leave", va="top", color=style.ALARM)
        apart = np.abs(adams.sample(rk4.t)[:, 0] - rk4.y[:, 0]).max()
        fig.text(
            0.065,
            0.015,
            f"RK4 with steps of 1e-4 s: {rk4.evaluations:,} slopes. Adams at 1e-6: "
            f"{adams.evaluations:,} slopes in {adams.steps} steps, {adams.rejected} more not kept. "
            f"Angles differ by {apart:.1e} rad at most.",
            color=style.GREY,
        )
        fig.subplots_adjust(
            left=0.065, right=0.985, bottom=0.11, top=0.94, hspace=0.12, wspace=0.14
        )
        style.save(fig, file)


def angles(axes, case, adams, rk4, low, high):
    """Both solutions over each other, and the stop."""
    axes.axhspan(np.degrees(case.stop), 90.0, color=style.LINE, alpha=0.45, lw=0)
    t = np.linspace(max(low, 0.0), high, 2000)
    axes.plot(t, np.degrees(adams.sample(t)[:, 0]), color=style.GRAVITY(0.55), lw=3.2, alpha=0.55,
              label="Adams, tolerance 1e-6")  # fmt: skip
    axes.plot(rk4.t, np.degrees(rk4.y[:, 0]), "--", color=style.INK, lw=0.9, label="RK4, 1e-4 s")
    inside = (adams.t >= low) & (adams.t <= high)
    axes.plot(adams.t[inside], np.degrees(adams.y[inside, 0]), "o", color=style.ALARM, ms=2.4,
              label="Adams: ends of steps")  # fmt: skip
    shown = np.degrees(adams.sample(t)[:, 0])
    axes.set_ylim(shown.min() - 0.22 * np.ptp(shown), shown.max() + 0.1 * np.ptp(shown))


def steps(size_axes, order_axes, adams, low, high):
    """Step and order of the Adams method as chosen, and when it touches and leaves."""
    h = adams.history
    edges = np.append(h.t, adams.t[-1])
    size_axes.stairs(h.size, edges, baseline=None, color=style.GRAVITY(0.35), lw=1.2)
    size_axes.axhline(1e-4, color=style.INK, lw=0.9, ls="--")
    size_axes.set_yscale("log")
    order_axes.stairs(h.order, edges, baseline=None, color=style.GRAVITY(0.35), lw=1.2)
    order_axes.set_ylim(0, 12.8)
    order_axes.set_yticks([1, 4, 8, 12])
    for axes in (size_axes, order_axes):
        for touch in adams.events[0].t:
            axes.axvline(touch, color=style.ALARM, lw=0.7, alpha=0.7, zorder=0)


def main(file: Path) -> None:
    """Solve by both methods, compare and draw."""
    case = Pendulum()
    found = {}
    for method in ("rk4", "pece"):
        start = time.perf_counter()
        found[method] = case.solved(method)
        took = time.perf_counter() - start
        done = found[method]
        print(f"{method}: {done.steps} steps, {done.evaluations} slopes, {took:.2f} s")
    draw(case, found["pece"], found["rk4"], file)
    print(f"wrote {file}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/figures/pendulum.png"))
