"""Every law is tried on every device of the machine."""

import pytest

from alight.core import devices

DEVICES = [device.name for device in devices.available()]


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param
