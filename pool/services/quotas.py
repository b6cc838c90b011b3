"""Limits, allowances and entitlements: set, one or many together; what is held counts at once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, OperationalError, connection, transaction
from django.db.models import F, Q
from django.utils.translation import gettext

from pool.clock import now
from pool.errors import Invalid, Stale
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.roles import QuotaKind, QuotaUnit
from pool.locks import ROUND
from pool.models.ids import new_uid
from pool.models.partitions import Partition
from pool.models.quotas import Quota
from pool.models.tenants import Organization, Project
from pool.models.users import User
from pool.rules.quotas import ceiling_of, over_by
from pool.services.entitlements import entitlements_one_at_a_time
from pool.services.quotatree.counting import OF_CARDS, held_already
from pool.wake import round_wanted

MOST = 2**53
PATIENCE_MS = 5000
ANY = -1
"""Whatever stands there now; the usual expectation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaLine:
    """What one row is to be. `limit` None takes the row away: nothing binds there any more.

    `lend` is how much of a guarantee may be lent, None for all of it. `expected` is the limit that
    the person read (None: there was no row); `ANY` where nobody read any.
    """

    tenant: Organization | Project
    partition: Partition
    unit: str
    limit: int | None
    kind: str = QuotaKind.LIMIT
    card_model: str = ""
    user: User | None = None
    lend: int | None = ANY
    expected: int | None = ANY

    @property
    def project(self) -> Project | None:
        return self.tenant if isinstance(self.tenant, Project) else None

    @property
    def place(self) -> dict[str, Any]:
        """The columns that name the row."""
        return {
            "organization": self.tenant if self.project is None else None,
            "project": self.project,
            "user": self.user,
            "partition": self.partition,
            "card_model": self.card_model,
            "unit": self.unit,
            "kind": self.kind,
        }

    @property
    def key(self) -> "Key":
        """The same, as a key."""
        home = None if self.project else self.tenant.pk
        person = self.user.pk if self.user else None
        whose = (home, self.project.pk if self.project else None, person)
        return (*whose, self.partition.pk, self.card_model, str(self.unit), str(self.kind))


Key = tuple[int | None, int | None, int | None, int, str, str, str]
"""What names a row: organization, project, member, partition, kind of card, unit, kind."""


def key_of(row: Quota) -> Key:
    """The key of a row."""
    whose = (row.organization_id, row.project_id, row.user_id)
    return (*whose, row.partition_id, row.card_model, row.unit, row.kind)


def quota_set(
    *,
    tenant: Organization | Project,
    partition: Partition,
    unit: str,
    limit: int,
    actor: Actor,
    kind: str = QuotaKind.LIMIT,
    card_model: str = "",
    user: User | None = None,
    reason: str = "",
) -> Quota:
    """Set one row's limit, in the unit's own numbers; `user` narrows it to one member.

    As `quotas_set` does it for many.

    Raises:
        Invalid: an unknown unit or kind, a limit out of range, a card model for a host unit.
    """
    line = QuotaLine(
        tenant=tenant,
        partition=partition,
        unit=unit,
        limit=limit,
        kind=kind,
        card_model=card_model,
        user=user,
    )
    quotas_set(lines=[line], actor=actor, reason=reason)
    return Quota.objects.get(**line.place)


@transaction.atomic
def quotas_set(
    *, lines: Sequence[QuotaLine], actor: Actor, reason: str = "", change: str = ""
) -> list[Quota]:
    """Set many rows together, all or none; the rows that really changed.

    Nothing that runs is stopped by a smaller limit: the ceiling covers what is held, and comes
    down with every release. A row made while work runs counts that work. The same limit again
    changes nothing. What a grant adds for a time stays on top of the limit that is set.

    Raises:
        Invalid: an unknown unit or kind, a limit out of range, a card model for a host unit.
        Stale: a row is no longer what the person read, or a round has not ended in time.
    """
    for line in lines:
        quota_line_check(line)
    there = _there(lines)
    _takers_wait([line for line in lines if line.key not in there])
    made = _made(lines, there)
    changed: list[tuple[QuotaLine, Quota]] = []
    named = change or new_uid("qx")
    for line, row in _locked(lines):
        before = None if row is None or row.pk in made else row.limit_value - row.granted
        if line.expected not in (ANY, before):
            raise Stale
        if row is not None and _changed(line, row, before):
            told = _told(line, row, before) | {"reason": reason[:200], "change": named}
            record(EventKind.QUOTA_CHANGED, row, actor=actor, project=line.project, **told)
            changed.append((line, row))
    _written(changed)
    if changed:
        round_wanted()
    return [row for _line, row in changed]


