"""glTF files by Khronos's own validator (npm's gltf-validator), which knows nothing of ours."""

import json
import shutil
import subprocess

import pytest

from alight.views.exports.gltf import write_glb

VERSION = "2.0.0-dev.3.10"
SCRIPT = """
const { validateBytes } = require("gltf-validator"), fs = require("fs");
validateBytes(new Uint8Array(fs.readFileSync(process.argv[1])), { maxIssues: 0 })
  .then((found) => console.log(JSON.stringify(found)));
"""


@pytest.fixture(scope="module")
def validator(tmp_path_factory):
    """A function of a file: what the validator says of it."""
    if not shutil.which("npm") or not shutil.which("node"):
        pytest.skip("node and npm are not installed")
    folder = tmp_path_factory.mktemp("npm")
    asked = ["npm", "install", "--no-audit", "--no-fund", f"gltf-validator@{VERSION}"]
    made = subprocess.run(asked, cwd=folder, capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"gltf-validator cannot be installed: {made.stderr.strip()[-200:]}")

    def validate(file):
        said = subprocess.run(
            ["node", "-e", SCRIPT, str(file)], cwd=folder, capture_output=True, check=True
        )
        return json.loads(said.stdout)

    return validate


@pytest.mark.validate
@pytest.mark.parametrize("axes", ["fixed", "inertial"])
def test_files_are_valid(validator, runs, epoch, tmp_path, axes):
    path = tmp_path / "runs.glb"
    write_glb(runs, path, epoch, axes, [runs.title], 60.0)
    found = validator(path)
    assert found["issues"]["numErrors"] == 0, found["issues"]["messages"]
    assert found["issues"]["numWarnings"] == 0, found["issues"]["messages"]
    assert found["info"]["animationCount"] == 1
    # It does find what is wrong: a chunk cut short.
    path.write_bytes(path.read_bytes()[:-8])
    assert validator(path)["issues"]["numErrors"] > 0


@pytest.mark.validate
def test_a_real_landing_with_its_ground_is_valid(validator, tmp_path):
    import alight

    made = alight.export("scenarios/ryugu_minerva.toml", "gltf", tmp_path, speed=60.0)
    found = validator(made.files["gltf"][0])
    assert found["issues"]["numErrors"] == 0, found["issues"]["messages"]
    assert found["issues"]["numWarnings"] == 0, found["issues"]["messages"]
