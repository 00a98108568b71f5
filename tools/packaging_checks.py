"""The package as others receive it: sdist, wheel, what must be in them, and an installation of one.

``tools/release.py`` checks a release with it, and a test of every change the cheaper half.
"""

from __future__ import annotations

import email.message
import email.parser
import importlib.metadata
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Sequence
from typing import Any

from tools import weights

ROOT = pathlib.Path(__file__).resolve().parents[1]
#: Besides the package itself, what an sdist must hold.
IN_SDIST = ("LICENSE", "NOTICE", "README.md", "CHANGELOG.md", "CITATION.cff", "pyproject.toml")


class UnfitError(Exception):
    """What is wrong with the package, in a sentence."""


def project() -> dict[str, Any]:
    """The table ``[project]`` of pyproject.toml."""
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return table


def version() -> str:
    """The version, from the one place where it is written."""
    import alight

    return alight.__version__


def ask(command: Sequence[str | os.PathLike[str]], **options: Any) -> str:
    """What a command printed; a failed one is an error with all that it said."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        said = (done.stdout + done.stderr).strip()
        raise UnfitError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{said}")
    return done.stdout


def files() -> list[str]:
    """Files of the source tree: tracked ones, and new ones that git does not ignore."""
    listed = ask(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT)
    return sorted(name for name in listed.split("\0") if name and (ROOT / name).is_file())


def copy_sources(folder: pathlib.Path) -> pathlib.Path:
    """A copy of the source tree: building leaves nothing in the tree itself, and finds nothing."""
    for name in files():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)
    return folder


def build(tree: pathlib.Path, out: pathlib.Path, kind: str) -> pathlib.Path:
    """Build a ``"wheel"`` or an ``"sdist"`` of a tree with the setuptools of this environment."""
    out.mkdir(parents=True, exist_ok=True)
    call = f"import sys; from setuptools import build_meta as b; b.build_{kind}(sys.argv[1])"
    ask([sys.executable, "-c", call, out.resolve()], cwd=tree)
    made = list(out.glob("*.whl" if kind == "wheel" else "*.tar.gz"))
    if len(made) != 1:
        raise UnfitError(f"{out} holds {len(made)} files of kind {kind} where one was built")
    return made[0]


def packaged() -> set[str]:
    """What of the source tree is the package: names as a wheel has them."""
    return {name.removeprefix("src/") for name in files() if name.startswith("src/alight/")}


def check_contents(wheel: pathlib.Path) -> None:
    """All files of the package are in a wheel, scenarios and templates too, and nothing else."""
    held = {name for name in zipfile.ZipFile(wheel).namelist() if not name.endswith("/")}
    held = {name for name in held if not name.split("/")[0].endswith(".dist-info")}
    missing, more = sorted(packaged() - held), sorted(held - packaged())
    if missing or more:
        raise UnfitError(
            f"{wheel.name}: missing {missing or 'nothing'}, too much {more or 'nothing'}"
        )


def check_sdist(sdist: pathlib.Path) -> None:
    """An sdist holds the package and what explains it."""
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    missing = sorted({*IN_SDIST, *(f"src/{name}" for name in packaged())} - held)
    if missing:
        raise UnfitError(f"{sdist.name}: missing {missing}")


def metadata(wheel: pathlib.Path) -> email.message.Message:
    """The metadata of a wheel."""
    archive = zipfile.ZipFile(wheel)
    (name,) = [n for n in archive.namelist() if n.endswith(".dist-info/METADATA")]
    return email.parser.Parser().parsestr(archive.read(name).decode("utf-8"))


def check_metadata(wheel: pathlib.Path) -> None:
    """Name, version, licence with its files, and Python versions are those of the project."""
    found = metadata(wheel)
    expected = {
        "Name": project()["name"],
        "Version": version(),
        "License-Expression": project()["license"],
        "Requires-Python": project()["requires-python"],
        "Summary": project()["description"],
    }
    wrong = {key: found[key] for key, value in expected.items() if found[key] != value}
    if wrong:
        raise UnfitError(f"{wheel.name}: metadata has {wrong} where the project has {expected}")
    inside = zipfile.ZipFile(wheel).namelist()
    for name in project()["license-files"]:
        if not any(held.endswith(f".dist-info/licenses/{name}") for held in inside):
            raise UnfitError(f"{wheel.name}: the file {name} is not in it")


# -- an installation ------------------------------------------------------------------------------


def script(env: pathlib.Path, name: str) -> pathlib.Path:
    """A program of a virtual environment."""
    return env / ("Scripts" if os.name == "nt" else "bin") / name


def site(env: pathlib.Path) -> pathlib.Path:
    """Where packages of a virtual environment lie."""
    asked = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    return pathlib.Path(ask([script(env, "python"), "-c", asked], env=clean()).strip())


def clean(**more: str) -> dict[str, str]:
    """The environment of a stranger's shell: nothing in it leads to this source tree."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV"))}
    return kept | more


def borrow(env: pathlib.Path, wheel: pathlib.Path) -> None:
    """Make an environment that holds the wheel and, as links to this one, what it depends on.

    It has no extras, although this environment has them, and does not see the source tree, which
    is installed here for editing.
    """
    venv.create(env, with_pip=False)
    into = site(env)
    for name in sorted(weights.brought_by("needed", {"needed": project()["dependencies"]})):
        package = importlib.metadata.distribution(name)
        for top in {file.parts[0] for file in package.files or []} - {"..", "__pycache__"}:
            (into / top).symlink_to(str(package.locate_file(top)))
    pip: list[str | os.PathLike[str]] = [sys.executable, "-m", "pip", "--python"]
    words = ["install", "-q", "--no-deps", "--no-index", str(wheel)]
    ask([*pip, script(env, "python"), *words], env=clean())


def check_no_extras(env: pathlib.Path) -> None:
    """None of what extras name is in an environment."""
    extras = project()["optional-dependencies"]
    names = {weights.key(re.split("[<>=]", line)[0]) for lines in extras.values() for line in lines}
    found = sorted((names - weights.NOT_OURS) & weights.installed(site(env)).keys())
    if found:
        raise UnfitError(f"an installation without extras brings {', '.join(found)}")


def check_installed(env: pathlib.Path, folder: pathlib.Path, scenario: str) -> None:
    """From an empty folder the installed program states its version and flies a scenario."""
    folder.mkdir()
    alight = script(env, "alight")
    where = ask([script(env, "python"), "-c", "import alight; print(alight.__file__)"], env=clean())
    if not pathlib.Path(where.strip()).is_relative_to(env.resolve()):
        raise UnfitError(f"the installed program runs {where.strip()}, not what was installed")
    said = ask([alight, "--version"], cwd=folder, env=clean()).split()
    if version() not in said:
        raise UnfitError(f'"alight --version" says {" ".join(said)!r}, not {version()}')
    flown = json.loads(ask([alight, "run", scenario, "--json"], cwd=folder, env=clean()))
    if flown["outcome"] != "settled":
        raise UnfitError(f'"alight run {scenario}" ended as {flown["outcome"]}, not settled')
