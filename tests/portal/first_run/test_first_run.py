"""The other modes, refusals, and a run that breaks off."""

import pytest
from django.core.management import CommandError

from pool.models import (
    Installation,
    JoinToken,
    Organization,
    Partition,
    Project,
    Quota,
    Template,
    User,
)
from portal.first_run.templates import TEMPLATES
from tests import factories as make
from tests.portal.first_run.calls import run, told


def test_an_empty_installation_has_templates_and_one_admin(db, tmp_path):
    run(tmp_path, mode="empty")
    (admin,) = told(tmp_path)
    assert (admin["role"], admin["organization"], admin["project"]) == (
        "platform_admin",
        None,
        None,
    )
    assert User.objects.get().check_password(admin["password"])
    assert Template.objects.count() == len(TEMPLATES)
    assert not Organization.objects.exists() and not Partition.objects.exists()
    assert told(tmp_path, "run/fleet.json")["nodes"] == []
    assert not Installation.objects.get().example


def test_an_observing_installation_only_measures(db, tmp_path):
    run(tmp_path, mode="observe")
    nodes = told(tmp_path, "run/fleet.json")["nodes"]
    assert nodes and all(one["observe"] for one in nodes)
    assert not Project.objects.exists()
    assert Partition.objects.exists()


def test_the_machines_own_cards_get_a_partition_of_their_own(db, tmp_path):
    run(tmp_path, real_node="box-1")
    assert Partition.objects.get().selector == {"nodes": ["box-1"]}
    node = make.node("box-1", [("H200", 2)])
    assert {card.partition.slug for card in node.cards.all()} == {"local"}
    assert told(tmp_path, "run/fleet.json")["fleet"] is None
    allowed = Quota.objects.filter(kind="allowance", unit="cards_micro", card_model="")
    assert allowed.count() == 3


def test_without_agents_nothing_is_to_be_started(db, tmp_path):
    run(tmp_path, no_agent=True)
    assert told(tmp_path, "run/fleet.json")["nodes"] == []
    assert not JoinToken.objects.exists()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("nodes: [", "expected"),
        ("cards: []", "a list of nodes"),
        ("nodes: [{name: a}, {name: A}]", "two nodes are called a"),
        ("nodes: [{name: 'a b'}]", "no spaces"),
        ("nodes: [{name: a, cards: [{model: B999}]}]", "no facts about card model 'B999'"),
        ("nodes: [{name: a, cards: [{model: L40S, count: 0}]}]", "count of cards"),
    ],
)
def test_a_fleet_file_that_cannot_be_used_is_refused_in_one_line(db, tmp_path, text, why):
    file = tmp_path / "fleet.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(CommandError) as refused:
        run(tmp_path, fleet=file)
    assert why in str(refused.value) and "\n" not in str(refused.value)
    assert not User.objects.exists()
    assert Installation.objects.get().first_run == ""


def test_a_run_that_fails_leaves_nothing_and_the_next_is_whole(db, tmp_path, monkeypatch):
    def full(*_):
        raise OSError("disk full")

    with monkeypatch.context() as broken:
        broken.setattr("portal.first_run.run.write_private", full)
        with pytest.raises(CommandError, match="disk full"):
            run(tmp_path)
    assert not User.objects.exists()
    run(tmp_path)
    assert len(told(tmp_path)) == User.objects.count()
