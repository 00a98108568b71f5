"""Writing a report: sections over what was found, one page, its figures and tables beside it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alight.analysis.rest_light import LightOf
from alight.analysis.sun import SunPath
from alight.campaign.reader import Campaign, open_campaign
from alight.core.compile_notice import reported
from alight.core.errors import unknown_name
from alight.core.progress import Progress, progress
from alight.core.stages import stage
from alight.shapes.mesh import Mesh
from alight.views.playback import Playback
from alight.views.report import drawing
from alight.views.report.capture import data as capture_data
from alight.views.report.capture import sections as capture
from alight.views.report.capture.findings import CaptureFindings
from alight.views.report.common import INTERVALS
from alight.views.report.drop import data as drop_data
from alight.views.report.drop import sections as drop
from alight.views.report.drop.findings import DropFindings
from alight.views.report.files import FIGURES, PAGE, Report, not_written, page_file, write_page
from alight.views.report.findings import Findings
from alight.views.report.landing import data as landing_data
from alight.views.report.landing import sections as landing
from alight.views.report.landing.findings import LandingFindings
from alight.views.report.landing.terrain import Ground
from alight.views.report.page import Page, render
from alight.views.report.registered import Guarded, registered
from alight.views.report.requirements import QUESTION
from alight.views.report.section import Figure, Section
from alight.views.report.sweep import SWEPT, sweep_sections
from alight.views.report.viewer import see_it

if TYPE_CHECKING:
    from alight.views.figures.articulated import Pose
    from alight.views.figures.capture.scene import Look


@dataclass(frozen=True)
class ReportKind:
    """A page about one kind of runs: what it finds, its line below the title, its sections."""

    findings: Callable[[Campaign, dict[str, Any]], Findings[Any]]
    """Of a campaign, and of what the command line hands over for its pictures, if it does."""
    subtitle: Callable[[Any], str]
    sections: Sequence[Callable[[Any], Section]]
    single: Sequence[Callable[[Any], Section]]
    """Those of them about where and how single runs go, which say nothing of likelihood."""


def _landings(campaign: Campaign, given: dict[str, Any]) -> LandingFindings:
    names = ("mesh", "sun", "limits", "pose", "light", "ground")
    return LandingFindings(landing_data.read(campaign, *(given.get(name) for name in names)))


def _captures(campaign: Campaign, given: dict[str, Any]) -> CaptureFindings:
    return CaptureFindings(capture_data.read(campaign, given.get("look")))


def _drops(campaign: Campaign, given: dict[str, Any]) -> DropFindings:
    return DropFindings(drop_data.read(campaign))


#: Reports by the kind of scenario.
KINDS = {
    "landing": ReportKind(_landings, landing.subtitle, landing.SECTIONS, landing.SINGLE),
    "capture": ReportKind(_captures, capture.subtitle, capture.SECTIONS, capture.SINGLE),
    "drop": ReportKind(_drops, drop.subtitle, drop.SECTIONS, drop.SINGLE),
}


def kind_of(campaign: Campaign) -> str:
    """What a campaign is of: ``"landing"``, ``"capture"`` or ``"drop"``."""
    kind = str(campaign.scenario.get("kind", "landing"))
    if kind not in KINDS:
        raise unknown_name("kind of campaign to report on", kind, KINDS)
    return kind


def write(
    data: Campaign | str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    mesh: Mesh | None = None,
    sun: SunPath | str | None = None,
    look: Callable[[int], Look] | None = None,
    limits: Mapping[str, float] | None = None,
    pose: Callable[[Mapping[str, float]], Pose] | None = None,
    light: LightOf | None = None,
    playback: Playback | Callable[[], Section | None] | None = None,
    ground: Ground | str | None = None,
    show: str | Progress = "auto",
) -> Report:
    """Write the report of a campaign: a page that needs nothing else, and its figures beside it.

    The scenario's kind says what the page is about: landings, captures or drops.

    Args:
        data: A campaign, or its folder.
        out: The page, or a folder for it; ``report.html`` in the campaign's folder if not given.
            Figures go to the folder ``figures`` beside the page.
        mesh: Of landings, the body, for relief and pictures; without it maps have none.
        sun: Of landings, the Sun's path across the body's sky, for light where they rest; or a
            sentence that says why it is not known. Without it the page is silent about light.
        look: Of captures, what run ``look(run)`` looks like; without it there are no pictures.
        limits: Of articulated landers, the longest strokes of legs by their names in columns [m].
        pose: Of articulated landers, what they look like in a row of a trajectory.
        light: Of landings, what computes the light that requirements ask for; from ``mesh`` and
            ``sun`` if not given.
        playback: What is shown in three dimensions, or what gives the section that shows it once
            the figures are drawn; without it there is no viewer on the page.
        ground: Of landings, the ground that is touched, for maps of the terrain; or a sentence that
            says why it is not known. Without it there are none.
        show: How progress is reported: "silent", "auto", "text", "rich" or a ``Progress``.
    """
    campaign = data if isinstance(data, Campaign) else open_campaign(data)
    page = page_file(campaign.folder / PAGE if out is None else Path(out))
    given: dict[str, Any] = {"mesh": mesh, "sun": sun, "look": look, "limits": limits}
    given |= {"pose": pose, "light": light, "ground": ground}
    with reported(show), progress(show) as bar:
        return _written(campaign, page, given, playback, bar)


def _written(
    campaign: Campaign,
    page: Path,
    given: dict[str, Any],
    playback: Playback | Callable[[], Section | None] | None,
    bar: Progress,
) -> Report:
    kind = KINDS[kind_of(campaign)]
    with stage("Reading the runs"):
        found = kind.findings(campaign, given)
    with stage("Working out the numbers"):
        own = sections_of(found)
        added = registered(found.data)
    figures = sum(len(s.figures) for s in (*own, *(one.section for one in added)))
    try:
        drawn = Drawing(page.parent, figures, bar)
        body = drawn.all([s for s in own if s.parts])
        viewer = _seen(playback)
        own, body = [*viewer, *own], [*viewer, *body]
        guests = [drawn.guarded(one) for one in added]
        # Sections of other packages stand before what the page ends with: how it was computed.
        body[-2:-2] = [one.section for one in guests if one.section.parts]
        told = _Told(own, guests, SWEPT if found.swept else INTERVALS)
        files = {key: _beside(page, *one) for s in own for key, one in s.files.items()}
        told_page = told.page(found.data.title, kind.subtitle(found), body)
        write_page(page, render(told_page, drawn.svg_of))
    except OSError as error:
        raise not_written(page, error) from None
    return Report(page, drawn.files, told.numbers, told.answers, told.warnings, files)


def _seen(playback: Playback | Callable[[], Section | None] | None) -> list[Section]:
    """The viewer, where there is one."""
    with stage("Preparing the 3D view"):
        made = see_it(playback) if isinstance(playback, Playback) else playback and playback()
    return [] if made is None else [made]


def sections_of(found: Findings[Any]) -> list[Section]:
    """Alight's own sections, in their order; those without parts have no place on the page."""
    kind = KINDS[found.kind]
    return [make(found) for make in (sweep_sections(kind) if found.swept else kind.sections)]


