"""The package as others receive it: wheel, sdist, citation and recipe say what the project says."""

import re
import sys
import tomllib
import venv
import zipfile

import jinja2
import pytest
import yaml
from tools import packaging_checks as package

PROJECT = package.project()


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return package.copy_sources(tmp_path_factory.mktemp("tree"))


@pytest.fixture(scope="module")
def wheel(tree, tmp_path_factory):
    return package.build(tree, tmp_path_factory.mktemp("dist"), "wheel")


def test_the_wheel_holds_the_package(wheel):
    package.check_contents(wheel)
    package.check_metadata(wheel)


def test_the_sdist_holds_what_explains_it(tree, tmp_path):
    package.check_sdist(package.build(tree, tmp_path, "sdist"))


def test_a_wheel_without_its_templates_is_refused(wheel, tmp_path):
    short = tmp_path / wheel.name
    with zipfile.ZipFile(wheel) as whole, zipfile.ZipFile(short, "w") as less:
        for name in whole.namelist():
            if not name.endswith((".html", "LICENSE")):
                less.writestr(name, whole.read(name))
    with pytest.raises(package.UnfitError, match=r"missing .*page\.html"):
        package.check_contents(short)
    with pytest.raises(package.UnfitError, match="LICENSE is not in it"):
        package.check_metadata(short)


def test_the_wheel_lands_without_extras_from_an_empty_folder(wheel, tmp_path):
    env = tmp_path / "env"
    package.borrow(env, wheel)
    package.check_no_extras(env)
    package.check_installed(env, tmp_path / "empty", "ryugu_minerva")


def test_an_installation_with_an_extra_is_noticed(tmp_path):
    venv.create(tmp_path / "env", with_pip=False)
    of_pandas = package.site(tmp_path / "env") / "pandas-2.0.0.dist-info"
    of_pandas.mkdir()
    (of_pandas / "METADATA").write_text("Metadata-Version: 2.1\nName: pandas\nVersion: 2.0.0\n")
    with pytest.raises(package.UnfitError, match="brings pandas"):
        package.check_no_extras(tmp_path / "env")


# -- one version, one set of dependencies ---------------------------------------------------------


def test_the_version_stands_in_one_place_of_the_package():
    files = (package.ROOT / "src" / "alight").rglob("*.py")
    stated = re.compile(rf"""["']{re.escape(package.version())}["']""")
    found = [file.relative_to(package.ROOT) for file in files if stated.search(file.read_text())]
    assert [str(file) for file in found] == ["src/alight/__init__.py"]
    assert "version" in PROJECT["dynamic"]
    assert "version" not in PROJECT


def test_the_citation_is_of_this_version():
    cited = yaml.safe_load((package.ROOT / "CITATION.cff").read_text("utf-8"))
    assert cited["version"] == package.version()
    about = PROJECT["description"]
    assert cited["title"] == f"Alight: {about[0].lower()}{about[1:]}"
    assert (cited["license"], cited["keywords"]) == (PROJECT["license"], PROJECT["keywords"])
    assert (cited["cff-version"], cited["type"]) == ("1.2.0", "software")
    assert cited["message"]
    for work in [cited, *cited["references"]]:
        assert {"title", "authors"} <= work.keys(), "the format of citations asks for both"


#: What is named otherwise on conda-forge.
CONDA = {"matplotlib": "matplotlib-base"}


def test_the_recipe_is_of_this_version():
    text = (package.ROOT / "recipe" / "meta.yaml").read_text("utf-8")
    recipe = yaml.safe_load(jinja2.Template(text).render(PYTHON="python"))
    named = [re.fullmatch(r"([\w-]+)(>=\S+)", line).groups() for line in PROJECT["dependencies"]]
    runs = [f"{CONDA.get(name, name)} {least}" for name, least in named]
    assert recipe["requirements"]["run"] == [f"python {PROJECT['requires-python']}", *runs]
    (built,) = tomllib.loads((package.ROOT / "pyproject.toml").read_text())["build-system"][
        "requires"
    ]
    assert built.replace(">=", " >=") in recipe["requirements"]["host"]
    assert recipe["package"] == {"name": PROJECT["name"], "version": package.version()}
    programs = [f"{name} = {start}" for name, start in PROJECT["scripts"].items()]
    assert recipe["build"]["entry_points"] == programs
    about = recipe["about"]
    assert (about["license"], about["license_file"]) == (
        PROJECT["license"],
        PROJECT["license-files"],
    )
    assert about["summary"] == PROJECT["description"]


def test_this_python_is_one_of_those_stated():
    listed = {line.rpartition(" ")[2] for line in PROJECT["classifiers"] if ":: 3." in line}
    assert f"3.{sys.version_info.minor}" in listed
    assert f">={min(listed, key=lambda v: int(v[2:]))}" == PROJECT["requires-python"]


def test_the_page_about_installing_is_of_this_version():
    page = (package.ROOT / "docs" / "reference" / "installation.md").read_text("utf-8")
    assert re.search(rf"for version\s+{re.escape(package.version())}\.", page), "make release-check"
    for line in PROJECT["dependencies"]:
        assert re.search(rf"[|,] {re.split('[<>=]', line)[0]}[ ,]", page), line
    listed = set(re.findall(r"^\| `(\w+)` \|", page, re.M))
    assert listed == PROJECT["optional-dependencies"].keys() - {"dev", "docs", "release"}
