"""Partitions: made and changed; no card can be in two."""

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from pool.errors import Invalid, NotYours
from pool.events import Actor, record
from pool.lifecycle.cards import CardState
from pool.lifecycle.events import EventKind
from pool.models.cards import Card
from pool.models.partitions import Partition
from pool.models.placements import Hold
from pool.models.policies import PolicyVersion
from pool.models.tenants import Organization, TrustGroup
from pool.models.users import User
from pool.rules.ceilings import ceilings_from
from pool.rules.partitions import (
    FOREIGN_WORK,
    POLICIES,
    Traits,
    disjoint,
    matches,
    modes_from,
    selector_from,
)
from pool.rules.policies import class_policies_from, difference, reason_problem
from pool.rules.tenants import slug_problem, title_problem
from pool.selectors.calendar.policies import values_of
from pool.services.calendar.history import partition_keep
from pool.services.hardware.foreign import foreign_judged
from pool.services.moves import locked
from pool.services.refusals import refuse, refusing
from pool.wake import round_wanted

SWITCHES = ("preemption", "sharing", "lending", "open_to_all")
NUMBERS = {"tolerance_points": 100, "give_back_seconds": 86_400, "rank": 30_000}
ROWS = {"organizations": Organization, "trust_groups": TrustGroup}
"""Words that name rows."""

WORDS = frozenset(
    {
        *("name", "selector", "modes", "policy", "class_policies", "ceilings", "foreign_work"),
        *(*ROWS, *SWITCHES, *NUMBERS),
    }
)
"""What may be said of a partition, besides its slug, which stays."""


@transaction.atomic
def partition_create(
    *, slug: str, name: str, selector: Any, modes: Any, actor: Actor, **words: Any
) -> Partition:
    """A new partition; the cards that its selector takes and that are in none come into it.

    Raises:
        Invalid: a field is wrong, the slug is taken, or another selector could take the same card.
    """
    refuse({"slug": slug_problem(slug)})
    if Partition.objects.filter(slug=slug).exists():
        raise Invalid(slug=gettext("%(slug)s is taken.") % {"slug": slug})
    example = bool(words.pop("example", False))
    values = _values({"name": name, "selector": selector, "modes": modes, **words})
    named = {word: values.pop(word) for word in ROWS if word in values}
    _no_overlap(values["selector"], except_pk=0)
    row = Partition.objects.create(slug=slug, example=example, **values)
    for word, rows in named.items():
        getattr(row, word).set(rows)
    _gather(row)
    partition_keep(partition=row, actor=actor, reason="")
    record(EventKind.PARTITION_CHANGED, row, actor=actor, slug=slug, changed=["created"])
    round_wanted()
    return row


@transaction.atomic
def partition_change(
    *,
    partition: Partition,
    actor: Actor,
    reason: str = "",
    user: User | None = None,
    reverts: PolicyVersion | None = None,
    **words: Any,
) -> Partition:
    """Change switches, modes, access or the selector; the same again changes nothing.

    What it was and why it changed is kept as a version.

    Raises:
        NotYours: it does not exist any more.
        Invalid: a field is wrong, the new selector overlaps another, or it would move held cards.
    """
    found = locked(Partition.objects.filter(pk=partition.pk))
    if not found:
        raise NotYours
    row = found[0]
    values = _values(words)
    refuse({"reason": reason_problem(reason) if reason else None})
    before = values_of(row)
    named = {word: values.pop(word) for word in ROWS if word in values}
    changed = {name: value for name, value in values.items() if getattr(row, name) != value}
    if "selector" in changed:
        _no_overlap(changed["selector"], except_pk=row.pk)
    for name, value in changed.items():
        setattr(row, name, value)
    row.save()
    for word, rows in named.items():
        getattr(row, word).set(rows)
    if "selector" in changed:
        _gather(row)
    if "foreign_work" in changed:
        foreign_judged(partition=row, actor=actor)
    told = difference(before, values_of(row))
    if told:
        partition_keep(
            partition=row, actor=actor, reason=reason, before=before, user=user, reverts=reverts
        )
        record(
            EventKind.PARTITION_CHANGED,
            row,
            actor=actor,
            slug=row.slug,
            changed=sorted(told),
            values={name: list(pair) for name, pair in told.items()},
            reason=reason,
        )
        round_wanted()
    return row


