"""A package that adds to the registry, installed for subprocesses as far as Python can tell."""

import os
import pathlib
import shutil
import subprocess
import sys
import tomllib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "examples" / "own_package"


def install(folder, package=PACKAGE, version=None):
    """Put a package and its metadata into a folder, as an installer would; returns the folder."""
    project = tomllib.loads((package / "pyproject.toml").read_text("utf-8"))["project"]
    points = project["entry-points"]["alight"].items()
    (module,) = [p for p in package.iterdir() if (p / "__init__.py").exists()]
    shutil.copytree(module, folder / module.name, ignore=shutil.ignore_patterns("__pycache__"))
    version = version or project["version"]
    info = folder / f"{project['name'].replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    head = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {version}\n"
    (info / "METADATA").write_text(head)
    listed = "".join(f"{name} = {value}\n" for name, value in points)
    (info / "entry_points.txt").write_text(f"[alight]\n{listed}")
    return folder


def environment(*folders):
    """That of a process which finds the packages in some folders."""
    found = [*map(str, folders), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(found)}


def alight(*words, folders=()):
    """The command line in a process of its own."""
    command = [sys.executable, "-m", "alight", *map(str, words)]
    env = environment(*folders)
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False)


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """The folder with the package of examples/own_package."""
    return install(tmp_path_factory.mktemp("site"))
