"""A package of one's own, installed beside Alight: its names in a scenario, on this machine and on
a cluster, and what is said where it is missing, old or broken.

Everything happens in processes that find examples/own_package as an installed package; no file of
Alight knows of it. The numbers are compared with those of the same laws given from Python.
"""

import contextlib
import dataclasses
import json
import logging
import pathlib
import subprocess
import sys
import time

import numpy as np
import pyarrow.parquet as pq
import pytest
from examples.own_law import Dumbbell
from tests.extension.conftest import PACKAGE, alight, environment, install

from alight.engine import run_batch
from alight.scenario import from_dict, prepare

distributed = pytest.importorskip("distributed")

SCENARIO = pathlib.Path(__file__).parent / "landing.toml"
RUNS = 12


def contents(folder):
    files = [p for p in sorted(folder.rglob("*")) if p.is_file() and p.name != ".lock"]
    return {str(p.relative_to(folder)): p.read_bytes() for p in files}


def runs_of(folder):
    return pq.read_table(folder / "runs").to_pydict()


def campaign(out, *more, folders):
    return alight("campaign", SCENARIO, "--out", out, "--device", "cpu", *more, folders=folders)


@pytest.fixture(scope="module")
def local(installed, tmp_path_factory):
    """The campaign on this machine: its folder."""
    out = tmp_path_factory.mktemp("local") / "out"
    done = campaign(out, folders=[installed])
    assert done.returncode == 0, done.stderr
    return out


# -- what it computes -----------------------------------------------------------------------------


def test_numbers_are_those_of_the_same_laws_in_python(local):
    """Two point masses as a law of the package, and as that of examples/own_law.py: same bits."""
    table = runs_of(local)
    resolved = json.loads((local / "plan.json").read_text())["scenario"]
    stop = {key: value for key, value in resolved["stop"].items() if key != "when"}
    plain = {**resolved, "gravity": {"law": "point-mass"}, "stop": stop, "dispersions": {}}
    for section, key in (("record", "columns"), ("report", "sections")):
        plain[section] = {k: v for k, v in plain[section].items() if k != key}
    prepared = prepare(from_dict(plain), "cpu")
    velocity = np.stack([table[f"release.velocity_{a}_m_per_s"] for a in "xyz"], axis=-1)
    (group,) = prepared.groups({"release.velocity": velocity})
    shares, outcomes = table["gravity.share"], table["outcome"]
    for run in (outcomes.index("settled"), len(outcomes) - 1 - outcomes[::-1].index("settled")):
        law = Dumbbell(20.0, shares[run], 100.0)
        model = dataclasses.replace(group.model, gravity=law)
        result = run_batch(model, group.release, device="cpu")
        place = [table[f"end_{axis}_m"][run] for axis in "xyz"]
        assert result.position[run].tolist() == place
        other = dataclasses.replace(group.model, gravity=Dumbbell(20.0, 0.5, 100.0))
        assert run_batch(other, group.release, device="cpu").position[run].tolist() != place


def test_runs_end_in_the_polygon(local):
    """Those that are inside when they touch end there; the others come to rest outside."""
    table = runs_of(local)
    x, y = np.array(table["end_x_m"]), np.array(table["end_y_m"])
    east = np.degrees(np.arctan2(y, x)) > 20.0
    assert [outcome == "in_polygon" for outcome in table["outcome"]] == east.tolist()
    assert [code == 64 for code in table["outcome_code"]] == east.tolist()
    assert 2 <= east.sum() <= RUNS - 2
    assert {o for o, inside in zip(table["outcome"], east, strict=True) if not inside} == {
        "settled"
    }


def test_values_are_drawn_by_the_dispersion(local):
    """All within the limits; the mean of a triangle from 0.2 over 0.3 to 0.4 is 0.3."""
    share = np.array(runs_of(local)["gravity.share"])
    assert len(set(share)) == RUNS
    assert ((share > 0.2) & (share < 0.4)).all()
    sigma = 0.2 / np.sqrt(24.0) / np.sqrt(RUNS)
    assert abs(share.mean() - 0.3) < 4.0 * sigma


def test_the_column_is_in_the_table(local):
    """The way from first contact to end, from the table's own columns."""
    table = runs_of(local)
    ends = ([table[f"{at}_{axis}_m"] for axis in "xyz"] for at in ("first_contact", "end"))
    first, last = (np.array(rows) for rows in ends)
    assert table["roll_out_m"] == np.linalg.norm(last - first, axis=0).tolist()
    assert 0.1 < max(table["roll_out_m"]) < 10.0


@pytest.mark.validate
def test_the_section_is_in_the_report(local, installed, tmp_path):
    done = alight("report", local, "--out", tmp_path / "report.html", folders=[installed])
    assert done.returncode == 0, done.stderr
    table = runs_of(local)
    ends = ([table[f"{at}_{axis}_m"] for axis in "xyz"] for at in ("first_contact", "end"))
    first, last = (np.array(rows) for rows in ends)
    farthest = np.linalg.norm(last - first, axis=0).max()
    page = (tmp_path / "report.html").read_text()
    assert f"in the middle, {farthest:.2f} m at most." in page
    without = alight("report", local, "--out", tmp_path / "without.html")
    assert without.returncode == 0, without.stderr
    assert "roll_out" in (tmp_path / "without.html").read_text()
    assert "in the middle" not in (tmp_path / "without.html").read_text()


