"""The JSON schema describes every key: meaning, unit where there is one, default."""

import pytest

from alight.scenario import from_dict, json_schema
from alight.scenario.descriptions import meanings

KINDS = ("landing", "capture", "drop")


def properties(kind):
    schema = json_schema(kind)
    for name, section in {**schema["$defs"], "TOP": schema}.items():
        for key, told in section.get("properties", {}).items():
            yield name, key, told


@pytest.mark.parametrize("kind", KINDS)
def test_every_property_says_what_it_means(kind):
    found = properties(kind)
    lacking = [f"{name}.{key}" for name, key, told in found if not told.get("description")]
    assert lacking == []


@pytest.mark.parametrize("kind", KINDS)
def test_every_quantity_says_its_unit(kind):
    for name, key, told in properties(kind):
        if "pattern" in told:  # a number with a unit
            assert "(" in told["description"], f"{name}.{key}"
            assert told["examples"], f"{name}.{key}"


def test_no_meaning_is_of_a_key_that_is_not_there():
    known = {(name, key) for kind in KINDS for name, key, _ in properties(kind)}
    names = {name for name, _ in known}
    for section, keys in meanings().items():
        own = {n for n in names if n.startswith(section)} if section != "any" else names
        for key in keys:
            assert any((name, key) in known for name in own), f"{section}.{key}"


def test_defaults_that_are_told_are_those_that_are_filled_in(ryugu):
    # Those that are plain numbers or words, of the sections that every landing has.
    made = from_dict({k: v for k, v in ryugu.items() if k not in ("dispersions", "campaign")})
    written = made.resolved()
    sections = {"release": "ReleaseSection", "contact": "ContactSection", "stop": "StopSection",
                "steps": "StepsSection", "campaign": "CampaignSection"}  # fmt: skip
    compared = 0
    for table, section in sections.items():
        for key, meaning in meanings()[section].items():
            default = meaning.partition(" | ")[2].partition(";")[0].strip()
            value = written[table].get(key)
            given = key in ryugu.get(table, {}) and table != "campaign"
            if not default or given or not isinstance(value, str | int | float):
                continue
            try:
                said = float(default.split()[0].replace("\u202f", ""))
            except ValueError:
                continue
            unit = default.split()[1:] if isinstance(value, str) else []
            from alight.scenario import quantities

            if isinstance(value, str):
                dims = [d for d in quantities.DIMENSIONS.values() if unit and unit[0] in d.units]
                if not dims:
                    continue
                one, other = (float(quantities.read_as(t, dims[0])) for t in (default, value))
                assert one == pytest.approx(other, rel=1e-12), f"{section}.{key}"
            elif " 000" not in default:
                assert said == pytest.approx(float(value)), f"{section}.{key}"
            compared += 1
    assert compared > 8
