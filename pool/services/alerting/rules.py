"""Alert rules: made, changed, removed; the built-in ones are there in every pool."""

from typing import Any

from django.db import IntegrityError, transaction

from pool.errors import Invalid
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.models.alerting.rules import AlertRule
from pool.rules.alerting.builtin import BUILT_IN, BuiltIn
from pool.rules.alerting.metrics import Asked, problems
from pool.rules.alerting.terms import Family, Severity, Side
from pool.rules.problems import Problem
from pool.rules.problems import marked as _
from pool.rules.tenants import slug_problem, title_problem
from pool.services.moves import locked
from pool.services.refusals import refuse

LONGEST_FOR_S = 7 * 86_400
FIELDS = (
    *("name", "family", "severity", "metric", "scope", "aggregate", "window_seconds", "side"),
    *("threshold", "clear_threshold", "for_seconds", "clear_seconds", "held_only", "enabled"),
)


def rules_there() -> int:
    """Make the built-in rules that are missing; how many were. Safe to repeat, or beside itself."""
    known = set(AlertRule.objects.filter(built_in=True).values_list("slug", flat=True))
    missing = [one for one in BUILT_IN if one.slug not in known]
    if missing:
        AlertRule.objects.bulk_create([_row(one) for one in missing], ignore_conflicts=True)
    return len(missing)


@transaction.atomic
def rule_make(*, slug: str, actor: Actor, **given: Any) -> AlertRule:
    """A new rule; it looks for the first time within seconds.

    Raises:
        Invalid: the name is taken, or a value does not fit the metric.
    """
    row = AlertRule(slug=slug, **given)
    refuse(rule_problems(row) | {"slug": slug_problem(slug)})
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError as taken:
        raise Invalid(slug=_("This name is taken.")) from taken
    record(EventKind.ALERT_RULE_CHANGED, row, actor=actor, after=_words(row))
    return row


@transaction.atomic
def rule_change(*, rule: AlertRule, actor: Actor, **given: Any) -> AlertRule:
    """Other values for a rule; its open alerts are judged by them at the next look.

    Raises:
        Invalid: a value does not fit the metric.
    """
    (row,) = locked(AlertRule.objects.filter(pk=rule.pk))
    before = _words(row)
    for name, value in given.items():
        setattr(row, name, value)
    refuse(rule_problems(row))
    row.looked_at = None
    row.save()
    after = _words(row)
    changed = {name: value for name, value in after.items() if before[name] != value}
    if changed:
        was = {name: before[name] for name in changed}
        record(EventKind.ALERT_RULE_CHANGED, row, actor=actor, before=was, after=changed)
    return row


def rule_reset(*, rule: AlertRule, actor: Actor) -> AlertRule:
    """A built-in rule as it came.

    Raises:
        Invalid: it is no built-in one.
    """
    one = next((b for b in BUILT_IN if b.slug == rule.slug and rule.built_in), None)
    if one is None:
        raise Invalid(rule=_("Only built-in rules can be reset."))
    fresh = _row(one)
    return rule_change(rule=rule, actor=actor, **{name: getattr(fresh, name) for name in FIELDS})


@transaction.atomic
def rule_remove(*, rule: AlertRule, actor: Actor) -> None:
    """The rule is gone; its open alerts end at the next look.

    Raises:
        Invalid: it is a built-in one; switch it off instead.
    """
    if rule.built_in:
        raise Invalid(rule=_("A built-in rule cannot be removed. Switch it off instead."))
    record(EventKind.ALERT_RULE_CHANGED, rule, actor=actor, before=_words(rule), removed=True)
    AlertRule.objects.filter(pk=rule.pk).delete()


def _row(one: BuiltIn) -> AlertRule:
    return AlertRule(
        slug=one.slug,
        name=one.name,
        family=one.family,
        severity=one.severity,
        metric=one.metric,
        scope=one.scope,
        aggregate=one.aggregate,
        window_seconds=one.window_s,
        side=one.side,
        threshold=one.threshold,
        clear_threshold=one.clear,
        for_seconds=one.for_s,
        clear_seconds=one.clear_s,
        held_only=one.held_only,
        enabled=one.enabled,
        built_in=True,
    )


def rule_problems(row: AlertRule) -> dict[str, Problem | None]:
    """What is wrong with its values, by field."""
    found: dict[str, Problem | None] = {"name": title_problem(row.name)}
    for field, known in (("family", Family), ("severity", Severity), ("side", Side)):
        if getattr(row, field) not in set(known):
            words = {"known": ", ".join(known)}
            found[field] = Problem(_("Choose from: %(known)s."), words)
    for field in ("for_seconds", "clear_seconds"):
        if not 0 <= getattr(row, field) <= LONGEST_FOR_S:
            found[field] = Problem(_("At most %(most)s seconds."), {"most": LONGEST_FOR_S})
    asked = Asked(
        metric=row.metric,
        scope=row.scope,
        aggregate=row.aggregate,
        window_s=row.window_seconds,
        side=row.side,
        threshold=row.threshold,
        clear=row.clear_threshold,
    )
    return found | problems(asked)


def _words(row: AlertRule) -> dict[str, Any]:
    return {name: getattr(row, name) for name in FIELDS}
