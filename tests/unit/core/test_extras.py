"""Absent extras are named in one line; broken ones are told apart from absent ones."""

import math

import pytest

from alight.core.errors import AlightError, MissingExtraError
from alight.core.extras import require


def test_present_module_is_returned():
    assert require("math", extra="none") is math
    assert require("os.path", extra="none").join("a", "b") == "a/b"


def test_absent_module_says_what_to_install():
    with pytest.raises(MissingExtraError) as caught:
        require("no_such_package_here.viewer", extra="view")
    message = str(caught.value)
    assert '"no_such_package_here"' in message
    assert 'pip install "alight[view]"' in message
    assert "\n" not in message
    assert isinstance(caught.value, AlightError)


@pytest.mark.parametrize("line", ["import no_such_dependency", "from math import nothing"])
def test_a_package_that_does_not_load_is_not_called_absent(tmp_path, monkeypatch, line):
    (tmp_path / "half_installed.py").write_text(line)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MissingExtraError, match="installed but does not load"):
        require("half_installed", extra="view")
