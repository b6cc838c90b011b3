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


def told(part, need, **given):
    """By mode why it is offered or not, and what is said beside it."""
    options = options_for(need=need, partitions=[part], **given)
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
    found = options_for(need=SHARE, partitions=[part])
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
    assert any(one.holds(plain) for one in options_for(need=plain, partitions=[part]))
    assert not any(one.holds(large) for one in options_for(need=large, partitions=[part]))


def test_parts_that_may_lie_on_several_machines_are_judged_by_one_each():
    part, node = pool()
    twice = {"cpu_milli": 2 * node.row.cpu_milli if hasattr(node, "row") else 2 * node.cpu_milli}
    pair = {"parts": 2, "whole": True} | twice
    apart = from_mapping(pair | {"topology": "network"})
    together = from_mapping(pair)
    assert any(one.carries(apart) for one in options_for(need=apart, partitions=[part]))
    assert not any(one.carries(together) for one in options_for(need=together, partitions=[part]))


def test_work_without_a_card_needs_one_machine_that_is_large_enough_in_all():
    part, node = pool()
    row = getattr(node, "row", node)
    for name, most in (("cpu_milli", row.cpu_milli), ("ram_mib", row.memory_mib)):
        fits = from_mapping({"parts": 0, "cpu_milli": 1000} | {name: most})
        assert host_holds(need=fits, partitions=[part])
        over = from_mapping({"parts": 0, "cpu_milli": 1000} | {name: most + 1})
        assert not host_holds(need=over, partitions=[part])
