"""Events at Ryugu: MASCOT, a hop of MINERVA-II-1, the orbits of MINERVA-II-2, a target marker."""

from typing import Any

import numpy as np
from flight_events_rule import Event, Study
from flight_events_runs import across, bouncing_time, ensemble, in_words, percent, plumb

import alight

#: A flight counts as one if it rises by a centimetre: contacts closer in time are one contact [m].
RISE = 0.01


def mascot(study: Study, runs: int) -> Event:
    """From the release to rest: how long it fell, bounced, how far it came."""
    hills = np.resize([0.1, 0.3, 0.6], runs)
    made = ensemble("mascot_ryugu", runs, {"ground.noise.amplitude": hills})
    touches, rest = made.contacts(), made.final("position")
    g = plumb(made.model(), touches[0]["place"][0])[1]
    first = np.array([c["place"][0] for c in touches])
    values = {
        "fall": np.array([c["start"][0] for c in touches]),
        "bounce": np.array([c["start"][-1] - c["start"][0] for c in touches]),
        "away": np.linalg.norm(rest - first, axis=1),
        "between": np.array([_hops(c, 2.0 * np.sqrt(2.0 * RISE / g)) - 1.0 for c in touches]),
    }
    values = {key: np.where(made.settled(), a, np.nan) for key, a in values.items()}
    e, bounce, away = made.values["contact.restitution"][:, 0], values["bounce"], values["away"]
    like = np.abs(bounce / 663.0 - 1.0) < 0.15
    notes = [
        f"Gravity there is {g:.3g} m/s²: in even gravity 41 m in 350 s need "
        f"{100 * (41.0 / 350.0 - 0.5 * g * 350.0):.2f} cm/s at the release.",
        f"Runs that bounce for 663 s within 15 %: restitution {in_words(e[like])} at the contact, "
        f"distance {in_words(away[like])} m, contacts between {in_words(values['between'][like])}.",
        "A ball of restitution 0.25 would bounce for "
        f"{bouncing_time(0.141, g, 0.25):.0f} s on level ground; boxes with 0.2 to 0.3 bounce for "
        f"{in_words(bounce[(e > 0.2) & (e < 0.3)])} s, since turning gives speed back: a single "
        "landing says little about restitution.",
        "Bouncing with hills of "
        + ", ".join(f"{a} m: {in_words(bounce[hills == a])} s" for a in (0.1, 0.3, 0.6))
        + ".",
    ]
    apart = (bounce / 663.0 - 1.0) ** 2 + (away / 17.0 - 1.0) ** 2
    closest = int(np.nanargmin(apart + (values["fall"] / 350.0 - 1.0) ** 2))
    return Event.of(
        study, values, notes, touches=touches, rest=rest, e=e, bounce=bounce, away=away,
        track=made.track(closest), tracks=[made.track(i) for i in range(min(24, runs))],
    )  # fmt: skip


def _hops(contacts: Any, least: float) -> int:
    """Flights between contacts that last longer than ``least`` [s]."""
    return int(np.sum(contacts["start"][1:] - contacts["end"][:-1] > least))


def minerva(study: Study, runs: int) -> Event:
    """The first flight of a hop, anywhere on the parallel of the landing."""
    east = np.random.default_rng(7).uniform(0.0, 2.0 * np.pi, runs)
    made = ensemble("minerva_hop_ryugu", runs, {"release.longitude": east})
    touches = made.contacts()
    (group,) = made.prepared.groups(made.values)
    start = group.release.position
    lines = [plumb(group.model, x) for x in start]
    up, g = np.array([a for a, _ in lines]), np.array([b for _, b in lines])
    air = np.array([c["start"][0] for c in touches]) / 60.0
    far = across(np.array([c["place"][0] for c in touches]) - start, up)
    rise = np.sum(group.release.velocity * up, axis=1)
    notes = [
        f"Gravity on the parallel of 17° is {in_words(g, 3)} m/s²; take-off along the plumb line "
        f"{in_words(100 * rise)} cm/s: in even gravity {in_words(2 * rise / g / 60, 3)} min.",
        "What was expected before flight agrees with itself and with Ryugu's gravity. More is not "
        "shown: how long single hops took was not found.",
    ]
    return Event.of(
        study, {"air": air, "far": far}, notes, air=air, far=far, g=g, up=up, start=start,
        tracks=[made.track(i) for i in range(min(30, runs))],
    )  # fmt: skip


