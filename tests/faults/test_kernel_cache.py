"""Compiled kernels whose files are damaged are compiled again, and the results are the same."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import warp as wp

from alight.core import devices, kernels, seals
from alight.core.errors import FileError
from alight.core.types import scalar


@wp.kernel(module="unique", enable_backward=False)
def _twice(offset: int, x: wp.array(dtype=scalar), y_out: wp.array(dtype=scalar)):
    i = wp.tid() + offset
    y_out[i] = scalar(2.0) * x[i]


DEVICES = [device.name for device in devices.available()]


def start(device):
    """Launch as a new process would: nothing of the kernel is in memory."""
    _twice.module.unload()
    kernels._loaded.clear()
    target = devices.resolve(device)
    x = wp.array(np.arange(5.0), dtype=scalar, device=target.name)
    y = wp.zeros_like(x)
    devices.launch(_twice, 5, [x], target, outputs=[y])
    assert y.numpy().tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


@pytest.fixture
def folder(tmp_path, monkeypatch, device):
    """The files of the kernel, compiled into a cache of its own."""
    monkeypatch.setattr(wp.config, "kernel_cache_dir", str(tmp_path))
    start(device)
    (found,) = tmp_path.glob("wp_*")
    yield found
    _twice.module.unload()
    kernels._loaded.clear()


DAMAGE = {
    "empty": lambda data: b"",
    "half": lambda data: data[: len(data) // 2],
    "changed": lambda data: data[:20] + bytes([data[20] ^ 0xFF]) + data[21:],
    "zeros": lambda data: bytes(len(data)),
}


def sealed(folder):
    return {file.name for file in folder.iterdir() if file.suffix in (*kernels.LOADED, seals.SEAL)}


@pytest.mark.parametrize("kind", ["code", "meta", "seal"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_compiled_again(folder, device, kind, damage):
    files = sealed(folder)
    assert len(files) == 4, files
    ending = {"code": (".o", ".cubin"), "meta": (".meta",), "seal": (seals.SEAL,)}[kind]
    for name in (name for name in files if name.endswith(ending)):
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(DAMAGE[damage](data))
        assert (folder / name).read_bytes() != data
    start(device)
    assert sealed(folder) == files
    for name in files - {name for name in files if name.endswith(seals.SEAL)}:
        assert seals.digest(folder / name) == (folder / (name + seals.SEAL)).read_text()


def test_sound_files_are_loaded_and_not_compiled(folder, device):
    before = {file: (file.stat().st_ino, file.stat().st_mtime_ns) for file in folder.iterdir()}
    start(device)
    assert before == {f: (f.stat().st_ino, f.stat().st_mtime_ns) for f in folder.iterdir()}


def test_files_without_a_seal_are_not_trusted(folder, device):
    """Whoever wrote them may have been stopped on the way, or was another program."""
    files = sealed(folder)
    for file in folder.glob(f"*{seals.SEAL}"):
        file.unlink()
    (code,) = (f for f in folder.iterdir() if f.suffix in (".o", ".cubin"))
    code.write_bytes(code.read_bytes()[:-100])
    start(device)
    assert sealed(folder) == files


def test_a_file_that_goes_while_it_is_loaded(folder, device, monkeypatch):
    """Another process found it damaged, say: the second attempt compiles."""
    taken = []
    real = kernels.remove_unsound

    def take_away(place):
        real(place)
        for file in place.glob("*.meta"):
            file.write_text("{")
            taken.append(file)

    monkeypatch.setattr(kernels, "remove_unsound", take_away)
    start(device)
    assert taken


def test_damage_that_cannot_be_removed_is_told(folder, device, monkeypatch):
    (code,) = (f for f in folder.iterdir() if f.suffix in (".o", ".cubin"))
    code.write_bytes(b"")
    monkeypatch.setattr(kernels, "_remove", lambda file: None)
    with pytest.raises(FileError, match=r"damaged and cannot be removed.*WARP_CACHE_PATH"):
        start(device)


CHILD = """
from alight.core import devices, selftest
print(selftest.problem(devices.resolve("cpu")))
"""


@pytest.mark.validate
def test_a_new_process_gets_over_a_cache_of_empty_files(tmp_path):
    setting = {**os.environ, "WARP_CACHE_PATH": str(tmp_path)}

    def child():
        return subprocess.run(
            [sys.executable, "-c", CHILD], env=setting, capture_output=True, text=True, check=False
        )

    first = child()
    assert (first.returncode, first.stdout) == (0, "None\n"), first.stderr
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert {file.suffix for file in files} >= {".o", ".meta", seals.SEAL}
    for file in files:
        os.truncate(file, 0)
    again = child()
    assert (again.returncode, again.stdout) == (0, first.stdout), again.stderr
    assert all(pathlib.Path(f).stat().st_size for f in files if f.suffix in kernels.LOADED)
