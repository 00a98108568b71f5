"""What users name on the command line may be a device, a pipe, or have no end: each is refused.

All commands run in one process of their own, with little memory and an alarm: what reads without
bound, or waits for a pipe, does not come back from it.
"""

import json
import os
import subprocess
import sys

import pytest

from alight.shapes.icosphere import icosphere
from alight.shapes.mesh import Mesh

pytestmark = pytest.mark.skipif(os.name == "nt", reason="pipes and devices of POSIX")

SCENARIO = """
seed = 3
[body]
gm = "6.25 m^3/s^2"
[gravity]
law = "point-mass"
[ground]
kind = "sphere"
radius = "250 m"
{ground}
[lander]
{lander}
[release]
latitude = "0 deg"
longitude = "0 deg"
height = "1 m"
[contact]
restitution = 0.5
"""
CUBE = 'shape = "cube"\nside = "0.2 m"\nmass = "1 kg"'

CHILD = """
import contextlib, io, json, resource, signal, sys, traceback
from alight.cli import main

resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
for words in json.load(open(sys.argv[1])):
    sys.argv = ["alight", *words]
    said, code = io.StringIO(), 0
    signal.alarm(60)
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        try:
            main.run()
        except SystemExit as end:
            code = end.code
        except BaseException:
            traceback.print_exc(file=said)
    print(json.dumps([words, code, said.getvalue()[-2000:]]), flush=True)
"""


def run_all(commands, folder, stdin=subprocess.DEVNULL):
    """(words, exit code, what was said) of each command, up to the one that never ended."""
    (folder / "commands.json").write_text(json.dumps(commands))
    done = subprocess.run(
        [sys.executable, "-c", CHILD, "commands.json"],
        cwd=folder,
        stdin=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def irregular(folder, name, kind):
    if kind == "pipe":
        os.mkfifo(folder / name)
    else:
        (folder / name).symlink_to("/dev/zero")


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_commands_refuse_what_is_no_regular_file(tmp_path, kind):
    for name in ("x.toml", "x.obj", "x.ply", "x.stl", "x.npz", "x.tab", "x.urdf", "x.csv"):
        irregular(tmp_path, name, kind)
    hulls = ("x.obj", "x.ply", "x.stl", "x.npz", "x.tab")
    ways = {
        "mesh": ("", 'shape = "mesh"\nmesh = "x.obj"\nunit = "m"\nmass = "1 kg"'),
        "map": ('map = "x.csv"', CUBE),
        "archive": ('map = "x.npz"', CUBE),
    }
    for name, (ground, lander) in ways.items():
        (tmp_path / f"{name}.toml").write_text(SCENARIO.format(ground=ground, lander=lander))
    commands = [
        ["scenario", "check", "x.toml"],
        ["run", "x.toml"],
        ["campaign", "x.toml", "--out", "out"],
        *(["lander", name, "--unit", "m", "--mass", "1"] for name in hulls),
        ["lander", "x.urdf"],
        ["body", "x.obj", "--unit", "m", "--density", "1000"],
        *(["scenario", "check", f"{name}.toml"] for name in ways),
    ]
    done, stderr = run_all(commands, tmp_path)
    assert [words for words, _, _ in done] == commands, stderr
    for words, code, said in done:
        assert code == 2, (words, said)
        assert f"is a {kind}, and only regular files are read" in said, (words, said)


def test_standard_input_without_end(tmp_path):
    with open("/dev/zero", "rb") as zero:
        done, stderr = run_all([["scenario", "check", "-"], ["run", "-"]], tmp_path, zero)
    assert len(done) == 2, stderr
    for _, code, said in done:
        assert code == 2
        assert "cannot read standard input: it does not end, and at most 4 MB are read" in said


def test_damaged_archives_of_meshes(tmp_path):
    """A few bytes of each part of the file; tests of the readers flip them all."""
    ball = icosphere(0)
    Mesh(ball.vertices, ball.faces).save(tmp_path / "ball.npz", unit="m")
    data = (tmp_path / "ball.npz").read_bytes()
    commands = []
    for at in range(0, len(data), len(data) // 25):
        name = f"ball{at}.npz"
        (tmp_path / name).write_bytes(data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :])
        commands.append(["lander", name, "--unit", "m", "--mass", "1", "--json"])
    done, stderr = run_all(commands, tmp_path)
    assert len(done) == len(commands), stderr
    refused = 0
    for words, code, said in done:
        assert code in (0, 2), (words, said)
        if code == 2:
            refused += 1
            assert f'cannot read the mesh "{words[1]}": it is damaged' in said
    assert refused > 10
