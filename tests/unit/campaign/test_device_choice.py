"""Where a campaign runs if that is left open."""

import pytest

from alight import contact, engine, gravity, motions, surfaces, vehicles
from alight.campaign import Study
from alight.campaign.device_choice import CORE_RATE, GPU_RATE, GPU_START, choose
from alight.core import devices
from alight.scenario import load

CPU = devices.Device("cpu", "8 cores")
GPU = devices.Device("cuda:0", "NVIDIA H200", 1 << 37)


def with_gpu(name):
    return CPU if name == "cpu" else GPU


def without(name):
    return CPU


@pytest.fixture(scope="module")
def shipped():
    return lambda name: load(f"scenarios/{name}.toml")


def test_without_a_gpu_there_is_nothing_to_say(shipped):
    found = choose(shipped("ryugu_minerva"), 10**6, 8, without)
    assert (found.device, found.reason) == (CPU, "")


def test_many_landings_go_to_the_gpu_and_few_do_not(shipped, monkeypatch):
    monkeypatch.setattr(devices, "thread_count", lambda threads=None: threads or 8)
    even = GPU_START / (1.0 / (8 * CORE_RATE) - 1.0 / GPU_RATE)
    one = shipped("ryugu_minerva")
    few, many = (choose(one, int(f * even), None, with_gpu) for f in (0.98, 1.02))
    assert (few.device, many.device) == (CPU, GPU)
    assert "landings take about 74 s on 8 cores" in choose(one, 53_280, None, with_gpu).reason
    # More cores, more runs until a card pays.
    assert choose(one, int(1.02 * even), 16, with_gpu).device == CPU


@pytest.mark.parametrize("name", ["paper002_dispersed", "paper003_dispersed", "paper003_drop"])
def test_what_runs_faster_on_cores_stays_there(shipped, name):
    found = choose(shipped(name), 10**7, 8, with_gpu)
    assert found.device == CPU
    assert "faster on cores" in found.reason


def test_a_study_is_judged_by_its_model():
    cube = motions.Model(
        gravity.Uniform((0.0, 0.0, -1e-3)),
        surfaces.Plane(),
        vehicles.RigidLander.cube(0.2, 1.0),
        contact.Compliant(restitution=0.3),
        stop=engine.Stop(max_time=20.0),
    )
    study = Study(cube, motions.Release((0.0, 0.0, 0.5)))
    assert choose(study, 10**7, 2, with_gpu).device == GPU
