"""Figures of ``paper_003_capture.py``: the film strip, comparisons, and the campaign.

Pictures, histories and shares are those of reports on captures (``alight.views.figures.capture``).
"""

import numpy as np
from matplotlib.ticker import PercentFormatter

from alight.analysis.intervals import wilson
from alight.campaign.tables.arrow import table_from
from alight.engine.columns import Source
from alight.membrane import hull
from alight.motions.capture.columns import CAPTURES
from alight.motions.capture.result import CAPTURE_WORDS
from alight.views import style
from alight.views.figures.capture.courses import draw_histories, poses_of
from alight.views.figures.capture.endings import ENDS, ends_over, exceedance, share_bar
from alight.views.figures.capture.scene import Look, draw_strip
from alight.views.report.data import Trajectory

BLUE, GREEN, SAND = "#2f6f9f", "#4c8c5e", "#c98a2b"


# -- histories --------------------------------------------------------------------------------


def plain(axes, title, xlabel="time [s]"):
    """An axes without a box."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(title, size=9.5)
    axes.set_xlabel(xlabel)


def course_of(flight):
    """The first run of a flight, as reports draw it."""
    table = table_from(CAPTURES.course, Source(flight, np.array([0])))
    return Trajectory(0, table, {n: float(flight.rows[0][n]) for n in ("contact_s", "spin_rpm")})


def film_strip(file, capture, flight):
    """Figure 7, and the loads behind it."""
    course, row = course_of(flight), flight.rows[0]
    with style.figure(13.0, 8.9) as fig:
        grid = fig.add_gridspec(
            3, 6, left=0.02, right=0.98, top=0.94, bottom=0.315, wspace=0.0, hspace=0.0
        )
        poses = poses_of(course).at(np.arange(0.0, 171.0, 10.0))
        draw_strip(fig, grid, Look.of(capture.asteroid, capture.craft, hull), poses, columns=6)
        limit, thrust = capture.craft.moment_limit, float(capture.approach.thrust)
        draw_histories(fig, course, (0.06, 0.27), limit, thrust)
        fig.text(
            0.02, 0.972,
            "The craft settles on the tumbling asteroid and drifts toward a flat spin; its drive "
            f"assemblies feel {row['bending_nm']:.0f} of {flight.craft.moment_limit:.0f} N m",
            weight="bold", size=12,
        )  # fmt: skip
        fig.text(
            0.02, 0.951,
            "Paper 003, figure 7: pear of 1000 t and 10.5 m, 0.5 rpm, angular momentum upward; "
            "15 t, corkscrew approach at 5 cm/s, 475 N from contact on; membrane 146 m², "
            "k = 1.5 N/m³, c = 15 N s/m³, μ = 1",
            size=9, color=style.GREY,
        )  # fmt: skip
        style.save(fig, file)


def comparison(file, frictions, rubbed, turns, spun, many, craft):
    """What friction does, and what spin does to the loads."""
    with style.figure(12.6, 6.9) as fig:
        grid = fig.add_gridspec(
            2, 3, left=0.05, right=0.985, top=0.84, bottom=0.075, wspace=0.2, hspace=0.46
        )
        shades = [style.ALARM, SAND, GREEN, style.INK]
        upper = [fig.add_subplot(grid[0, k]) for k in range(3)]
        for i, mu in enumerate(frictions):
            kept = rubbed.records[i]
            time, colour = rubbed.time[:kept], shades[i]
            part = rubbed.relative_rate[i, :kept] / np.linalg.norm(rubbed.asteroids.rate[i])
            curves = (rubbed.sums[i, :kept, 3], 100.0 * part, rubbed.bending[i, :kept].max(axis=1))
            for axes, values in zip(upper, curves, strict=True):
                axes.plot(time, values, color=colour, lw=1.2, label=f"μ = {mu:g}")
        plain(upper[0], "Path of slip along the fabric [m]")
        plain(upper[1], "Rate of the craft against the asteroid, of its spin")
        plain(upper[2], "Bending moment, either array [N m]")
        upper[1].yaxis.set_major_formatter(PercentFormatter(decimals=0))
        upper[0].legend(frameon=False, fontsize=8.5)
        lower = [fig.add_subplot(grid[1, k]) for k in range(3)]
        spin_panels(lower, turns, spun)
        spin_loads(lower[2], turns, many, craft)
        for axes in (*upper, *lower[:2]):
            axes.set_xlim(0.0, 170.0)
            axes.set_ylim(0.0, None)
        slip, worst = rubbed.rows["slip_m"], max(rows["bending_nm"].max() for rows in many.values())
        fig.text(
            0.018, 0.955,
            f"Low friction slips {slip.max():.0f} m where high friction slips {slip.min():.1f} m; "
            f"at 2 rpm the arrays feel up to {worst:.0f} N m, and may feel 1765 N m",
            weight="bold", size=12,
        )  # fmt: skip
        fig.text(
            0.018, 0.925,
            "Above and below left: the capture of figure 7 with other friction, and with other "
            "spin; crosses: the asteroid reaches past the rim, where runs end. Below right: a pear "
            "of 8 m, many axes of rotation.", size=9, color=style.GREY,
        )  # fmt: skip
        style.save(fig, file)


def spin_panels(panels, turns, spun):
    """Moments, and the drift to a flat spin."""
    shades = [style.INK, BLUE, SAND, style.ALARM]
    for i, rpm in enumerate(turns):
        kept = spun.records[i]
        time, colour = spun.time[:kept], shades[i]
        load, angle = spun.bending[i, :kept].max(axis=1), np.degrees(spun.axis_angle[i, :kept])
        panels[0].plot(time, load, color=colour, lw=1.1, label=f"{rpm:g} rpm")
        panels[1].plot(time, angle, color=colour, lw=1.2)
        if kept < len(spun.time):
            for axes, values in zip(panels[:2], (load, angle), strict=True):
                axes.plot(time[-1], values[-1], "x", color=colour, ms=6, mew=1.6)
    plain(panels[0], "Bending moment, either array [N m]")
    plain(panels[1], "Craft's axis from the pair's spin [°]; 90° is flat")
    panels[0].legend(frameon=False, fontsize=8.5, loc="upper right")


def spin_loads(axes, turns, many, craft):
    """Largest moments of many captures, by spin and controller, against the limit."""
    shades = (GREEN, BLUE, SAND)
    for k, (name, rows) in enumerate(many.items()):
        for place, _ in enumerate(turns):
            load = rows["bending_nm"].reshape(len(turns), -1)[place]
            at = place + 0.24 * (k - 1) + np.linspace(-0.08, 0.08, len(load))
            axes.scatter(at, load, s=7, color=shades[k], lw=0, label=None if place else name)
            if k == 2:
                told = max(
                    r["bending_nm"].reshape(len(turns), -1)[place].max() for r in many.values()
                )
                axes.text(
                    place, told + 40, f"limit ÷ {craft.moment_limit / told:.1f}", ha="center",
                    size=8.5,
                )  # fmt: skip
    axes.axhline(craft.moment_limit, color=style.ALARM, lw=1.1)
    axes.text(
        -0.4, craft.moment_limit - 35, "limit 1765 N m", color=style.ALARM, va="top", size=8.5
    )
    axes.set_xticks(np.arange(len(turns)), [f"{rpm:g} rpm" for rpm in turns])
    axes.set_ylim(0.0, 1.08 * craft.moment_limit)
    axes.legend(frameon=False, fontsize=8.5, loc="upper left", bbox_to_anchor=(0.0, 0.88))
    count = sum(len(rows) for rows in many.values())
    plain(axes, f"Peak bending moment of {count} captures [N m]", "spin of the asteroid")


# -- the campaign -----------------------------------------------------------------------------


def campaign(file, rows, lengths, craft):
    """Loads and outcomes of many captures."""
    said = {one.name: one for one in CAPTURE_WORDS.values()}
    known = [said[name] for name in ENDS if name in said]
    ends = {one.name: rows["outcome"] == one for one in known if (rows["outcome"] == one).any()}
    with style.figure(12.6, 7.4) as fig:
        grid = fig.add_gridspec(
            2, 3, left=0.06, right=0.985, top=0.86, bottom=0.07, wspace=0.22, hspace=0.66
        )
        cells = [fig.add_subplot(grid[k // 3, k % 3]) for k in range(6)]
        exceedance(cells[0], rows["bending_nm"], craft.moment_limit)
        cells[0].set_title("Captures that exceed a moment", size=9.5)
        scatter(cells[1], rows)
        settling(cells[2], rows)
        over = {
            "length of the asteroid [m]": lengths[rows["shape"]],
            "friction": rows["friction"],
            "spin of the asteroid [rpm]": rows["spin_rpm"],
        }
        for axes, (label, values) in zip(cells[3:], over.items(), strict=True):
            ends_over(axes, values, ends)
            axes.set_xlabel(label)
            axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        share_bar(fig.add_axes((0.06, 0.43, 0.925, 0.02)), ends)
        held = wilson(int(rows["success"].sum()), len(rows))
        worst = rows["bending_nm"].max()
        fig.text(
            0.018, 0.955,
            f"{held.value:.0%} of {len(rows)} captures hold for three minutes "
            f"({held.low:.0%} to {held.high:.0%}, 95 %); arrays feel up to {worst:.0f} of "
            f"{craft.moment_limit:.0f} N m", weight="bold", size=12,
        )  # fmt: skip
        fig.text(
            0.018, 0.926,
            "24 shapes of 5 to 11 m, 1500 to 3000 kg/m³ and at most 1000 t, 0.1 to 0.5 rpm about "
            "any axis, friction 0.1 to 1.0, navigation to 0.3 m (1σ); corkscrew approach, 475 N, "
            "180 s", size=9, color=style.GREY,
        )  # fmt: skip
        style.save(fig, file)


def scatter(axes, rows):
    """Load by friction and spin."""
    dots = axes.scatter(
        rows["friction"], rows["bending_nm"], c=rows["spin_rpm"], s=7, cmap=style.GRAVITY, lw=0,
        alpha=0.85, vmin=0.1, vmax=0.5,
    )  # fmt: skip
    bar = axes.figure.colorbar(dots, ax=axes, fraction=0.045, pad=0.02)
    bar.ax.set_title("rpm", size=8, weight="normal", loc="center")
    bar.outline.set_visible(False)
    axes.set_ylim(0.0, None)
    plain(axes, "Peak bending moment [N m], by friction", "friction")


def settling(axes, rows):
    """Time until at rest, against friction, of those that came to rest."""
    held = rows[np.isfinite(rows["settle_s"])]
    axes.scatter(held["friction"], held["settle_s"], s=7, color=GREEN, lw=0, alpha=0.8)
    axes.set(xlim=(0.08, 1.02), ylim=(0.0, None))
    share = len(held) / len(rows)
    plain(axes, f"From contact to rest [s]: {share:.0%} of all", "friction")
