"""What partitions offer, and why not: modes, trust groups, the size of machines, warnings."""

import pytest

from pool.carving.recommend import Warn, Why
from pool.rules.needs import from_mapping
from pool.selectors.offers import host_holds, options_for
from tests import rows

pytestmark = pytest.mark.django_db

SHARE = {"parts": 1, "memory_gb": 10}


def pool(label="A100-80GB", **partition):
    part = rows.partition(**partition)
    node = rows.node(cards=2, label=label)
    return part, node


def offers(part, need, *, trust=None, version=None):
    """Every way to meet the need there, for nobody in particular unless told otherwise."""
    return options_for(need=need, partitions=[part], trust=trust, version=version)


def told(part, need, **given):
    """By mode why it is offered or not, and what is said beside it."""
    options = offers(part, need, **given)
    return {one.option.mode.value: one.option for one in options}


def test_many_small_slices_for_attention_are_warned_of_where_the_work_is_of_such_a_class():
    part, _ = pool()
    seven = {"parts": 7, "profile": "1g.10gb", "modes": ["mig"]}
    serving = rows.template(need=seven, work_class="inference")
    assert told(part, seven, version=serving)["mig"].warnings == (Warn.MANY_SMALL_SLICES,)
    other = rows.template(need=seven, work_class="transcoding")
    assert told(part, seven, version=other)["mig"].warnings == ()
    assert told(part, {**seven, "parts": 2}, version=serving)["mig"].warnings == ()


def test_only_named_trust_groups_are_offered_cards_that_are_shared_without_isolation():
    part, _ = pool()
    ours, theirs = rows.trust_group(), rows.trust_group()
    assert told(part, SHARE, trust=theirs.pk)["mps"].usable
    part.trust_groups.add(ours)
    assert told(part, SHARE, trust=ours.pk)["mps"].usable
    barred = told(part, SHARE, trust=theirs.pk)
    assert barred["mps"].why is Why.NOT_TRUSTED
    assert barred["mig"].usable, "kept apart in hardware"


def test_what_the_card_could_do_and_the_partition_does_not_offer_is_said_last():
    part, _ = pool(modes=["whole", "mig"])
    found = offers(part, SHARE)
    assert [one.option.why for one in found][-1] is Why.NOT_OFFERED
    assert {one.option.mode.value for one in found if one.option.usable} == {"whole", "mig"}


def test_with_sharing_off_only_what_the_hardware_cuts_is_offered():
    part, _ = pool(sharing=False)
    found = told(part, SHARE)
    assert found["mps"].why is Why.NOT_OFFERED
    assert found["mig"].usable and found["whole"].usable


@pytest.mark.parametrize(
    "more",
    [
        {"cpu_milli": 4_000_000},
        {"ram_mib": 60_000_000},
        {"disk_mib": 1_000_000_000},
        {"node_labels": ["rack=none"]},
        {"min_driver": "999.1"},
        {"min_compute_capability": "99.0"},
    ],
)
def test_what_no_machine_can_carry_is_held_by_none(more):
    part, _ = pool()
    plain, large = from_mapping(SHARE), from_mapping(SHARE | more)
    assert any(one.holds(plain) for one in offers(part, plain))
    assert not any(one.holds(large) for one in offers(part, large))


def test_parts_that_may_lie_on_several_machines_are_judged_by_one_each():
    part, node = pool()
    twice = {"cpu_milli": 2 * node.row.cpu_milli if hasattr(node, "row") else 2 * node.cpu_milli}
    pair = {"parts": 2, "whole": True} | twice
    apart = from_mapping(pair | {"topology": "network"})
    together = from_mapping(pair)
    assert any(one.carries(apart) for one in offers(part, apart))
    assert not any(one.carries(together) for one in offers(part, together))


def test_work_without_a_card_needs_one_machine_that_is_large_enough_in_all():
    part, node = pool()
    row = getattr(node, "row", node)
    for name, most in (("cpu_milli", row.cpu_milli), ("ram_mib", row.memory_mib)):
        fits = from_mapping({"parts": 0, "cpu_milli": 1000} | {name: most})
        assert host_holds(need=fits, partitions=[part])
        over = from_mapping({"parts": 0, "cpu_milli": 1000} | {name: most + 1})
        assert not host_holds(need=over, partitions=[part])


def drives(node, driver):
    """All cards of the node say that they run with this driver."""
    for card in node.cards.all():
        card.facts = {**card.facts, "driver": driver}
        card.save(update_fields=["facts"])


@pytest.mark.parametrize("more", [{}, {"node_labels": ["rack=new"]}])
def test_a_node_with_an_old_driver_does_not_speak_for_the_others_of_its_kind(more):
    part = rows.partition()
    old, new = rows.node(cards=3), rows.node(cards=2)
    new.labels = {"rack": "new"}
    new.save(update_fields=["labels"])
    drives(old, "470.1")
    drives(new, "580.65.06")
    need = from_mapping(SHARE | {"min_driver": "525"} | more)
    found = [one for one in offers(part, need) if one.holds(need)]
    assert found
    assert {(one.cards, one.on_one_node, one.sample.node) for one in found} == {(2, 2, new)}
    assert len(found[0].homes) == 1


def test_cards_of_one_node_that_differ_in_their_driver_are_counted_apart():
    part, node = pool()
    drives(node, "580.1")
    first = node.cards.order_by("pk").first()
    first.facts = {**first.facts, "driver": None}
    first.save(update_fields=["facts"])
    newer = offers(part, SHARE | {"min_driver": "525"})
    assert {(one.cards, one.on_one_node) for one in newer} == {(1, 1)}
    whichever = offers(part, SHARE)
    assert {(one.cards, one.homes) for one in whichever} == {(2, (("", 2),))}


def test_one_machine_must_be_large_enough_in_all_and_not_two_in_one_thing_each():
    part, wide = pool()
    long = rows.node(cards=2)
    for node, cpu, ram in ((wide, 64_000, 65_536), (long, 8_000, 524_288)):
        node.cpu_milli, node.memory_mib = cpu, ram
        node.save(update_fields=["cpu_milli", "memory_mib"])
    for cpu, ram, held in ((64_000, 65_536, True), (8_000, 524_288, True), (9_000, 65_537, False)):
        need = from_mapping(SHARE | {"cpu_milli": cpu, "ram_mib": ram})
        assert any(one.holds(need) for one in offers(part, need)) is held
