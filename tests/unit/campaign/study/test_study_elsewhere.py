"""A study on a Dask cluster, with a law of a user's module; the example; what the docs show."""

import logging
import os
import pathlib
import re
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from alight.campaign import Cluster, run_campaign
from alight.campaign.cluster.worker_task import ClusterError
from alight.cli.main import app

distributed = pytest.importorskip("distributed")

ROOT = pathlib.Path(__file__).resolve().parents[4]
EXAMPLES = ROOT / "examples"


def contents(folder):
    files = [p for p in sorted(folder.rglob("*")) if p.is_file() and p.name != ".lock"]
    return {str(p.relative_to(folder)): p.read_bytes() for p in files}


@pytest.fixture
def own_study(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    import own_study

    return own_study


@pytest.fixture
def scheduler():
    with distributed.LocalCluster(
        n_workers=0, dashboard_address=":0", silence_logs=logging.CRITICAL
    ) as made:
        yield made


def worker(scheduler, folder, *path):
    """A worker, in a process of its own, that imports from ``path``."""
    command = [sys.executable, "-m", "distributed.cli.dask_worker", scheduler.scheduler_address]
    command += ["--no-nanny", "--no-dashboard", "--nthreads", "1"]
    known = [p for p in (os.environ.get("PYTHONPATH"), *map(str, path)) if p]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(known)}
    made = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environment, cwd=folder)
    until(lambda: len(scheduler.scheduler.workers) == 1, made)
    return made


def until(true, process):
    while not true():
        assert process.poll() is None
        time.sleep(0.01)


@pytest.mark.validate
def test_workers_import_the_modules_of_a_study(own_study, scheduler, tmp_path):
    """Without them they say what is missing; with them the tables are those of one machine."""
    study = own_study.study()
    out, options = tmp_path / "out", {"runs": 6, "device": "cpu", "show": "silent"}
    lost = worker(scheduler, tmp_path)
    try:
        cluster = Cluster(scheduler.scheduler_address)
        with pytest.raises(ClusterError, match="cannot load the study: No module named 'own_law'"):
            run_campaign(study, out=out, executor=cluster, **options)
    finally:
        lost.kill()
        lost.wait()
    until(lambda: not scheduler.scheduler.workers, subprocess.Popen([sys.executable, "-c", ""]))
    found = worker(scheduler, tmp_path, EXAMPLES)
    try:
        cluster = Cluster(scheduler.scheduler_address)
        assert run_campaign(study, out=out, executor=cluster, **options).computed == 1
    finally:
        found.kill()
        found.wait()
    here = run_campaign(own_study.study(), out=tmp_path / "here", **options)
    assert contents(out) == contents(here.folder)


@pytest.mark.validate
def test_the_example_is_a_campaign_with_a_report(tmp_path):
    out = tmp_path / "own"
    command = [sys.executable, str(EXAMPLES / "own_study.py"), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert re.fullmatch(r"50 runs in .*: 50 settled", lines[0])
    assert any(line.startswith("Where does it come to rest?") for line in lines)
    assert (out / "report.html").is_file()
    # The command line reads the folder as any other, with the body's mesh in it ...
    page = tmp_path / "page.html"
    told = CliRunner().invoke(app, ["report", str(out), "--out", str(page)])
    assert told.exit_code == 0, told.output
    assert "A cube on a contact binary" in page.read_text(encoding="utf-8")
    assert "has no relief" not in page.read_text(encoding="utf-8")
    # ... and says who goes on with it.
    scenario = ROOT / "scenarios" / "ryugu_minerva.toml"
    told = CliRunner().invoke(app, ["campaign", str(scenario), "--out", str(out)])
    assert told.exit_code != 0
    assert "from Python" in str(told.exception or told.output)


@pytest.mark.validate
def test_what_the_page_on_campaigns_shows_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "how_to" / "campaigns.md").read_text(encoding="utf-8")
    section = page.partition("## Studies\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    assert len(blocks) == 3
    script = tmp_path / "shown.py"
    script.write_text("\n".join(blocks), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "study" / "plan.json").is_file()
    assert (tmp_path / "out" / "made" / "plan.json").is_file()
