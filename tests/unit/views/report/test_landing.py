"""The report of a campaign: it says what the tables hold, and the page needs nothing else."""

import base64
import pathlib
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

from alight.analysis.intervals import Estimate
from alight.campaign.reader import open_campaign
from alight.core.errors import FileError, InputError
from alight.core.outcomes import Outcome
from alight.shapes import icosphere
from alight.views import report
from alight.views.estimates import interval, none_of, percent, with_interval
from alight.views.figures.landing import maps
from alight.views.report import common
from alight.views.report.landing.data import read
from alight.views.report.landing.findings import LandingFindings
from alight.views.words import Unit

sys.path.insert(0, str(pathlib.Path(__file__).parent))  # tests are no package

from landing_case import GRAVITY, RADIUS, make_campaign


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_campaign(tmp_path_factory.mktemp("campaign") / "c", 400, 100, trajectories=(0, 3))


@pytest.fixture(scope="module")
def found(folder):
    return LandingFindings(read(open_campaign(folder)))


@pytest.fixture(scope="module")
def written(folder):
    return report.write(folder, mesh=icosphere(3, RADIUS))


class Page(HTMLParser):
    """Collects what a browser would load, and checks that tags are balanced."""

    VOID = ("meta", "link", "img", "br")

    def __init__(self, text):
        super().__init__()
        self.open, self.loads, self.images, self.text = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, f"left open: {self.open}"

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.loads += [given[name] for name in ("src", "href", "data", "poster") if name in given]
        if tag == "img":
            self.images.append(given)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append((self.open[-1] if self.open else "", data))

    def words(self, *tags):
        return " ".join(data for tag, data in self.text if tag in tags)


# -- the page ---------------------------------------------------------------------------------


def test_page_needs_nothing_else(written):
    text = written.page.read_text(encoding="utf-8")
    page = Page(text)
    assert page.words("title") == "MINERVA-II-1 on Ryugu"
    assert all(link.startswith(("data:", "#")) for link in page.loads)
    assert "@import" not in text
    assert "url(" not in page.words("style")
    assert "<script" not in text
    assert len(page.images) == 8
    for image in page.images:
        assert len(image["alt"]) > 10
        kind, _, data = image["src"].partition(";base64,")
        assert kind == "data:image/svg+xml"
        assert base64.b64decode(data, validate=True).lstrip().startswith(b"<?xml")


def test_images_load_nothing_either(written):
    for file in written.figures:
        if file.suffix == ".svg":
            text = file.read_text()
            links = [part.split('"')[0] for part in text.split('xlink:href="')[1:]]
            assert all(link.startswith(("#", "data:image/png;base64,")) for link in links), file


def test_figures_lie_beside_it_as_png_and_svg(written):
    stems = {"rest_map", "ellipses", "histograms", "trajectories", "energy", "sensitivity"}
    stems |= {"convergence", "timeline"}  # who escapes depends on nothing here
    expected = {f"{stem}.{kind}" for stem in stems for kind in ("png", "svg")}
    assert {file.name for file in written.figures} == expected
    for file in written.figures:
        assert file.parent == written.page.parent / "figures"
        start = file.read_bytes()[:8]
        assert start == b"\x89PNG\r\n\x1a\n" if file.suffix == ".png" else start[:5] == b"<?xml"


def test_answers_come_first(written):
    page = Page(written.page.read_text(encoding="utf-8"))
    order = [tag for tag, _ in page.text if tag in ("dd", "h2")]
    assert order[:4] == ["dd"] * 4
    assert page.words("dt").count("?") == 4
    assert "seed = 7" in page.words("pre")
    assert "SHA-256" in page.words("td")


def test_the_same_campaign_gives_the_same_page(folder, written, tmp_path):
    again = report.write(folder, tmp_path / "again.html", mesh=icosphere(3, RADIUS))
    assert again.page.read_bytes() == written.page.read_bytes()


# -- what it says -----------------------------------------------------------------------------


def test_numbers_are_those_of_the_table(folder, written):
    table = open_campaign(folder).read()
    code = table.column("outcome_code").to_numpy()
    settle = table.column("settle_time_s").to_numpy()
    settled = code == Outcome.SETTLED
    told = written.numbers
    assert told["runs"] == 400
    assert told["escaped_share"]["value"] == (code == Outcome.ESCAPED).mean() > 0.0
    median = told["settle_time_s"]["median"]
    assert median["value"] == pytest.approx(np.median(settle[settled]), rel=1e-14)
    assert median["low"] < median["value"] < median["high"]
    speed = table.column("first_contact_normal_speed_m_per_s").to_numpy()
    p95 = told["first_contact_normal_speed_m_per_s"]["p95"]["value"]
    assert p95 == pytest.approx(np.quantile(speed, 0.95), rel=1e-14)
    latitude = table.column("rest_latitude_deg").to_numpy()[settled]
    # The middle is the median place; of an even footprint that of latitudes is near it.
    assert told["rest"]["latitude_deg"] == pytest.approx(np.median(latitude), abs=1.0)


