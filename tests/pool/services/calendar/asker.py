"""Somebody who reserves whole cards, and what a reservation looks like from outside."""

from pool.cycle.round import run_rounds
from pool.events import SYSTEM
from pool.models import Hold, Reservation
from pool.services.calendar.turns import reservations_due
from pool.services.decisions import request_approve
from pool.services.requests import request_submit
from tests import rows

WHOLE = {"whole": True, "modes": ["whole"]}


class Asker:
    """A project with a member and a lead, and one template of whole cards."""

    def __init__(self, need=None, **given):
        self.project = rows.project()
        self.member = rows.member(self.project)
        self.lead = rows.member(self.project, role="lead")
        steps = {"approval": {"steps": [{"role": "lead"}]}}
        self.version = rows.template(need=need or WHOLE, **steps | given)

    def ask(self, **words):
        given = {"copies": 1, "duration_seconds": 7200, "lease_kind": "reserved"}
        return request_submit(
            user=self.member,
            project=self.project,
            template_version=self.version,
            actor=SYSTEM,
            **given | words,
        )

    def approve(self, request):
        request_approve(request=request, user=self.lead, actor=SYSTEM)
        return Reservation.objects.get(request=request)

    def reserve(self, **words):
        return self.approve(self.ask(**words))

    def work(self, lease=None, **given):
        words = {"entitlement": "lease" if lease else "allowance", "expected_seconds": 3600}
        return rows.workload(
            into=self.project, owner=self.member, version=self.version, lease=lease, **words | given
        )


def turn():
    """The clock's sweep, then a round."""
    reservations_due(actor=SYSTEM)
    run_rounds()


def seen(row):
    row.refresh_from_db()
    return row


def cards_of(work):
    return set(
        Hold.objects.filter(placement__attempt__workload=work)
        .exclude(card=None)
        .values_list("card", flat=True)
    )


def kept(row):
    return set(row.kept.filter(live=True).values_list("card", flat=True))
