"""A campaign that several devices share, a flow each; here they are all the host's cores."""

import threading

import pytest

from alight.campaign import Local, open_campaign, run_campaign
from alight.campaign import run_or_resume as campaigns
from alight.campaign.jobs import flow, several
from alight.campaign.jobs.shard import Work
from alight.campaign.plan import make_plan
from alight.core import devices
from alight.core.devices import Device
from alight.core.errors import InputError
from alight.core.outcomes import Outcome
from alight.core.progress import Silent

HEAVY = '"lander.mass" = { kind = "choice", values = ["1 kg", "2 kg"] }'
DISPERSIONS = """
[dispersions]
"release.velocity" = { kind = "normal", sigma = "2 cm/s" }
"release.attitude" = { kind = "orientation" }
"""


def contents(folder):
    files = [p for p in sorted(folder.rglob("*")) if p.is_file() and p.name != ".lock"]
    return {str(p.relative_to(folder)): p.read_bytes() for p in files}


class Heard(Silent):
    def __init__(self):
        self.done, self.facts = 0, {}

    def advance(self, n=1, **facts):
        assert n > 0
        self.done += n
        self.facts.update(facts)
        assert sum(self.facts.values()) <= self.done


@pytest.fixture
def shared(monkeypatch):
    """Campaigns go to three devices; the names of the threads that drew shards."""
    drew = set()
    real = flow.Flow._draw

    def draw(self, shards):
        drew.add(id(self))
        return real(self, shards)

    monkeypatch.setattr(campaigns, "_beside", lambda *_: ("cpu", "cpu"))
    monkeypatch.setattr(flow.Flow, "_draw", draw)
    return drew


def test_the_bytes_are_those_of_one_device(scenario, tmp_path, shared):
    given, bar = scenario(runs=60, trajectories=[8], dispersions=DISPERSIONS + HEAVY), Heard()
    run_campaign(given, out=tmp_path / "alone", device="cpu", show="silent", executor=Alone())
    assert not shared
    result = run_campaign(
        given, out=tmp_path / "shared", device="cpu", show=bar, executor=Local(lot=6)
    )
    assert contents(tmp_path / "alone") == contents(tmp_path / "shared")
    assert len(shared) == 3, "one of the devices had nothing to do"
    assert bar.done == 60
    assert bar.facts["settled"] == result.outcomes[Outcome.SETTLED]


class Alone(Local):
    """Takes no notice of further devices."""

    def compute(self, work, shards, tally):
        for shard in shards:
            yield work.compute(shard)


def test_ctrl_c_keeps_what_is_whole(scenario, shared):
    given = scenario(runs=1200)
    work = Work(given, make_plan(given, "cpu", {}), "cpu", beside=("cpu", "cpu"))
    before = threading.active_count()
    made = several.Several(work, range(200), Silent(), {}, 6).shards()
    numbers = [next(made).number]
    numbers.append(made.throw(KeyboardInterrupt).number)
    with pytest.raises(KeyboardInterrupt):
        numbers.extend(shard.number for shard in made)
    assert len(set(numbers)) == len(numbers) < 200
    assert threading.active_count() <= before


def test_the_error_of_one_ends_all(scenario, tmp_path, shared, monkeypatch):
    real = flow.Flow._draw

    def draw(self, shards):
        if 4 in shards:
            raise InputError("shard 4 is no good")
        return real(self, shards)

    monkeypatch.setattr(flow.Flow, "_draw", draw)
    given = scenario(runs=60)
    with pytest.raises(InputError, match="shard 4 is no good"):
        run_campaign(given, out=tmp_path, device="cpu", show="silent", executor=Local(lot=6))
    assert len(open_campaign(tmp_path).seals) < 10


@pytest.mark.parametrize(
    ("asked", "beside"),
    [("auto", ("cuda:1",)), ("cuda", ("cuda:1",)), ("GPU", ("cuda:1",)), ("cuda:0", ())],
)
def test_gpus_of_one_kind_share_unless_one_is_named(monkeypatch, asked, beside):
    cards = [Device("cpu", "2 cores"), Device("cuda:0", "NVIDIA H200", 1)]
    cards += [Device("cuda:1", "NVIDIA H200", 1), Device("cuda:2", "NVIDIA T4", 1)]
    monkeypatch.setattr(devices, "available", lambda: cards)
    assert campaigns._beside(asked, cards[1], Local()) == beside
    assert campaigns._beside(asked, cards[0], Local()) == ()
    assert campaigns._beside(asked, cards[1], Alone) == (), "an executor that is not Local"
