"""Measured flight events, run again and judged by a rule that was stated first.

    python examples/flight_events.py                    all events: figures and tables
    python examples/flight_events.py mascot near        some of them
    python examples/flight_events.py --part 0.1         with a tenth of the runs
    python examples/flight_events.py --docs             and docs/explanation/flight_events.md

flight_events.toml holds the events: what was measured, what is set, dispersed and judged;
flight_events_rule.py the rule. Each event is an ensemble of some hundred runs with what is not
known dispersed. Figures and tables go to a folder (out/flight_events); with --docs the numbers are
also stored beside this file, and the tables of the page are written from them.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from flight_events_hits import near, philae_graze, philae_spin
from flight_events_itokawa import hayabusa, minerva_2005
from flight_events_page import PAGE, blocks, store, verdict_table, with_blocks
from flight_events_philae import philae, philae_last
from flight_events_rule import Event, Study, read
from flight_events_ryugu import mascot, minerva, minerva_ii_2, target_marker

#: How each study is run: (study, runs) to an event.
RUN: dict[str, Callable[[Study, int], Event]] = {
    "mascot": mascot,
    "minerva": minerva,
    "minerva_ii_2": minerva_ii_2,
    "target_marker": target_marker,
    "hayabusa": hayabusa,
    "minerva_2005": minerva_2005,
    "philae": philae,
    "philae_spin": philae_spin,
    "philae_graze": philae_graze,
    "philae_last": philae_last,
    "near": near,
}


def run(name: str, part: float = 1.0) -> Event:
    """One event, with this part of its runs."""
    study = read()[0][name]
    return RUN[name](study, max(8, round(part * study.runs)))


def write(events: list[Event], folder: Path) -> dict[str, object]:
    """Table and numbers of these events in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "flight_events.json"
    file.unlink(missing_ok=True)
    results = store(events, file)
    (folder / "flight_events.md").write_text(verdict_table(read()[0], results), encoding="utf-8")
    return results


def write_page(events: list[Event]) -> None:
    """Store the numbers of these events and write the page from all that are stored."""
    studies, entries = read()
    results = store(events)
    page = with_blocks(PAGE.read_text("utf-8"), blocks(studies, entries, results))
    PAGE.write_text(page, encoding="utf-8")


def draw(event: Event, folder: Path) -> Path:
    """The event's figure."""
    import flight_events_figures as figures

    file = folder / f"{event.study.name}.png"
    figures.draw(event, file)
    return file


def main() -> None:
    """Run, draw, judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"of {', '.join(RUN)}; all if none is named")
    parser.add_argument("--part", type=float, default=1.0, help="part of the runs, from 0 to 1")
    parser.add_argument("--out", type=Path, default=Path("out/flight_events"), help="folder")
    parser.add_argument(
        "--docs", action="store_true", help="write docs/explanation/flight_events.md"
    )
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in RUN]
    if unknown:
        parser.error(f"no event is called {unknown[0]}; there are {', '.join(RUN)}")
    if given.docs and given.part != 1.0:
        parser.error("--docs needs all runs: leave out --part")
    events = []
    for name in given.names or RUN:
        start = time.process_time()
        events.append(run(name, given.part))
        file = draw(events[-1], given.out)
        print(f"{name}: {time.process_time() - start:.0f} s of CPU, wrote {file}", flush=True)
    results = write(events, given.out)
    if given.docs:
        write_page(events)
    print(verdict_table(read()[0], results))
    for event in events:
        print(event.title, *event.notes, sep="\n  ")


if __name__ == "__main__":
    main()
