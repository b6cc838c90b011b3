"""Budgets: set, overdrawn for a time, watched; the pool is told to start or stop, never why."""

from collections.abc import Iterable
from datetime import date
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from billing.models.budgets import Budget
from billing.rating.budgets import Action, Every, Measure
from billing.selectors.budgets import Spent, budget_name, budget_spent
from billing.selectors.holds import database_now
from billing.services.acting import act, let_go
from pool.errors import Invalid
from pool.events import SYSTEM, Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.roles import Role
from pool.models.tenants import Organization, Project
from pool.models.users import User
from pool.rules.notices import NoticeKind
from pool.rules.problems import marked
from pool.services.notices.send import notice_send
from pool.sweeps import each, part

MOST_MICRO = 10**18
"""A million million: more is a slip of the finger."""


@transaction.atomic
def budget_set(
    *,
    organization: Organization,
    limit_micro: int,
    actor: Actor,
    project: Project | None = None,
    user: User | None = None,
    measure: str = Measure.MONEY,
    every: str = Every.MONTH,
    starts_on: date | None = None,
    ends_on: date | None = None,
    action: str = Action.NOTIFY,
    spare_endpoints: bool = True,
) -> Budget:
    """The budget of a place and period, new or changed; what it did before is judged anew.

    `limit_micro` is in 10⁻⁶ of the currency, or of a card-hour.

    Raises:
        Invalid: a word or number that no budget can have, or a project of another organization.
    """
    _check(organization, project, limit_micro, measure, every, starts_on, ends_on, action)
    key: dict[str, Any] = {
        "organization": organization,
        "project": project,
        "user": user,
        "measure": str(measure),
        "every": str(every),
        "starts_on": starts_on,
        "removed_at": None,
    }
    values = {
        "limit_micro": limit_micro,
        "ends_on": ends_on,
        "action": str(action),
        "spare_endpoints": spare_endpoints,
    }
    row = Budget.objects.select_for_update(of=("self",)).filter(**key).first()
    if row is not None and row.acting_since is not None:
        let_go(without=row)
    fresh = {**values, "told_level": 0, "told_for": None, "acting_since": None}
    row, made = Budget.objects.update_or_create(**key, defaults=fresh)
    told = {name: str(value) for name, value in values.items()}
    _tell(EventKind.BUDGET_CHANGED, row, actor, made=made, **told)
    return row


@transaction.atomic
def budget_remove(*, budget: Budget, actor: Actor) -> Budget:
    """It counts no more, and lets go of what it kept from starting; twice changes nothing."""
    row = Budget.objects.select_for_update(of=("self",)).get(pk=budget.pk)
    if row.removed_at is not None:
        return row
    if row.acting_since is not None:
        let_go(without=row)
    row.removed_at, row.acting_since = database_now(), None
    row.save(update_fields=["removed_at", "acting_since"])
    _tell(EventKind.BUDGET_CHANGED, row, actor, removed=True)
    return row


@transaction.atomic
def budget_overdraw(
    *, budget: Budget, overdraft_micro: int, until: date, reason: str, actor: Actor
) -> Budget:
    """Let it go over its limit by so much, up to and with a day; 0 takes an overdraft back.

    Raises:
        Invalid: no reason, a day that has passed, or a negative amount.
    """
    wrong: dict[str, str] = {}
    if not 0 <= overdraft_micro <= MOST_MICRO:
        wrong["overdraft_micro"] = _("An amount that is not negative.")
    if not 0 < len(reason.strip()) <= 200:
        wrong["reason"] = _("Say why, in at most 200 characters.")
    if until < database_now().date():
        wrong["until"] = _("A day that is still to come.")
    if wrong:
        raise Invalid(**wrong)
    row = Budget.objects.select_for_update(of=("self",)).get(pk=budget.pk)
    row.overdraft_micro, row.overdraft_until = overdraft_micro, until
    row.overdraft_reason, row.overdraft_by = reason.strip(), actor.label[:160]
    row.save()
    _tell(
        EventKind.BUDGET_OVERDRAWN,
        row,
        actor,
        micro=overdraft_micro,
        until=until.isoformat(),
        reason=reason.strip(),
    )
    budgets_watch(only=row)
    return row