def test_sentences_carry_the_numbers(found, told):
    lost, where, when, hard = (answer for _, answer in told(found, "answers"))
    settle = np.median(found.values("settle_time_s")) / 60.0
    assert f"{settle:.1f} min" in when
    assert (
        f"({np.nanmedian(found.values('first_contact_normal_speed_m_per_s')) * 100:.1f}" not in hard
    )
    assert "cm/s" in hard
    assert " N " in hard
    count = found.count(Outcome.ESCAPED)
    assert f"({count} of 400; 95 % interval" in lost
    ellipse = found.ellipse(0.95)
    assert f"{ellipse.semi_major:.0f} × {ellipse.semi_minor:.0f} m" in where


def test_ellipses_hold_their_share_of_the_landings(found):
    rest = found.where.plane
    for ellipse in found.ellipses:
        s, c = np.sin(np.radians(ellipse.azimuth)), np.cos(np.radians(ellipse.azimuth))
        off = rest - ellipse.centre
        along, across = off @ [s, c], off @ [c, -s]
        inside = (along / ellipse.semi_major) ** 2 + (across / ellipse.semi_minor) ** 2
        # One landing lies on the rim, and rounding may put it on either side.
        held = (inside <= 1.0 + 1e-9).sum()
        assert held == np.ceil(ellipse.share * len(rest) * (1 - 1e-12))


def test_what_drives_what_is_named(found):
    told = found.sensitivity
    assert told.strongest("rest place, east")[0] == "release velocity, east"
    assert told.strongest("rest place, north")[0] == "release velocity, north"
    assert told.strongest("settling time")[0] == "restitution"
    rows = dict(common.sobol_rows(found))
    assert rows["settling time"].startswith("restitution")


def test_shares_close_to_one_keep_their_digits():
    assert percent(0.977) == "97.7 %"
    assert percent(0.99996) == "99.9960 %"
    assert percent(1.0) == "100 %"
    assert percent(0.023) == "2.3 %"
    assert percent(0.0) == "0 %"


def test_intervals_of_many_runs_keep_their_ends_apart():
    metre = Unit("m", 1.0)
    told = with_interval(Estimate(14.012, 14.008, 14.016, 10**6), metre)
    assert told == "14.01 m (14.01 to 14.02)"
    assert with_interval(Estimate(14.0, 13.0, 15.0, 9), metre).startswith("14.0 m (13.0")
    share = Estimate(0.019829, 0.019558, 0.020104, 10**6)
    assert interval(share) == "95 % interval 1.956 to 2.010 %"


def test_course_between_steps_is_filled_in(found):
    course = found.data.courses[0]
    line = maps.smooth(course)
    assert np.isin(course.time, line.time).all()
    assert len(line.time) > 3 * len(course.time)
    # Arcs are parabolas, which a cubic meets but for rounding: first a fall, then a hop.
    rest = course.rows("", "_m")[-1]
    up = rest / np.linalg.norm(rest)
    height = (line.position - rest) @ up
    begin, end = course.time[6], course.time[11]
    middle, half = 0.5 * (begin + end), 0.5 * (end - begin) - 1e-6
    for arc, start, rise, since in (
        (line.time < begin - 1e-6, 60.0, 0.0, 0.0),
        (np.abs(line.time - middle) < half, 0.0, GRAVITY * (half + 1e-6), begin),
    ):
        t = line.time[arc] - since
        expected = start + rise * t - 0.5 * GRAVITY * t * t
        assert arc.sum() > 30
        assert height[arc] == pytest.approx(expected, abs=1e-12 * RADIUS * len(t))


# -- what stands in landers -------------------------------------------------------------------


@pytest.mark.parametrize(("depth", "told"), [(None, False), (1e-3, False), (0.143, True)])
def test_ground_inside_landers_at_rest_is_told(tmp_path, depth, told):
    made = report.write(make_campaign(tmp_path / "c", 60, 60, escaped=0.0, depth=depth))
    lines = [line for line in made.warnings if "ground and lander overlap" in line]
    assert bool(lines) == told
    if told:
        assert "In 30 of 60 landings" in lines[0]
        assert "14.3 cm" in lines[0]
        assert "hull_depth_m" in lines[0]


@pytest.mark.parametrize(("scheme", "warned"), [("smooth", True), ("clipped", False)])
def test_springs_that_are_set_once_are_warned_of(tmp_path, scheme, warned):
    springs = {"scheme": scheme, "depth": "1 mm", "speed": "1 cm/s"}
    contact = {"restitution": 0.6, "friction": 0.6, **springs}
    made = report.write(make_campaign(tmp_path / "c", 60, 60, contact=contact))
    assert any("contact.speed" in line for line in made.warnings) == warned


# -- what may be lacking ----------------------------------------------------------------------


