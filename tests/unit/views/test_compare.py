"""Comparisons: equal campaigns do not differ, different ones differ where they do."""

import json
import pathlib
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import alight
from alight.campaign import open_campaign
from alight.campaign.shard_store import seal_name
from alight.cli.main import app
from alight.core.errors import FileError, InputError
from alight.core.outcomes import Outcome
from alight.views import style
from alight.views.compare.sections import sections
from alight.views.compare.sides import _said
from alight.views.compare.words import summary, value_cell, verdict_cell

sys.path.insert(0, str(pathlib.Path(__file__).parent / "report"))  # tests are no package

from capture_case import make_captures
from drop_case import make_drops
from landing_case import SCENARIO, make_campaign


@pytest.fixture(autouse=True, scope="module")
def small_pictures():
    """Few pixels, for speed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(style, "DPI", 40)
        yield


SOFT = {"contact": {**SCENARIO["contact"], "restitution": 0.3}}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Campaigns by name; all but ``seed`` have the seed of the first."""
    place = tmp_path_factory.mktemp("compare")
    make_campaign(place / "first")
    make_campaign(place / "same")
    make_campaign(place / "lost", escaped=0.3)
    make_campaign(place / "soft", **SOFT)
    make_campaign(place / "seed", seed=8)
    make_campaign(place / "still", runs=100, dispersions={})
    make_campaign(place / "part", shards=2)
    make_captures(place / "captures")
    make_drops(place / "drops")
    return place


def told(found):
    return "\n".join(summary(found))


def test_equal_campaigns_do_not_differ(made):
    found = alight.compare(made / "first", made / "same")
    assert found.scenario == []
    assert found.circumstances == []
    assert found.differing() == []
    assert found.same_runs() == (400, 400)
    assert all(row.against[0].p == 1.0 for row in found.rows)
    assert "all 400 runs have the same numbers in both" in told(found)


def test_losses_are_found_where_they_are(made):
    """The made-up campaigns differ in who escapes: what all runs have stays the same."""
    found = alight.compare(made / "first", made / "lost")
    differing = {row.column for row in found.differing()}
    assert {"share of escaped", "share of settled"} <= differing
    assert "first_contact_time_s" not in differing
    escaped = next(row for row in found.shares if row.label == "escaped")
    codes = [open_campaign(made / n).read()["outcome_code"].to_numpy() for n in ("first", "lost")]
    shares = [np.mean(one == Outcome.ESCAPED) for one in codes]
    assert [value.value for value in escaped.values] == pytest.approx(shares)
    tested = escaped.against[0].tested
    assert tested.difference.value == pytest.approx(shares[1] - shares[0])
    assert tested.test == "McNemar"
    assert "share escaped" in told(found)


def test_a_changed_value_is_named_with_both_values(made):
    found = alight.compare(made / "first", made / "soft")
    assert [(one.key, one.values) for one in found.scenario] == [
        ("contact.restitution", ("0.6", "0.3"))
    ]
    assert "contact.restitution 0.6 → 0.3" in told(found)


def test_other_seeds_are_independent_samples(made):
    found = alight.compare(made / "first", made / "seed")
    assert not found.pairs[0].paired
    assert {row.against[0].tested.test for row in found.rows} == {"Fisher", "Kolmogorov-Smirnov"}
    assert found.same_runs() is None
    assert "independent samples" in "".join(p.text for p in sections(found)[-2].parts)


def test_runs_of_one_alone_are_left_out_of_pairs(made):
    found = alight.compare(made / "first", made / "part")
    assert len(found.pairs[0].common) == 200
    assert found.same_runs() == (200, 200)
    (warning,) = sections(found)[0].warnings
    assert "part is unfinished: 200 of 400 runs" in warning
    assert ("runs", ("400", "200")) in [(one.key, one.values) for one in found.circumstances]


def test_pairs_go_by_the_numbers_of_runs(made, tmp_path):
    """A folder that lacks its first shard: run 100 is its first row."""
    make_campaign(tmp_path / "later")
    (tmp_path / "later" / seal_name(0)).unlink()
    found = alight.compare(made / "first", tmp_path / "later")
    assert found.pairs[0].common.tolist() == list(range(100, 400))
    assert found.same_runs() == (300, 300)


def test_nothing_dispersed_is_no_sample(made):
    found = alight.compare(made / "first", made / "still")
    assert found.tests == 0
    assert all(row.against[0].tested is None for row in found.rows)
    assert "still is no random sample" in told(found)
    assert all(np.isnan(row.values[1].low) for row in found.rows)
    assert value_cell(found.shares[0], 1) == "99.0 %"


def test_sweeps_are_no_sample(made, tmp_path):
    swept = {"contact.restitution": {"kind": "sweep", "values": [0.5, 0.6]}}
    for name in ("one", "other"):
        make_campaign(tmp_path / name, dispersions={**SCENARIO["dispersions"], **swept})
    found = alight.compare(tmp_path / "one", tmp_path / "other")
    assert found.tests == 0
    assert "are no random sample" in told(found)