def overs(*, lines: Sequence[QuotaLine]) -> list[int]:
    """By how much each line would be below what is held there now; one query."""
    there = _there(lines)
    found = [(line, there.get(line.key)) for line in lines]
    return [
        0 if row is None or line.limit is None else over_by(line.limit + row.granted, row.held)
        for line, row in found
    ]


def _there(lines: Iterable[QuotaLine]) -> dict[Key, Quota]:
    """The rows of the lines that are there now, by their key; one query for all."""
    keys = {line.key for line in lines}
    if not keys:
        return {}
    columns = [{one for one in column if one is not None} for column in zip(*keys, strict=True)]
    names = ("organization", "project", "user", "partition", "card_model", "unit", "kind")
    inside = {f"{name}__in": found for name, found in zip(names, columns, strict=True)}
    tenants = Q(organization__in=inside.pop("organization__in"))
    tenants |= Q(project__in=inside.pop("project__in"))
    people = Q(user=None) | Q(user__in=inside.pop("user__in"))
    rows = Quota.objects.filter(tenants, people, **inside)
    return {key: row for row in rows if (key := key_of(row)) in keys}


def _made(lines: Iterable[QuotaLine], there: dict[Key, Quota]) -> set[int]:
    """The keys of the rows that were not there yet; those to be taken away are not made.

    Together, unless somebody else makes one of them at this moment: then one by one.
    """
    new: dict[Key, Quota] = {}
    for line in lines:
        if line.limit is not None and line.key not in there:
            first = {"limit_value": line.limit, "ceiling": line.limit}
            new.setdefault(line.key, Quota(**line.place, **first))
    if not new:
        return set()
    try:
        with transaction.atomic():
            return {row.pk for row in Quota.objects.bulk_create(new.values())}
    except IntegrityError:
        return _made_one_by_one(new.values())


def _made_one_by_one(rows: Iterable[Quota]) -> set[int]:
    names = ("organization", "project", "user", "partition", "card_model", "unit", "kind")
    made = set()
    for one in rows:
        place = {name: getattr(one, name) for name in names}
        first = {"limit_value": one.limit_value, "ceiling": one.ceiling}
        row, new = Quota.objects.get_or_create(**place, defaults=first)
        if new:
            made.add(row.pk)
    return made


def _locked(lines: Sequence[QuotaLine]) -> list[tuple[QuotaLine, Quota | None]]:
    """Each line with its row, locked: organizations, projects, members; by id in each."""
    pks = [row.pk for row in _there(lines).values()]
    order = (F("organization_id").asc(nulls_last=True), F("user_id").asc(nulls_first=True), "pk")
    rows = Quota.objects.filter(pk__in=pks).order_by(*order).select_for_update(of=("self",))
    held = {key_of(row): row for row in rows}
    return [(line, held.get(line.key)) for line in lines]


def _changed(line: QuotaLine, row: Quota, before: int | None) -> bool:
    """Put the line into its locked row; whether that changed anything. `_written` writes it."""
    if line.limit is None:
        return True
    lend = row.lend_limit if line.lend == ANY else line.lend
    if before is None:
        row.held = held_already(row)
    elif before == line.limit and lend == row.lend_limit:
        return False
    row.limit_value = line.limit + row.granted
    row.lend_limit = lend
    row.ceiling = ceiling_of(row.limit_value, row.held)
    row.changed_at = now()
    return True


