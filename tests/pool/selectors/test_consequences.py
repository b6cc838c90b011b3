"""What a decider sees before the decision: rows and cards before and after, steps, the record."""

from pool.lifecycle.roles import QuotaKind
from pool.selectors.consequences import changes_for, consequences_of
from pool.selectors.memberships import standing
from pool.selectors.records import record_of
from pool.services.decisions import request_approve
from pool.services.requests import request_submit
from pool.services.wishes import need_wished
from tests import factories as make


def ask(world, **words):
    return request_submit(
        user=world.member,
        project=world.project,
        template_version=world.whole,
        actor=make.by(world.member),
        weights=make.FREE,
        **words,
    )


def seen(request, person):
    return consequences_of(request=request, standing=standing(user=person))


def test_the_pending_request_is_left_out_of_before_and_counted_in_after(world):
    make.quota(world.organization, world.partition, 5, kind=QuotaKind.ENTITLEMENT)
    make.quota(world.project, world.partition, 4)
    ask(world)
    request = ask(world, copies=2)
    rows = seen(request, world.lead).quotas
    assert [(r.tenant, r.of, r.before, r.after, r.over) for r in rows] == [
        ("Acme", "entitlement", 1_000_000, 3_000_000, 0),
        ("Vision", "limit", 0, 2_000_000, 0),
    ]


def test_a_decided_requests_rows_show_what_is_so_now(world):
    row = make.quota(world.organization, world.partition, 5, kind=QuotaKind.ENTITLEMENT)
    request = ask(world)
    request_approve(request=request, user=world.lead, actor=make.by(world.lead))
    request.refresh_from_db()
    row.refresh_from_db()
    assert row.held == 1_000_000
    assert all(step.done for step in seen(request, world.lead).steps)


def test_cards_are_shown_before_and_after(world):
    (cards,) = seen(ask(world, copies=3), world.lead).cards
    assert (cards.label, cards.total, cards.before, cards.after) == (
        "A100-80GB",
        8_000_000,
        8_000_000,
        5_000_000,
    )


def test_a_limit_that_would_be_passed_says_by_how_much(world):
    make.quota(world.project, world.partition, 1)
    need = need_wished(template_version=world.whole, overrides={})
    changes, _ = changes_for(
        project=world.project,
        need=need,
        copies=3,
        partitions=[world.partition],
        version=world.whole,
    )
    assert [change.over for change in changes] == [2_000_000]


def test_the_step_that_is_due_is_marked_for_those_who_may_say_it(world):
    make.node("n2")
    request = ask(world, copies=9)
    assert [(s.role, s.mine) for s in seen(request, world.lead).steps] == [
        ("lead", True),
        ("org_admin", False),
    ]
    assert [s.mine for s in seen(request, world.member).steps] == [False, False]
    request_approve(request=request, user=world.lead, actor=make.by(world.lead))
    request.refresh_from_db()
    steps = seen(request, world.admin).steps
    assert [(s.done, s.mine) for s in steps] == [(True, False), (False, True)]


def test_the_readers_own_request_is_marked(world):
    request = ask(world)
    assert seen(request, world.member).own
    assert not seen(request, world.lead).own


def test_the_numbers_cost_the_same_however_many_rows_there_are(world, django_assert_num_queries):
    request = ask(world)
    for number in range(5):
        make.node(f"more-{number}")
    make.quota(world.project, world.partition, 9)
    make.quota(world.organization, world.partition, 9, label="")
    who = standing(user=world.lead)
    request.refresh_from_db()
    with django_assert_num_queries(9):
        consequences_of(request=request, standing=who)


def test_a_first_request_is_told_apart_and_the_record_counts_outcomes(world):
    first = ask(world)
    assert record_of(user=world.member).first_time
    ask(world)
    request_approve(request=first, user=world.lead, actor=make.by(world.lead))
    record = record_of(user=world.member)
    assert (record.asked, record.approved, record.rejected) == (2, 1, 0)
    assert (record.first_time, record.held_hours) == (False, 0.0)