@pytest.mark.validate
def test_the_flywheel_hops_a_cube(installed, tmp_path):
    """About +y, it is thrown towards +x; the momentum of a slow wheel does not tip it.

    Tipping needs H^2 / (2 I) > m g a (sqrt(2) - 1) / 2 with I = 2/3 m a^2 about the edge: 2.5e-2
    N m s for this cube, and the wheel has 2.7e-3 or 0.27.
    """
    scenario = pathlib.Path(__file__).parent / "hop.toml"
    done = alight("campaign", scenario, "--out", tmp_path, "--device", "cpu", folders=[installed])
    assert done.returncode == 0, done.stderr
    table = runs_of(tmp_path)
    fast = np.array(table["lander.actuator.flywheel.speed_rad_per_s"]) > 50.0
    x = np.array(table["end_x_m"])
    assert 0 < fast.sum() < len(fast)
    assert (x[fast] > 1.0).all()
    assert (np.abs(x[~fast]) < 0.01).all()


def test_the_plan_names_the_package(local):
    plan = json.loads((local / "plan.json").read_text())
    assert plan["versions"]["small-worlds"] == "1.0"
    assert 'small-worlds = "1.0"' in (local / "scenario.toml").read_text()


# -- on a cluster ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=0, dashboard_address=":0", silence_logs=logging.CRITICAL
    ) as made:
        yield made


@contextlib.contextmanager
def worker(cluster, *folders):
    """A worker process that finds the packages in some folders; its address."""
    known = set(cluster.scheduler.workers)
    command = [sys.executable, "-m", "distributed.cli.dask_worker", cluster.scheduler_address]
    command += ["--no-nanny", "--no-dashboard", "--nthreads", "1"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environment(*folders))
    try:
        while len(cluster.scheduler.workers) == len(known):
            assert process.poll() is None
            time.sleep(0.02)
        (address,) = set(cluster.scheduler.workers) - known
        yield address
    finally:
        process.kill()
        process.wait()
        while set(cluster.scheduler.workers) - known:
            time.sleep(0.02)


def test_a_cluster_computes_the_same(local, installed, cluster, tmp_path):
    with worker(cluster, installed):
        done = campaign(tmp_path, "--scheduler", cluster.scheduler_address, folders=[installed])
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path) == contents(local)


@pytest.mark.validate
def test_workers_without_the_package_are_refused(installed, cluster, tmp_path):
    with worker(cluster) as address:
        done = campaign(tmp_path, "--scheduler", cluster.scheduler_address, folders=[installed])
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if "small-worlds" in line]
    assert f"{address}: has no small-worlds installed" in line
    assert '"small-worlds==1.0"' in line
    assert "Traceback" not in done.stderr


@pytest.mark.validate
def test_workers_with_another_version_are_refused(installed, cluster, tmp_path):
    (tmp_path / "old").mkdir()
    old = install(tmp_path / "old", version="0.9")
    with worker(cluster, old) as address:
        done = campaign(
            tmp_path / "out", "--scheduler", cluster.scheduler_address, folders=[installed]
        )
    assert done.returncode == 2
    assert f"{address}: has small-worlds 0.9 where 1.0 is here" in done.stderr


# -- where it is not there, or is not right -------------------------------------------------------


def test_a_file_whose_package_is_missing():
    done = alight("scenario", "check", SCENARIO)
    assert done.returncode == 2
    assert 'gravity.law: found "dumbbell"; it must be one of "smooth"' in done.stderr
    assert "Names of other packages are known where they are installed." in done.stderr


@pytest.mark.validate
def test_a_campaign_goes_on_only_with_the_package(local):
    done = campaign(local, "--runs", "16", folders=[])
    assert done.returncode == 2
    said = "package small-worlds 1.0, which this was made with, is not installed here"
    assert said in done.stderr
    resolved = alight("scenario", "check", local / "scenario.toml")
    assert said in resolved.stderr


@pytest.mark.validate
def test_a_campaign_does_not_go_on_with_another_version(local, tmp_path):
    new = install(tmp_path, version="2.0")
    done = campaign(local, folders=[new])
    assert done.returncode == 2
    assert 'version of small-worlds: was "1.0", is "2.0"' in done.stderr


@pytest.mark.validate
def test_the_doctor_and_editors_know_it(installed):
    found = json.loads(alight("doctor", "--json", folders=[installed]).stdout)
    (extension,) = found["extensions"]
    assert (extension["package"], extension["version"]) == ("small-worlds", "1.0")
    assert {"gravity dumbbell", "dispersion triangular"} <= set(extension["adds"])
    assert not found["problems"]
    schema = json.loads(alight("scenario", "schema", folders=[installed]).stdout)
    laws = schema["$defs"]["GravitySectionDumbbell"]["properties"]
    assert "dumbbell" in laws["law"]["enum"]
    assert "gravity.share" in schema["properties"]["dispersions"]["properties"]


@pytest.fixture
def broken(tmp_path):
    """A package that does not load."""
    package = tmp_path / "broken"
    (package / "bad").mkdir(parents=True)
    text = (PACKAGE / "pyproject.toml").read_text()
    text = text.replace("small-worlds", "bad-worlds").replace("small_worlds", "bad")
    (package / "pyproject.toml").write_text(text)
    (package / "bad" / "__init__.py").write_text("raise ImportError('libsolid.so is missing')\n")
    (tmp_path / "site").mkdir()
    return install(tmp_path / "site", package)


@pytest.mark.validate
def test_a_package_that_does_not_load_stops_nobody_else(installed, broken):
    assert alight("scenario", "check", SCENARIO, folders=[installed, broken]).returncode == 0
    done = alight("doctor", folders=[installed, broken])
    assert done.returncode == 1
    assert "of package bad-worlds does not load (ImportError: libsolid.so is" in done.stdout
    alone = alight("scenario", "check", SCENARIO, folders=[broken])
    assert alone.returncode == 2
    assert "of package bad-worlds does not load (ImportError: libsolid.so is" in alone.stderr
