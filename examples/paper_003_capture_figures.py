"""Figures of ``paper_003_capture.py``: the film strip, histories, and the campaign."""

import numpy as np
from matplotlib.ticker import PercentFormatter
from paper_003_capture_scene import View, draw_frame

from alight.engine.capture_flight import CaptureOutcome
from alight.views import style

BLUE, GREEN, SAND = "#2f6f9f", "#4c8c5e", "#c98a2b"
#: How outcomes are told and coloured, best first.
ENDS = {
    CaptureOutcome.HELD: ("held, at rest", GREEN),
    CaptureOutcome.UNSETTLED: ("held, still moving", "#a9cbb2"),
    CaptureOutcome.LOST: ("contact lost", SAND),
    CaptureOutcome.RIM: ("reached the rim", style.ALARM),
    CaptureOutcome.STRUCK: ("struck the bus", "#6d1a1d"),
}


# -- histories --------------------------------------------------------------------------------


def plain(axes, title, xlabel="time [s]"):
    """An axes without a box."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(title, size=9.5)
    axes.set_xlabel(xlabel)


def film_strip(file, capture, pictures, fine):
    """Figure 7, and the loads behind it."""
    view = View(pictures.asteroids.momentum[0], turn=0.5)
    row = fine.rows[0]
    with style.figure(13.0, 9.3) as fig:
        grid = fig.add_gridspec(
            4, 6, height_ratios=(1.0, 1.0, 1.0, 1.18), left=0.04, right=0.965, top=0.945,
            bottom=0.055, wspace=0.0, hspace=0.03,
        )  # fmt: skip
        for number in range(18):
            axes = fig.add_subplot(grid[divmod(number, 6)])
            draw_frame(axes, capture, pictures, number, view)
        below = grid[3, :].subgridspec(2, 3, height_ratios=(0.13, 1.0), wspace=0.26, hspace=0.0)
        left, middle, right = (fig.add_subplot(below[1, k]) for k in range(3))
        loads(left, fine)
        depths(middle, fine)
        spins(right, fine)
        contact = row["contact_s"]
        for axes in (left, middle, right):
            axes.axvline(contact, color=style.LINE, lw=0.9, zorder=0)
            axes.set_xlim(0.0, 170.0)
        fig.text(
            0.02, 0.972,
            "The craft settles on the tumbling asteroid and drifts toward a flat spin; its drive "
            f"assemblies feel {row['bending_nm']:.0f} of {fine.craft.moment_limit:.0f} N m",
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


def loads(axes, flight):
    """Bending moments of both arrays."""
    for k, colour in enumerate((style.INK, BLUE)):
        axes.plot(
            flight.time, flight.bending[0, :, k], color=colour, lw=1.0, label=f"array {k + 1}"
        )
    peak = flight.rows[0]
    axes.plot(peak["bending_at_s"], peak["bending_nm"], "o", color=style.ALARM, ms=4)
    axes.annotate(
        f"{peak['bending_nm']:.0f} N m: a ninth of the limit"
        if 7.5 < peak["margin"] < 8.5 else f"{peak['bending_nm']:.0f} N m",
        (peak["bending_at_s"], peak["bending_nm"]), (8, -2), textcoords="offset points",
        color=style.ALARM, size=8.5,
    )  # fmt: skip
    axes.set_ylim(0.0, None)
    axes.legend(frameon=False, fontsize=8, loc="upper right", ncols=1)
    plain(axes, "Bending moment at the drive assemblies [N m]")


def depths(axes, flight):
    """How deep, and how hard."""
    depth = np.maximum(0.0, -flight.loads["lowest"][0])
    force = np.linalg.norm(flight.loads["force"][0], axis=1)
    axes.plot(flight.time, force, color=style.INK, lw=1.1)
    axes.axhline(475.0, color=style.GREY, lw=0.8, ls=(0, (4, 3)))
    axes.text(70.0, 485.0, "thrust 475 N", va="bottom", size=8, color=style.GREY)
    axes.set_ylim(0.0, None)
    plain(axes, "Force on the asteroid [N], depth in the fabric [m]")
    other = axes.twinx()
    other.plot(flight.time, depth, color=BLUE, lw=1.1)
    other.set_ylim(0.0, 1.6 * depth.max())
    other.spines[["top", "left"]].set_visible(False)
    other.tick_params(colors=BLUE)
    other.text(60.0, depth.max() + 0.12, "depth", color=BLUE, size=8.5)
    axes.text(32.0, 1.02 * force.max(), "force", size=8.5, va="top")


def spins(axes, flight):
    """Catching up, and the drift to a flat spin."""
    part = flight.relative_rate[0] / np.linalg.norm(flight.asteroids.rate[0])
    axes.plot(flight.time, 100.0 * part, color=style.INK, lw=1.1)
    axes.set_ylim(0.0, 100.0)
    axes.yaxis.set_major_formatter(PercentFormatter(decimals=0))
    plain(axes, "Relative rate over spin; craft's axis to pair's spin")
    other = axes.twinx()
    other.plot(flight.time, np.degrees(flight.axis_angle[0]), color=style.ALARM, lw=1.1)
    other.set(ylim=(0.0, 90.0), yticks=(0, 30, 60, 90))
    other.yaxis.set_major_formatter("{x:.0f}°")
    other.spines[["top", "left"]].set_visible(False)
    other.tick_params(colors=style.ALARM)
    other.text(166.0, 83.0, "90°: flat spin", color=style.ALARM, size=8.5, ha="right")
    axes.text(128.0, 15.0, "relative rate", size=8.5)
    other.text(92.0, 52.0, "axis", color=style.ALARM, size=8.5, ha="right")


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
            f"at 2 rpm the rim fails before the arrays, which feel up to {worst:.0f} of 1765 N m",
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
    """Greatest moments of many captures, by spin and controller, against the limit."""
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
    with style.figure(12.6, 7.4) as fig:
        grid = fig.add_gridspec(
            2, 3, left=0.05, right=0.985, top=0.855, bottom=0.07, wspace=0.22, hspace=0.52
        )
        cells = [fig.add_subplot(grid[k // 3, k % 3]) for k in range(6)]
        percentiles(cells[0], rows, craft)
        scatter(cells[1], rows)
        settling(cells[2], rows)
        shares(cells[3], lengths[rows["shape"]], rows, 1.0, "length of the asteroid [m]")
        shares(cells[4], rows["friction"], rows, 0.15, "friction", 0.1)
        shares(cells[5], rows["spin_rpm"], rows, 0.08, "spin of the asteroid [rpm]", 0.1)
        for axes, by in zip(cells[3:], ("length", "friction", "spin"), strict=True):
            axes.set_title(f"How captures end, by {by}", size=9.5)
        legend(fig, rows)
        low, high = wilson(int(rows["success"].sum()), len(rows))
        worst = rows["bending_nm"].max()
        fig.text(
            0.018, 0.955,
            f"{rows['success'].mean():.0%} of {len(rows)} captures hold for three minutes "
            f"({low:.0%} to {high:.0%}, 95 %); arrays feel up to {worst:.0f} of "
            f"{craft.moment_limit:.0f} N m", weight="bold", size=12,
        )  # fmt: skip
        fig.text(
            0.018, 0.926,
            "24 shapes of 5 to 11 m, 1500 to 3000 kg/m³ and at most 1000 t, 0.1 to 0.5 rpm about "
            "any axis, friction 0.1 to 1.0, navigation to 0.3 m (1σ); corkscrew approach, 475 N, "
            "180 s", size=9, color=style.GREY,
        )  # fmt: skip
        style.save(fig, file)


def legend(fig, rows):
    """Outcomes that occur, with their shares, above the bars."""
    at = 0.05
    for code, (label, colour) in ENDS.items():
        share = (rows["outcome"] == code).mean()
        if share:
            fig.text(at, 0.452, "■", color=colour, size=12, va="center")
            fig.text(at + 0.014, 0.452, f"{label}: {share:.1%}", size=9, va="center")
            at += 0.17


def wilson(hits, count, z=1.96):
    """95 % interval of a share."""
    share, more = hits / count, z * z / count
    middle = (share + 0.5 * more) / (1.0 + more)
    half = z * np.sqrt(share * (1.0 - share) / count + 0.25 * more / count) / (1.0 + more)
    return middle - half, middle + half


def percentiles(axes, rows, craft):
    """How many captures load the arrays less than so much."""
    load = np.sort(rows["bending_nm"])
    axes.plot(load, np.arange(1, len(load) + 1) / len(load), color=style.INK, lw=1.3)
    parts = (50, 90, 99, 100)
    values = np.percentile(load, parts)
    axes.plot(values, np.array(parts) / 100.0, "o", color=BLUE, ms=4)
    for line, (part, value) in enumerate(zip(parts, values, strict=True)):
        name = "all" if part == 100 else f"{part} %"
        for at, text in (
            (760, name),
            (1150, f"{value:.0f} N m"),
            (1620, f"{value / craft.moment_limit:.0%}"),
        ):
            axes.text(at, 0.62 - 0.09 * line, text, color=BLUE, ha="right", size=9)
    axes.text(1620, 0.71, "of limit", color=BLUE, ha="right", size=9)
    axes.axvline(craft.moment_limit, color=style.ALARM, lw=1.1)
    axes.text(craft.moment_limit - 25, 0.03, "limit", color=style.ALARM, ha="right", size=8.5)
    axes.set(xlim=(0.0, 1.05 * craft.moment_limit), ylim=(0.0, 1.03))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    plain(axes, "Captures with a lesser bending moment", "peak bending moment [N m]")


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


def shares(axes, values, rows, step, xlabel, first=None):
    """Stacked shares of outcomes over a parameter."""
    start = np.floor(values.min()) if first is None else first
    edges = np.arange(start, values.max() + 1e-9, step)
    edges = np.append(edges, edges[-1] + step) if edges[-1] < values.max() - 1e-6 else edges
    which = np.clip(np.digitize(values, edges) - 1, 0, len(edges) - 2)
    base = np.zeros(len(edges) - 1)
    count = np.bincount(which, minlength=len(base))
    for code, (_, colour) in ENDS.items():
        part = np.bincount(which[rows["outcome"] == code], minlength=len(base))
        share = part / np.maximum(count, 1)
        axes.bar(edges[:-1], share, step * 0.93, base, color=colour, align="edge", lw=0)
        base += share
    axes.set(xlim=(edges[0], edges[-1]), ylim=(0.0, 1.0))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    plain(axes, "", xlabel)


def settling(axes, rows):
    """Time until at rest, against friction, of those that came to rest."""
    held = rows[rows["outcome"] == CaptureOutcome.HELD]
    axes.scatter(held["friction"], held["settle_s"], s=7, color=GREEN, lw=0, alpha=0.8)
    axes.set(xlim=(0.08, 1.02), ylim=(0.0, None))
    share = len(held) / len(rows)
    plain(axes, f"From contact to rest [s]: {share:.0%} of all", "friction")
