"""Streams of a GPU whose work continues while the host looks after something else.

CUDA has one stream that all others wait for, and that waits for all of them. Warp copies arrays to
the host there (``array.numpy()``), and gives memory back there: while launches are under way, each
such call would wait for them to end. So launches go to a stream that is exempt from this, and what
is read meanwhile is read by ``fetched``, which waits for the current stream alone.
"""

from __future__ import annotations

import ctypes
import functools
import os
import weakref
from typing import Any

import warp as wp

from alight.core.devices import Device
from alight.core.errors import DeviceError

#: Of ``cuStreamCreate``: exempt from waiting for the stream of all.
_EXEMPT = 1


@functools.cache
def _driver() -> Any:
    return ctypes.CDLL("nvcuda.dll" if os.name == "nt" else "libcuda.so.1")


def stream_of_its_own(device: Device) -> wp.Stream | None:
    """A stream for launches that nothing waits for but who asks; None on a CPU, which has none.

    What its launches read must live until they are done, and what they need must come before them
    by an event: ``devices.on_stream`` sees to that.
    """
    if device.is_cpu:
        return None
    handle = ctypes.c_void_p()
    with wp.ScopedDevice(device.name):
        failed = _driver().cuStreamCreate(ctypes.byref(handle), _EXEMPT)
    if failed:
        raise DeviceError(
            f"{device.name} could not make a stream (CUDA error {failed}); is the GPU in use by "
            "something that keeps others off, or its memory full?"
        )
    stream = wp.Stream(device.name, cuda_stream=handle.value)
    weakref.finalize(stream, _driver().cuStreamDestroy_v2, handle).atexit = False
    return stream


def fetched(array: wp.array) -> Any:
    """An array of a device as NumPy, once the current stream is done with what it was given.

    A copy of its own on a GPU, the kernel's own memory on a CPU.
    """
    if array.device.is_cpu or not array.size:
        return array.numpy()
    host = wp.empty(array.shape, dtype=array.dtype, device="cpu")
    wp.copy(host, array)
    wp.synchronize_stream(array.device.stream)
    return host.numpy()
