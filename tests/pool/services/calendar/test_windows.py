"""Maintenance windows through the ring: what is kept from starting, taken out, and given back."""

from datetime import timedelta

import pytest

from pool.clock import now
from pool.cycle.round import run_rounds
from pool.cycle.snapshot import take
from pool.cycle.watch import watch
from pool.errors import IllegalMove, Invalid, Stale
from pool.events import SYSTEM
from pool.models import Card, Event, Lease, Node, Partition, Request, Window
from pool.scheduling.plan import plan
from pool.selectors.calendar.windows import impact_of, window_reach, windows_ahead
from pool.services.calendar import turns
from pool.services.calendar.turns import windows_due
from pool.services.calendar.windows import window_cancel, window_change, window_create
from pool.services.cards import card_cordon
from pool.services.nodes import node_cordon
from pool.services.placements import placement_open
from tests import rows
from tests.pool.obedient import Obedient

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


def window(*, after=HOUR, lasts=HOUR, **given):
    start = now() + after
    words = {"reason": "new driver", "starts_at": start, "ends_at": start + lasts}
    return window_create(actor=SYSTEM, **words | given)


def begins(row):
    """The window's time has come."""
    lasts = row.span.upper - row.span.lower
    Window.objects.filter(pk=row.pk).update(span=(now(), now() + lasts))
    assert windows_due(actor=SYSTEM) == 1
    row.refresh_from_db()


def ends(row):
    Window.objects.filter(pk=row.pk).update(span=(row.span.lower, now()))
    assert windows_due(actor=SYSTEM) == 1
    row.refresh_from_db()


@pytest.fixture
def part():
    return rows.partition()


@pytest.fixture
def node(part):
    return Obedient(rows.node(cards=2))


@pytest.mark.parametrize("named", ["cards", "nodes", "partitions"])
def test_nothing_starts_that_is_forecast_to_overlap_it(node, part, named):
    there = {"cards": Card.objects.all(), "nodes": [node.row], "partitions": [part]}
    window(**{named: there[named]})
    long = rows.workload(expected_seconds=7200)
    short = rows.workload(expected_seconds=600)
    run_rounds()
    long.refresh_from_db()
    short.refresh_from_db()
    assert (long.state, short.state) == ("queued", "placed")
    assert long.waits["reason"] == "maintenance"


def test_work_without_a_card_keeps_away_from_a_node_as_well(node):
    window(nodes=[node.row])
    work = rows.workload(need={"parts": 0, "cpu_milli": 1000}, expected_seconds=7200)
    run_rounds()
    work.refresh_from_db()
    assert work.state == "queued"


def test_a_card_beside_the_window_is_taken(node):
    shut, free = Card.objects.order_by("index")
    window(cards=[shut])
    work = rows.workload(need={"whole": True}, expected_seconds=7200)
    run_rounds()
    work.refresh_from_db()
    assert work.state == "placed"
    assert work.attempts.get().placements.get().holds.get(card__isnull=False).card == free


def test_a_start_that_was_planned_before_the_window_is_refused_under_the_locks(node):
    work = rows.workload(expected_seconds=7200)
    (placed,) = plan(take(now())).placed
    window(nodes=[node.row])
    with pytest.raises(Stale):
        placement_open(workload_id=work.pk, placed=placed, actor=SYSTEM)


def test_at_its_start_nodes_are_drained_and_cards_cordoned_and_at_its_end_they_return(node, part):
    other = rows.node(label="L40S")
    Partition.objects.create(
        slug="graphics", name="G", selector={"labels": ["L40S"]}, modes=["whole"]
    )
    card = Card.objects.get(node=other)
    row = window(nodes=[node.row], cards=[card])
    begins(row)
    node.row.refresh_from_db()
    card.refresh_from_db()
    assert (row.state, node.row.state, card.state) == ("active", "draining", "cordoned")
    assert node.row.state_reason == "maintenance: new driver"
    assert row.taken == {"nodes": [node.row.uid], "cards": [card.uid]}
    ends(row)
    node.row.refresh_from_db()
    card.refresh_from_db()
    assert (row.state, node.row.state, card.state) == ("ended", "ready", "ready")


def test_what_a_person_had_taken_out_before_stays_out(node):
    node_cordon(node=node.row, actor=SYSTEM, reason="noise")
    row = window(nodes=[node.row])
    begins(row)
    ends(row)
    node.row.refresh_from_db()
    assert (node.row.state, node.row.state_reason) == ("cordoned", "noise")


def test_two_windows_over_one_node_give_it_back_only_after_the_second(node):
    first, second = window(nodes=[node.row]), window(nodes=[node.row])
    begins(first)
    Window.objects.filter(pk=second.pk).update(span=(now(), now() + HOUR))
    windows_due(actor=SYSTEM)
    second.refresh_from_db()
    ends(first)
    node.row.refresh_from_db()
    assert node.row.state == "draining"
    assert windows_due(actor=SYSTEM) == 0


