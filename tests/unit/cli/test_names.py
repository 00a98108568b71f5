"""Scenarios by file, name or standard input, and what shells complete."""

import io
import os
import subprocess
import sys

import pytest

from alight.cli import names
from alight.core.errors import AlightError, FileError, InputError
from alight.scenario import bodies, landers, shipped_scenarios

SCENARIO = (shipped_scenarios.folder() / "paper004_cube_67p.toml").read_text("utf-8")


def completed(words, **more):
    """What a shell is offered after ``words``, the last of which is being typed."""
    setting = {
        "_ALIGHT_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
        **more,
    }
    done = subprocess.run(
        [sys.executable, "-c", "from alight.cli.main import app; app(prog_name='alight')"],
        capture_output=True,
        text=True,
        env={**os.environ, **setting},
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout.split()


def test_every_name_is_completed_and_found():
    assert [n for n, _ in names.complete_scenario("")] == list(shipped_scenarios.shipped())
    for complete, room in ((names.complete_body, bodies), (names.complete_lander, landers)):
        found = [room.find(name).name for name, _ in complete("")]
        assert found == list(room.names())
    assert names.complete_body("RYU") == names.complete_body("ryu") != []
    assert names.complete_lander("xyz") == []


def test_completion_tells_what_names_mean():
    for complete in (names.complete_scenario, names.complete_body, names.complete_lander):
        assert all(about for _, about in complete(""))


def test_completion_loads_neither_numpy_nor_warp():
    script = (
        "import sys; from alight.cli import main, names\n"
        "assert names.complete_scenario('') and names.complete_body('')\n"
        "assert names.complete_lander('')\n"
        "assert not {'warp', 'numpy'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["alight", "run", "ryugu_reg"], ["ryugu_regions"]),
        (["alight", "campaign", "phil"], ["philae_67p"]),
        (["alight", "scenario", "check", "masc"], ["mascot_ryugu"]),
        (["alight", "scenario", "new", "my.toml", "--like", "juv"], ["juventas_dimorphos"]),
        (["alight", "lander", "minerva-"], ["minerva-ii-1", "minerva-ii-2"]),
        (["alight", "body", "ryu"], ["ryugu"]),
        (["alight", "run", "scenarios/"], []),  # the shell goes on with files
        (["alight", "sce"], ["scenario"]),
    ],
)
def test_a_shell_is_offered_names(words, offered):
    assert completed(words) == offered


def test_a_folder_of_ones_own_is_completed(tmp_path, monkeypatch):
    (tmp_path / "mine.toml").write_text("# A case\x1b[2J of mine.\n")
    with monkeypatch.context() as patch:
        patch.setenv("ALIGHT_SCENARIOS", str(tmp_path))
        assert names.complete_scenario("") == [("mine", r"A case\u001b[2J of mine.")]
    assert completed(["alight", "run", "m"], ALIGHT_SCENARIOS=str(tmp_path)) == ["mine"]


# -- scenarios ------------------------------------------------------------------------------------


def test_a_scenario_by_name_and_a_file_before_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert names.scenario_of("ryugu_minerva").title == "MINERVA-II-1 on Ryugu"
    (tmp_path / "ryugu_minerva").write_text('title = "Mine"\n' + SCENARIO.replace("title", "#", 1))
    assert names.scenario_of("ryugu_minerva").title == "Mine"


def test_what_is_not_there_is_told_with_what_is_near(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match='Did you mean "ryugu_minerva"'):
        names.scenario_of("ryugu_minerv")
    with pytest.raises(FileError, match="no such file"):
        names.scenario_of("ryugu_minerv.toml")
    (tmp_path / "drop.toml").write_text(SCENARIO)
    with pytest.raises(FileError, match=r'Did you mean "drop\.toml"'):
        names.scenario_of("drop")
    for nothing in ("", ".", "..", "/"):
        with pytest.raises(AlightError):
            names.scenario_of(nothing)


def test_standard_input(monkeypatch):
    def typed(data):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        return names.scenario_of("-")

    assert typed(SCENARIO.encode()).source == "standard input"
    with pytest.raises(AlightError, match="standard input: is not UTF-8 text: byte 0xff"):
        typed(b"seed = \xff")
    with pytest.raises(AlightError, match="standard input"):
        typed(b"")
