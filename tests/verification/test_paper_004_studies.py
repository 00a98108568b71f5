"""Paper 004 again, the slow part: distributions over hundreds of landings, with figures.

Figures go to out/validate/paper_004; docs/explanation/paper_004.md says what each shows
and what was found.
"""

import importlib.util
import pathlib
import sys
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import ks_2samp

import alight
from alight.core.outcomes import Outcome

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "out" / "validate" / "paper_004"

pytestmark = pytest.mark.validate


@pytest.fixture(scope="module")
def paper():
    spec = importlib.util.spec_from_file_location("paper_004", ROOT / "examples" / "paper_004.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_single_runs_are_drawn(paper):
    """Their numbers are checked in test_paper_004.py."""
    paper.draw_throws(paper.sample_throws(), FOLDER / "throws.png")
    paper.draw_energy(FOLDER / "energy.png")
    paper.draw_slip(FOLDER / "slip.png")
    paper.draw_settling(FOLDER / "settling.png")
    assert len(list(FOLDER.glob("*.png"))) >= 4


def test_a_cube_in_three_gravities(paper, capsys):
    """B4-1: gravities 66 times apart, and distances x g/v^2 and times x g/v are spread alike.

    Medians differ by less than four standard errors, and no test tells the samples apart; in metres
    and seconds every pair is told apart with certainty.
    """
    found = paper.regimes(200)
    paper.draw_regimes(found, FOLDER / "regimes.png")
    for (scheme, name), regime in found.items():
        assert (regime.found.outcome == Outcome.SETTLED).all()
        with capsys.disabled():
            print(
                f"\n{scheme:8} {name:8} distance {np.median(regime.distance):.3f} v^2/g, "
                f"last contact {np.median(regime.time):.3f} v/g"
            )
    for scheme in paper.SCHEMES:
        for a, b in combinations(paper.REGIMES, 2):
            for what in ("distance", "time"):
                x, y = (getattr(found[scheme, name], what) for name in (a, b))
                error = 1.2533 * np.hypot(x.std(), y.std()) / np.sqrt(len(x))
                assert abs(np.median(x) - np.median(y)) < 4.0 * error
                assert ks_2samp(x, y).pvalue > 1e-3
            raw = [found[scheme, n].time / paper.REGIMES[n] for n in (a, b)]
            assert ks_2samp(*raw).pvalue < 1e-12


def check_comet(paper, mesh, file, capsys):
    comet = paper.imhotep(mesh, 200)
    paper.draw_comet(comet, FOLDER / file)
    found, hours = comet.found, comet.found.time / 3600.0
    with capsys.disabled():
        print(
            f"\n{file}: rest after {np.median(hours):.2f} h (median), {hours.max():.2f} h at most"
        )
    assert (found.outcome == Outcome.SETTLED).all()
    assert (hours < 3.0).all()
    # They rest on the ground, in the plain, and none gained energy.
    height, _ = comet.model.surface.query(found.position, device="cpu")
    reach = comet.model.surface.bounds.slope * comet.model.lander.bounding_radius
    assert ((height > 0.0) & (height < reach)).all()
    assert np.linalg.norm(found.position - comet.track.position[0], axis=1).max() < 500.0
    lost = found.touches["energy_in"] - found.touches["energy_out"]
    assert lost.min() > -1e-9 * 0.5 * 1.1 * 0.1**2


def test_minerva_settles_at_imhotep(paper, capsys):
    """B4-5 on the built-in shape."""
    check_comet(paper, alight.body("67p").mesh(20_480), "comet.png", capsys)


def test_minerva_settles_at_imhotep_on_the_real_shape(paper, shapes_dir, capsys):
    """B4-5 on the shape model of 24 000 facets."""
    mesh = alight.Mesh.read(shapes_dir / "67P_24000.npz", unit="km", recentre=True)
    check_comet(paper, mesh, "comet_real.png", capsys)


def test_do_the_schemes_agree(paper, capsys):
    """The same law in two schemes rests alike, and so does one scheme at two resolutions.

    The paper's dampers and a coefficient of restitution are different laws where a hit is off
    centre or on several points; what they do to the distributions is reported, not asserted.
    """
    found = paper.agreement(400)
    paper.draw_agreement(found, FOLDER / "agreement.png")
    tests = paper.compared(found)
    with capsys.disabled():
        for (a, b), p in tests.items():
            print(f"\n{a} - {b}: p = {p[0]:.2g} (where), {p[1]:.2g} (last contact), {p[2]:.2g}")
        for name, (_, _, when) in found.items():
            print(f"\n{name}: {np.isinf(when).sum()} of {len(when)} never declared at rest")
    assert all(np.isfinite(when).all() for _, _, when in found.values())
    same = tests["clipped, e", "clipped, e, finer"]
    assert min(same) > 1e-3
    where, last, _ = tests["smooth, k and c", "clipped, k and c"]
    # When rest is declared differs: blended spin friction lets the last turning die away slowly.
    assert min(where, last) > 1e-3
