"""What people decided in the month: requests and their answers, cards taken out and put back."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from random import Random
from typing import Any

from nodeagent.protocol.report import CardError, CardHealth
from nodeagent.protocol.vocabulary import Vendor
from pool.clock import now
from pool.errors import Impossible, QuotaExceeded
from pool.events import SYSTEM, Actor
from pool.lifecycle.requests import RequestState
from pool.lifecycle.roles import Role
from pool.models import Alert, Card, Project, Request, TemplateVersion, User
from pool.replay.mixed import Break
from pool.services.cards import card_uncordon, cards_health
from pool.services.decisions import request_approve, request_reject, request_return
from pool.services.leases import leases_ended_due, leases_ending_due
from pool.services.requests import request_submit
from portal.demo.books import moment
from portal.demo.plan import DemoPlan, at
from portal.demo.town import Town

FAULTS = {
    Vendor.NVIDIA: (
        (79, "the card has fallen off the bus"),
        (48, "a double-bit memory error"),
        (119, "the card's own processor does not answer"),
    ),
    Vendor.AMD: ((0, "the driver lost the card"),),
    Vendor.ASCEND: ((0, "the card's heartbeat is lost"),),
}
"""How a card says that it needs a reset, with the vendor's number; in turn, card by card."""

REQUESTS_A_DAY = 1.5
DAY_S = 86_400

ASKED = (
    ("vision", "train-whole-card", "a100", "One more seed of the detector", "train"),
    ("vision", "finetune-20g-30", "a100", "Try the new backbone", "fine-tune"),
    ("speech", "train-whole-card", "a100", "Accent study for the spring release", "train"),
    ("language", "train-four-linked", "h100", "Preference tuning before the board meeting", "dpo"),
    ("language", "finetune-heavy", "a100", "Customer pilot in German", "sft"),
    ("recsys", "train-four-linked", "h100", "Ranker with the holiday catalogue", "ranker"),
    ("robotics", "train-whole-card", "graphics", "Gripper policy, second arm", "policy"),
    ("biology", "train-amd", "amd", "Fold the new family", "fold"),
    ("render", "finetune-20g-30", "graphics", "Style of the autumn campaign", "style"),
)
NO = (
    "The team holds more than it uses; please give one back first.",
    "Please use a slice: the last three runs needed 11 GB at most.",
)
BACK = "How long will it really take? The last one ended after a third of the time."

Step = tuple[datetime, Callable[[], None]]


def papers_written(*, plan: DemoPlan, town: Town, breaks: Sequence[Break]) -> int:
    """Do what people did, in the order of time, each at its own moment; how many steps."""
    steps = sorted([*_cards(breaks), *_requests(plan, town)], key=_when)
    for when, act in steps:
        at(when)
        leases_ending_due(actor=SYSTEM)
        leases_ended_due(actor=SYSTEM)
        act()
    at(plan.until)
    leases_ending_due(actor=SYSTEM)
    leases_ended_due(actor=SYSTEM)
    return len(steps)


def _when(step: Step) -> datetime:
    return step[0]


def _cards(breaks: Sequence[Break]) -> Iterator[Step]:
    """A card says that it is broken, which takes it out; somebody puts it back when it is well."""
    for number, one in enumerate(breaks):
        card = Card.objects.select_related("node").get(pk=one.card)
        yield moment(one.from_s), partial(_out, card, number)
        yield moment(one.until_s), partial(_in, card)


def _out(card: Card, number: int) -> None:
    """As its node's report would; the alert is as old as the fault."""
    known = FAULTS.get(Vendor(card.vendor), FAULTS[Vendor.AMD])
    xid, words = known[number % len(known)]
    error = CardError(seq=card.errors_seen + 1, number=xid, asks="reset", words=words)
    ill = CardHealth(
        uuid=card.uuid,
        health="reset_needed",
        reason=words,
        xids=(xid,) if xid else (),
        errors=(error,),
    )
    cards_health(node=card.node, told=[ill], actor=SYSTEM)
    at_once = {"first_seen_at": now(), "fired_at": now(), "last_seen_at": now(), "told_at": now()}
    Alert.objects.filter(key=f"card:{card.uid}", state="firing").update(**at_once)


def _in(card: Card) -> None:
    card_uncordon(card=card, actor=SYSTEM, reason="repaired, tested for an hour")
    over = Alert.objects.filter(key=f"card:{card.uid}", state="resolved", over_told_at=None)
    over.update(over_told_at=now())


def _requests(plan: DemoPlan, town: Town) -> Iterator[Step]:
    chance = Random(f"{plan.seed}:requests")  # noqa: S311 - a story, no secret
    here = [one for one in ASKED if town.cards.get(one[2])]
    count = max(len(here), round(plan.days * REQUESTS_A_DAY))
    span = (plan.until - plan.since).total_seconds()
    for number in range(count):
        late = number >= count - 3
        share = 0.97 + 0.01 * (number - count + 3) if late else chance.uniform(0.01, 0.95)
        words = here[number % len(here)]
        drawn = (chance.random(), chance.randrange(1000), chance.randrange(1, 5))
        after = timedelta(hours=chance.uniform(0.3, 20))
        when = plan.since + timedelta(seconds=span * share)
        asked = Asked(drawn[0])
        yield when, partial(_ask, asked, words, drawn, town)
        if not late:
            yield min(when + after, plan.until), partial(_answer, asked)


@dataclass(slots=True)
class Asked:
    """One request on its way to its answer; none where no limit could bear it any more."""

    luck: float
    row: Request | None = None
    lead: User | None = None


def _ask(
    asked: Asked,
    words: tuple[str, str, str, str, str],
    drawn: tuple[float, int, int],
    town: Town,
) -> None:
    """One request; what no limit can bear any more is not asked for."""
    slug, template, partition, purpose, title = words
    _luck, who, days = drawn
    project, people = town.projects[slug], town.people[slug]
    version = TemplateVersion.objects.filter(template__slug=template).order_by("-number")[0]
    lead = _lead(project)
    asking = [one for one in people if one != lead]
    user = asking[who % len(asking)]
    try:
        asked.row = request_submit(
            user=user,
            project=project,
            template_version=version,
            actor=Actor.of(user),
            partitions=(town.partitions[partition],),
            title=title,
            purpose=purpose,
            duration_seconds=min(days * DAY_S, version.max_seconds),
        )
    except (QuotaExceeded, Impossible):
        return
    asked.lead = lead


def _lead(project: Project) -> User:
    found: User = User.objects.filter(
        memberships__project=project, memberships__role=Role.LEAD
    ).order_by("pk")[0]
    return found


def _second_step(row: Request) -> None:
    """What needs more than a lead goes to who runs the organization."""
    row.refresh_from_db()
    if row.state != RequestState.SUBMITTED:
        return
    admin: User = User.objects.filter(
        memberships__organization=row.project.organization, memberships__role=Role.ORG_ADMIN
    ).order_by("pk")[0]
    request_approve(request=row, user=admin, actor=Actor.of(admin), reason="Agreed.")


def _answer(asked: Asked) -> None:
    row, lead, luck = asked.row, asked.lead, asked.luck
    if row is None or lead is None:
        return
    row.refresh_from_db()
    words: dict[str, Any] = {"request": row, "user": lead, "actor": Actor.of(lead)}
    if row.state != RequestState.SUBMITTED:
        return
    if luck < 0.75:
        request_approve(**words, reason="Fine.")
        _second_step(row)
    elif luck < 0.9:
        request_reject(**words, reason=NO[int(luck * 100) % len(NO)])
    else:
        request_return(**words, text=BACK)
