"""Many at once: no card is kept twice, no start slips under a window or into kept cards."""

from datetime import timedelta

import pytest

from pool.clock import now
from pool.cycle.audit import breaches_now
from pool.cycle.snapshot import take
from pool.errors import NoRoom, Stale
from pool.events import SYSTEM
from pool.models import Card, Hold, Partition, PolicyVersion, ReservedCard, Window
from pool.scheduling.plan import plan
from pool.services.calendar.history import numbers_change
from pool.services.calendar.seats import seats_set
from pool.services.calendar.turns import reservations_due, windows_due
from pool.services.calendar.windows import window_create
from pool.services.decisions import request_approve
from pool.services.partitions import partition_change
from pool.services.placements import placement_open
from pool.services.requests import request_submit
from tests import rows
from tests.races.test_rounds import together

pytestmark = pytest.mark.django_db(transaction=True)
HOUR = timedelta(hours=1)
WHOLE = {"whole": True, "modes": ["whole"]}


@pytest.fixture
def node():
    rows.partition(modes=["whole", "mig", "mps"])
    return rows.node(cards=2)


def asked(**words):
    """A reserved request of a project of its own, and who may say yes."""
    into = rows.project()
    version = rows.template(need=WHOLE, approval={"steps": [{"role": "lead"}]})
    given = {"copies": 1, "duration_seconds": 7200, "lease_kind": "reserved"}
    request = request_submit(
        user=rows.member(into),
        project=into,
        template_version=version,
        actor=SYSTEM,
        **given | words,
    )
    return request, rows.member(into, role="lead")


def yes(pair):
    return lambda: request_approve(request=pair[0], user=pair[1], actor=SYSTEM)


def test_of_many_reservations_for_the_same_cards_only_as_many_are_confirmed_as_there_are(node):
    raised = together(*[yes(asked()) for _ in range(6)])
    assert sum(one is None for one in raised) == 2
    assert all(isinstance(one, NoRoom) for one in raised if one is not None)
    kept = ReservedCard.objects.filter(live=True)
    assert kept.count() == kept.values("card").distinct().count() == 2
    assert breaches_now() == []


def test_a_start_and_a_reservation_never_get_the_same_card(node):
    works = [rows.workload(need=WHOLE, expected_seconds=7200) for _ in range(2)]
    placed = {one.workload: one for one in plan(take(now())).placed}
    assert len(placed) == 2

    def start(work):
        return lambda: placement_open(workload_id=work.pk, placed=placed[work.pk], actor=SYSTEM)

    raised = together(*[start(one) for one in works], *[yes(asked()) for _ in range(2)])
    assert all(one is None or isinstance(one, Stale | NoRoom) for one in raised)
    held = set(Hold.objects.exclude(card=None).values_list("card", flat=True))
    kept = set(ReservedCard.objects.filter(live=True).values_list("card", flat=True))
    assert not held & kept
    assert held | kept


def test_a_start_and_a_window_never_overlap_unseen(node):
    works = [rows.workload(need=WHOLE, expected_seconds=7200) for _ in range(2)]
    placed = {one.workload: one for one in plan(take(now())).placed}
    begun = []

    def start(work):
        def act():
            placement_open(workload_id=work.pk, placed=placed[work.pk], actor=SYSTEM)
            begun.append(work.pk)

        return act

    def shut():
        window_create(
            reason="fan",
            starts_at=now() + HOUR,
            ends_at=now() + 2 * HOUR,
            nodes=[node],
            actor=SYSTEM,
        )

    raised = together(start(works[0]), shut, start(works[1]))
    assert raised[1] is None
    assert all(one is None or isinstance(one, Stale) for one in raised)
    window = Window.objects.get()
    for hold in Hold.objects.exclude(card=None):
        assert hold.placement.opened_at <= window.created_at + timedelta(seconds=5)
    late = rows.workload(need=WHOLE, expected_seconds=7200)
    assert late.pk not in {one.workload for one in plan(take(now())).placed}


def test_two_sweeps_at_once_turn_each_thing_once(node):
    request, lead = asked()
    request_approve(request=request, user=lead, actor=SYSTEM)
    card = Card.objects.exclude(reserved__live=True).get()
    window_create(reason="fan", starts_at=now(), ends_at=now() + HOUR, cards=[card], actor=SYSTEM)
    counts = []

    def sweep():
        counts.append(windows_due(actor=SYSTEM) + reservations_due(actor=SYSTEM))

    assert together(*[sweep] * 4) == [None] * 4
    assert sum(counts) == 2
    assert breaches_now() == []


def test_the_last_licence_seat_is_given_once(node):
    seats_set(name="suite", mode="whole", total=1, actor=SYSTEM)
    works = [rows.workload(need=WHOLE) for _ in range(2)]
    seats_set(name="suite", mode="whole", total=2, actor=SYSTEM)
    placed = {one.workload: one for one in plan(take(now())).placed}
    seats_set(name="suite", mode="whole", total=1, actor=SYSTEM)
    acts = [
        lambda key=one.pk: placement_open(workload_id=key, placed=placed[key], actor=SYSTEM)
        for one in works
    ]
    raised = together(*acts)
    assert sorted(one is None for one in raised) == [False, True]
    assert Hold.objects.exclude(card=None).count() == 1


def test_changes_of_policy_at_once_get_numbers_of_their_own(node):
    part = Partition.objects.get()

    def number(value):
        return lambda: numbers_change(values={"heavy_gb": value}, reason="try", actor=SYSTEM)

    def rank(value):
        return lambda: partition_change(partition=part, rank=value, reason="try", actor=SYSTEM)

    assert (
        together(*[number(50 + n) for n in range(4)], *[rank(500 + n) for n in range(4)])
        == [None] * 8
    )
    for of in (None, part):
        found = PolicyVersion.objects.filter(partition=of).values_list("number", flat=True)
        assert sorted(found) == list(range(1, len(found) + 1))
        assert len(found) >= 4