@transaction.atomic
def partition_revert(
    *, version: PolicyVersion, actor: Actor, reason: str, user: User | None = None
) -> Partition:
    """Take the values of an earlier version of a partition again, as a new version.

    Raises:
        Invalid: no reason, or what it named is gone or can no longer be.
    """
    refuse({"reason": reason_problem(reason)})
    values = dict(version.values)
    values["organizations"] = _still_there(Organization, "slug", values.get("organizations", []))
    values["trust_groups"] = _still_there(TrustGroup, "name", values.get("trust_groups", []))
    assert version.partition is not None, "a version of the numbers is no partition's"
    return partition_change(
        partition=version.partition,
        actor=actor,
        reason=reason,
        user=user,
        reverts=version,
        **{name: value for name, value in values.items() if name in WORDS},
    )


def _still_there(rows: type[Organization] | type[TrustGroup], name: str, said: Any) -> list[Any]:
    return list(rows._default_manager.filter(**{f"{name}__in": said}))


def _values(words: dict[str, Any]) -> dict[str, Any]:
    """The words as columns take them."""
    strange = set(words) - WORDS
    if strange:
        said = gettext("This is not a part of a partition.")
        raise Invalid(**dict.fromkeys(sorted(strange), said))
    values = dict(words)
    with refusing():
        if "selector" in values:
            values["selector"] = {k: list(v) for k, v in selector_from(values["selector"]).items()}
        if "modes" in values:
            values["modes"] = list(modes_from(values["modes"]))
        if "ceilings" in values:
            values["ceilings"] = ceilings_from(values["ceilings"])
        if "class_policies" in values:
            values["class_policies"] = class_policies_from(values["class_policies"])
    refuse({"name": title_problem(values["name"]) if "name" in values else None})
    wrong = {name: said for name, value in values.items() if (said := _wrong(name, value))}
    if wrong:
        raise Invalid(**wrong)
    return values


def _wrong(name: str, value: Any) -> str:
    """What is wrong with a switch, a number, the policy or the doors; empty when nothing is."""
    if name in SWITCHES and not isinstance(value, bool):
        return gettext("Yes or no is meant here.")
    if name in NUMBERS and not _number(value, NUMBERS[name]):
        said = gettext("A whole number from %(least)s to %(most)s is needed.")
        return said % {"least": 0, "most": NUMBERS[name]}
    if name == "policy" and value not in POLICIES:
        return gettext("Choose from: %(known)s.") % {"known": ", ".join(POLICIES)}
    if name == "foreign_work" and value not in FOREIGN_WORK:
        return gettext("Choose from: %(known)s.") % {"known": ", ".join(FOREIGN_WORK)}
    if name in ROWS and not all(isinstance(one, ROWS[name]) for one in value):
        return gettext("There is no such organization or trust group.")
    return ""


def _number(value: Any, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


def _no_overlap(selector: dict[str, Any], *, except_pk: int) -> None:
    others: Iterable[Partition] = locked(Partition.objects.exclude(pk=except_pk))
    for other in others:
        if not disjoint(selector, other.selector):
            said = gettext("Partition %(name)s could take the same card.") % {"name": other.name}
            raise Invalid(selector=said)


def _gather(row: Partition) -> None:
    """Bring the cards in line with the selector: those it takes come in, the others leave."""
    cards = Card.objects.select_related("node").exclude(state=CardState.RETIRED)
    for card in locked(cards.filter(partition=row) | cards.filter(partition=None)):
        traits = Traits(vendor=card.vendor, label=card.label, node=card.node.name, card=card.uuid)
        belongs = matches(row.selector, traits)
        if belongs == (card.partition_id == row.pk):
            continue
        if Hold.objects.filter(card=card, held__upper_inf=True).exists():
            raise Invalid(selector=gettext("A card that is in use would change its partition."))
        card.partition = row if belongs else None
        card.save(update_fields=["partition"])
