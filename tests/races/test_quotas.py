"""Three levels under two hundred hands: no cap is passed, and children sum up to parents always."""

import threading
from contextlib import suppress

import pytest
from django.db import connection

from pool.errors import PoolError, QuotaExceeded
from pool.lifecycle.roles import QuotaKind, Role
from pool.models import Lease, Quota, Request
from pool.services.decisions import request_approve
from pool.services.quotas import QuotaLine, quotas_set
from pool.services.requests import request_submit, request_withdraw
from tests import factories as make
from tests.races.test_rounds import together

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(900)]

CARD = 1_000_000
_LEVELS = """
SELECT coalesce(sum(held) FILTER (WHERE organization_id IS NOT NULL), 0),
       coalesce(sum(held) FILTER (WHERE project_id IS NOT NULL), 0),
       count(*) FILTER (WHERE held > ceiling OR held < 0)
FROM pool_quota
"""


@pytest.fixture
def world():
    """Two projects in one organization, each with a cap, and one over both."""
    made = make.World()
    made.other = make.project("speech", of=made.organization)
    words = {"kind": QuotaKind.ENTITLEMENT}
    made.caps = [
        make.quota(made.organization, made.partition, 60, **words),
        make.quota(made.project, made.partition, 40, **words),
        make.quota(made.other, made.partition, 40, **words),
    ]
    return made


class Watcher:
    """Looks again and again, each time as of one instant, until told to stop."""

    def __init__(self):
        self.over = threading.Event()
        self.looks = 0

    def __call__(self):
        while not self.over.is_set():
            self.look()
            self.over.wait(0.1)

    def look(self):
        with connection.cursor() as cursor:
            cursor.execute(_LEVELS)
            above, below, broken = cursor.fetchone()
        assert (above, broken) == (below, 0)
        self.looks += 1


def watched(*acts):
    """All acts at once, and a watcher beside them until the last has ended."""
    watcher, left, lock = Watcher(), [len(acts)], threading.Lock()

    def ending(act):
        def inner():
            try:
                act()
            finally:
                with lock:
                    left[0] -= 1
                    if not left[0]:
                        watcher.over.set()

        return inner

    raised = together(watcher, *map(ending, acts))
    watcher.look()
    assert watcher.looks > 1
    assert raised[0] is None
    return raised[1:]


def ask(world, person, project):
    return request_submit(
        user=person,
        project=project,
        template_version=world.whole,
        actor=make.by(person),
        weights=make.FREE,
    )


def asking(world, person, project, refused):
    """Twenty-five requests of one person; what is refused is counted."""

    def act():
        for _ in range(25):
            try:
                ask(world, person, project)
            except QuotaExceeded as told:
                refused.append(told)

    return act


def deciding(lead, project):
    """A lead says yes to all that still waits."""

    def act():
        for row in Request.objects.filter(project=project).order_by("pk"):
            with suppress(PoolError):
                request_approve(request=row, user=lead, actor=make.by(lead))

    return act


def withdrawing():
    """People take back the newest twenty."""
    for row in Request.objects.order_by("-pk")[:20]:
        with suppress(PoolError):
            request_withdraw(request=row, user=row.requester, actor=make.by(row.requester))


def cutting(world):
    """The organization's cap is cut below what is taken."""
    line = QuotaLine(
        tenant=world.organization,
        partition=world.partition,
        unit="cards_micro",
        card_model="A100-80GB",
        kind=QuotaKind.ENTITLEMENT,
        limit=10 * CARD,
    )
    return lambda: quotas_set(lines=[line], actor=make.by(world.platform), reason="a cut")


def test_two_hundred_requests_and_their_decisions_never_pass_three_levels(world):
    homes = (world.project, world.other)
    people = [make.user(f"p{n}", Role.MEMBER, at=homes[n % 2]) for n in range(8)]
    leads = [make.user(f"lead{n}", Role.LEAD, at=homes[n % 2]) for n in range(4)]
    refused = []
    asks = [asking(world, one, homes[n % 2], refused) for n, one in enumerate(people)]
    assert watched(*asks) == [None] * 8
    assert Request.objects.count() + len(refused) == 200
    assert Request.objects.count() == 60
    assert Quota.objects.get(organization__isnull=False).held == 60 * CARD
    decisions = [deciding(one, homes[n % 2]) for n, one in enumerate(leads)]
    assert watched(*decisions, withdrawing, cutting(world)) == [None] * 6
    row = Quota.objects.get(organization__isnull=False)
    pending = Request.objects.filter(state="submitted").count()
    assert row.held == (Lease.objects.count() + pending) * CARD
    assert row.ceiling == max(row.held, 10 * CARD)
    with pytest.raises(QuotaExceeded):
        ask(world, people[0], world.project)
