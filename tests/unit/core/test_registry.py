"""The registry: names are unique, unknown ones are told with the nearest, strangers cannot harm."""

import importlib.metadata
import sys
import types

import pytest

from alight.core.errors import InputError
from alight.core.registry import HERE, SHIPPED, Registry


def law(gm, share=0.5):
    """Anything that makes something."""
    return gm, share


@pytest.fixture
def empty():
    """A registry that looks for no packages."""
    made = Registry()
    made._loaded = True
    return made


def test_names_are_found_and_told(empty):
    empty.add("gravity", "dumbbell", law, text="two masses")
    found = empty.find("gravity", "dumbbell")
    assert (found.make, found.text, found.package) == (law, "two masses", HERE)
    assert empty.names("gravity") == ["dumbbell"]
    assert empty.known("gravity", "dumbell") is None
    with pytest.raises(InputError, match=r'unknown gravity "dumbell"\. Did you mean "dumbbell"\?'):
        empty.find("gravity", "dumbell")


def test_names_of_two_kinds_do_not_meet(empty):
    empty.add("gravity", "sphere", law)
    empty.add("surface", "sphere", law)
    with pytest.raises(InputError, match=r'the surface "sphere" of this process is there already'):
        empty.add("surface", "sphere", law)


@pytest.mark.parametrize("name", ["", "two masses", "a.b", "1st", 3, "x" * 61])
def test_names_fit_into_dotted_keys(empty, name):
    with pytest.raises(InputError, match="cannot be called"):
        empty.add("gravity", name, law)


def test_what_makes_it_can_be_called(empty):
    with pytest.raises(InputError, match="which cannot be called"):
        empty.add("gravity", "heavy", 3.0)


def test_kinds_are_known(empty):
    with pytest.raises(InputError, match=r'no kind "gravty"\. Did you mean "gravity"\?'):
        empty.add("gravty", "x", law)


def test_only_what_this_process_added_is_dropped(empty):
    empty.add("gravity", "own", law)
    empty.add("gravity", "shipped", Registry)
    assert empty.find("gravity", "shipped").package == SHIPPED
    empty.drop("gravity", "own")
    assert empty.names("gravity") == ["shipped"]
    with pytest.raises(InputError, match="not added by this process"):
        empty.drop("gravity", "shipped")


def test_what_a_law_asks_for_is_offered_by_name(empty):
    empty.add("gravity", "dumbbell", law)
    entry = empty.find("gravity", "dumbbell")
    assert entry.asks(("share",)) == {"gm": True}
    assert entry.called({"share": 0.3}, {"gm": lambda: 2.0, "mesh": lambda: 1 / 0}) == (2.0, 0.3)
    with pytest.raises(InputError, match=r"asks for gm, .* nothing that a scenario offers .*mesh"):
        entry.called({"share": 0.3}, {"mesh": list})


# -- packages -----------------------------------------------------------------------------------


@pytest.fixture
def packages(monkeypatch):
    """Lets modules register as packages would: by a function each, under its package's name."""

    def offer(**functions):
        points = []
        for name, register in functions.items():
            module = types.ModuleType(f"offered_{name}")
            module.register = register
            monkeypatch.setitem(sys.modules, module.__name__, module)
            point = importlib.metadata.EntryPoint(name, f"{module.__name__}:register", "alight")
            points.append(point)
        monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: points)
        return Registry()

    return offer


def test_packages_add_when_a_name_is_first_wanted(packages):
    made = packages(one=lambda registry: registry.add("gravity", "dumbbell", law))
    assert made.find("gravity", "dumbbell").package == "one"


def test_a_package_that_fails_adds_nothing_and_stops_nobody(packages):
    def broken(registry):
        registry.add("gravity", "half", law)
        raise ImportError("libsolid.so is missing")

    made = packages(bad=broken, good=lambda registry: registry.add("gravity", "dumbbell", law))
    assert made.names("gravity") == ["dumbbell"]
    said = r"extension bad = offered_bad:register of package bad does not load \(ImportError: libs"
    with pytest.raises(InputError, match=said):
        made.find("gravity", "half")
    assert list(made.broken) == ["bad"]


def test_a_name_that_two_packages_want_is_nobodys(packages):
    one = lambda registry: registry.add("gravity", "dumbbell", law)  # noqa: E731
    made = packages(one=one, two=one)
    said = 'the gravity "dumbbell" of package two is there already, from package one'
    with pytest.raises(InputError, match=said):
        made.find("gravity", "dumbbell")


@pytest.mark.parametrize("late", [False, True])
def test_a_shipped_name_stays_what_it_is(packages, late):
    """Whether packages are loaded before it is added or after."""
    made = packages(two=lambda registry: registry.add("gravity", "smooth", law))
    if late:
        made.names("gravity")
    made.add("gravity", "smooth", Registry)
    assert made.find("gravity", "smooth").package == SHIPPED
    assert 'the gravity "smooth" of package two is there already' in made.broken["two"]


def test_what_makes_it_may_be_named_and_loads_when_it_is_used(empty, monkeypatch):
    made = types.ModuleType("late_laws")
    made.Law = law
    empty.add("gravity", "late", "late_laws:Law")
    entry = empty.find("gravity", "late")
    assert entry.package == HERE
    with pytest.raises(InputError, match=r"made by late_laws:Law, which does not load: No module"):
        _ = entry.make
    monkeypatch.setitem(sys.modules, "late_laws", made)
    assert entry.make is law
    empty.add("surface", "own", "alight.surfaces:Plane")
    assert empty.find("surface", "own").package == SHIPPED
    with pytest.raises(InputError, match="which cannot be called"):
        empty.add("surface", "other", "no place of a name")
