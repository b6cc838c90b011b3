"""Partitions and templates: what they take, what they refuse."""

import pytest

from pool.errors import Invalid
from pool.events import SYSTEM
from pool.models import Event, Partition, Template
from pool.services.partitions import partition_change, partition_create
from pool.services.templates import template_create, template_switch, template_version_add
from tests import factories as make

pytestmark = pytest.mark.django_db


def new(slug="a100", selector=None, **words):
    given = {"name": "A100", "modes": ["whole", "mig"], "actor": SYSTEM}
    chosen = {"labels": ["A100-80GB"]} if selector is None else selector
    return partition_create(slug=slug, selector=chosen, **(given | words))


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ({"slug": "A"}, "slug"),
        ({"name": ""}, "name"),
        ({"selector": []}, "selector"),
        ({"selector": {"colour": ["red"]}}, "selector"),
        ({"selector": {"labels": []}}, "selector"),
        ({"selector": {"labels": "A100"}}, "selector"),
        ({"modes": []}, "modes"),
        ({"modes": ["slices"]}, "modes"),
        ({"policy": "random"}, "policy"),
        ({"preemption": "yes"}, "preemption"),
        ({"foreign_work": "kill"}, "foreign_work"),
        ({"tolerance_points": -1}, "tolerance_points"),
        ({"rank": True}, "rank"),
        ({"owner": "me"}, "owner"),
        ({"organizations": ["acme"]}, "organizations"),
    ],
)
def test_wrong_partitions_are_refused_by_field(words, field):
    with pytest.raises(Invalid) as refused:
        new(**words)
    assert list(refused.value.detail) == [field]
    assert not Partition.objects.exists() and not Event.objects.exists()


def test_selectors_that_could_take_one_card_are_refused():
    new()
    for selector in ({"labels": ["A100-80GB", "A30"]}, {"vendors": ["nvidia"]}, {"nodes": ["n1"]}):
        with pytest.raises(Invalid, match="could take the same card"):
            new("more", selector)
    assert new("h100", {"labels": ["H100-80GB"]}).pk
    assert new("amd", {"vendors": ["amd"], "labels": ["MI300X"]}).pk


def test_an_empty_selector_takes_nothing_and_overlaps_nothing():
    make.node()
    empty = new("empty", {})
    assert not empty.cards.exists()
    assert new().cards.count() == 8


def test_cards_come_and_go_with_the_selector():
    node = make.node("n1", [("A100-80GB", 2), ("L40S", 1)])
    partition = new()
    assert node.cards.filter(partition=partition).count() == 2
    partition_change(partition=partition, selector={"nodes": ["N1"]}, actor=SYSTEM)
    assert node.cards.filter(partition=partition).count() == 3
    partition_change(partition=partition, selector={"labels": ["L40S"]}, actor=SYSTEM)
    assert node.cards.filter(partition=partition).count() == 1


def test_a_change_is_told_and_the_same_again_is_not():
    partition = new()
    for _ in range(2):
        partition_change(partition=partition, preemption=False, actor=SYSTEM)
    assert Event.objects.filter(kind="partition.changed").count() == 2
    with pytest.raises(Invalid):
        partition_change(partition=partition, modes=["none"], actor=SYSTEM)


def make_template(**words):
    given = {"slug": "tune", "name": "Tune", "need": {"memory_gb": 20}, "actor": SYSTEM}
    return template_create(**(given | words))


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ({"slug": "T"}, "slug"),
        ({"name": ""}, "name"),
        ({"need": {}}, "memory_gb"),
        ({"need": {"memory_gb": -1}}, "memory_gb"),
        ({"kind": "game"}, "kind"),
        ({"priority": "critical"}, "priority"),
        ({"work_class": "gaming"}, "work_class"),
        ({"max_seconds": 0}, "max_seconds"),
        ({"default_seconds": 99, "max_seconds": 50}, "default_seconds"),
        ({"preemptible": 1}, "preemptible"),
        ({"approval": {"steps": []}}, "approval"),
        ({"approval": {"steps": [{"role": "viewer"}]}}, "approval"),
        ({"approval": {"steps": [{"role": "lead", "above": {"cost": "much"}}]}}, "approval"),
        ({"approval": {"steps": [{"role": "lead", "colour": "red"}]}}, "approval"),
        ({"price_class": ""}, "price_class"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_wrong_templates_are_refused_by_field(words, field):
    with pytest.raises(Invalid) as refused:
        make_template(**words)
    assert field in refused.value.detail
    assert not Template.objects.exists()


def test_a_new_version_keeps_what_is_not_said():
    first = make_template(grace_seconds=7, approval={"steps": [{"role": "org_admin"}]})
    second = template_version_add(template=first.template, need={"memory_gb": 10}, actor=SYSTEM)
    assert (second.number, second.grace_seconds, second.approval) == (2, 7, first.approval)
    assert first.need["memory_gb"] == 20


def test_a_template_is_switched_off_with_a_reason_and_on_again():
    template = make_template().template
    with pytest.raises(Invalid):
        template_switch(template=template, active=False, actor=SYSTEM)
    off = template_switch(template=template, active=False, reason="too old", actor=SYSTEM)
    assert (off.active, off.inactive_reason) == (False, "too old")
    on = template_switch(template=template, active=True, actor=SYSTEM)
    assert (on.active, on.inactive_reason) == (True, "")
