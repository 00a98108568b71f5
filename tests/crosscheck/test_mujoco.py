"""Against MuJoCo: the landing of paper 002 (B2-4), as the paper compared its own with MSC Adams.

The lander is built a second time in MuJoCo's XML (``examples/paper_002_mujoco.py``), whose
accelerations SciPy integrates; ground, crushables and thrusters are applied to it as forces by a
second implementation. So tree dynamics, devices, contact and integrator are all independent. Both
follow tolerances of 1e-8 and what is compared is read between steps of 1 ms, where curves bend by
less than 1e-5 of their size.
"""

import importlib.util
import pathlib
import sys

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed: pip install mujoco")

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def example():
    """The example that draws both: what it computes is what is checked."""
    spec = importlib.util.spec_from_file_location(
        "paper_002_mujoco", EXAMPLES / "paper_002_mujoco.py"
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_landing_of_paper_002_agrees_with_mujoco(example):
    found = example.compare(mujoco, until=2.5)
    allowed = {
        "Velocity of the body": 2e-5,  # [m/s], of 0.96
        "Rate of the body": 2e-5,  # [rad/s], of 0.42
        "Force of the crushables": 0.5,  # [N], of 400: it rises by 25 N in a millisecond
        "Normal force on the pads": 0.5,  # [N], of 600
        "Swing of the liquid": 6e-5,  # [deg], of 2.2
    }
    for name, _, ours, theirs in example.curves(*found):
        apart = np.nanmax(np.abs(ours - theirs))
        assert apart < allowed[name], (name, apart)


def test_momentum_of_the_two_models_is_alike(example):
    """Masses, inertias and places: a kick of every freedom gives the same accelerations."""
    import paper_002 as paper

    model, _ = paper.landing(flat=True)
    peer = example.Peer(mujoco, (0.0, -paper.GRAVITY, 0.0), paper.GROUND)
    row = model.contact.rows(model.lightest, model.slip_mass)[0]
    assert row["grip"] == pytest.approx(peer.grip, rel=1e-7)
    assert row["grip"] * row["relaxation"] == pytest.approx(peer.drag, rel=1e-7)
    rng = np.random.default_rng(5)
    tau = rng.normal(size=11)
    y = peer.start(50.0, 0.0, 0.3)
    y[12:23] = rng.uniform(-0.3, 0.3, 11)
    y[7:12] = rng.uniform(-0.1, 0.1, 5)
    d = peer.data
    d.qpos[:], d.qvel[:], d.qfrc_applied[:] = y[:12], y[12:23], tau
    mujoco.mj_forward(peer.model, d)
    theirs = np.array(d.qacc)

    tree = model.tree
    q, v, effort = tree.neutral(), np.zeros(tree.n_v), np.zeros(tree.n_v)
    q[:3], q[3:7] = y[:3], y[[4, 5, 6, 3]]
    names = ["leg 1", "leg 2", "leg 3", *hinges(tree)]
    v[:6], effort[:6] = y[12:18], tau[:6]
    for k, name in enumerate(names):
        q[tree.q_slices[name]] = y[7 + k] * sign(tree, name)
        v[tree.v_slices[name]] = y[18 + k] * sign(tree, name)
        effort[tree.v_slices[name]] = tau[6 + k] * sign(tree, name)
    found = tree.accelerations(q, v, tau=effort, gravity=(0.0, -paper.GRAVITY, 0.0), device="cpu")
    ours = np.concatenate([found[:6], *(found[tree.v_slices[n]] * sign(tree, n) for n in names)])
    # MuJoCo wants a little inertia where a rod and a point have none: 1e-9 kg m^2 of 0.2.
    np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=3e-8 * np.abs(theirs).max())


def hinges(tree):
    """The two hinges of the liquid, that about x first, as in MuJoCo's model."""
    pair = ["liquid cross", "liquid"]
    return sorted(pair, key=lambda name: np.argmax(np.abs(tree.joints[tree.index(name)].axis)))


def sign(tree, name):
    """-1 where a hinge turns about the opposite of MuJoCo's axis."""
    axis = np.asarray(tree.joints[tree.index(name)].axis)
    return float(np.sign(axis[np.argmax(np.abs(axis))]))
