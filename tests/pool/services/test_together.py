"""One yes to several requests: their sum counts, and it is all of them or none."""

import pytest

from pool.errors import Invalid, OwnRequest, Stale
from pool.lifecycle.roles import QuotaKind
from pool.selectors.together import requests_check_together
from pool.services.requests import request_submit
from pool.services.together import requests_approve
from tests import factories as make


@pytest.fixture
def small(db):
    """A small company."""
    return make.World()


def ask(world, person=None, **words):
    person = person or world.member
    return request_submit(
        user=person,
        project=world.project,
        template_version=world.whole,
        actor=make.by(person),
        weights=make.FREE,
        **words,
    )


def approve(world, asked, **revisions):
    return requests_approve(
        requests=asked,
        revisions={one.uid: one.revision for one in asked} | revisions,
        user=world.lead,
        actor=make.by(world.lead),
    )


def states(asked):
    for one in asked:
        one.refresh_from_db()
    return [one.state for one in asked]


def test_the_sum_is_judged_where_each_alone_would_fit(small):
    make.quota(small.organization, small.partition, 9, kind=QuotaKind.ENTITLEMENT)
    make.quota(small.project, small.partition, 3)
    asked = [ask(small, copies=2), ask(small, copies=2)]
    assert all(requests_check_together(requests=[one]).fits for one in asked)
    both = requests_check_together(requests=asked)
    rows = [(r.of, r.before, r.after, r.over) for r in both.changes]
    assert rows == [
        ("entitlement", 0, 4_000_000, 0),
        ("limit", 0, 4_000_000, 1_000_000),
    ]
    with pytest.raises(Invalid):
        approve(small, asked)
    assert states(asked) == ["submitted", "submitted"]


def test_what_fits_together_is_approved_together(small):
    make.quota(small.project, small.partition, 4)
    asked = [ask(small, copies=2), ask(small, copies=2)]
    approve(small, asked)
    assert states(asked) == ["approved", "approved"]


def test_one_refusal_takes_all_of_it_back(small):
    asked = [ask(small), ask(small)]
    with pytest.raises(Stale):
        approve(small, asked, **{asked[1].uid: 99})
    own = [asked[0], ask(small, small.lead)]
    with pytest.raises(OwnRequest):
        approve(small, own)
    assert states([*asked, own[1]]) == ["submitted"] * 3


def test_nothing_and_too_much_are_no_choice(small):
    with pytest.raises(Invalid):
        approve(small, [])
    with pytest.raises(Invalid):
        approve(small, [ask(small)] * 51)
