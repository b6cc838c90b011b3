"""Changing rules of idleness: set whole, with a reason, or taken away."""

from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext

from pool.errors import Invalid, NotYours
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.idleness import KEEPS, WARN_MINUTES, IdleAction
from pool.models.notebooks.notebooks import IdleRule
from pool.rules.idling.words import rule_problems
from pool.services.refusals import refuse

SCOPES = ("project", "template", "partition")
WORDS = {
    "idle_seconds": None,
    "warn_minutes": list(WARN_MINUTES),
    "keeps": KEEPS,
    "action": str(IdleAction.RECLAIM),
    "busy_counts": True,
    "cpu_counts": True,
    "quiet_from": None,
    "quiet_until": None,
}
"""Every word of a rule, and what holds where it is not said."""


@transaction.atomic
def idle_rule_set(
    *, rule: IdleRule | None, actor: Actor, reason: str = "", **words: Any
) -> IdleRule:
    """A new rule (None) with its scope, or other words for one; what is left out stays.

    It is read anew under a lock: of two who change it at once none loses a word.

    Raises:
        NotYours: it was taken away meanwhile.
        Invalid: a word is wrong, or there is a rule for that scope already.
    """
    row = _locked(rule) if rule else IdleRule(**{name: words.get(name) for name in SCOPES})
    before = told(row) if rule else {}
    given = {name: words[name] for name in WORDS if name in words}
    for name, usual in WORDS.items():
        setattr(row, name, given.get(name, getattr(row, name) if rule else usual))
    if rule is None and "warn_minutes" not in given and isinstance(row.idle_seconds, int):
        row.warn_minutes = [one for one in WARN_MINUTES if one * 60 < row.idle_seconds]
    refuse(rule_problems({name: getattr(row, name) for name in WORDS}))
    row.warn_minutes = sorted(set(row.warn_minutes), reverse=True)
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError as twice:
        raise Invalid(project=gettext("There is a rule for exactly these already.")) from twice
    if told(row) != before:
        record(
            EventKind.IDLE_RULE_CHANGED,
            row,
            actor=actor,
            project=row.project,
            reason=reason[:200],
            before=before,
            **told(row),
        )
    return row


@transaction.atomic
def idle_rule_remove(*, rule: IdleRule, actor: Actor, reason: str = "") -> None:
    """Take it away: the next wider rule holds from the next look on.

    Raises:
        NotYours: it was taken away already.
    """
    rule = _locked(rule)
    record(
        EventKind.IDLE_RULE_CHANGED,
        rule,
        actor=actor,
        project=rule.project,
        reason=reason[:200],
        before=told(rule),
        removed=True,
    )
    rule.delete()


def _locked(rule: IdleRule) -> IdleRule:
    rows = IdleRule.objects.select_for_update(of=("self",)).select_related(*SCOPES)
    found = rows.filter(pk=rule.pk).first()
    if found is None:
        raise NotYours
    return found


def told(row: IdleRule) -> dict[str, Any]:
    """The rule as events tell it."""
    scope = {name: getattr(getattr(row, name), "slug", "") for name in SCOPES}
    return {"scope": scope, **{name: getattr(row, name) for name in WORDS}}