def _beside(page: Path, name: str, save: Callable[[Path], object]) -> Path:
    page.parent.mkdir(exist_ok=True)
    save(page.parent / name)
    return page.parent / name


class _Told:
    """What all sections say together, those of other packages after Alight's own."""

    def __init__(self, own: Sequence[Section], added: Sequence[Guarded], note: str) -> None:
        self.note = note
        sections = [*own, *(one.section for one in added)]
        self.opening = [part for section in sections for part in section.opening]
        self.answers = [pair for section in sections for pair in section.answers]
        self.warnings = [line for section in sections for line in section.warnings]
        self.numbers: dict[str, object] = {k: v for s in own for k, v in s.numbers.items()}
        if added:
            self.numbers["sections"] = {one.name: dict(one.section.numbers) for one in added}

    def page(self, title: str, subtitle: str, body: Sequence[Section]) -> Page:
        """The page; the verdicts stand in a box of their own."""
        answers = [pair for pair in self.answers if pair[0] != QUESTION]
        return Page(title, subtitle, body, self.opening, self.warnings, answers, self.note)


class Drawing:
    """Draws the figures of sections and remembers the files."""

    def __init__(self, folder: Path, total: int, bar: Progress) -> None:
        self.folder, self.total, self.bar = folder / FIGURES, total, bar
        self.files: list[Path] = []

    def all(self, sections: Sequence[Section]) -> list[Section]:
        """Alight's own sections: their figures are drawn together."""
        parts = [part for section in sections for part in section.figures]
        drawing.draw([(part, self._made(part)) for part in parts], self._tell)
        self.files += [file for part in parts for file in self._made(part)]
        return list(sections)

    def guarded(self, one: Guarded) -> Guarded:
        """A section of another package: where it fails, the page says so and continues."""
        try:
            for part in one.section.figures:
                part.draw(*self._made(part))
                self.svg_of(part).read_bytes()  # it must be there when the page is made
                self.bar.advance()
        except Exception as error:  # whatever it is, the rest of the page is worth having
            return one.failed(error)
        self.files += [file for part in one.section.figures for file in self._made(part)]
        return one

    def svg_of(self, part: Figure) -> Path:
        """Where the image of a figure lies that goes into the page."""
        return self._made(part)[1]

    def _tell(self, count: int) -> None:
        if count:
            self.bar.advance()
        else:
            self.bar.start("Drawing", total=self.total)

    def _made(self, part: Figure) -> list[Path]:
        return [self.folder / f"{part.stem}.png", self.folder / f"{part.stem}.svg"]