def budgets_watch(*, only: Budget | None = None) -> int:
    """Look at every budget: tell people, act, let go; how many changed. Repeats do no harm.

    One that fails keeps no other from its turn. A budget's own row is written before anything is
    moved for it, so that what it keeps back is never taken for forgotten.
    """
    rows = Budget.objects.filter(removed_at=None)
    if only is not None:
        rows = rows.filter(pk=only.pk)
    changed = each(rows.order_by("pk").values_list("pk", flat=True), _watched, of="budget")
    part(let_go, of="budgets.let_go", nothing=0)
    return changed


def _watched(pk: int) -> bool:
    row, changed = _judged(pk)
    if row is not None and row.acting_since is not None:
        act(row)
    return changed


@transaction.atomic
def _judged(pk: int) -> tuple[Budget | None, bool]:
    rows = Budget.objects.select_for_update(of=("self",))
    row = rows.filter(pk=pk, removed_at=None).first()
    if row is None:
        return None, False
    now = budget_spent(budget=row)
    told, acts = _told(row, now), _acts(row, now)
    return row, told or acts


def _told(row: Budget, now: Spent | None) -> bool:
    """People hear of each level once a period."""
    if now is None:
        return False
    known = row.told_level if row.told_for == now.period.first else 0
    if now.level <= known:
        return False
    row.told_level, row.told_for = now.level, now.period.first
    row.save(update_fields=["told_level", "told_for"])
    runs_out = now.runs_out_at
    values: dict[str, Any] = {"budget": budget_name(row), "percent": now.percent or 100}
    text = TOLD
    if runs_out is not None and now.level < 100:
        values["runs_out_at"] = runs_out.isoformat()
        text = TOLD_WITH_DAY
    _tell(EventKind.BUDGET_WARNED, row, SYSTEM, level=now.level, **values)
    notice_send(
        kind=NoticeKind.MONEY,
        to=_readers(row),
        about=row,
        text=text,
        key=f"{row.uid} {now.period.first} {now.level}",
        **values,
    )
    return True


TOLD = marked("%(percent)s %% of the budget of %(budget)s is spent.")
TOLD_WITH_DAY = marked(
    "%(percent)s %% of the budget of %(budget)s is spent; at this pace it is used up on "
    "%(runs_out_at)s."
)


def _acts(row: Budget, now: Spent | None) -> bool:
    acting = row.acting_since is not None
    wanted = now is not None and now.used_up and row.action != Action.NOTIFY
    if wanted == acting:
        return False
    row.acting_since = database_now() if wanted else None
    row.save(update_fields=["acting_since"])
    _tell(EventKind.BUDGET_ACTED, row, SYSTEM, action=row.action, acting=wanted)
    return True


def _readers(row: Budget) -> Iterable[User]:
    """The person whose it is, the leads of the project, and who runs the organization."""
    runs = Q(
        memberships__organization=row.organization_id,
        memberships__role__in=[Role.ORG_ADMIN, Role.BILLING_READER],
    )
    leads = Q(memberships__project=row.project_id, memberships__role=Role.LEAD)
    whose = runs | (leads if row.project_id is not None else Q(pk__in=[])) | Q(pk=row.user_id)
    return User.objects.filter(whose, is_active=True).distinct()


def _tell(kind: EventKind, row: Budget, actor: Actor, **told: Any) -> None:
    home = row.project or Project(organization=row.organization)
    record(kind, row, actor=actor, project=home, **told)


def _check(
    organization: Organization,
    project: Project | None,
    limit_micro: int,
    measure: str,
    every: str,
    starts_on: date | None,
    ends_on: date | None,
    action: str,
) -> None:
    wrong: dict[str, str] = {}
    if not 0 <= limit_micro <= MOST_MICRO:
        wrong["limit_micro"] = _("An amount that is not negative.")
    for name, said, known in (
        ("measure", measure, Measure),
        ("every", every, Every),
        ("action", action, Action),
    ):
        if said not in set(known):
            wrong[name] = ", ".join(known)
    if project is not None and project.organization_id != organization.pk:
        wrong["project"] = _("It belongs to another organization.")
    custom = every == Every.CUSTOM
    if custom and (starts_on is None or ends_on is None or ends_on < starts_on):
        wrong["ends_on"] = _("A period of one's own has a first and a last day.")
    if not custom and (starts_on is not None or ends_on is not None):
        wrong["starts_on"] = _("Only a period of one's own has days.")
    if wrong:
        raise Invalid(**wrong)
