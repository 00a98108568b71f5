"""Compiled headers: what one process has made serves the next, and nothing else does."""

import pytest
import warp as wp

from alight.core import headers, seals

NAME = "builtin_o3.pch"


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Where one process compiles, and another; the cache is empty."""
    monkeypatch.setattr(wp.config, "kernel_cache_dir", str(tmp_path / "cache"))
    made = tmp_path / "one", tmp_path / "other"
    for folder in made:
        folder.mkdir()
    return made


def test_what_one_made_is_lent_to_the_next(places):
    one, other = places
    (one / NAME).write_bytes(b"compiled")
    (one / "notes.txt").write_text("of no use")
    headers.keep(one)
    headers.lend(other)
    assert [file.name for file in other.iterdir()] == [NAME]
    assert (other / NAME).read_bytes() == b"compiled"


@pytest.mark.parametrize("damage", [b"", b"compil", b"Compiled"])
def test_a_damaged_one_is_not_lent_and_made_good(places, damage):
    one, other = places
    (one / NAME).write_bytes(b"compiled")
    headers.keep(one)
    (headers.store() / NAME).write_bytes(damage)
    headers.lend(other)
    assert list(other.iterdir()) == []
    headers.keep(one)
    headers.lend(other)
    assert (other / NAME).read_bytes() == b"compiled"


def test_without_a_seal_it_is_not_lent(places):
    one, other = places
    (one / NAME).write_bytes(b"compiled")
    headers.keep(one)
    (headers.store() / (NAME + seals.SEAL)).unlink()
    headers.lend(other)
    assert list(other.iterdir()) == []


def test_other_headers_have_other_names(places, monkeypatch):
    """Installed anew, or another version: what was compiled from the old ones is not used."""
    before = headers.store()
    headers._installed.cache_clear()
    monkeypatch.setattr(wp.config, "version", "0.0.0")
    assert headers.store() != before
    headers._installed.cache_clear()


def test_a_cache_that_cannot_be_written_is_no_error(places):
    one, other = places
    (one / NAME).write_bytes(b"compiled")
    headers.store().parent.mkdir()
    headers.store().write_text("a file where the folder would be")
    headers.keep(one)
    headers.lend(other)
    assert list(other.iterdir()) == []


def test_warp_says_where_it_looks():
    """The one thing asked of Warp beyond its documented names."""
    wp.init()
    place = headers.place_of_this_thread()
    assert place is not None
    assert place.is_dir()
