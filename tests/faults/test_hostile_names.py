"""Names, titles and plans that no careful person would write: told in one line, never a traceback.

The command line is run in this process as a shell would run it, but for the tests of Ctrl-C.
"""

import hashlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tomllib

import pytest

from alight.campaign import open_campaign, run_campaign
from alight.campaign.plan import PLAN_FILE, canonical
from alight.cli import main
from alight.cli.start import INTERRUPTED
from alight.core.errors import FileError, InputError
from alight.core.paths import user_path
from alight.core.text import printable
from alight.scenario import load
from alight.views import report

LONG = "n" * 256
NOT_UTF8 = os.fsdecode(b"f\xff\xfe")

#: Control characters but for the end of a line and the tabulator.
RAW = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@pytest.fixture
def folder(tmp_path, monkeypatch, cube_drop):
    (tmp_path / "cube.toml").write_text(cube_drop())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def alight(capfd, monkeypatch):
    """``alight(words...)``: exit code, standard output, standard error."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["alight", *map(str, words)])
        capfd.readouterr()
        code = 0
        try:
            main.run()
        except SystemExit as end:
            code = end.code or 0
        return (code, *capfd.readouterr())

    return run


@pytest.fixture
def done(folder):
    """A finished campaign."""
    run_campaign("cube.toml", out="done", device="cpu", show="silent")
    return folder / "done"


# ---------------------------------------------------------------------------------------------
# Names of files and folders
# ---------------------------------------------------------------------------------------------

NAMES = {"~nosuch/x": "no home folder", LONG: "longer than", NOT_UTF8: "not UTF-8", "a\0b": "null"}


@pytest.mark.parametrize("name", NAMES, ids=["user", "long", "bytes", "null"])
@pytest.mark.parametrize(
    "command",
    [
        ("campaign", "cube.toml", "--out"),
        ("report",),
        ("report", "done", "--out"),
        ("scenario", "new"),
        ("lander", "mascot", "--figure"),
        ("body", "ryugu", "--figure"),
    ],
    ids=" ".join,
)
def test_a_name_that_no_folder_can_have(folder, alight, command, name):
    before = sorted(os.listdir("."))
    code, out, err = alight(*command, name)
    assert (code, out) == (2, ""), err
    assert NAMES[name] in err
    assert "Traceback" not in err
    assert sorted(os.listdir(".")) == before


@pytest.mark.parametrize("name", [f"{LONG}.obj", f"{LONG}.urdf", f"{LONG}.toml", LONG])
@pytest.mark.parametrize("command", [("run",), ("lander",), ("body",), ("scenario", "check")])
def test_a_name_that_no_file_can_have(folder, alight, command, name):
    more = ("--mass", "1") if command == ("lander",) and name.endswith(".obj") else ()
    code, _, err = alight(*command, name, *more)
    assert (code, "Traceback" in err) == (2, False), err


def test_a_home_folder_is_found(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_path("~/out", "out") == tmp_path / "out"
    with pytest.raises(InputError, match=r'out "~nosuch/x".*no home folder'):
        user_path("~nosuch/x", "out")


def test_a_scenario_in_a_folder_that_is_not_utf8(folder, cube_drop):
    """It runs as long as it names no file: paths are written to plan.json, which is UTF-8."""
    place = folder / NOT_UTF8
    place.mkdir()
    (place / "plain.toml").write_text(cube_drop())
    assert run_campaign(place / "plain.toml", out="out", device="cpu", show="silent").runs == 4
    (place / "x.obj").write_text("v 0 0 0\n")
    mesh = 'shape = "mesh"\nmesh = "x.obj"\nunit = "m"'
    text = cube_drop().replace('shape = "cube"\nside = "20 cm"', mesh)
    (place / "mesh.toml").write_text(text)
    with pytest.raises(InputError, match="not UTF-8"):
        load(place / "mesh.toml")


def test_a_shipped_scenario_though_a_folder_has_its_name(folder, alight):
    (folder / "ryugu_minerva").mkdir()
    code, out, err = alight("scenario", "check", "ryugu_minerva")
    assert (code, err) == (0, "")
    assert out.startswith("ryugu_minerva: OK (MINERVA-II-1 on Ryugu)\n")


def test_a_report_makes_no_folders_outside_an_existing_one(done, alight):
    for out in ("far/away/page.html", "far/away"):
        code, _, err = alight("report", "done", "--out", out)
        assert code == 2
        assert "there is no folder far." in err
        assert not os.path.exists("far")
    with pytest.raises(FileError, match="there is no folder far"):
        report.write("done", "far/away")
    assert not os.path.exists("far")
    assert alight("report", "done", "--out", "near")[0] == 0
    assert os.path.exists("near/report.html")


# ---------------------------------------------------------------------------------------------
# Plans
# ---------------------------------------------------------------------------------------------


def edited(path, **values):
    body = json.loads(path.read_text())
    path.write_text(json.dumps({**body, **values}))


@pytest.mark.parametrize(
    "values",
    [
        {"runs": 3},
        {"runs": 1e30},
        {"runs": "many"},
        {"shard": 0},
        {"sampling": "sobol"},
        {"device": "gpu"},
        {"scenario": {"title": "Mine"}},
        {"format": 99},
        {"more": 1},
    ],
    ids=str,
)
def test_a_plan_whose_numbers_were_edited(done, alight, values):
    edited(done / PLAN_FILE, **values)
    for command in (("report", "done"), ("campaign", "cube.toml", "--out", "done")):
        code, out, err = alight(*command)
        assert (code, out) == (2, ""), err
        assert f"{PLAN_FILE} has been changed" in err


def test_a_title_of_a_plan_counts_too(done):
    scenario = json.loads((done / PLAN_FILE).read_text())["scenario"]
    edited(done / PLAN_FILE, scenario={**scenario, "title": "Mine"})
    with pytest.raises(FileError, match="has been changed"):
        open_campaign(done)


@pytest.mark.parametrize("deep", [1_000, 100_000])
@pytest.mark.parametrize("name", [PLAN_FILE, "shards/shard-000000.json"])
def test_json_that_is_nested_deeply(done, alight, name, deep):
    (done / name).write_text("[" * deep + "]" * deep)
    code, _, err = alight("report", "done")
    assert code == 2
    assert "Traceback" not in err
    assert os.path.basename(name) in err


def test_a_deep_plan_with_the_right_keys(done):
    body = json.loads((done / PLAN_FILE).read_text())
    text = json.dumps({**body, "scenario": 0})
    (done / PLAN_FILE).write_text(text.replace('"scenario": 0', f'"scenario": {deep_table(1_000)}'))
    with pytest.raises(FileError, match="nested too deeply"):
        open_campaign(done)


def deep_table(levels):
    return '{"a": ' * levels + "0" + "}" * levels


def test_impossible_numbers_in_a_plan_that_agrees_with_itself(done):
    """Whoever makes the sum again as well gets a message, too."""
    body = json.loads((done / PLAN_FILE).read_text())
    body = {key: value for key, value in body.items() if key != "sum"} | {"shard": 0}
    body["sum"] = hashlib.sha256(canonical(body)).hexdigest()
    (done / PLAN_FILE).write_text(json.dumps(body))
    with pytest.raises(FileError, match=PLAN_FILE):
        open_campaign(done)


# ---------------------------------------------------------------------------------------------
# Control characters
# ---------------------------------------------------------------------------------------------


def test_printable_shows_what_it_takes_out():
    assert printable("a\tb\nc") == "a\tb\nc"
    assert printable("\x1b[31mred\x9b\x07\x7f\r") == r"\u001b[31mred\u009b\u0007\u007f\u000d"
    assert json.loads(printable(json.dumps("\x9bü", ensure_ascii=False))) == "\x9bü"
    # What turns the direction of text shows a name that is another one.
    assert printable("a\u202egpj.exe\u2066b\u2028c") == r"a\u202egpj.exe\u2066b\u2028c"


@pytest.mark.parametrize(
    "command",
    [
        ("scenario", "check", "cube.toml"),
        ("scenario", "check", "key.toml"),
        ("run", "key.toml"),
        ("campaign", "cube.toml", "--out", "a\x1b[31m\x07"),
        ("campaign", "key.toml", "--out", "done"),
        ("report", "done"),
        ("report", "done", "--json"),
        ("report", "done", "--out", "a\x1b[31m\x9b.html"),
        ("report", "no\x1b[31m\x07"),
        ("lander", "no\x1b[31m\x9b"),
        ("lander", "arm.urdf"),
        ("lander", "arm.urdf", "--json"),
    ],
    ids=ascii,
)
def test_control_characters_do_not_reach_the_terminal(done, folder, alight, command, cube_drop):
    text = cube_drop().replace("restitution", '"rest\\u001b[2J\\u009bitution\\u0007"')
    (folder / "key.toml").write_text(text)
    (folder / "arm.urdf").write_text(URDF, "utf-8")
    code, out, err = alight(*command)
    assert code in (0, 2)
    assert not RAW.search(out + err), ascii(out + err)


URDF = """<robot name="arm\x85\x9b">
<link name="base\x9b31m"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
</robot>"""


# ---------------------------------------------------------------------------------------------
# Ctrl-C while modules are still being loaded
# ---------------------------------------------------------------------------------------------

HIT = """
import os, signal, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == WANTED:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

WANTED = sys.argv.pop(1)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background ignores it
sys.meta_path.insert(0, Finder())
START
"""

#: What the installed script calls.
ENTRY = tomllib.loads((pathlib.Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
MODULE, FUNCTION = ENTRY["project"]["scripts"]["alight"].split(":")
STARTS = {
    "script": f"from {MODULE} import {FUNCTION}; sys.exit({FUNCTION}())",
    "module": "import runpy; runpy.run_module('alight', run_name='__main__', alter_sys=True)",
}


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to send")
@pytest.mark.parametrize("module", ["typer", "alight.cli.bench", "alight.core.errors", "numpy"])
@pytest.mark.parametrize("start", STARTS)
def test_ctrl_c_while_modules_are_loaded(folder, start, module):
    script = HIT.replace("START", STARTS[start])
    command = [sys.executable, "-c", script, module, "run", "cube.toml"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (INTERRUPTED, -signal.SIGINT), done.stderr
    assert done.stderr.strip() in ("", "Aborted."), done.stderr
