"""docs/reference/trust.md says what the records say."""

import pytest
from tools import trust_page
from tools.depends import ROOT


def test_the_page_is_up_to_date():
    page = trust_page.PAGE.read_text("utf-8")
    assert page == trust_page.text(), "run python -m tools.trust_page"


def test_each_file_of_checks_says_what_it_compares_with():
    named = [str(path.relative_to(ROOT)) for path in trust_page.checks()]
    assert list(trust_page.claims()["against"]) == named
    assert all(trust_page.claims()["against"].values())


def test_every_study_and_file_that_a_claim_names_is_there():
    for paper in trust_page.claims()["paper"]:
        for claim in paper["claim"]:
            named = [*claim.get("studies", ()), *claim.get("quick", ())]
            assert named, claim["claim"]
            for study in named:
                file, _, function = study.partition("::")
                assert (ROOT / file).is_file(), study
                assert f"def {function}" in (ROOT / file).read_text("utf-8"), study
            assert claim["verdict"] in trust_page.VERDICTS


ROWS = """## `tests/verification/test_a.py`

| `test_x` | it holds | passed | 3 |
| `test_y` | a \\| b | **failed** (1 of 4 cases): why | 2 |
"""


def test_a_study_that_failed_is_said_at_the_claim(tmp_path, monkeypatch):
    record = tmp_path / "validation.md"
    record.write_text(ROWS, "utf-8")
    monkeypatch.setattr(trust_page, "VALIDATION", record)
    slow = trust_page.slow_studies()
    assert [(one.function, one.cases, one.passed) for one in slow] == [
        ("test_x", 1, True),
        ("test_y", 4, False),
    ]
    file = "tests/verification/test_a.py"
    checks = [
        trust_page._check({"studies": studies}, slow)
        for studies in ([f"{file}::test_x"], [file], [f"{file}::test_z"], [])
    ]
    assert checks[0] == "passed"
    assert checks[1].startswith("**test_y: failed")
    assert "not run" in checks[2]
    assert checks[3] == "with every change"


def test_the_claims_name_every_paper():
    numbers = [paper["number"] for paper in trust_page.claims()["paper"]]
    assert numbers == ["000", "001", "002", "003", "004"]


@pytest.mark.parametrize("part", ["Flown landings", "Beside another engine", "not modelled"])
def test_the_page_has_its_parts(part):
    assert part in trust_page.text()
