"""The command line: quick help, one line for a user's mistake, a traceback for a defect."""

import os
import subprocess
import sys
from importlib import metadata

import pytest

from alight.cli import main
from alight.core.errors import InputError


def _run(script):
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)


def _failing(statement):
    """A program whose ``doctor`` command runs ``statement``."""
    return (
        "import sys\n"
        "from alight.cli import main\n"
        "from alight.core.errors import InputError\n"
        "@main.app.command('fail')\n"
        "def fail():\n"
        f"    {statement}\n"
        "sys.argv = ['alight', 'fail']\n"
        "main.run()\n"
    )


def test_help_does_not_load_warp():
    script = "import sys; import alight.cli.main; assert 'warp' not in sys.modules"
    done = _run(script)
    assert done.returncode == 0, done.stderr


def test_module_and_version():
    done = subprocess.run(
        [sys.executable, "-m", "alight", "--version"], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, f"alight {metadata.version('alight')}\n")


def test_user_mistake_is_one_line():
    long = "the unit [furlong] is not known" + ", use [m] or [km]" * 12
    done = _run(_failing(f"raise InputError({long!r})"))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == f"alight: error: {long}\n"


def test_defect_keeps_its_traceback():
    done = _run(_failing("raise ZeroDivisionError('a defect')"))
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "a defect" in done.stderr


def test_interrupt_is_quiet():
    done = _run(_failing("raise KeyboardInterrupt"))
    assert done.returncode == 130
    assert "Traceback" not in done.stderr


def test_wrong_command_suggests_the_right_one():
    done = subprocess.run([sys.executable, "-m", "alight", "doctr"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "doctor" in done.stderr
    assert "Traceback" not in done.stderr


def test_run_exits_with_the_code_for_user_mistakes(monkeypatch, capsys):
    def mistaken():
        raise InputError("no such body [x]")

    monkeypatch.setattr(main, "app", mistaken)
    with pytest.raises(SystemExit) as caught:
        main.run()
    assert caught.value.code == 2
    assert capsys.readouterr().err == "alight: error: no such body [x]\n"


def test_output_that_lacks_a_letter_shows_a_question_mark():
    done = subprocess.run(
        [sys.executable, "-m", "alight", "body", "--list"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == 0, done.stderr
    assert "GM [m?/s?]" in done.stdout