@pytest.mark.parametrize(("choice", "state"), [("wait", "running"), ("stop", "stopping")])
def test_running_work_is_treated_as_the_window_says(node, choice, state):
    work = rows.workload(expected_seconds=7200)
    run_rounds()
    node.turn()
    row = window(nodes=[node.row], with_running=choice)
    assert windows_due(actor=SYSTEM) == 0
    work.refresh_from_db()
    assert work.state == "running"
    begins(row)
    windows_due(actor=SYSTEM)
    work.refresh_from_db()
    assert work.state == state


def test_work_is_told_before_the_window_begins_and_goes_back_to_the_queue(node):
    work = rows.workload(expected_seconds=7200)
    run_rounds()
    node.turn()
    window(after=timedelta(minutes=10), nodes=[node.row], with_running="preempt", notice_seconds=60)
    windows_due(actor=SYSTEM)
    work.refresh_from_db()
    assert work.state == "running"
    row = Window.objects.get()
    window_change(window=row, actor=SYSTEM, notice_seconds=3600)
    windows_due(actor=SYSTEM)
    work.refresh_from_db()
    assert work.state == "preempting"
    assert work.deadline > now() + timedelta(minutes=9)
    row.refresh_from_db()
    assert row.noticed


def test_leases_whose_work_it_stops_end_later_by_the_downtime(node, part):
    lease, beside = leased(), leased()
    work = rows.workload(into=lease.project, expected_seconds=7200, lease=lease)
    run_rounds()
    node.turn()
    work.refresh_from_db()
    assert work.state == "running"
    row = window(cards=list(Card.objects.filter(holds__held__upper_inf=True).distinct()))
    begins(row)
    before = lease.valid.upper
    lease.refresh_from_db()
    assert round((lease.valid.upper - before).total_seconds()) == 3600
    assert row.extended == {lease.uid: 3600}
    end = beside.valid.upper
    beside.refresh_from_db()
    assert beside.valid.upper == end
    window_change(window=row, actor=SYSTEM, ends_at=row.span.lower + 2 * HOUR)
    lease.refresh_from_db()
    assert round((lease.valid.upper - before).total_seconds()) == 7200
    window_cancel(window=row, actor=SYSTEM, reason="done early")
    lease.refresh_from_db()
    assert round((lease.valid.upper - before).total_seconds()) < 60
    row.refresh_from_db()
    assert (row.state, row.state_reason) == ("ended", "done early")
    assert Event.objects.filter(kind="lease.extended").count() == 3


def test_windows_that_overlap_lengthen_a_lease_by_what_it_was_out_of_service_once(node, part):
    lease = leased(partitions=[part])
    before = lease.valid.upper

    def longer_s():
        lease.refresh_from_db()
        return round((lease.valid.upper - before).total_seconds() / 60) * 60

    begins(first := window(partitions=[part], lasts=2 * HOUR))
    assert longer_s() == 7200
    second = window(after=HOUR / 2, partitions=[part], lasts=2 * HOUR)
    Window.objects.filter(pk=second.pk).update(span=(now(), now() + 3 * HOUR))
    assert windows_due(actor=SYSTEM) == 1
    assert longer_s() == 3 * 3600
    window_cancel(window=first, actor=SYSTEM, reason="done early")
    assert longer_s() == 3 * 3600
    second.refresh_from_db()
    window_change(window=second, actor=SYSTEM, ends_at=second.span.lower + HOUR)
    assert longer_s() == 3600
    window_cancel(window=second, actor=SYSTEM, reason="done")
    assert longer_s() == 0


def test_a_lease_that_could_run_nowhere_else_ends_later_though_nothing_of_it_runs(node, part):
    lease = leased(partitions=[part])
    begins(window(partitions=[part]))
    before = lease.valid.upper
    lease.refresh_from_db()
    assert lease.valid.upper > before


def leased(partitions=()):
    into = rows.project()
    version = rows.template()
    who = rows.member(into)
    asked = Request.objects.create(
        project=into,
        requester=who,
        template_version=version,
        need=version.need,
        duration_seconds=86_400,
        state="approved",
        decided_by=rows.user(),
        decided_at=now(),
    )
    row = Lease.objects.create(
        request=asked,
        project=into,
        template_version=version,
        need=version.need,
        valid=(now() - HOUR, now() + 24 * HOUR),
    )
    row.partitions.set(partitions)
    row.refresh_from_db()
    return row