def _written(changed: Sequence[tuple[QuotaLine, Quota]]) -> None:
    """Write the changed rows, and take away those to be taken away: two statements for all.

    Of several lines about one row the last says what becomes of it.
    """
    last = {row.pk: line.limit for line, row in changed}
    gone = {key for key, limit in last.items() if limit is None}
    kept = {row.pk: row for _line, row in changed if row.pk not in gone}
    names = ("limit_value", "lend_limit", "ceiling", "held", "changed_at")
    if gone:
        Quota.objects.filter(pk__in=gone).delete()
    if kept:
        Quota.objects.bulk_update(kept.values(), names)


def _told(line: QuotaLine, row: Quota, before: int | None) -> dict[str, Any]:
    return {
        "tenant": line.tenant.uid,
        "member": line.user.uid if line.user else "",
        "of": line.kind,
        "unit": line.unit,
        "card_model": line.card_model,
        "partition": line.partition.uid,
        "before": before,
        "after": line.limit,
        "lends": row.lend_limit,
        "held": row.held,
        "over_by": 0 if line.limit is None else over_by(row.limit_value, row.held),
    }


def quota_line_check(line: QuotaLine) -> None:
    """Pass when the line could be a row.

    Raises:
        Invalid: an unknown unit or kind, a number out of range, words that do not go together.
    """
    wrong: dict[str, str] = {}
    choose = gettext("Choose from: %(known)s.")
    if line.unit not in set(QuotaUnit):
        wrong["unit"] = choose % {"known": ", ".join(QuotaUnit)}
    elif line.card_model and (line.unit not in OF_CARDS or len(line.card_model) > 80):
        wrong["card_model"] = gettext("This unit does not count such cards.")
    if line.kind not in set(QuotaKind):
        wrong["kind"] = choose % {"known": ", ".join(QuotaKind)}
    for name, value in (("limit", line.limit), ("lend", None if line.lend == ANY else line.lend)):
        if value is not None and not _number(value):
            said = gettext("A whole number from %(least)s to %(most)s is needed.")
            wrong[name] = said % {"least": 0, "most": MOST}
    if line.lend not in (ANY, None) and line.kind != QuotaKind.ENTITLEMENT:
        wrong["lend"] = gettext("Only what is guaranteed can be lent.")
    wrong |= _misplaced(line)
    if wrong:
        raise Invalid(**wrong)


def _number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST


def _misplaced(line: QuotaLine) -> dict[str, str]:
    of_organization = isinstance(line.tenant, Organization)
    if line.kind == QuotaKind.ALLOWANCE and (line.user is not None or of_organization):
        return {"kind": gettext("An allowance is a project's.")}
    if line.user is not None and of_organization:
        return {"user": gettext("A member's limit is within a project.")}
    if line.unit == QuotaUnit.CARDS_EACH and line.kind != QuotaKind.LIMIT:
        return {"kind": gettext("What one workload may have is a limit.")}
    if line.unit == QuotaUnit.CARD_SECONDS and line.kind != QuotaKind.LIMIT:
        return {"kind": gettext("Card-hours of a month are a limit.")}
    return {}


def _takers_wait(new: Sequence[QuotaLine]) -> None:
    """Whoever could take from a row that is about to be made waits, so that none misses it.

    Entitlement is taken under the organization's row, a start under the round's lock.
    """
    keys = {
        line.project.organization_id if line.project else line.tenant.pk
        for line in new
        if line.kind == QuotaKind.ENTITLEMENT
    }
    for key in sorted(keys):
        entitlements_one_at_a_time(organization_id=key)
    if any(line.kind != QuotaKind.ENTITLEMENT for line in new):
        _between_rounds()


def _between_rounds() -> None:
    """Keep rounds out until the transaction ends; a click waits for one that is being made.

    Raises:
        Stale: it has not ended in time.
    """
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT current_setting('lock_timeout')")
            before = cursor.fetchone()[0]
            cursor.execute("SELECT set_config('lock_timeout', %s, true)", [f"{PATIENCE_MS}ms"])
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [ROUND])
            cursor.execute("SELECT set_config('lock_timeout', %s, true)", [before])
    except OperationalError as late:
        raise Stale from late
