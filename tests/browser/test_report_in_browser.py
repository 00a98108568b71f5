"""The report in a real browser: everything loads, nothing is asked for elsewhere, it prints.

The browser is the system's own Chromium; without one the tests are skipped.
"""

import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from matplotlib.image import imread

import alight
from alight.analysis.sun import SunPath, sun_over_rotation
from alight.shapes import icosphere
from alight.views import report, style
from alight.views.figures.landing import maps

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "unit/views/report"))  # no package

from landing_case import RADIUS, make_campaign

#: Runs after the page and before the DOM is dumped: what is broken is written into it.
PROBE = """
<script>
addEventListener("load", () => {
  const bad = [...document.images].filter(i => !i.complete || !i.naturalWidth).length;
  const wide = document.documentElement.scrollWidth > document.documentElement.clientWidth;
  const asked = performance.getEntriesByType("resource").map(e => e.name)
    .filter(n => !n.startsWith("data:"));
  document.body.dataset.probe =
    `images=${document.images.length} bad=${bad} wide=${wide} asked=${asked.length}`;
});
</script>
"""


@pytest.fixture(scope="session")
def browser():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name)
        if found:
            return found
    pytest.skip("no Chromium: install the system package chromium to test pages in a browser")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    place = make_campaign(
        tmp_path_factory.mktemp("browser") / "c", 300, 100, trajectories=(0, 1, 2)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(maps, "PIXELS", 200)
        patch.setattr(style, "DPI", 80)
        way = sun_over_rotation((1.0, 0.3, 0.2), (0.0, 0.0, 0.0, 1.0), 90)
        sun = SunPath(way, 27_477.4, when="on 2018-10-03 at 02:00 UTC")
        return report.write(place, mesh=icosphere(4, RADIUS), sun=sun).page


def _browse(browser, profile, *arguments):
    """Run the browser without a window and without a network."""
    command = [
        browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
        "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND",
        f"--user-data-dir={profile}", *arguments,
    ]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, check=True)


def _probe(browser, page, tmp_path, size):
    probed = tmp_path / "probed.html"
    text = page.read_text(encoding="utf-8")
    probed.write_text(text.replace("</body>", PROBE + "</body>"), encoding="utf-8")
    done = _browse(
        browser, tmp_path / "profile", f"--window-size={size}", "--virtual-time-budget=10000",
        "--dump-dom", probed.as_uri(),
    )  # fmt: skip
    return done.stdout, re.search(r'data-probe="([^"]*)"', done.stdout)


def test_everything_loads(browser, page, tmp_path):
    dom, told = _probe(browser, page, tmp_path, "1200,900")
    assert "<title>MINERVA-II-1 on Ryugu</title>" in dom
    assert told.group(1) == "images=9 bad=0 wide=false asked=0"


def test_fits_a_telephone(browser, page, tmp_path):
    """Figures and tables scroll by themselves; the page does not go beyond the screen."""
    _, told = _probe(browser, page, tmp_path, "500,900")
    assert "wide=false" in told.group(1)


def test_a_missing_image_would_be_noticed(browser, page, tmp_path):
    broken = tmp_path / "broken.html"
    text = page.read_text(encoding="utf-8")
    broken.write_text(re.sub(r'src="data:[^"]*"', 'src="lost.png"', text, count=1), "utf-8")
    _, told = _probe(browser, broken, tmp_path, "1200,900")
    assert "bad=1" in told.group(1)


def test_screenshot_shows_the_page(browser, page, tmp_path):
    """Dark words on white, and the colours of the figures."""
    shot = tmp_path / "shot.png"
    _browse(
        browser, tmp_path / "profile", "--window-size=1200,3000", f"--screenshot={shot}",
        page.as_uri(),
    )  # fmt: skip
    image = imread(shot)[..., :3]
    assert image.shape[:2] == (3000, 1200)
    light = image.mean(axis=2)
    assert (light > 0.99).mean() > 0.5
    assert (light < 0.25).mean() > 0.005
    orange = (np.abs(image - [213 / 255, 94 / 255, 0.0]) < 0.05).all(axis=2)
    blue = (np.abs(image - [0.0, 114 / 255, 178 / 255]) < 0.05).all(axis=2)
    assert orange.sum() > 500
    assert blue.sum() > 5000


def test_prints(browser, page, tmp_path):
    """On paper it takes a few pages, and no figure is larger than a page."""
    paper = tmp_path / "report.pdf"
    _browse(browser, tmp_path / "profile", f"--print-to-pdf={paper}", page.as_uri())
    data = paper.read_bytes()
    assert data.startswith(b"%PDF")
    assert 4 <= len(re.findall(rb"/Type\s*/Page\b", data)) <= 9


# -- comparisons ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    """The page of three campaigns, one of them with a name that is too long for a telephone."""
    place = tmp_path_factory.mktemp("comparison")
    names = ("first", "lost", "x" * 120)
    made = [make_campaign(place / names[0]), make_campaign(place / names[1], escaped=0.3)]
    made.append(make_campaign(place / names[2], seed=8))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(style, "DPI", 80)
        return alight.compare(*made).write(place / "comparison.html").page


@pytest.mark.parametrize("size", ["1200,900", "500,900"])
def test_comparisons_load_and_fit(browser, comparison, tmp_path, size):
    dom, told = _probe(browser, comparison, tmp_path, size)
    assert "Comparison: first, lost and xxx" in dom
    assert told.group(1) == "images=3 bad=0 wide=false asked=0"
