"""Shards and run numbers, plans on disk, and which campaign a folder goes on with."""

import json

import numpy as np
import pytest

from alight.campaign.plan import PLAN_FILE, Plan, PlanError, agreed, differences, make_plan
from alight.campaign.plan import read_plan as read
from alight.core.errors import FileError, InputError

VERSIONS = {"alight": "1", "warp-lang": "2"}


def plan(scenario, runs=None, device="cpu", versions=VERSIONS):
    return make_plan(scenario, device, versions, runs)


@pytest.mark.parametrize(("total", "shard"), [(1, 1), (20, 6), (18, 6), (5, 100), (7, 1)])
def test_every_run_is_in_one_shard(total, shard):
    made = Plan({}, total, shard, "random", "cpu", {})
    runs = [made.runs(i) for i in range(made.shards)]
    assert np.array_equal(np.concatenate(runs), np.arange(total))
    assert {len(r) for r in runs[:-1]} <= {shard}
    assert 0 < len(runs[-1]) <= shard
    with pytest.raises(InputError, match="shard"):
        made.runs(made.shards)


def test_a_plan_reads_back_equal(scenario, tmp_path):
    made = plan(scenario())
    assert read(tmp_path) is None
    (tmp_path / PLAN_FILE).write_bytes(made.to_json())
    back = read(tmp_path)
    assert back == made
    assert back.hash == made.hash


def test_a_plan_changed_by_hand_is_noticed(scenario, tmp_path):
    text = plan(scenario()).to_json().decode()
    for changed in (text.replace('"restitution": 0.5', '"restitution": 0.7'), text[:-40], "[]"):
        assert changed != text
        (tmp_path / PLAN_FILE).write_text(changed)
        with pytest.raises(FileError, match=PLAN_FILE):
            read(tmp_path)


def test_hash_names_what_decides_the_numbers(scenario):
    base = plan(scenario()).hash
    assert plan(scenario(), runs=99).hash == base
    assert plan(scenario(values={"title": "another"})).hash == base
    others = [
        plan(scenario(values={"seed": 2})),
        plan(scenario(values={"contact.friction": 0.5})),
        plan(scenario(dispersions="")),
        plan(scenario(shard=7)),
        plan(scenario(trajectories=[1])),
        plan(scenario(sampling="sobol")),
        plan(scenario(), device="gpu"),
        plan(scenario(), versions={**VERSIONS, "alight": "3"}),
    ]
    assert len({base, *(p.hash for p in others)}) == 1 + len(others)


def test_what_changed_is_told_with_old_and_new_value(scenario, tmp_path):
    old = plan(scenario())
    dispersed = '[dispersions]\n"release.velocity" = { kind = "normal", sigma = "3 cm/s" }'
    new = plan(scenario(dispersions=dispersed, values={"contact.friction": 0.5, "seed": 4}))
    with pytest.raises(PlanError) as caught:
        agreed(old, new, tmp_path)
    said = str(caught.value)
    assert "contact.friction: was 0.6, is 0.5" in said
    assert "seed: was 1, is 4" in said
    assert 'dispersions.release.velocity.sigma: was "2 cm/s", is "3 cm/s"' in said
    assert 'dispersions.release.attitude.kind: was "orientation", is absent' in said
    other = plan(scenario(shard=7), device="gpu", versions={**VERSIONS, "alight": "3"})
    assert differences(old, other) == [
        "campaign.shard: was 6, is 7",
        'version of alight: was "1", is "3"',
        "kind of device: was cpu, is gpu",
    ]


def test_what_changed_in_a_list_goes_by_the_names_of_its_tables():
    def of(**force):
        legs = [{"body": name, "force": f"{n} N"} for name, n in force.items()]
        return Plan({"lander": {"crushable": legs}}, 1, 1, "random", "cpu", {})

    assert differences(of(east=15, west=15), of(east=15, west=30)) == [
        'lander.crushable.west.force: was "15 N", is "30 N"'
    ]
    pushes = [Plan({"push": [{"kind": "steady", "x": k}] * 2}, 1, 1, "", "", {}) for k in (1, 2)]
    assert differences(*pushes) == ["push.1.x: was 1, is 2", "push.2.x: was 1, is 2"]


def test_long_lists_of_changes_are_cut(tmp_path):
    one = Plan({str(i): 0 for i in range(30)}, 1, 1, "random", "cpu", {})
    other = Plan({str(i): 1 for i in range(30)}, 1, 1, "random", "cpu", {})
    with pytest.raises(PlanError, match="and 18 more"):
        agreed(one, other, tmp_path)


def test_runs_may_grow_where_sampling_is_random(scenario, tmp_path):
    old, new = plan(scenario(runs=20)), plan(scenario(runs=50))
    assert agreed(old, new, tmp_path).total == 50
    with pytest.raises(PlanError, match="never taken away"):
        agreed(new, old, tmp_path)
    reasons = {"latin-hypercube": "laid out for its number of runs", "sobol": "power of two"}
    for sampling, reason in reasons.items():
        few, many = (plan(scenario(runs=n, sampling=sampling)) for n in (20, 50))
        assert agreed(few, few, tmp_path) == few
        with pytest.raises(PlanError, match=reason):
            agreed(few, many, tmp_path)


def test_a_mesh_may_move_but_not_change():
    def of(path, digest):
        return Plan({"body": {"mesh": path, "sha256": digest}}, 1, 1, "random", "cpu", {})

    assert not differences(of("/a/x.obj", "12"), of("/b/x.obj", "12"))
    assert of("/a/x.obj", "12").hash == of("/b/x.obj", "12").hash
    assert differences(of("/a/x.obj", "12"), of("/a/x.obj", "34"))


def test_runs_must_be_a_number(scenario):
    for runs in (0, -1, 2.5):
        with pytest.raises(InputError, match="runs"):
            plan(scenario(), runs=runs)


def test_plans_are_plain_text_for_people(scenario):
    body = json.loads(plan(scenario()).to_json())
    assert body["runs"] == 20
    assert body["scenario"]["contact"]["restitution"] == 0.5
    assert "made_by" not in body["scenario"]


@pytest.mark.parametrize("runs", [10**9 + 1, 10**20])
def test_more_runs_than_a_folder_holds_are_refused(scenario, runs):
    with pytest.raises(InputError, match="at most"):
        plan(scenario(), runs=runs)


def test_more_files_than_a_folder_holds_are_refused(scenario):
    with pytest.raises(InputError, match=r"campaign\.shard = "):
        plan(scenario(shard=1), runs=10**7)
