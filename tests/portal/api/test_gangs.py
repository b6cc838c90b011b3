"""Work on several nodes over REST: asked for, shown rank by rank, read rank by rank."""

import pytest

from pool.models import Attempt, LogChunk, Node, Rank, Workload
from tests.portal.callers import text_of

NEED = {"whole": True, "parts": 2, "nodes": 1, "topology": "network"}


def ran_as_gang(world):
    """The run that is over, as if it had run on two nodes."""
    run = world.own.placement.attempt
    other = Node.objects.create(
        name="second", name_folded="second", credential_hash="1" * 64, state="ready"
    )
    Attempt.objects.filter(pk=run.pk).update(size=2, master_port=29_500)
    for number, node, code in ((0, run.node, 0), (1, other, 3)):
        Rank.objects.create(
            attempt=run,
            rank=number,
            node=node,
            cards=1,
            exit_code=code,
            exit_reason="finished" if code == 0 else "own_error",
            log_bytes=6,
        )
        LogChunk.objects.create(attempt=run, rank=number, offset=0, size=6, text=f"rank {number}")
    return run


def test_what_the_death_of_a_rank_means_is_said_at_the_start(world):
    body = world.job(need=NEED, on_rank_death="restart", rendezvous_seconds=60)
    said = world.by("member").post("workloads", body).json()
    made = Workload.objects.get(uid=said["uid"])
    assert (made.on_rank_death, made.rendezvous_seconds, made.runs_left) == ("restart", 60, 3)
    assert said["need"] == NEED
    shown = world.by("viewer").get(f"workloads/{made.uid}").json()
    assert (shown["on_rank_death"], shown["rendezvous_seconds"]) == ("restart", 60)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"on_rank_death": "pray"}, "on_rank_death"),
        ({"rendezvous_seconds": 0}, "rendezvous_seconds"),
        ({"need": NEED | {"parts": 3, "nodes": 2}}, "nodes"),
        ({"need": NEED | {"topology": "node"}}, "topology"),
        ({"need": {"memory_gb": 10, "topology": "anywhere"}}, "topology"),
    ],
)
def test_what_cannot_be_is_said_beside_its_field(world, given, field):
    answer = world.by("member").post("workloads", world.job(**given))
    assert answer.status_code == 400, answer.content
    assert field in answer.json()["detail"]


def test_a_gang_larger_than_any_network_is_refused_at_once(world):
    need = {"whole": True, "parts": 4, "nodes": 4, "topology": "network"}
    answer = world.by("member").post("workloads", world.job(need=need))
    assert (answer.status_code, answer.json()["code"]) == (422, "impossible")


def test_runs_and_placements_show_their_ranks(world):
    run = ran_as_gang(world)
    viewer = world.by("viewer")
    (shown,) = viewer.get(f"workloads/{run.workload.uid}").json()["attempts"]
    assert (shown["size"], shown["master_port"]) == (2, 29_500)
    assert [(one["rank"], one["node"], one["exit_code"]) for one in shown["ranks"]] == [
        (0, run.node.name, 0),
        (1, "second", 3),
    ]
    (placed,) = viewer.get(f"placements?workload={run.workload.uid}").json()["results"]
    assert [one["exit_reason"] for one in placed["ranks"]] == ["finished", "own_error"]


@pytest.mark.django_db(transaction=True)
def test_the_log_of_each_rank_is_read_by_its_number(world):
    run = ran_as_gang(world)
    viewer = world.by("viewer")
    path = f"workloads/{run.workload.uid}/logs"
    assert text_of(viewer.get(path)) == "rank 0"
    assert text_of(viewer.get(f"{path}?rank=1")) == "rank 1"
    assert viewer.get(f"{path}?rank=2").status_code == 404
    assert viewer.get(f"{path}?rank=x").status_code == 400
    assert world.by("stranger").get(f"{path}?rank=1").status_code == 404
