"""``alight doctor`` reports what is there, and fails when something needed is broken."""

import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from alight.cli import doctor
from alight.cli.main import app
from alight.core import devices, selftest


def _invoke(*arguments):
    return CliRunner().invoke(app, ["doctor", *arguments])


@pytest.fixture
def healthy(monkeypatch):
    """Keep the kernel out of tests that are about something else."""
    monkeypatch.setattr(selftest, "problem", lambda device: None)


def test_this_machine_is_healthy():
    done = _invoke("--json")
    report = json.loads(done.stdout)
    assert done.exit_code == 0
    assert report["problems"] == []
    assert report["devices"][0]["name"] == "cpu"
    assert [d["problem"] for d in report["devices"]] == [None] * len(devices.available())
    assert report["kernel_cache_bytes"] > 0
    numpy = next(p for p in report["packages"] if p["name"] == "numpy")
    assert numpy["extra"] == ""
    assert numpy["installed"]
    assert {p["extra"] for p in report["packages"]} >= {"", "dev"}


def test_table_names_everything(healthy, monkeypatch):
    gpu = devices.Device("cuda:0", "NVIDIA H200", 139 * 2**30)
    monkeypatch.setattr(devices, "available", lambda: [devices.Device("cpu", "2 cores"), gpu])
    done = _invoke()
    assert done.exit_code == 0
    for text in ("Python", "Warp", "Kernel cache", "numpy", "dev", "NVIDIA H200, 139 GiB"):
        assert text in done.stdout
    assert "Everything Alight needs is working." in done.stdout


def test_broken_device_fails(monkeypatch):
    monkeypatch.setattr(selftest, "problem", lambda device: "wrong numbers [all]")
    done = _invoke()
    assert done.exit_code == 1
    assert "broken: device cpu: wrong numbers [all]" in done.stdout


def test_bad_thread_limit_fails_with_the_reason(healthy, monkeypatch):
    monkeypatch.setenv("ALIGHT_THREADS", "many")
    done = _invoke("--json")
    assert done.exit_code == 1
    assert "ALIGHT_THREADS" in json.loads(done.stdout)["problems"][0]


@pytest.mark.parametrize(
    ("requirement", "told"),
    [
        ("no-such-package>=2", 'no-such-package is not installed: run pip install "no-such-'),
        ("numpy>=9999.1", "is too old: run pip install"),
    ],
)
def test_missing_or_old_dependency_fails(healthy, monkeypatch, requirement, told):
    monkeypatch.setattr(doctor.metadata, "requires", lambda name: [requirement])
    done = _invoke("--json")
    assert done.exit_code == 1
    assert told in json.loads(done.stdout)["problems"][0]


def test_absent_extra_is_no_fault_and_says_what_to_install(healthy, monkeypatch):
    lines = ["numpy>=1", 'no-such-viewer>=3; extra == "view"']
    monkeypatch.setattr(doctor.metadata, "requires", lambda name: lines)
    done = _invoke()
    assert done.exit_code == 0
    assert 'without no-such-viewer: pip install "alight[view]"' in " ".join(done.stdout.split())


def test_requirement_lines_are_understood():
    lines = ["numpy>=1.26", 'dask[array] >= 2024.1 ; extra == "cluster"', "rich"]
    found = [(p.name, p.needed, p.extra) for p in doctor.packages(lines)]
    assert found == [("numpy", "1.26", ""), ("dask", "2024.1", "cluster"), ("rich", "", "")]


@pytest.mark.parametrize(
    ("installed", "needed", "fine"),
    [
        ("1.26", "1.26", True),
        ("1.9.0", "1.26", False),
        ("2.0rc1", "1.26", True),
        ("10", "9.5", True),
        (None, "", False),
        ("0.1", "", True),
    ],
)
def test_versions_compare_as_numbers(installed, needed, fine):
    assert doctor.Package("x", needed, installed, "").fine is fine


def test_kernel_cache_that_cannot_be_made_is_a_finding(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    done = subprocess.run(
        [sys.executable, "-m", "alight", "doctor"],
        capture_output=True,
        text=True,
        env={**os.environ, "WARP_CACHE_PATH": str(file / "cache")},
    )
    assert done.returncode == 1
    assert "WARP_CACHE_PATH" in done.stdout
    assert "Traceback" not in done.stderr


def test_scenarios_go_with_warm_only(healthy):
    done = subprocess.run(
        [sys.executable, "-m", "alight", "doctor", "ryugu_minerva"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "alight doctor --warm ryugu_minerva" in done.stderr


def test_an_unknown_scenario_is_told_before_anything_is_built(healthy):
    done = subprocess.run(
        [sys.executable, "-m", "alight", "doctor", "--warm", "ryugu_minerv"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "ryugu_minerva" in done.stderr
    assert "Compiling" not in done.stderr


@pytest.mark.validate
def test_what_was_warmed_compiles_nothing(tmp_path):
    """A first run after ``--warm`` with caches of its own leaves no further kernel there."""
    own = {"WARP_CACHE_PATH": str(tmp_path / "kernels"), "XDG_CACHE_HOME": str(tmp_path / "tables")}
    environment = {**os.environ, **own}
    environment.pop("ALIGHT_COMPILER", None)

    def alight(*arguments):
        command = [sys.executable, "-m", "alight", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        return done

    def kernels():
        return sorted(str(file) for file in (tmp_path / "kernels").rglob("*.o"))

    warmed = alight("doctor", "--warm", "wheel_hop_phobos")
    assert "[1/1] wheel_hop_phobos on cpu" in warmed.stdout
    before = kernels()
    assert before
    alight("run", "wheel_hop_phobos")
    assert kernels() == before