def test_who_is_hit_is_shown_before_it_is_planned(node, part):
    long = rows.workload(expected_seconds=7200)
    short = rows.workload(expected_seconds=600)
    run_rounds()
    node.turn()
    row = window(nodes=[node.row])
    hit = impact_of(
        reach=window_reach(row), starts_at=row.span.lower, ends_at=row.span.upper, now=now()
    )
    assert (hit.nodes, hit.cards, hit.overlapping) == (1, 2, 1)
    assert {one.workload.pk: one.overlaps for one in hit.running} == {
        long.pk: True,
        short.pk: False,
    }
    assert [one.pk for one in windows_ahead(at=now())] == [row.pk]


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ({"reason": " "}, "reason"),
        ({"reason": "x" * 201}, "reason"),
        ({"with_running": "kill"}, "with_running"),
        ({"notice_seconds": -1}, "notice_seconds"),
        ({"lasts": -HOUR}, "ends_at"),
        ({"after": timedelta(days=400)}, "starts_at"),
        ({"lasts": timedelta(days=91)}, "ends_at"),
        ({"nodes": []}, "nodes"),
    ],
)
def test_wrong_words_are_refused_by_field(node, words, field):
    with pytest.raises(Invalid) as refused:
        window(**{"nodes": [node.row]} | words)
    assert field in refused.value.detail
    assert not Window.objects.exists()


def test_what_has_begun_keeps_its_place_and_what_is_over_is_not_changed(node):
    row = window(nodes=[node.row])
    begins(row)
    with pytest.raises(Invalid):
        window_change(window=row, actor=SYSTEM, nodes=[])
    window_cancel(window=row, actor=SYSTEM)
    with pytest.raises(IllegalMove):
        window_change(window=row, actor=SYSTEM, reason="other")


def test_a_window_that_is_called_off_lets_work_start_and_the_same_change_tells_nothing(node):
    row = window(nodes=[node.row])
    work = rows.workload(expected_seconds=7200)
    window_change(window=row, actor=SYSTEM, reason="new driver")
    window_cancel(window=row, actor=SYSTEM)
    window_cancel(window=row, actor=SYSTEM)
    run_rounds()
    work.refresh_from_db()
    assert work.state == "placed"
    assert Event.objects.filter(kind="window.changed").count() == 1
    assert Event.objects.filter(kind="window.moved").count() == 1


def test_a_partition_covers_a_node_whole_only_when_all_its_cards_are_there(part):
    whole = rows.node(cards=2)
    mixed = rows.node(cards=1)
    other = Partition.objects.create(slug="o", name="O", selector={"nodes": ["x"]})
    extra = Card.objects.create(
        uuid="GPU-x",
        node=mixed,
        partition=other,
        vendor="nvidia",
        model="m",
        label="L40S",
        nominal_gb=48,
        memory_mib=46068,
    )
    reach = window_reach(window(partitions=[part]))
    assert reach.nodes == {whole.pk}
    assert reach.cards == set(Card.objects.exclude(pk=extra.pk).values_list("pk", flat=True))
    (planned,) = take(now()).windows
    assert planned.nodes == reach.nodes and planned.cards == reach.cards
    assert Node.objects.count() == 2


def test_a_window_that_overlaps_another_brings_back_at_its_end_what_the_first_had_taken(node):
    first = window(nodes=[node.row])
    begins(first)
    second = window(nodes=[node.row], cards=list(Card.objects.all()))
    begins(second)
    third = window(nodes=[node.row])
    begins(third)
    assert second.taken == {"nodes": [], "cards": []}
    ends(first)
    ends(third)
    node.row.refresh_from_db()
    assert node.row.state == "draining"
    ends(second)
    node.row.refresh_from_db()
    assert node.row.state == "ready"


@pytest.mark.parametrize("drained", [False, True])
def test_a_persons_own_reason_given_meanwhile_keeps_it_out(node, drained):
    card = Card.objects.first()
    other = window(cards=[card])
    begins(other)
    row = window(nodes=[node.row])
    begins(row)
    if drained:
        watch()
    node_cordon(node=node.row, actor=SYSTEM, reason="the fan is broken")
    card_cordon(card=card, actor=SYSTEM, reason="its fan as well")
    ends(row)
    ends(other)
    node.row.refresh_from_db()
    card.refresh_from_db()
    assert (node.row.state, node.row.state_reason) == ("cordoned", "the fan is broken")
    assert (card.state, card.state_reason) == ("cordoned", "its fan as well")


def test_one_window_that_cannot_turn_keeps_no_other_from_its_turn(node, monkeypatch):
    first, second = window(cards=[Card.objects.first()]), window(nodes=[node.row])
    span = (now(), now() + HOUR)
    Window.objects.update(span=span)
    real = turns.service_take

    def broken(*, window, actor):
        if window.pk == first.pk:
            raise RuntimeError("no")
        real(window=window, actor=actor)

    monkeypatch.setattr(turns, "service_take", broken)
    assert windows_due(actor=SYSTEM) == 1
    states = set(Window.objects.values_list("reason", "state"))
    second.refresh_from_db()
    assert second.state == "active"
    assert ("new driver", "planned") in states


def test_work_without_a_card_on_a_node_outside_the_window_starts(part):
    bare = Obedient(rows.node(cards=0))
    rows.node(cards=1)
    window(partitions=[part])
    work = rows.workload(need={"parts": 0, "cpu_milli": 1000}, expected_seconds=7200)
    run_rounds()
    work.refresh_from_db()
    assert work.state == "placed"
    assert work.attempts.get().node == bare.row
