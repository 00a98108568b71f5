"""Damaged NumPy archives give one error; no header makes us ask for memory that is not needed."""

import io
import struct
import zipfile

import numpy as np
import pytest

from alight.core.archives import read_archive
from alight.core.errors import FileError

ARRAYS = {
    "numbers": np.arange(12.0).reshape(4, 3),
    "fortran": np.asfortranarray(np.arange(6, dtype=np.int32).reshape(2, 3)),
    "text": np.array("km"),
    "none": np.zeros((0, 3)),
    "one": np.array(2.5),
}


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_come_back_as_numpy_reads_them(tmp_path, save):
    save(tmp_path / "a.npz", **ARRAYS)
    found, names = read_archive(tmp_path / "a.npz", 10**6, "the table")
    assert names == list(found) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert np.array_equal(found[name], array)
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert found[name].flags.writeable
    some, names = read_archive(tmp_path / "a.npz", 10**6, "the table", ("one", "two"))
    assert list(some) == ["one"]
    assert names == list(ARRAYS)


def npy(shape, data=b"", descr="<f8"):
    """An array whose header says what it likes."""
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header = header.ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def archive(path, **entries):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in entries.items():
            out.writestr(f"{name}.npy", data)
    return path


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (npy("(1000000000000,)"), "would have 8000000000000 bytes, and 0 are there"),
        (npy("(1000000, 1000000, 1000000)", bytes(8)), "bytes, and 8 are there"),
        (npy("(3,)", bytes(32)), "would have 24 bytes, and 32 are there"),
        (npy("(-1, -3)", bytes(24)), "are there"),
        (npy("(1000000000000,)", descr="<U0"), "damaged"),
        (npy("(1,)", bytes(8), "|O"), "Python objects"),
        (npy("(((((((", bytes(8)), "damaged"),
        (b"\x93NUMPY\x07\x00" + bytes(100), "damaged"),
        (b"\x93NUMPY\x02\x00" + struct.pack("<I", 4_000_000_000) + bytes(100), "damaged"),
        (b"", "damaged"),
    ],
)
def test_a_header_that_asks_for_what_is_not_there(tmp_path, data, said):
    with pytest.raises(FileError, match=said):
        read_archive(archive(tmp_path / "a.npz", numbers=data), 10**9, "the table")


def test_a_small_file_that_unpacks_to_much(tmp_path):
    file = archive(tmp_path / "a.npz", numbers=npy("(10000000,)", bytes(80_000_000)))
    assert file.stat().st_size < 10**6
    with pytest.raises(FileError, match="take 80000128 bytes, and at most 10000000 are read"):
        read_archive(file, 10**7, "the table")
    assert len(read_archive(file, 10**8, "the table")[0]["numbers"]) == 10**7


def test_two_arrays_of_one_name(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as out:
        out.writestr("x.npy", npy("(1,)", bytes(8)))
        with pytest.warns(UserWarning, match="Duplicate"):
            out.writestr("x.npy", npy("(1,)", bytes(8)))
    with pytest.raises(FileError, match="two of its arrays have one name"):
        read_archive(tmp_path / "a.npz", 10**6, "the table")


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("flip", [0xFF, 0x01, 0x40])
def test_a_flipped_byte_is_found_or_does_not_matter(tmp_path, save, flip):
    buffer = io.BytesIO()
    save(buffer, **ARRAYS)
    data = buffer.getvalue()
    file = tmp_path / "a.npz"
    refused = 0
    for at in range(len(data)):
        file.write_bytes(data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :])
        try:
            found, _ = read_archive(file, 10**6, "the table")
        except FileError:
            refused += 1
        else:  # a date, say; or a name, which the reader of the table will miss
            for name in ARRAYS.keys() & found.keys():
                assert np.array_equal(found[name], ARRAYS[name])
    assert refused > 0.6 * len(data)
