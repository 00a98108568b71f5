"""The self-test passes where kernels work and says what is wrong where they do not."""

import numpy as np
import pytest

from alight.core import selftest
from alight.core.devices import Device, available


@pytest.mark.parametrize("device", available(), ids=str)
def test_devices_of_this_machine_compute_right(device):
    assert selftest.problem(device) is None


def test_absent_device_is_a_finding():
    found = selftest.problem(Device("cuda:99", "absent"))
    assert found is not None
    assert "did not run" in found
    assert "\n" not in found


def test_single_precision_is_noticed(monkeypatch):
    run = selftest._run

    def rounded(device):
        root, draw = run(device)
        return root.astype(np.float32).astype(float), draw

    monkeypatch.setattr(selftest, "_run", rounded)
    assert "square roots are off" in selftest.problem(available()[0])


def test_one_wrong_bit_is_noticed(monkeypatch):
    run = selftest._run

    def flipped(device):
        root, draw = run(device)
        draw[3] = np.nextafter(draw[3], 1.0)
        return root, draw

    monkeypatch.setattr(selftest, "_run", flipped)
    assert "random draws" in selftest.problem(available()[0])


def test_not_a_number_is_noticed(monkeypatch):
    run = selftest._run
    monkeypatch.setattr(selftest, "_run", lambda device: (np.full(1024, np.nan), run(device)[1]))
    assert "square roots are off" in selftest.problem(available()[0])
