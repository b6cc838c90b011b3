"""Recorded work to replay: a period of the books, or a file that somebody gave."""

from datetime import datetime, timedelta

from django.db import transaction
from django.utils.translation import gettext as _

from pool.clock import now
from pool.errors import Invalid, Stale
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.studies import TraceSource
from pool.models.tenants import Organization
from pool.models.users import User
from pool.models.whatif.studies import Study
from pool.models.whatif.traces import Trace
from pool.rules.whatif.files import SHAPES, read_file
from pool.rules.whatif.lines import Read
from pool.services.refusals import said
from pool.services.whatif.packing import packed, seal

LONGEST = timedelta(days=92)
SHORTEST = timedelta(hours=1)
MOST_FILES = 100
"""So many files one person keeps, and so many periods that no what-if replays; an old one must go
before another comes.
"""

MOST_NAME = 80


@transaction.atomic
def trace_of_books(
    *,
    since: datetime,
    until: datetime,
    user: User,
    organization: Organization | None,
    actor: Actor,
) -> Trace:
    """A period of this installation's own work. It is read when the first what-if runs.

    Raises:
        Invalid: the period is not over, ends before it begins, or is shorter than an hour or
            longer than 92 days; or the person keeps too many that nothing replays.
    """
    if not since < until:
        raise Invalid(until=_("The period ends after it begins."))
    if until > now():
        raise Invalid(until=_("The period is over: its end does not lie ahead."))
    if not SHORTEST <= until - since <= LONGEST:
        raise Invalid(until=_("A period is an hour at least and 92 days at most."))
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    kept = Trace.objects.filter(owner=user, source=TraceSource.BOOKS, studies=None)
    if kept.count() >= MOST_FILES:
        told = _("You keep %(most)s periods that nothing replays: delete one first.")
        raise Invalid(since=told % {"most": MOST_FILES})
    row = Trace.objects.create(
        name=f"{since:%Y-%m-%d} – {until:%Y-%m-%d}",
        source=TraceSource.BOOKS,
        since=since,
        until=until,
        owner=user,
        organization=organization,
    )
    record(EventKind.TRACE_CREATED, row, actor=actor, source=row.source)
    return row


def file_read(*, text: str, shape: str) -> Read:
    """What a file holds, line by line; nothing is kept.

    Raises:
        Invalid: the shape is not known, or lines are wrong: the first twenty are told by number.
    """
    if shape not in SHAPES:
        raise Invalid(shape=_("Choose from: %(known)s.") % {"known": ", ".join(SHAPES)})
    found = read_file(text, shape)
    if found.wrong_count:
        told = [
            _("Line %(n)s: %(problem)s") % {"n": line, "problem": said(problem)}
            for line, problem in found.wrong
        ]
        more = found.wrong_count - len(told)
        if more:
            told.append(_("… and %(n)s more lines.") % {"n": more})
        raise Invalid(file=told)
    return found


@transaction.atomic
def trace_of_file(
    *,
    name: str,
    text: str,
    shape: str,
    user: User,
    organization: Organization | None,
    actor: Actor,
) -> Trace:
    """Keep what a file tells. Every line is a job, or counted in `left_out` by its reason.

    Raises:
        Invalid: a line cannot be read, the file is too large, the name is missing or too long, or
            the person keeps too many.
    """
    title = name.strip()
    if not title or len(title) > MOST_NAME or not title.isprintable():
        raise Invalid(name=_("A name of 1 to %(most)s characters is needed.") % {"most": MOST_NAME})
    found = file_read(text=text, shape=shape)
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if Trace.objects.filter(owner=user, source=TraceSource.FILE).count() >= MOST_FILES:
        told = _("You keep %(most)s files already: delete one first.") % {"most": MOST_FILES}
        raise Invalid(file=told)
    row = Trace.objects.create(
        name=title,
        source=TraceSource.FILE,
        shape=shape,
        owner=user,
        organization=organization,
        lines=packed(found.lines),
        jobs=len(found.lines),
        teams=sorted({line.team for line in found.lines}),
        left_out=dict(sorted(found.left_out.items())),
        digest=seal(found.lines),
    )
    record(
        EventKind.TRACE_CREATED,
        row,
        actor=actor,
        source=row.source,
        jobs=row.jobs,
        digest=row.digest,
    )
    return row


@transaction.atomic
def trace_delete(*, trace: Trace, actor: Actor) -> None:
    """It is gone with its content. Twice is once.

    Raises:
        Stale: a what-if still replays it.
    """
    row = Trace.objects.select_for_update(of=("self",)).filter(pk=trace.pk).first()
    if row is None:
        return
    if Study.objects.filter(trace=row).exists():
        raise Stale(studies=Study.objects.filter(trace=row).count())
    record(EventKind.TRACE_DELETED, row, actor=actor, name=row.name, digest=row.digest)
    row.delete()