def test_unfinished_campaign_says_so(tmp_path):
    title = 'A "title" with <script>alert(1)</script> & more'
    made = report.write(make_campaign(tmp_path / "c", 60, 30, shards=1, title=title))
    assert any("unfinished: 30 of 60" in line for line in made.warnings)
    text = made.page.read_text(encoding="utf-8")
    assert "<script" not in text
    page = Page(text)
    assert page.words("title") == title
    assert "unfinished: 30 of 60" in page.words("p")
    assert "no relief" in page.words("figcaption")


def test_none_settled(tmp_path):
    made = report.write(make_campaign(tmp_path / "c", 30, 30, escaped=2.0))
    answers = dict(made.answers)
    assert answers["Where does it come to rest?"].startswith("Nowhere")
    assert "100 % of the runs escape" in answers["How often is it lost?"]
    assert made.numbers["settle_time_s"] is None
    assert not any(file.stem == "rest_map" for file in made.figures)


@pytest.mark.parametrize(
    ("ending", "said"),
    [
        (Outcome.GAINED_ENERGY, "runs failed"),
        (Outcome.OUT_OF_STEPS, "allowed number of steps was used up: settling times"),
        (Outcome.TIMED_OUT, "end of the simulated time: settling times"),
    ],
)
def test_runs_that_failed_or_were_cut_short_are_warned_of(ending, said, tmp_path):
    made = report.write(make_campaign(tmp_path / "c", 60, 60, escaped=0.2, ending=ending))
    notes = " ".join(Page(made.page.read_text(encoding="utf-8")).words("p", "div").split())
    assert said in notes
    assert ("runs failed" in notes) == ending.failed
    assert dict(made.answers)["How often is it lost?"].startswith("None of the 60 runs escaped")


def test_single_run(tmp_path):
    made = report.write(make_campaign(tmp_path / "c", 1, 1, escaped=0.0, trajectories=(0,)))
    answers = dict(made.answers)
    assert answers["Where does it come to rest?"].endswith("one landing came to rest.")
    assert "nan" not in " ".join(answers.values())
    page = Page(made.page.read_text(encoding="utf-8"))
    assert "nan" not in page.words("td").split()


def test_plane_has_no_latitudes(tmp_path):
    """Up is the plane's normal, not away from a centre, and nothing is on a far side."""
    ground = {"kind": "plane", "normal": [0.0, 0.0, 1.0]}
    place = make_campaign(tmp_path / "c", 40, 40, escaped=0.0, trajectories=(0,), ground=ground)
    found = LandingFindings(read(open_campaign(place)))
    assert found.where.R_TL[:, 2] == pytest.approx([0.0, 0.0, 1.0])
    assert found.where.plane == pytest.approx(found.data.rest[:, :2] - found.where.origin[:2])
    assert found.far == 0.0
    made = report.write(place)
    assert "x = " in dict(made.answers)["Where does it come to rest?"]
    assert "from y to x" in dict(made.answers)["Where does it come to rest?"]
    assert "north" not in Page(made.page.read_text(encoding="utf-8")).words("p")
    assert made.numbers["rest"]["latitude_deg"] is None
    assert not any(file.stem == "rest_map" for file in made.figures)


def test_rigid_hits_have_no_force(tmp_path):
    """Under a law of impulses nothing is said of forces; speeds of impact stand in their place."""
    place = make_campaign(
        tmp_path / "c", 40, 40, escaped=0.0, trajectories=(0,), contact={"law": "impulse"}
    )
    found = LandingFindings(read(open_campaign(place)))
    made = report.write(place)
    hard = dict(made.answers)["How hard does it hit?"]
    assert hard.endswith("a hit takes no time and has no force.")
    assert made.numbers["peak_force_N"] is None
    assert not any("force" in row[0] for row in common.quantity_table(found).rows)
    assert "median hardest_normal_speed_m_per_s" in found.convergence.answers


@pytest.mark.parametrize(
    ("runs", "high", "said"),
    [
        (300, 0.0127, "None of the 300 runs escaped: with 95 % confidence fewer than 1.3 % do."),
        # Of one run 95 % is the exact bound: at a true share of 95 % it stays away in 5 % of cases.
        (1, 0.7935, "The only run did not escape: with 95 % confidence fewer than 95.0 % do."),
        (
            10**6,
            3.84e-6,
            "None of the 1000000 runs escaped: with 95 % confidence fewer than 3.8e-4 % do.",
        ),
    ],
)
def test_none_escaped_is_not_never(runs, high, said):
    assert none_of(runs, high, "runs", "escaped", "escape") == said


def test_folder_without_a_campaign(tmp_path):
    with pytest.raises(FileError, match="not the folder of a campaign"):
        report.write(tmp_path)


def test_campaign_without_a_finished_shard(tmp_path):
    place = make_campaign(tmp_path / "c", 60, 30, shards=0)
    with pytest.raises(InputError, match="no finished shard"):
        report.write(place)


def test_place_that_cannot_be_written(folder, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot write the report"):
        report.write(folder, tmp_path / "file" / "page.html")