def test_several_are_each_compared_with_the_first(made):
    found = alight.compare(made / "first", made / "same", made / "lost")
    assert found.differing(0) == []
    assert "share of escaped" in {row.column for row in found.differing(1)}
    assert found.tests == 2 * len(found.rows)
    assert "lost against first" in told(found)


@pytest.mark.parametrize("name", ["captures", "drops"])
def test_other_kinds(made, name):
    found = alight.compare(made / name, made / name)
    assert found.differing() == []
    assert found.same_runs() is not None
    first, second = (side.name for side in found.sides)
    assert first.endswith(name)
    assert second == f"{first} (2)"


def test_a_capture_that_slips_more_is_found(made, tmp_path):
    def slippery(rows):
        rows["slip_m"] = rows["slip_m"] + 0.5

    make_captures(tmp_path / "more", change=slippery)
    found = alight.compare(made / "captures", tmp_path / "more")
    assert [row.column for row in found.differing()] == ["slip_m"]
    assert found.differing()[0].against[0].tested.difference.value == pytest.approx(0.5)


def test_verdicts_stand_side_by_side(made, tmp_path):
    asked = [{"kind": "outcome", "outcome": "escaped", "at_most": 0.1}]
    make_campaign(tmp_path / "few", requirement=asked)
    make_campaign(tmp_path / "many", escaped=0.3, requirement=asked)
    found = alight.compare(tmp_path / "few", tmp_path / "many", made / "first")
    ((name, told_of),) = found.requirements.items()
    assert [verdict_cell(one).partition(":")[0] for one in told_of] == [
        "pass", "fail", "not required",
    ]  # fmt: skip
    section = next(one for one in sections(found) if one.title == "Requirements")
    assert section.parts[0].rows[0][0] == name
    assert found.to_dict()["requirements"][0]["verdicts"] == ["pass", "fail", None]
    assert found.scenario == []  # what is asked of runs changes none of them


# -- what cannot be compared ---------------------------------------------------------------------


def test_campaigns_of_other_kinds(made):
    with pytest.raises(InputError, match=r"holds landings and .*captures.*of one kind\.$"):
        alight.compare(made / "first", made / "captures")


def test_too_few_or_no_campaigns(made, tmp_path):
    with pytest.raises(InputError, match="two campaigns or more"):
        alight.compare(made / "first")
    with pytest.raises(FileError, match="not the folder of a campaign"):
        alight.compare(made / "first", tmp_path)
    make_campaign(tmp_path / "empty", shards=0)
    with pytest.raises(InputError, match="no finished shard"):
        alight.compare(made / "first", tmp_path / "empty")


# -- page and command ----------------------------------------------------------------------------


def test_the_page_needs_nothing_else(made, tmp_path):
    hostile = tmp_path / "<b>&"
    make_campaign(hostile, title="<script>alert(1)</script>", **SOFT)
    report = alight.compare(made / "first", hostile).write(tmp_path / "page.html")
    text = report.page.read_text()
    assert "<script" not in text
    assert "&lt;b&gt;&amp;" in text
    assert "http" not in text.replace("http://www.w3.org", "")
    assert text.count("<img") == 3
    assert {file.suffix for file in report.figures} == {".png", ".svg"}
    assert "contact.restitution" in text


def test_the_command(made, tmp_path):
    command = CliRunner()
    given = ["compare", str(made / "first"), str(made / "lost"), "--out", str(tmp_path)]
    result = command.invoke(app, given)
    assert result.exit_code == 0, result.exception
    assert (tmp_path / "comparison.html").is_file()
    assert "share escaped" in result.stdout
    data = json.loads(command.invoke(app, [*given[:3], "--json", "--no-page"]).stdout)
    assert "page" not in data
    assert data["pairs"][0]["paired_runs"] == 400
    assert "share of escaped" in data["pairs"][0]["differs"]
    row = next(row for row in data["shares"] if row["label"] == "escaped")
    assert row["against_first"][0]["p_corrected"] >= row["against_first"][0]["p"]
    wrong = command.invoke(app, [*given[:3], "--out", "page.pdf"])
    assert "ends in .html" in str(wrong.exception)


def test_print_is_short(made):
    found = alight.compare(made / "first", made / "lost")
    assert len(str(found)) < 2000
    assert "<script" not in found._repr_html_()
    assert "Do the answers differ?" in found._repr_html_()


def test_values_of_scenarios_have_the_digits_of_readers():
    pole = ["0.5235987755982988 rad", "-1.0559241974565694 rad"]
    assert _said(pole, False) == "30 deg, -60.5 deg"
    assert _said(pole, True) == ", ".join(pole)
    assert _said("4 cm/s", False) == "4 cm/s"
    assert _said([0.5, 1.4142135623730951], False) == "[0.5, 1.4142136]"
    assert _said(True, False) == "true"
