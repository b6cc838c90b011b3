"""The roll-out board at a browser and over REST: who reads, who switches, and the way back."""

import pytest

from pool.models import Partition, RolloutMove
from tests import rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def partition(world):
    """One that everybody may use, with nothing switched on."""
    found = rows.partition(rank=1, open_to_all=True)
    Partition.objects.filter(pk=found.pk).update(
        modes=["whole"], sharing=False, lending=False, preemption=False, policy="binpack"
    )
    found.refresh_from_db()
    return found


def sent(visitor, partition, **said):
    return visitor.send(f"/partitions/{partition.uid}/rollout/", said)


def test_every_step_is_on_the_board_in_its_order(visit, partition):
    page = visit("org_admin").open(f"/planning/rollout/?partition={partition.uid}").content.decode()
    titles = ("Measure a week", "Say what work needs", "Share cards", "Cut cards", "Fill idle")
    places = [page.index(title) for title in titles]
    assert places == sorted(places)
    assert "0 of 7 days are measured" in page
    assert "Switch it on" not in page, "an organization's admin reads"


def test_a_platform_admin_switches_a_step_and_takes_it_back(visit, partition):
    admin = visit("platform_admin")
    said = {"step": "batch", "on": "1", "reason": "nights are empty", "skip": "1"}
    assert sent(admin, partition, **said).status_code == 303
    partition.refresh_from_db()
    assert partition.lending
    page = admin.open(f"/planning/rollout/?partition={partition.uid}").content.decode()
    assert "nights are empty" in page and "The week before" in page
    sent(admin, partition, step="batch", on="0", reason="it was in the way")
    partition.refresh_from_db()
    assert not partition.lending
    assert list(RolloutMove.objects.values_list("on", flat=True)) == [False, True]


@pytest.mark.parametrize("role", ["org_admin", "lead", "member"])
def test_others_switch_nothing(visit, partition, role):
    answer = sent(visit(role), partition, step="batch", on="1", reason="why", skip="1")
    assert answer.status_code == 403
    assert not RolloutMove.objects.exists()


@pytest.mark.parametrize("role", ["lead", "member", "viewer", "billing_reader", "stranger"])
def test_who_runs_nothing_may_not_look(visit, role):
    assert visit(role).open("/planning/rollout/").status_code == 403


def test_a_switch_without_a_reason_or_a_name_is_refused(visit, partition):
    admin = visit("platform_admin")
    sent(admin, partition, step="batch", on="1", skip="1")
    sent(admin, partition, step="odd", on="1", reason="x")
    assert not RolloutMove.objects.exists()


def test_scripts_read_the_board_and_switch(world, partition):
    client = world.by("platform_admin")
    body = {"partition": partition.slug, "step": "mixing", "on": True, "reason": "r", "skip": True}
    done = client.post("/api/v1/rollout/switch/", body)
    assert done.status_code == 200, done.json()
    assert done.json()["after"] == {"policy": "fragmentation"}
    told = client.get("/api/v1/rollout/board/").json()["results"]
    (mine,) = [one for one in told if one["partition"] == partition.slug]
    alone = client.get(f"/api/v1/rollout/board/?partition={partition.slug}").json()
    assert [one["partition"] for one in alone["results"]] == [partition.slug]
    assert (alone["next"], alone["previous"]) == (None, None)
    steps = {one["step"]: one for one in mine["steps"]}
    assert steps["mixing"]["on"] and steps["mixing"]["before"]["started"] == 0
    assert steps["mixing"]["missing"][0] == "baseline"
    refused = client.post("/api/v1/rollout/switch/", body)
    assert refused.status_code == 400 and "on" in refused.json()["detail"]


def test_scripts_read_the_boards_by_pages_of_few(world, partition):
    for number in range(11):
        rows.partition(slug=f"more{number}", name=f"More {number}", open_to_all=True)
    client, seen = world.by("platform_admin"), []
    address = "/api/v1/rollout/board/"
    while address:
        told = client.get(address).json()
        assert len(told["results"]) <= 10
        seen += [one["partition"] for one in told["results"]]
        address = told["next"] and told["next"].removeprefix("http://testserver")
    slugs = list(Partition.objects.order_by("pk").values_list("slug", flat=True))
    assert seen == slugs and len(slugs) > 11
    for wrong in ("page_size=21", "page_size=0", "cursor=x", "partition=none", "odd=1"):
        assert client.get(f"/api/v1/rollout/board/?{wrong}").status_code == 400, wrong
