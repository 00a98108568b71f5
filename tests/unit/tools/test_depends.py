"""Which files a test rests on: never one too few, and not simply all.

Reference: the functions that a process really enters. A child process runs a small campaign under a
profiler; every file of Alight in which a function was entered must be among those that import
statements lead to.
"""

import pathlib
import subprocess
import sys

import pytest
from tools import depends, validate

ALIGHT = depends.SOURCE / "alight"

PROGRAM = """
import sys, threading
from alight.campaign import open_campaign, run_campaign

entered = set()

def watch(frame, event, _):
    if event == "call" and frame.f_code.co_name != "<module>":
        entered.add(frame.f_code.co_filename)

sys.setprofile(watch)
threading.setprofile(watch)
run_campaign(sys.argv[1], runs=2, out=sys.argv[2], device="cpu")
open_campaign(sys.argv[2]).read()
sys.setprofile(None)
print(*entered, sep="\\n")
"""


def names(files):
    return {str(file.relative_to(ALIGHT)) for file in files if ALIGHT in file.parents}


@pytest.mark.validate
def test_what_a_process_enters_is_found(tmp_path, cube_drop):
    program, scenario = tmp_path / "program.py", tmp_path / "landing.toml"
    program.write_text(PROGRAM)
    scenario.write_text(cube_drop())
    command = [sys.executable, program, scenario, tmp_path / "out"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    files = {pathlib.Path(line) for line in done.stdout.splitlines() if "/alight/" in line}
    entered = {str(f).rpartition("/alight/")[2] for f in files if f.name != "__init__.py"}
    assert len(entered) > 50
    assert entered - names(depends.closure(program)) == set()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from alight import surfaces\nsurfaces.Plane()", {"surfaces/simple.py"}),
        ("from alight.surfaces import Plane as P", {"surfaces/simple.py"}),
        ("import alight\nalight.surfaces.Plane()", {"surfaces/simple.py"}),
        ("import alight\nalight.Mesh", {"shapes/mesh.py"}),
        ("import alight.gravity\nalight.surfaces.Plane()", {"surfaces/simple.py"}),
        ("import alight.surfaces.simple as s", {"surfaces/simple.py"}),
        (
            "from alight import surfaces\nf(surfaces)",
            {"surfaces/simple.py", "surfaces/rocks/surface.py"},
        ),
        ("def f():\n    from alight.surfaces.simple import Plane", {"surfaces/simple.py"}),
        ("CODE = 'from alight.surfaces import Plane'", {"surfaces/simple.py"}),
        ('command = [python, "-m", "alight", "run"]', {"cli/run.py"}),
        ("from alight.scenario import load", {"scenario/reader.py", "scenario/data/bodies.toml"}),
    ],
)
def test_names_lead_to_the_file_that_defines_them(tmp_path, text, found):
    test = tmp_path / "test_it.py"
    test.write_text(text)
    closure = names(depends.closure(test))
    assert found <= closure
    assert "membrane/shares.py" not in closure, "all files: nothing is told apart"


def test_a_plane_does_not_rest_on_rocks_nor_an_import_on_what_it_does_not_name(tmp_path):
    test = tmp_path / "test_it.py"
    test.write_text("from alight import surfaces\nsurfaces.Plane()")
    assert "surfaces/rocks/surface.py" not in names(depends.closure(test))


def test_a_change_runs_the_studies_that_rest_on_it_alone():
    some = validate.touched({ALIGHT / "membrane" / "forces.py"})
    assert depends.ROOT / "tests/verification/test_capture.py" in some
    assert depends.ROOT / "tests/verification/test_distance_field.py" not in some
    peer = depends.ROOT / "benchmarks" / "impact_peer.py"
    assert peer in depends.closure(depends.ROOT / "tests/verification/test_impact.py")
    case = depends.ROOT / "tests/unit/scenario/tree_case.py"
    assert case in depends.closure(depends.ROOT / "tests/unit/campaign/tables/test_articulated.py")
    itself = depends.ROOT / "tests/verification/test_distance_field.py"
    assert validate.touched({itself}) == [itself]
    assert validate.touched({depends.ROOT / "README.md"}) == []
    assert validate.touched({depends.ROOT / "pyproject.toml"}) == validate.study_files()
