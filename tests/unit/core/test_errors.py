"""Errors: one family, caught by the standard types too, with the nearest name suggested."""

import pytest

from alight.core import errors


@pytest.mark.parametrize(
    ("kind", "standard"),
    [
        (errors.InputError, ValueError),
        (errors.MeshError, ValueError),
        (errors.FileError, OSError),
        (errors.DeviceError, RuntimeError),
        (errors.MissingExtraError, ImportError),
    ],
)
def test_every_error_is_ours_and_standard(kind, standard):
    error = kind("what was given [m]")
    assert isinstance(error, errors.AlightError)
    assert isinstance(error, standard)
    assert str(error) == "what was given [m]"


def test_nearest_name_is_suggested():
    assert errors.did_you_mean("itokwa", ["Itokawa", "Eros"]) == ' Did you mean "Itokawa"?'
    assert errors.did_you_mean("xyz", ["Itokawa", "Eros"]) == ""


def test_unknown_name_lists_what_is_known():
    message = str(errors.unknown_name("body", "erso", ["itokawa", "eros"]))
    assert message == 'unknown body "erso". Did you mean "eros"? Known: eros, itokawa.'
