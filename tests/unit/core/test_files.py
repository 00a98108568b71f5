"""Files are read to the bytes allowed and no further, and only where they are regular ones."""

import io
import os
import pathlib
import socket

import pytest

from alight.core.errors import FileError
from alight.core.files import opened, read_bounded, read_stream

pytestmark = pytest.mark.skipif(os.name == "nt", reason="pipes and devices of POSIX")


def test_a_regular_file_comes_whole(tmp_path):
    file = tmp_path / "data"
    for size in (0, 1, 999, 1000):
        data = os.urandom(size)
        file.write_bytes(data)
        assert read_bounded(file, 1000, "the data") == data
    (tmp_path / "link").symlink_to(file)
    assert read_bounded(str(tmp_path / "link"), 1000, "the data") == data


def test_a_byte_too_many_is_refused(tmp_path):
    file = tmp_path / "data"
    file.write_bytes(bytes(1001))
    with pytest.raises(FileError, match=r'the data ".*data": it has 1.001 kB, and at most 1 kB'):
        read_bounded(file, 1000, "the data")
    os.truncate(file, 10**13)  # which takes no room on disk
    with pytest.raises(FileError, match=r"it has 1e\+04 GB"):
        read_bounded(file, 10**9, "the data")


@pytest.mark.skipif(not pathlib.Path("/proc/self/maps").exists(), reason="no /proc here")
def test_bytes_count_and_not_the_stated_size():
    """Files of /proc say that they are empty."""
    maps = pathlib.Path("/proc/self/maps")
    assert maps.stat().st_size == 0
    assert len(read_bounded(maps, 10**7, "the map")) > 100
    with pytest.raises(FileError, match="it does not end, and at most 100 bytes are read"):
        read_bounded(maps, 100, "the map")


class Endless(io.RawIOBase):
    """Gives bytes for ever, and counts them."""

    given = 0

    def read(self, size=-1):
        assert size >= 0, "asked for everything"
        self.given += size
        return bytes(size)


@pytest.mark.parametrize("most", [0, 1, 4000, 3_000_000])
def test_a_stream_without_end_is_left_at_the_limit(most):
    stream = Endless()
    with pytest.raises(FileError, match="standard input: it does not end"):
        read_stream(stream, most, "standard input")
    assert stream.given == most + 1


@pytest.mark.parametrize("size", [0, 1, 4000, 2**20 + 1, 3_000_000])
def test_a_stream_comes_whole(size):
    data = os.urandom(size)
    assert read_stream(io.BytesIO(data), 3_000_000, "standard input") == data


def test_what_is_no_regular_file_is_named(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        cases = {
            tmp_path / "pipe": "it is a pipe, and only regular files are read. Copy",
            tmp_path / "link": 'it links to "/dev/zero", which is a device',
            "/dev/zero": "it is a device",
            tmp_path / "socket": "it is a socket",
            tmp_path: "it is a folder.*Name a file in it",
            tmp_path / "none": "no such file",
            tmp_path / "pipe" / "below": "not a directory",
            "with\0null": "null",
        }
        for path, said in cases.items():
            with pytest.raises(FileError, match=said) as caught:
                read_bounded(path, 1000, "the data")
            assert caught.value.reason in str(caught.value)


def test_a_pipe_that_takes_a_files_place_is_not_waited_for(tmp_path, monkeypatch):
    """Between looking and opening; without O_NONBLOCK this would hang."""
    os.mkfifo(tmp_path / "pipe")
    regular = os.stat(__file__)
    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", lambda path: regular)
        with pytest.raises(FileError, match="it is a pipe"), opened(tmp_path / "pipe", "the data"):
            pass
