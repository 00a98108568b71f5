"""`make release-check`: is this tree fit to be released?

Builds sdist and wheel as an index receives them, checks their metadata, installs the wheel with its
dependencies, and no extras, into an empty environment of each Python at hand, and there, from an
empty folder, runs a shipped scenario, runs a campaign and writes its report. What an installation
weighs and which Pythons were tried is written to docs/reference/installation.md.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable

from tools import packaging_checks as package
from tools import weights
from tools.installation_page import PAGE, Tried, write
from tools.validation_page import today

SCENARIO = "ryugu_minerva"
#: Extras that users install; the others serve those who work on Alight.
FOR_WORK = {"dev", "docs", "release"}


def main() -> None:
    """Read the command line and check, a line at each step."""
    parser = argparse.ArgumentParser(prog="python -m tools.release", description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=package.ROOT / "dist")
    parser.add_argument("--python", action="append", help="to try (may be repeated; all found)")
    asked = parser.parse_args()
    try:
        check(asked.out, asked.python or pythons())
    except package.UnfitError as wrong:
        sys.exit(f"not fit to be released: {wrong}")


def check(out: pathlib.Path, tried: Iterable[str]) -> None:
    """Check everything; what is wrong raises UnfitError."""
    with tempfile.TemporaryDirectory() as work:
        wheel = distributions(pathlib.Path(work), out)
        found = [_tried(python, wheel, pathlib.Path(work)) for python in tried]
    if not found:
        raise package.UnfitError("no Python to try it with: name one with --python")
    names = sorted(package.project()["optional-dependencies"].keys() - FOR_WORK)
    write(found, {name: _added(name, found[0].weights) for name in names}, today())
    print(f"wrote {PAGE.relative_to(package.ROOT)}\nfit to be released: {wheel}")


def distributions(work: pathlib.Path, out: pathlib.Path) -> pathlib.Path:
    """Build sdist, and the wheel from it; check both."""
    tree = package.copy_sources(work / "tree")
    shutil.rmtree(out, ignore_errors=True)
    print("building sdist and wheel", flush=True)
    package.ask([sys.executable, "-m", "build", "--outdir", out.resolve(), tree])
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    package.check_contents(wheel)
    package.check_metadata(wheel)
    package.check_sdist(sdist)
    print(package.ask([sys.executable, "-m", "twine", "check", "--strict", wheel, sdist]), end="")
    _check_changelog()
    return wheel


def _check_changelog() -> None:
    text = (package.ROOT / "CHANGELOG.md").read_text("utf-8")
    heads = re.findall(r"^## \[(.+?)\]", text, re.M)
    if heads[:1] not in (["Unreleased"], [package.version()]):
        raise package.UnfitError(
            f"CHANGELOG.md begins with {heads[:1]}, not with Unreleased or a version"
        )


def pythons() -> list[str]:
    """Pythons at hand that the project states: on the path, or beside it under pyenv."""
    stated = [
        line.rpartition(" ")[2] for line in package.project()["classifiers"] if ":: 3." in line
    ]
    return [python for version in stated for python in [_python(version)] if python]


def _python(version: str) -> str | None:
    found = [p for p in [shutil.which(f"python{version}")] if p]
    found += [str(p) for p in pathlib.Path.home().glob(f".pyenv/versions/{version}.*/bin/python")]
    for python in found:
        asked = [python, "-c", "import sys, venv, ensurepip; print(sys.version)"]
        done = subprocess.run(asked, capture_output=True, text=True)
        if done.returncode == 0 and done.stdout.startswith(f"{version}."):
            return python
    return None


def _tried(python: str, wheel: pathlib.Path, work: pathlib.Path) -> Tried:
    """Install the wheel into an empty environment and use it there."""
    asked = (
        "import platform; print(platform.python_version(), platform.machine(), platform.system())"
    )
    version, *machine = package.ask([python, "-c", asked], env=package.clean()).split()
    print(f"Python {version}: installing into an empty environment", flush=True)
    env, folder = work / f"env{version}", work / f"empty{version}"
    package.ask([python, "-m", "venv", env], env=package.clean())
    pip = [str(package.script(env, "python")), "-m", "pip", "install", "-q", str(wheel)]
    package.ask(pip, env=package.clean())
    package.check_no_extras(env)
    print(f"Python {version}: a landing, a campaign and its report", flush=True)
    package.check_installed(env, folder, SCENARIO)
    alight = package.script(env, "alight")
    for words in (
        ["campaign", SCENARIO, "--runs", "20", "--out", "out"],
        ["report", "out"],
        ["doctor"],
    ):
        package.ask([alight, *words], cwd=folder, env=package.clean())
    found = Tried(version, " ".join(machine), weights.installed(package.site(env)))
    shutil.rmtree(env)
    return found


def _added(extra: str, base: dict[str, float]) -> float | None:
    try:
        return weights.added(extra, package.project()["optional-dependencies"], base)
    except importlib.metadata.PackageNotFoundError:
        return None


if __name__ == "__main__":
    main()