def minerva_ii_2(study: Study, runs: int) -> Event:
    """From the release at 1 km to the first touch of the ground."""
    body, r = alight.body("ryugu"), np.random.default_rng(2)
    radius = 1.0e3 + 500.0
    speed = r.uniform(0.8, 1.2, runs) * np.sqrt(body.gm / radius)
    climb, tilt = r.uniform(-15.0, 15.0, (2, runs)) * np.pi / 180.0
    sense = np.resize([1.0, -1.0], runs)
    seen = np.column_stack([  # east, north, up, from outside
        sense * np.cos(climb) * np.cos(tilt), np.cos(climb) * np.sin(tilt), np.sin(climb),
    ]) * speed[:, None]  # fmt: skip
    seen[:, 0] -= np.linalg.norm(body.spin_vector) * radius
    also = {
        "release.longitude": r.uniform(0.0, 2.0 * np.pi, runs),
        "release.velocity": seen,
        "environment.sun.area_over_mass": np.resize([0.02, 0.025, 0.03], runs),
    }
    days = _days_until_touch(also)
    few = {key: a[: max(8, runs // 4)] for key, a in also.items()}
    no_push = np.zeros(len(few["release.longitude"]))
    dark = _days_until_touch({**few, "environment.sun.area_over_mass": no_push})
    part = speed / np.sqrt(body.gm / radius)
    low, high = study.quantities[0].band
    hit = (days >= low) & (days <= high)
    notes = [
        f"Down within a day {percent(days < 1.0)} of the runs, in 1 to 5 days "
        f"{percent((days >= 1.0) & (days < 5.0))}, not within 20 days {percent(np.isnan(days))}.",
        f"Down on 8 October from {in_words(part[hit], 3)} of the circular speed, {hit.sum()} runs.",
        f"A circular orbit there takes {2 * np.pi * np.sqrt(radius**3 / body.gm) / 3600:.1f} h: "
        f"5.3 to 6.3 days are some 8 orbits. Of the first {len(dark)} runs "
        f"{percent(~np.isnan(days[: len(dark)]))} touch the ground within 20 days, and "
        f"{percent(~np.isnan(dark))} where sunlight does not push.",
    ]
    return Event.of(study, {"days": days}, notes)


def _days_until_touch(also: dict[str, Any]) -> Any:
    """Days from the release of MINERVA-II-2 to the first touch; nan where there is none."""
    made = ensemble("minerva_ii_2_ryugu", len(also["release.longitude"]), also)
    first = [c["start"][0] if len(c) else np.nan for c in made.contacts()]
    return np.array(first) / 86400.0


def target_marker(study: Study, runs: int) -> Event:
    """How far from the point under the release it comes to rest, seen along the plumb line."""
    made = ensemble("target_marker_ryugu", runs)
    touches, start = made.contacts(), made.starts()
    up = np.array([plumb(made.model(), x)[0] for x in start])
    first = np.array([c["place"][0] for c in touches])
    fall = np.array([c["start"][0] for c in touches])
    rest = made.final("position")
    miss = np.where(made.settled(), across(rest - start, up), np.nan)
    notes = [
        f"It falls for {in_words(fall)} s and first touches "
        f"{in_words(across(first - start, up))} m from the aim; from there to rest it goes "
        f"{in_words(across(rest - first, up))} m.",
        f"15.4 m in that fall are {100 * 15.4 / np.median(fall):.1f} cm/s sideways, or as much "
        "distance of the craft from the aim. Neither was published.",
    ]
    return Event.of(study, {"miss": miss}, notes)
