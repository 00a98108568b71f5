"""Every public class and function has a docstring, and an example of its own or elsewhere."""

import inspect

from tools import uses_of_names
from tools.public_names import ROOMS, public_names


def things():
    for room in ROOMS:
        for name, thing in public_names(room).items():
            if inspect.isclass(thing) or inspect.isfunction(thing):
                yield f"{room}.{name}", thing


def test_each_has_a_docstring():
    assert [name for name, thing in things() if not (thing.__doc__ or "").strip()] == []


def test_each_has_an_example():
    assert list(uses_of_names.without_example()) == []


def test_a_name_in_prose_or_within_another_is_no_example(monkeypatch):
    monkeypatch.setattr(
        uses_of_names, "_programs", lambda: {"page": "Polyhedron2(); field.Reduced"}
    )
    assert uses_of_names.uses("Polyhedron") == []
    assert uses_of_names.uses("Reduced") == ["page"]


def test_an_example_of_its_own_is_code():
    def without():
        """Says ``that`` in words."""

    def with_one():
        pass

    with_one.__doc__ = "Says it. ::\n\n    with_one()\n"
    assert not uses_of_names.own_example(without)
    assert uses_of_names.own_example(with_one)
