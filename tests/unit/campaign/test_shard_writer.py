"""Shards are written by threads while others are computed; nothing handed over is lost."""

import threading

import pytest

from alight.campaign import shard_writer
from alight.campaign.shard_store import Shard, StoreError


def shard(number):
    return Shard(number, {}, 0, {})


@pytest.fixture
def written(monkeypatch):
    """Numbers of shards as they reach the disk; shard 7 does not fit on it."""
    out, go = [], threading.Event()

    def write(folder, plan, shard, check):
        go.wait()
        if shard.number == 7:
            raise StoreError("the disk is full")
        out.append(shard.number)

    monkeypatch.setattr(shard_writer, "write_shard", write)
    return out, go


def writer(tmp_path):
    return shard_writer.ShardWriter(tmp_path, None, lambda: None)


def test_writing_does_not_hold_up_who_computes(tmp_path, written):
    out, go = written
    with writer(tmp_path) as target:
        for number in range(5):
            target.write(shard(number))
        assert out == []
        go.set()
    assert sorted(out) == [0, 1, 2, 3, 4]


def test_only_so_many_wait(tmp_path, written):
    out, go = written
    with writer(tmp_path) as target:
        for number in range(20, 20 + shard_writer.WAITING):
            target.write(shard(number))
        threading.Timer(0.01, go.set).start()
        target.write(shard(50))
        assert out, "one more than may wait was taken without waiting"


@pytest.mark.parametrize("later", [0, 1])
def test_a_shard_that_cannot_be_written_ends_the_campaign(tmp_path, written, later):
    _, go = written
    go.set()

    def campaign():
        with writer(tmp_path) as target:
            for number in (7, *range(later)):
                target.write(shard(number))

    with pytest.raises(StoreError, match="full"):
        campaign()


def test_after_ctrl_c_what_was_handed_over_is_written(tmp_path, written):
    out, go = written
    threading.Timer(0.01, go.set).start()

    def campaign():
        with writer(tmp_path) as target:
            for number in range(3):
                target.write(shard(number))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        campaign()
    assert sorted(out) == [0, 1, 2]
