"""A pendulum that hits a stop, by RK4 and by the Adams method of variable order and step.

The example of paper 002 (section 3.3, Figs. 3 to 5): a body on a hinge with a damped spring starts
at 50 deg/s and hits a surface; RK4 takes steps of 1e-4 s, the Adams method has a tolerance of 1e-6.
The paper gives no other figures. Here the body is 1 kg at the end of a rod of 1 m (or the rod
itself: an inertia of 1/3), the hinge has 0.5 N m/rad and 0.05 N m s/rad, and the stop, at 30 deg,
pushes back with 1e5 N/m^1.5 times depth^1.5 and no damping. There is no gravity.

Run it with:  python -m examples.pendulum_on_stop [FILE.png]   (out/figures/pendulum.png if none)
"""

import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from examples.adams_steps import Steps, adams_steps
from scipy.interpolate import BPoly, CubicHermiteSpline

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

    def rate(self, angle: float, speed: float) -> float:
        """Of the speed [rad/s^2], at an angle [rad] and a speed [rad/s]."""
        beyond = max(0.0, angle - self.stop)
        push = self.stiffness * (self.length * math.sin(beyond)) ** 1.5
        torque = -self.spring * angle - self.damper * speed
        torque -= push * self.length * math.cos(beyond)
        return torque / self.inertia

    def rhs(self, t, y):
        """Rates of angle [rad] and speed [rad/s]."""
        return np.array([y[1], self.rate(*y)])

    def adams(self) -> Steps:
        """The motion by the Adams method at 1e-6."""
        return adams_steps(self.rhs, (0.0, self.span), [0.0, self.speed], 1e-6, 1e-9)

    def rk4(self, step: float = 1e-4) -> Steps:
        """The motion by the classical method in fixed steps."""
        count, half = round(self.span / step), 0.5 * step
        x, v = 0.0, self.speed
        states = [(x, v)]
        for _ in range(count):
            a1 = self.rate(x, v)
            v2 = v + half * a1
            a2 = self.rate(x + half * v, v2)
            v3 = v + half * a2
            a3 = self.rate(x + half * v2, v3)
            v4 = v + step * a3
            a4 = self.rate(x + step * v3, v4)
            x += step / 6.0 * (v + 2.0 * (v2 + v3) + v4)
            v += step / 6.0 * (a1 + 2.0 * (a2 + a3) + a4)
            states.append((x, v))
        return Steps(step * np.arange(count + 1), np.array(states), np.full(count, 4), 0, 4 * count)

    def angle(self, steps: Steps) -> BPoly:
        """The angle [rad] at any time: it has the angles, speeds and rates of the ends of steps."""
        rates = [self.rate(*y) for y in steps.y]
        return BPoly.from_derivatives(steps.t, np.column_stack([steps.y, rates]))

    def touches(self, steps: Steps) -> np.ndarray:
        """When the tip meets the stop and leaves it [s], in turn."""
        beyond = steps.y[:, 0] > self.stop
        i = np.flatnonzero(beyond[1:] != beyond[:-1])
        share = (self.stop - steps.y[i, 0]) / (steps.y[i + 1, 0] - steps.y[i, 0])
        return steps.t[i] + share * steps.size[i]


def apart(adams: Steps, rk4: Steps) -> float:
    """How far the angles of the two are apart at most, at the ends of the first's steps [rad]."""
    other = CubicHermiteSpline(rk4.t, rk4.y[:, 0], rk4.y[:, 1])
    return float(np.abs(adams.y[:, 0] - other(adams.t)).max())


def draw(case: Pendulum, adams: Steps, rk4: Steps, file: Path) -> None:
    """Angle, difference, step and order over time, and a close view of the first hit."""
    hit, left = case.touches(adams)[:2]
    with style.figure(11.0, 7.2) as fig:
        grid = fig.add_gridspec(3, 2, width_ratios=[2.2, 1.0], height_ratios=[1.5, 1.0, 1.0])
        for column, (low, high) in enumerate([(0.0, case.span), (hit - 0.02, hit + 0.05)]):
            angle = fig.add_subplot(grid[0, column])
            size, order = (fig.add_subplot(grid[i, column], sharex=angle) for i in (1, 2))
            angles(angle, case, adams, rk4, low, high)
            steps(size, order, case, adams)
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
                order.text(left, 12.9, " leave", va="top", color=style.ALARM)
        fig.text(
            0.065,
            0.015,
            f"RK4 with steps of 1e-4 s: {rk4.evaluations:,} slopes. Adams at 1e-6: "
            f"{adams.evaluations:,} slopes in {len(adams.order)} steps, {adams.rejected} more not "
            f"kept. Angles differ by {apart(adams, rk4):.1e} rad at most.",
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
    shown = np.degrees(case.angle(adams)(t))
    axes.plot(t, shown, color=style.GRAVITY(0.55), lw=3.2, alpha=0.55,
              label="Adams, tolerance 1e-6")  # fmt: skip
    axes.plot(rk4.t, np.degrees(rk4.y[:, 0]), "--", color=style.INK, lw=0.9, label="RK4, 1e-4 s")
    inside = (adams.t >= low) & (adams.t <= high)
    axes.plot(adams.t[inside], np.degrees(adams.y[inside, 0]), "o", color=style.ALARM, ms=2.4,
              label="Adams: ends of steps")  # fmt: skip
    axes.set_ylim(shown.min() - 0.22 * np.ptp(shown), shown.max() + 0.1 * np.ptp(shown))


def steps(size_axes, order_axes, case, adams):
    """Step and order of the Adams method as chosen, and when it touches and leaves."""
    size_axes.stairs(adams.size, adams.t, baseline=None, color=style.GRAVITY(0.35), lw=1.2)
    size_axes.axhline(1e-4, color=style.INK, lw=0.9, ls="--")
    size_axes.set_yscale("log")
    order_axes.stairs(adams.order, adams.t, baseline=None, color=style.GRAVITY(0.35), lw=1.2)
    order_axes.set_ylim(0, 12.8)
    order_axes.set_yticks([1, 4, 8, 12])
    for axes in (size_axes, order_axes):
        for touch in case.touches(adams):
            axes.axvline(touch, color=style.ALARM, lw=0.7, alpha=0.7, zorder=0)


def main(file: Path) -> None:
    """Solve by both methods, compare and draw."""
    case = Pendulum()
    adams, rk4 = case.adams(), case.rk4()
    for name, done in (("Adams", adams), ("RK4", rk4)):
        print(f"{name}: {len(done.order)} steps, {done.evaluations} slopes")
    draw(case, adams, rk4, file)
    print(f"wrote {file}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/figures/pendulum.png"))
