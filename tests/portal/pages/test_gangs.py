"""Work on several nodes on the pages: asked for in the form, shown rank by rank."""

from datetime import timedelta

from pool.clock import now
from pool.models import Node, Rank, Workload
from tests.portal.api.test_gangs import ran_as_gang
from tests.portal.pages.test_workloads import form


def whole(world, **changed):
    given = {"how": "whole", "parts": "2", "nodes": "1", "topology": "network", "retries": "0"}
    return form(world, **given | changed)


def test_the_form_asks_for_nodes_and_for_what_a_death_means(visit, world):
    given = whole(world, on_rank_death="restart", rendezvous_seconds="90 s")
    answer = visit("member").send("/workloads/new/", given)
    made = Workload.objects.order_by("-pk").first()
    assert answer["Location"] == f"/workloads/{made.uid}/"
    assert made.need == {"whole": True, "parts": 2, "nodes": 1, "topology": "network"}
    assert (made.on_rank_death, made.rendezvous_seconds, made.runs_left) == ("restart", 90, 3)


def test_nodes_without_a_place_mean_one_network(visit, world):
    answer = visit("member").send("/workloads/new/", whole(world, nodes="2", topology=""))
    assert answer.status_code == 422
    assert answer.context["form"].overrides["topology"] == "network"


def test_what_cannot_lie_alike_is_said_beside_its_field(visit, world):
    answer = visit("member").send("/workloads/new/", whole(world, parts="3", nodes="2"))
    assert answer.status_code == 422
    assert "nodes" in answer.context["form"].errors


def test_the_same_again_begins_with_the_same_nodes(visit, world):
    old = world.own.work(need={"whole": True, "parts": 4, "nodes": 2, "topology": "network"})
    start = visit("member").open(f"/workloads/new/?like={old.uid}").context["form"].initial
    assert (start["how"], start["nodes"], start["topology"]) == ("whole", 2, "network")


def test_the_page_shows_each_rank_with_its_node_end_and_log(visit, world):
    run = ran_as_gang(world)
    uid = run.workload.uid
    viewer = visit("viewer")
    shown = viewer.open(f"/workloads/{uid}/").content.decode()
    for words in ('data-rank="0"', 'data-rank="1"', "second", "port 29500", "2 ranks"):
        assert words in shown, words
    assert f'data-log="log:{uid}"' in shown and "rank 0</pre>" in shown
    other = viewer.open(f"/workloads/{uid}/?rank=1").content.decode()
    assert f'data-log="log:{uid}.1"' in other and "rank 1</pre>" in other
    assert f"/workloads/{uid}/log/?rank=1" in other
    assert f'data-log="log:{uid}"' in viewer.open(f"/workloads/{uid}/?rank=9").content.decode()


def test_the_log_of_a_rank_is_a_file_of_its_own(visit, world):
    run = ran_as_gang(world)
    answer = visit("viewer").open(f"/workloads/{run.workload.uid}/log/?rank=1")
    assert b"".join(answer.streaming_content) == b"rank 1"
    assert "-rank1.log" in answer["Content-Disposition"]


def test_the_sentence_names_every_node_and_only_the_silent_one_when_out_of_reach(visit, world):
    run = ran_as_gang(world)
    work, soon = run.workload, now() + timedelta(hours=1)
    viewer = visit("viewer")
    rows = Workload.objects.filter(pk=work.pk)
    rows.update(state="running", started_at=now(), deadline=soon)
    shown = viewer.open(f"/workloads/{work.uid}/").content.decode()
    assert f"Running on {run.node.name}, second" in shown
    Node.objects.filter(name="second").update(state="silent")
    Rank.objects.filter(rank=1).update(exit_code=None, exit_reason="")
    rows.update(state="unreachable")
    shown = viewer.open(f"/workloads/{work.uid}/").content.decode()
    rows.update(state="succeeded")
    assert "second does not answer" in shown and "out of reach" in shown


def test_the_call_that_runs_it_again_asks_for_the_same_nodes(visit, world):
    need = {"whole": True, "parts": 4, "nodes": 2, "topology": "network"}
    old = world.own.work(need=need, on_rank_death="restart", runs_left=3)
    rest = visit("member").open(f"/workloads/{old.uid}/").context["rest"]
    assert '"nodes": 2' in rest and '"on_rank_death": "restart"' in rest
