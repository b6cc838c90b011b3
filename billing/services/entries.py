"""Writing the ledger: entries with their postings, in one statement each."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from django.db import connection

from billing.models.months import Month
from billing.rating.days import month_of, next_month
from billing.rating.lines import Posted
from billing.rating.months import MonthState
from pool.models.ids import new_uid

_IDS = "SELECT nextval(pg_get_serial_sequence('billing_entry', 'id')) FROM generate_series(1, %s)"
_ENTRY = (
    "COPY billing_entry (id, uid, kind, scope, hour, currency, reason, actor_label, posted_at) "
    "FROM STDIN"
)
_POSTING = (
    "COPY billing_posting (entry_id, account, usage_id, organization_id, project_id, day, month, "
    "amount_micro, card_us) FROM STDIN"
)


@dataclass(frozen=True, slots=True)
class Draft:
    """An entry to be; its postings sum to zero or the database refuses it."""

    scope: str
    hour: datetime
    currency: str
    lines: Sequence[Posted]
    kind: str = "metered"
    reason: str = ""
    actor_label: str = ""


@dataclass(slots=True)
class Bills:
    """Which months are closed: what arises in one of them goes on the first open bill after it."""

    closed: frozenset[tuple[int, date]]
    _known: dict[tuple[int | None, date], date] = field(default_factory=dict)

    @classmethod
    def now(cls) -> "Bills":
        """As it stands, in one query."""
        rows = Month.objects.filter(state=MonthState.CLOSED)
        return cls(frozenset(rows.values_list("organization_id", "first")))

    def bill(self, organization: int | None, day: date) -> date:
        """The first day of the month whose bill takes it."""
        key = (organization, day)
        found = self._known.get(key)
        if found is None:
            found = month_of(day)
            while organization is not None and (organization, found) in self.closed:
                found = next_month(found)
            self._known[key] = found
        return found


def entries_write(drafts: Sequence[Draft], *, bills: Bills, now: datetime) -> int:
    """Write them all; how many postings. Call it inside a transaction that holds the meter's lock.

    Raises:
        IntegrityError: an entry does not sum to zero.
    """
    if not drafts:
        return 0
    count = 0
    with connection.cursor() as cursor:
        cursor.execute(_IDS, [len(drafts)])
        ids = [row[0] for row in cursor.fetchall()]
        with cursor.copy(_ENTRY) as copy:
            for pk, one in zip(ids, drafts, strict=True):
                words = (one.kind, one.scope, one.hour, one.currency, one.reason, one.actor_label)
                copy.write_row((pk, new_uid("le"), *words, now))
        with cursor.copy(_POSTING) as copy:
            for pk, one in zip(ids, drafts, strict=True):
                for line in one.lines:
                    whose = line.whose
                    bill = bills.bill(whose.organization, line.day)
                    copy.write_row(
                        (
                            *(pk, str(line.account), line.usage),
                            *(whose.organization, whose.project, line.day, bill),
                            *(line.micro, line.card_us),
                        )
                    )
                    count += 1
    return count
