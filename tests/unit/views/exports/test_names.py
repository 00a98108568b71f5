"""Names that may hold anything, as other tools take them."""

import xml.etree.ElementTree as ET

import pytest

from alight.core.errors import InputError
from alight.views.exports import names
from alight.views.exports.epoch import epoch_of

HOSTILE = 'a "title" <script>alert(1)</script>\n../../x --> ]]> \\begindata META_STOP é\x1b[2J'


@pytest.mark.parametrize(
    "text", [HOSTILE, "../../etc/passwd", "", ".", "é\u202e", "a" * 500, "-rf"]
)
def test_names_are_of_plain_letters(text):
    stem = names.file_stem(text, "other")
    assert stem
    assert not set(stem) - set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
    assert len(stem) <= 60
    word = names.spice_name(text, "OTHER")
    assert word == word.upper()
    assert len(word) <= 24
    assert "-" not in word
    line = names.plain_ascii(text)
    assert line.isascii()
    assert line.isprintable()
    assert len(line) <= 200
    assert ET.fromstring(f'<a b="{names.xml_text(text)}">{names.xml_text(text)}</a>').tag == "a"


def test_names_are_told_apart():
    assert names.distinct(["A", "A", "B", "A"]) == ["A", "A_2", "B", "A_3"]
    assert names.distinct(["ABCDEF", "ABCDEF"], 6) == ["ABCDEF", "ABCD_2"]


def test_epochs():
    assert epoch_of(None, None).text(1.5) == "2000-01-01T12:00:01.500000"
    assert "no date" in epoch_of(None, None).source
    given = epoch_of(None, "2018-10-03T01:57:20")
    assert given.text() == "2018-10-03T01:57:20.000000"
    assert given.julian() == pytest.approx(2458394.5 + (3600 + 57 * 60 + 20) / 86400, abs=1e-8)
    assert epoch_of("2020-01-01", "2018-10-03").text().startswith("2020-01-01T00:00:00")
    with pytest.raises(InputError, match="is no date"):
        epoch_of("soon", None)
    with pytest.raises(InputError, match="no more dates"):
        epoch_of("9999-12-31", None).text(1e6)
