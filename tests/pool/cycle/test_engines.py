"""Video engines in the books: given by rounds, told when they are gone, and never given twice."""

import pytest
from django.db import IntegrityError, transaction

from pool.clock import now
from pool.cycle.audit import breaches_now
from pool.cycle.changing import change_apply
from pool.cycle.round import run_rounds
from pool.cycle.snapshot import take
from pool.cycle.waiting import waiting_explain
from pool.errors import Stale
from pool.events import SYSTEM
from pool.models import Card, Placement, Slice
from pool.rules.needs import from_mapping
from pool.rules.problems import Problems
from pool.scheduling.plan import plan
from pool.selectors.offers import options_for
from pool.services.placements import placement_open
from tests import rows

pytestmark = pytest.mark.django_db

VIDEO = {"memory_gb": 4, "compute_milli": 100, "modes": ["mps"]}


@pytest.fixture
def pool():
    """One L40S with three encoders and three decoders, and a project that may use it."""
    part = rows.partition()
    rows.node(label="L40S")
    engines(3)
    return part


def engines(count):
    card = Card.objects.get()
    card.facts |= {"nvenc": count, "nvdec": count}
    card.save()


def work(**asked):
    return rows.workload(into=rows.project(), need={**VIDEO, **asked})


def test_a_round_gives_no_more_engines_than_the_card_has_and_says_what_lacks(pool):
    into = rows.project()
    first = rows.workload(into=into, need={**VIDEO, "encoder_units": 2})
    second = rows.workload(into=into, need={**VIDEO, "encoder_units": 2, "decoder_units": 1})
    run_rounds()
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.state, second.state) == ("placed", "queued")
    assert list(Slice.objects.values_list("encoder_units", "decoder_units")) == [(2, 0)]
    assert (second.waits["reason"], second.waits["level"]) == ("encoder", "busy")
    short = {"unit": "encoder_units", "needed": 2, "free": 1}
    assert short.items() <= second.waits["shortage"].items()
    (offer,) = waiting_explain(workload=second).changes
    assert offer == {"change": "fewer_encoders", "amount": 1, "unit": "encoder_units"}
    change_apply(workload=second, change="fewer_encoders", amount=1, actor=SYSTEM)
    run_rounds()
    second.refresh_from_db()
    assert (second.state, second.need["encoder_units"]) == ("placed", 1)
    assert breaches_now() == []


def test_a_start_that_would_give_engines_twice_is_refused_whole(pool):
    into = rows.project()
    rows.workload(into=into, need={**VIDEO, "encoder_units": 2})
    (one,) = plan(take(now())).placed
    rows.workload(into=into, need={**VIDEO, "encoder_units": 1})
    other = next(p for p in plan(take(now())).placed if p.workload != one.workload)
    engines(2)
    placement_open(workload_id=one.workload, placed=one, actor=SYSTEM)
    with pytest.raises(Stale):
        placement_open(workload_id=other.workload, placed=other, actor=SYSTEM)
    assert Placement.objects.count() == 1


@pytest.mark.handmade_books
def test_the_audit_tells_of_engines_that_a_card_no_longer_has(pool):
    work(encoder_units=2)
    run_rounds()
    engines(1)
    assert [one for one in breaches_now() if "video engines" in one]


def test_a_hardware_cut_takes_none_of_the_cards_engines(pool):
    work(encoder_units=1)
    run_rounds()
    with pytest.raises(IntegrityError), transaction.atomic():
        Slice.objects.update(mode="whole", span="[0,1)")


def test_work_that_no_card_has_engines_for_finds_no_option(pool):
    def usable(**asked):
        need = {"parts": 1, **VIDEO, **asked}
        found = options_for(need=need, partitions=[pool], trust=None, version=None)
        whole = from_mapping(need)
        return any(one.holds(whole) for one in found)

    assert usable(encoder_units=3)
    assert not usable(encoder_units=4)
    assert usable(encoder_units=1, parts=3)
    assert not usable(encoder_units=1, parts=4)
    assert not usable(decoder_units=2, parts=2)


def test_work_without_a_card_has_no_engines():
    with pytest.raises(Problems) as wrong:
        from_mapping({"parts": 0, "cpu_milli": 1000, "encoder_units": 1})
    assert set(wrong.value.fields) == {"encoder_units"}
