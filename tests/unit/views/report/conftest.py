"""Small pictures, and what the sections of a report say."""

import pytest

from alight.cli import report as cli
from alight.views import style
from alight.views.figures.landing import maps
from alight.views.report.writing import sections_of


@pytest.fixture(autouse=True, scope="module")
def small_pictures():
    """Few pixels and facets, for speed; only here, as other tests may follow in a process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(maps, "PIXELS", 60)
        patch.setattr(style, "DPI", 40)
        patch.setattr(cli, "FACETS", 320)
        yield


@pytest.fixture(scope="session")
def told():
    """``told(found, "answers")``: what all sections say, in their order."""

    def all_of(found, what):
        parts = [getattr(section, what) for section in sections_of(found)]
        if what == "numbers":
            return {key: value for part in parts for key, value in part.items()}
        return [one for part in parts for one in part]

    return all_of
