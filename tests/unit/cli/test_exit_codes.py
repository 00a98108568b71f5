"""Every exit code of docs/reference/command_line.md, as a script sees it; output that is JSON."""

import io
import json
import pathlib
import re
import signal
import subprocess
import sys
import time
from typing import NamedTuple

import pytest

from alight.cli import main

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "reference" / "command_line.md"


class Done(NamedTuple):
    """What a shell sees of a command."""

    code: int
    out: str
    err: str


@pytest.fixture
def folder(tmp_path, monkeypatch, cube_drop):
    (tmp_path / "cube.toml").write_text(cube_drop())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def alight(capfd, monkeypatch):
    """``alight(words...)``: run here, with what libraries write past Python caught too."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["alight", *map(str, words)])
        capfd.readouterr()
        code = 0
        try:
            main.run()
        except SystemExit as end:
            code = end.code or 0
        return Done(code, *capfd.readouterr())

    return run


def test_the_codes_of_the_manual_are_these():
    table = PAGE.read_text("utf-8").split("## Exit codes")[1].split("\n## ")[0]
    assert re.findall(r"^\| (\d+) \|", table, re.M) == ["0", "1", "2", "130"]


# -- 0 --------------------------------------------------------------------------------------------


def test_0_whatever_becomes_of_the_landing(folder, alight, cube_drop):
    (folder / "late.toml").write_text(cube_drop(stop={"max_time": "1 s"}))
    done = alight("run", "late.toml", "--json")
    assert (done.code, json.loads(done.out)["outcome"]) == (0, "timed_out")
    assert "hull_depth_m" not in json.loads(done.out)
    rest = json.loads(alight("run", "cube.toml", "--json").out)
    assert 0.0 < rest["hull_depth_m"] < 2.5e-4  # as the weight presses it in


def test_0_and_json_alone(folder, alight):
    place = "out [1] ü"
    asked = (
        ("run", "cube.toml"),
        ("campaign", "cube.toml", "--out", place),
        ("campaign", "cube.toml", "--out", place),
        ("report", place),
        ("scenario", "list"),
        ("body", "--list"),
        ("lander", "--list"),
        ("lander", "mascot"),
    )
    for command in asked:
        done = alight(*command, "--json")
        assert done.code == 0, done.err
        assert json.loads(done.out), command


def test_0_and_a_run_that_is_not_kept_whole_says_so(folder, alight, monkeypatch):
    whole = json.loads(alight("run", "cube.toml", "--json").out)
    monkeypatch.setattr("alight.engine.history.MAX_LINES", 40)
    thin = json.loads(alight("run", "cube.toml", "--json").out)
    assert thin == whole
    said = " ".join(alight("run", "cube.toml").out.split())
    assert re.search(rf"{whole['steps']} steps \(kept: one in \d+, and the first and last of", said)


def test_0_with_a_scenario_on_standard_input(folder, alight, monkeypatch, cube_drop):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(cube_drop().encode())))
    done = alight("campaign", "-", "--out", "typed", "--json")
    assert json.loads(done.out)["runs"] == 4


def test_what_to_do_next_can_be_pasted(folder, alight):
    said = alight("campaign", "cube.toml", "--out", "my out")
    assert said.out.endswith("Next: alight report 'my out'\n")
    said = alight("scenario", "new", "my case.toml")
    assert said.out.endswith("Run it with: alight run 'my case.toml'\n")


# -- 1 --------------------------------------------------------------------------------------------


def test_1_where_something_needed_is_broken(alight, monkeypatch):
    monkeypatch.setenv("ALIGHT_THREADS", "many")
    done = alight("doctor", "--json")
    assert done.code == 1
    assert any("ALIGHT_THREADS" in line for line in json.loads(done.out)["problems"])


# -- 2 --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ((), ""),
        (("rum",), "run"),
        (("run",), "Missing argument"),
        (("run", "nowhere.toml"), "no such file"),
        (("run", "ryugu_minerv"), 'Did you mean "ryugu_minerva"'),
        (("run", "cube.toml", "--device", "cuda:99"), 'error: device "cuda:99" cannot be used'),
        (("run", "cube.toml", "--jsn"), "--json"),
        (("campaign", "cube.toml"), "--out"),
        (("campaign", "cube.toml", "--out", ""), "names no folder"),
        (("campaign", "cube.toml", "--out", "cube.toml"), "which is a file"),
        (("campaign", "cube.toml", "--out", "cube.toml/below"), "could not be written"),
        (("campaign", "cube.toml", "--out", "."), "not empty"),
        (("campaign", "cube.toml", "--out", "new", "--runs", "0"), "at least 1"),
        (("campaign", "cube.toml", "--out", "new", "--runs", "many"), "--runs"),
        (("report", "nowhere"), "not the folder of a campaign"),
        (("report",), "no campaign given"),
        (("lander", "mascott"), "MASCOT"),
        (("scenario", "new", "cube.toml"), "not overwritten"),
    ],
)
def test_2_for_a_mistake(folder, alight, command, said):
    done = alight(*command)
    assert done.code == 2, done.err
    assert said in " ".join(done.err.split())
    assert "Traceback" not in done.err
    assert not (folder / "new" / "plan.json").exists()


def test_2_after_all_files_were_checked(folder, alight, cube_drop):
    (folder / "bad.toml").write_text(cube_drop().replace("restitution", "restitutoin"))
    done = alight("scenario", "check", "bad.toml", "no.toml", "cube.toml")
    assert done.code == 2
    assert done.out.startswith("cube.toml: OK\n")
    assert "bad.toml: contact.restitutoin" in done.err
    assert '"no.toml": no such file' in done.err


def test_2_leaves_standard_output_empty(folder, alight):
    for command in (("run", "no.toml"), ("campaign", "no.toml", "--out", "o"), ("report", "o")):
        done = alight(*command, "--json")
        assert (done.code, done.out) == (2, "")


# -- 130 ------------------------------------------------------------------------------------------


def interrupted(folder, *command, ready):
    """Ctrl-C once ``ready()``; the code and what was said, however long the machine takes."""
    child = subprocess.Popen(
        [sys.executable, "-m", "alight", *command],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell's background ignores Ctrl-C, and so would the child.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while not ready() and child.poll() is None:
        time.sleep(0.002)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate()
    return child.returncode, out, err


@pytest.mark.validate
def test_130_after_ctrl_c_says_what_is_safe(folder, alight):
    command = ("campaign", "cube.toml", "--out", "out", "--runs", "20000", "--json")
    seals = folder / "out" / "shards"
    code, out, err = interrupted(folder, *command, ready=lambda: any(seals.glob("*.json")))
    assert (code, out) == (130, ""), err
    assert re.search(r"interrupted: \d+ of 10000 shards are finished and safe in out", err)
    assert "Traceback" not in err
    assert json.loads(alight("report", "out", "--json").out)["runs"] >= 2
