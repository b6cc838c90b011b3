"""What-ifs as people make them: ask, share, copy, cancel, delete."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from pool.clock import now
from pool.errors import Invalid, NotYours
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.studies import STUDY, Share, StudyKind, StudyState, TraceSource
from pool.models.tenants import Organization
from pool.models.users import User
from pool.models.whatif.studies import Study
from pool.models.whatif.traces import Trace
from pool.rules.whatif.changes import Known, changes_from
from pool.selectors.whatif.studies import HEAVY, LEAST_DAYS, days_recorded
from pool.services.moves import locked, move
from pool.services.refusals import refusing
from pool.wake import Wake, wake

MOST_WAITING = 10
"""So many of one person's what-ifs wait or run at a time."""

MOST_MODELS = 6
"""So many models are searched by one what-if at the most, one after the other."""

LEAST_TARGET_S, MOST_TARGET_S = 60, 30 * 86_400


@transaction.atomic
def study_create(
    *,
    name: str,
    trace: Trace,
    changes: Mapping[str, Any],
    known: Known,
    user: User,
    organization: Organization | None,
    actor: Actor,
    kind: str = StudyKind.SCENARIO,
    target_s: int | None = None,
    comment: str = "",
) -> Study:
    """Ask for a replay with these changes beside one without; the worker takes it up in its turn.

    For the kind *cards* the scenario names the partitions and models whose number is looked for,
    and `target_s` the 95 % wait to keep.

    Raises:
        Invalid: something of it is wrong, or too many of the person's wait already.
        NotYours: the record was deleted meanwhile.
    """
    wrong = _words(name, comment)
    with refusing():
        judged = changes_from(changes, known)
    if kind == StudyKind.CARDS:
        wrong |= _search(judged, target_s)
    elif target_s is not None:
        wrong["target_s"] = _("Only a search for cards has a target.")
    elif not judged:
        wrong["changes"] = _("Change something: without a change nothing would be compared.")
    if kind == StudyKind.CARDS and (told := _too_few_days(trace)):
        wrong["record"] = told
    if wrong:
        raise Invalid(**wrong)
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    live = Study.objects.filter(owner=user, state__in=sorted(STUDY.live)).count()
    if live >= MOST_WAITING:
        told = _("%(n)s of your what-ifs wait or run: let one end first.") % {"n": live}
        raise Invalid(name=told)
    if not Trace.objects.filter(pk=trace.pk).select_for_update(no_key=True).values_list("pk"):
        raise NotYours
    row = Study.objects.create(
        name=name.strip(),
        comment=comment.strip(),
        kind=kind,
        trace=trace,
        owner=user,
        organization=organization,
        changes=judged,
        target_s=target_s,
    )
    record(EventKind.STUDY_CREATED, row, actor=actor, name=row.name, asked=str(kind))
    wake(Wake.STUDIES)
    return row


@transaction.atomic
def study_cancel(*, study: Study, actor: Actor) -> Study:
    """Let it be: a running one is left at its worker's next word. Twice changes nothing.

    Raises:
        IllegalMove: it is over already.
    """
    row = study_locked(study)
    if row.state != StudyState.CANCELLED:
        move(row, StudyState.CANCELLED, actor=actor, changes={"ended_at": now()})
    return row


@transaction.atomic
def study_change(
    *,
    study: Study,
    actor: Actor,
    name: str | None = None,
    comment: str | None = None,
    share: str | None = None,
) -> Study:
    """Another name, comment, or circle of readers.

    Raises:
        Invalid: the name or comment is not possible, or it belongs to no organization to share in.
    """
    row = study_locked(study)
    said = {"name": name, "comment": comment, "share": share}
    changed = {key: value.strip() for key, value in said.items() if value is not None}
    wrong = _words(changed.get("name", row.name), changed.get("comment", row.comment))
    if share is not None and share not in set(Share):
        wrong["share"] = _("Choose from: %(known)s.") % {"known": ", ".join(Share)}
    if share == Share.ORGANIZATION and row.organization_id is None:
        wrong["share"] = _("It belongs to no organization: share it with the platform.")
    if wrong:
        raise Invalid(**wrong)
    for key, value in changed.items():
        setattr(row, key, value)
    row.save(update_fields=[*changed])
    record(EventKind.STUDY_CHANGED, row, actor=actor, changed=sorted(changed), share=row.share)
    return row


@transaction.atomic
def study_delete(*, study: Study, actor: Actor) -> None:
    """It is gone, with its figures; a period of the books that nobody else replays goes too.

    Raises:
        Invalid: it waits or runs; cancel it first.
    """
    row = Study.objects.select_for_update().defer(*HEAVY).filter(pk=study.pk).first()
    if row is None:
        return
    if row.state in STUDY.live:
        raise Invalid(state=_("It waits or runs: cancel it first."))
    record(EventKind.STUDY_DELETED, row, actor=actor, name=row.name, digest=row.digest)
    trace = Trace.objects.select_for_update().only("source").get(pk=row.trace_id)
    row.delete()
    if trace.source == "books" and not trace.studies.exists():
        trace.delete()


def study_locked(study: Study) -> Study:
    """The what-if as it is now, locked.

    Raises:
        NotYours: it does not exist any more.
    """
    found = locked(Study.objects.filter(pk=study.pk).defer(*HEAVY))
    if not found:
        raise NotYours
    return found[0]


def _words(name: str, comment: str) -> dict[str, str]:
    wrong = {}
    if not 0 < len(name.strip()) <= 80 or not name.isprintable():
        wrong["name"] = _("A name of 1 to %(most)s characters is needed.") % {"most": 80}
    if len(comment) > 400 or not comment.replace("\n", "").replace("\r", "").isprintable():
        wrong["comment"] = _("At most %(most)s printable characters.") % {"most": 400}
    return wrong


def _too_few_days(trace: Trace) -> str:
    """What is said where fewer than seven days of the books would carry a number of cards."""
    if trace.source != TraceSource.BOOKS or trace.since is None or trace.until is None:
        return ""
    days = days_recorded(since=trace.since, until=trace.until)
    if days >= LEAST_DAYS:
        return ""
    return _("Not enough data: %(n)s of %(all)s days.") % {"n": days, "all": LEAST_DAYS}


def _search(judged: Mapping[str, Any], target_s: int | None) -> dict[str, str]:
    wrong = {}
    rows = judged.get("cards", ())
    named = {(row["partition"], row["model"]) for row in rows}
    if not 0 < len(rows) == len(named) <= MOST_MODELS:
        text = _(
            "Name one to %(most)s partitions and models whose number is looked for, each once."
        )
        wrong["cards"] = text % {"most": MOST_MODELS}
    if target_s is None or not LEAST_TARGET_S <= target_s <= MOST_TARGET_S:
        wrong["target_s"] = _("A wait from one minute to thirty days is needed.")
    return wrong
