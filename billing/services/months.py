"""Months: reviewed and closed by a person; what is found later goes on the next open bill."""

import hashlib
from datetime import date, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet, Sum
from django.utils.translation import gettext as _

from billing.errors import MonthNotOver, MonthNotPosted
from billing.models.cursors import Cursor
from billing.models.months import Dispute, Month, StatementLine
from billing.rating.accounts import Account
from billing.rating.days import day_of, month_of, month_span, next_month
from billing.rating.intervals import SECOND_US, micros
from billing.rating.lines import PLATFORM, Posted, Whose
from billing.rating.months import MOVES, DisputeState, MonthState
from billing.rating.statements import statement_file
from billing.selectors.holds import database_now
from billing.selectors.statements import bill_now, head_of, line_named
from billing.selectors.statements import bill_of as read_bill
from billing.services.apart import extras_post
from billing.services.entries import Bills, Draft, entries_write
from billing.services.posting import READER as LEDGER
from pool.errors import IllegalMove, Invalid
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.roles import Role
from pool.locks import METER
from pool.models.tenants import Organization, Project
from pool.models.users import User
from pool.rules.notices import NoticeKind
from pool.rules.problems import marked
from pool.services.notices.send import notice_send


@transaction.atomic
def month_open(*, organization: Organization, first: date) -> Month:
    """The month's row, made when somebody first looks at it; zone and currency as of then."""
    row, _made = Month.objects.get_or_create(
        organization=organization,
        first=month_of(first),
        defaults={"zone": organization.zone, "currency": organization.currency},
    )
    return row


@transaction.atomic
def month_review(*, month: Month, actor: Actor) -> Month:
    """A person has looked at it: costs beside the cards and the minimum are on it from now on.

    Raises:
        IllegalMove: it is closed, or reviewed already.
        MonthNotOver: it still runs.
        MonthNotPosted: some of its hours are not in the ledger yet.
    """
    row = _locked(month)
    _allowed(row, MonthState.REVIEWED)
    _over(row)
    extras_post(month=row, actor=actor)
    row.reviewed_by = actor.label[:160]
    return _moved(row, MonthState.REVIEWED, actor)


@transaction.atomic
def month_reopen(*, month: Month, actor: Actor) -> Month:
    """Back to provisional, before it is closed.

    Raises:
        IllegalMove: it is not reviewed.
    """
    row = _locked(month)
    _allowed(row, MonthState.PROVISIONAL)
    row.reviewed_by = ""
    return _moved(row, MonthState.PROVISIONAL, actor)


@transaction.atomic
def month_close(*, month: Month, actor: Actor) -> Month:
    """Fix it for ever: its lines and the digest of its file are kept; nothing is posted into it.

    Raises:
        IllegalMove: it is not reviewed, or closed already.
        MonthNotPosted: some of its hours are not in the ledger yet.
    """
    row = _locked(month)
    _allowed(row, MonthState.CLOSED)
    _over(row)
    extras_post(month=row, actor=actor)
    bill = bill_now(row)
    StatementLine.objects.bulk_create(
        [
            StatementLine(
                month=row,
                number=line.number,
                line_id=line.line_id,
                project_id=line.what.project,
                project_slug=line.what.project_slug,
                cost_centre=line.what.cost_centre,
                card_model=line.what.card_model,
                mode=line.what.mode,
                price_class=line.what.price_class,
                account=line.what.account,
                late=line.what.late,
                card_us=line.what.card_us,
                amount_micro=line.what.amount_micro,
                amount_cents=line.amount_cents,
            )
            for line in bill.lines
        ],
        batch_size=2000,
    )
    row.closed_by, row.closed_at = actor.label[:160], database_now()
    row.total_micro = bill.micro
    row.digest = hashlib.sha256(statement_file(head_of(row), bill.lines)).hexdigest()
    done = _moved(row, MonthState.CLOSED, actor, total_micro=bill.micro, digest=row.digest)
    notice_send(
        kind=NoticeKind.MONEY,
        to=_readers(row),
        about=row,
        text=CLOSED,
        key=f"{row.uid} closed",
        organization=row.organization.name,
        month=f"{row.first:%Y-%m}",
        total=f"{bill.cents / 100:.2f} {row.currency}",
    )
    return done


@transaction.atomic
def correction_post(
    *,
    project: Project,
    amount_micro: int,
    reason: str,
    actor: Actor,
    kind: str = "correction",
    month: Month | None = None,
) -> int:
    """A line by hand on the first open bill of the project's organization; negative is a credit.

    What is about a bill that was written (`month`) stays with that organization and its currency,
    wherever the project has moved since. Returns how many postings were written.

    Raises:
        Invalid: nothing to post, or no reason.
    """
    if not amount_micro or not 0 < len(reason.strip()) <= 200:
        raise Invalid(
            amount_micro=_("An amount other than 0 and a reason of at most 200 characters.")
        )
    _lock_meter()
    home = month.organization if month is not None else project.organization
    now = database_now()
    day = _open_day(home, day_of(now, home.zone))
    whose = Whose(home.pk, project.pk)
    lines = [
        Posted(Account.CORRECTION, None, whose, day, amount_micro),
        Posted(Account.REVENUE, None, PLATFORM, day, -amount_micro),
    ]
    hour = now.replace(minute=0, second=0, microsecond=0)
    draft = Draft(
        f"project:{project.pk}",
        hour,
        month.currency if month is not None else home.currency,
        lines,
        kind=kind,
        reason=reason.strip(),
        actor_label=actor.label[:160],
    )
    record(
        EventKind.BILL_CORRECTED,
        project,
        actor=actor,
        project=Project(pk=project.pk, organization=home),
        micro=amount_micro,
        reason=reason.strip(),
    )
    return entries_write([draft], bills=Bills.now(), now=now)


