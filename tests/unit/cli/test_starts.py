"""What a command loads: those that answer at once load nothing that takes long."""

import json
import subprocess
import sys

import pytest

SLOW = ("dask", "jinja2", "matplotlib", "pandas", "pint", "pyarrow", "pydantic", "scipy", "warp")

_SCRIPT = """
import json, sys
sys.argv = ["alight", *sys.argv[1:]]
from alight.cli.start import run
try:
    run()
finally:
    print("\\n" + json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def _loaded(*arguments: str, code: int = 0, given: str = "") -> set[str]:
    """Those of ``SLOW`` that a command loads."""
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, *arguments], input=given, capture_output=True, text=True
    )
    assert done.returncode == code, done.stderr
    return set(SLOW) & set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_the_first_questions_load_nothing(option):
    assert _loaded(option) == set()


@pytest.mark.parametrize(
    "arguments", [["run", "--help"], ["campaign", "--help"], ["scenario", "list"]], ids=" ".join
)
def test_what_computes_nothing_loads_nothing_but_what_typer_does(arguments):
    assert _loaded(*arguments) <= {"pydantic"}


def test_a_scenario_of_a_rigid_lander_is_read_without_warp():
    script = (
        "import sys\nfrom alight.scenario import load\n"
        "from alight.scenario.shipped_scenarios import find\n"
        "for name in ('ryugu_minerva', 'philae_67p'):\n    load(find(name).path)\n"
        f"assert set({SLOW}) & set(sys.modules) <= {{'pydantic', 'scipy'}}\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_mistakes_in_a_scenario_are_told_without_warp():
    wrong = '[body]\nname = "Ryugu"\n[lander]\nname = "minerva-ii-1"\n[ground]\nkind = "plain"\n'
    assert _loaded("scenario", "check", "-", code=2, given=wrong) <= {"pydantic", "scipy"}


@pytest.mark.parametrize("room", ["alight", "alight.campaign", "alight.scenario", "alight.motions"])
def test_importing_a_room_loads_nothing(room):
    script = f"import sys, {room}\nassert not {set(SLOW) | {'numpy'}} & set(sys.modules)\n"
    subprocess.run([sys.executable, "-c", script], check=True)