def _open_day(home: Organization, today: date) -> date:
    """Today, or the last day of the first month after a closed one that is still open."""
    rows = Month.objects.filter(organization=home, state=MonthState.CLOSED, first__lte=today)
    last = rows.order_by("-first").values_list("first", flat=True).first()
    if last is None:
        return today
    return min(today, next_month(next_month(last)) - timedelta(days=1))


@transaction.atomic
def dispute_open(
    *,
    month: Month,
    line_id: str,
    text: str,
    user: User,
    actor: Actor,
    asked_micro: int | None = None,
) -> Dispute:
    """Complain about a line.

    Raises:
        Invalid: there is no such line, no words, or an open complaint about it.
    """
    line = line_named(read_bill(month), line_id)
    wrong: dict[str, str] = {}
    if line is None or line.what.project is None:
        wrong["line_id"] = _("There is no such line of a project on this bill.")
    elif Dispute.objects.filter(month=month, line_id=line_id, state=DisputeState.OPEN).exists():
        wrong["line_id"] = _("Somebody has complained about it already.")
    if not 0 < len(text.strip()) <= 2000:
        wrong["text"] = _("Say what is wrong, in at most 2000 characters.")
    if asked_micro is not None and asked_micro <= 0:
        wrong["asked_micro"] = _("An amount over 0, or none.")
    if wrong or line is None or line.what.project is None:
        raise Invalid(**wrong)
    row = Dispute.objects.create(
        month=month,
        project_id=line.what.project,
        line_id=line_id,
        text=text.strip(),
        asked_micro=asked_micro,
        opened_by=user,
    )
    record(EventKind.DISPUTE_OPENED, row, actor=actor, project=row.project, line=line_id)
    return row


@transaction.atomic
def dispute_decide(
    *, dispute: Dispute, accept: bool, answer: str, actor: Actor, granted_micro: int = 0
) -> Dispute:
    """Grant a credit, which becomes a line of the first open bill, or refuse; with words.

    Raises:
        Invalid: no words, no amount where it is accepted, or more than what is left of the line
            after earlier complaints; or whoever complained would grant it.
        IllegalMove: it was decided already.
    """
    month = _locked(dispute.month)
    row = Dispute.objects.select_for_update(of=("self",)).get(pk=dispute.pk)
    if row.state != DisputeState.OPEN:
        then = DisputeState.ACCEPTED if accept else DisputeState.REFUSED
        raise IllegalMove(noun="dispute", state=row.state, then=str(then))
    line = line_named(read_bill(month), row.line_id)
    granted = Dispute.objects.filter(month=month, line_id=row.line_id)
    before = int(granted.aggregate(s=Sum("granted_micro"))["s"] or 0)
    most = (line.what.amount_micro if line is not None else 0) - before
    wrong: dict[str, str] = {}
    if not 0 < len(answer.strip()) <= 2000:
        wrong["answer"] = _("Say why, in at most 2000 characters.")
    if accept and not 0 < granted_micro <= max(most, 0):
        wrong["granted_micro"] = _("An amount over 0, at most what is left of the line.")
    if accept and actor.user_uid == row.opened_by.uid:
        wrong["accept"] = _("Somebody else grants what one has complained about.")
    if wrong:
        raise Invalid(**wrong)
    row.state = (DisputeState.ACCEPTED if accept else DisputeState.REFUSED).value
    row.answer, row.answered_by = answer.strip(), actor.label[:160]
    row.answered_at = database_now()
    row.granted_micro = granted_micro if accept else 0
    row.save()
    if accept:
        correction_post(
            project=row.project,
            amount_micro=-granted_micro,
            reason=f"{month.first:%Y-%m} {row.line_id}",
            actor=actor,
            month=month,
        )
    record(
        EventKind.DISPUTE_DECIDED,
        row,
        actor=actor,
        project=row.project,
        accepted=accept,
        micro=row.granted_micro,
    )
    return row


CLOSED = marked("The bill of %(organization)s for %(month)s is closed: %(total)s.")


def _readers(row: Month) -> QuerySet[User]:
    """Who runs the organization or reads its bills."""
    roles = [Role.ORG_ADMIN, Role.BILLING_READER]
    return User.objects.filter(
        memberships__organization=row.organization_id, memberships__role__in=roles
    ).distinct()


def _lock_meter() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [METER])


def _locked(month: Month) -> Month:
    """Nothing is metered or posted meanwhile."""
    _lock_meter()
    return Month.objects.select_for_update(of=("self",)).get(pk=month.pk)


def _allowed(row: Month, then: MonthState) -> None:
    if then not in MOVES[MonthState(row.state)]:
        raise IllegalMove(noun="month", state=row.state, then=str(then))


def _over(row: Month) -> None:
    """Over, and every hour of it posted."""
    end = month_span(row.first, row.zone).end_us
    if micros(database_now()) < end:
        raise MonthNotOver(month=f"{row.first:%Y-%m}")
    place = Cursor.objects.filter(name=LEDGER).values_list("event", flat=True).first() or 0
    if place < end:
        raise MonthNotPosted(left=(end - place) // (3600 * SECOND_US) + 1 if place else 0)


def _moved(row: Month, then: MonthState, actor: Actor, **told: Any) -> Month:
    was, row.state, row.state_since = row.state, then.value, database_now()
    row.save()
    record(
        EventKind.MONTH_MOVED,
        row,
        actor=actor,
        project=Project(organization=row.organization),
        **{"from": was, "to": then.value, "month": f"{row.first:%Y-%m}", **told},
    )
    return row
