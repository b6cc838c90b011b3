"""The month itself: the made-up stream through the live scheduler, on the pool as it stands."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from random import Random

from nodeagent.protocol.vocabulary import WorkloadKind
from pool.cycle.demand import claim, tenants_of
from pool.cycle.snapshot import take
from pool.lifecycle.roles import Priority
from pool.models import Card, TemplateVersion, Workload
from pool.models.ids import new_uid
from pool.replay.mixed import Break, Job, Run, replay
from pool.rules.needs import from_mapping, to_mapping
from pool.scheduling.model import PriorityClass, Waiting
from portal.demo.plan import DemoPlan
from portal.demo.rows import keys
from portal.demo.stream import Wish, wishes
from portal.demo.teams import EXTRA_ORGANIZATIONS
from portal.demo.town import Town
from portal.first_run.people import ORGANIZATIONS

CORES_A_CARD, MIB_A_CARD = 8_000, 65_536
CORES_A_SHARE, MIB_A_SHARE = 4_000, 16_384
CARDS_A_BREAK = 75
"""One card breaks for so many cards in the pool, at least one."""

HEADS = 1
"""So many planned starts are held in each partition; more take their time and change little."""

SLEEPS = "import time; time.sleep({seconds})"


@dataclass(slots=True)
class Told:
    """One piece of work: what was wished, its row, and what the scheduler made of it."""

    wish: Wish
    row: Workload
    version: TemplateVersion
    partition: int
    runs: list[Run]


@dataclass(frozen=True, slots=True)
class History:
    """All work in the order in which it came, and the cards that broke."""

    work: Sequence[Told]
    breaks: Sequence[Break]


def history_made(
    *, plan: DemoPlan, town: Town, said: Callable[[str], None] = lambda _line: None
) -> History:
    """Let everybody bring their work, and the live planner decide, instant by instant."""
    zones = {slug: zone for slug, _name, zone in (*ORGANIZATIONS, *EXTRA_ORGANIZATIONS)}
    homes = {slug: zones[one.organization.slug] for slug, one in town.projects.items()}
    stream = wishes(
        since=plan.since, until=plan.until, seed=plan.seed, cards=town.cards, zones=homes
    )
    work = _told(stream, town)
    jobs = [_job(one, plan.until) for one in work]
    breaks = _breaks(plan)
    by_number = {one.row.pk: one for one in work}
    said(f"{len(work)} pieces of work")
    snapshot = take(plan.since)
    snapshot = replace(snapshot, rules=replace(snapshot.rules, heads=HEADS))
    for run in replay(snapshot, jobs, plan.until.timestamp(), breaks):
        by_number[run.number].runs.append(run)
    for one in work:
        one.runs.sort(key=_began)
    return History(work, breaks)


def _began(run: Run) -> float:
    return run.start_s


def _told(stream: Sequence[Wish], town: Town) -> list[Told]:
    """Rows that are not written yet, with the numbers they will have."""
    slugs = {wish.line.template for wish in stream}
    versions = {
        one.template.slug: one
        for one in TemplateVersion.objects.filter(template__slug__in=slugs).select_related(
            "template"
        )
    }
    found = []
    for key, wish in zip(keys(Workload, len(stream)), stream, strict=True):
        version = versions[wish.line.template]
        row = _row(key, wish, version, town)
        partition = town.partitions[wish.line.partition].pk
        found.append(Told(wish, row, version, partition, []))
    return found


def _row(key: int, wish: Wish, version: TemplateVersion, town: Town) -> Workload:
    line, people = wish.line, town.people[wish.line.team]
    need = to_mapping(from_mapping({**version.need, "parts": line.parts}))
    whole = max(line.parts, 1) if line.piece == 1.0 else 0
    seconds = min(wish.declared_s, version.max_seconds)
    return Workload(
        pk=key,
        uid=new_uid("wl"),
        project=town.projects[line.team],
        owner=people[wish.who % len(people)],
        name=wish.name,
        name_folded=wish.name.casefold(),
        kind=version.kind,
        template_version=version,
        need=need,
        asked_micro=round(line.parts * line.piece * 1e6),
        command=[]
        if version.kind == WorkloadKind.NOTEBOOK
        else ["python3", "-c", SLEEPS.format(seconds=min(seconds, 86_400))],
        cpu_milli=whole * CORES_A_CARD or CORES_A_SHARE,
        ram_mib=whole * MIB_A_CARD or MIB_A_SHARE,
        disk_mib=0,
        expected_seconds=seconds,
        priority=Priority.HIGH if wish.urgent else version.priority,
        preemptible=version.preemptible or version.checkpoint_seconds is not None,
        grace_seconds=version.grace_seconds,
        submitted_at=wish.submit,
        queued_at=wish.submit,
        state_since=wish.submit,
        example=True,
    )


def _job(one: Told, until: datetime) -> Job:
    row, version = one.row, one.version
    return Job(
        work=Waiting(
            id=row.pk,
            uid=row.uid,
            tenants=tenants_of(row),
            trust=str(row.project.trust_group_id),
            need=claim(row, learned_heavy=False),
            partitions=(one.partition,),
            submitted_s=one.wish.submit.timestamp(),
            kind=WorkloadKind(row.kind),
            purpose=version.work_class,
            priority_class=PriorityClass(row.priority),
            declared_s=float(row.expected_seconds),
            preemptible=row.preemptible,
        ),
        runs_s=one.wish.runs_s,
        checkpoint_s=float(version.checkpoint_seconds) if version.checkpoint_seconds else None,
    )


def _breaks(plan: DemoPlan) -> list[Break]:
    """Cards that break in the middle of the month, for some hours each."""
    chance = Random(f"{plan.seed}:breaks")  # noqa: S311 - a story, no secret
    cards = list(Card.objects.order_by("node__name", "index").values_list("pk", flat=True))
    chosen = chance.sample(cards, max(1, len(cards) // CARDS_A_BREAK))
    begin, span = plan.since.timestamp(), (plan.until - plan.since).total_seconds()
    found = []
    for card in chosen:
        start = begin + round(span * chance.uniform(0.15, 0.8))
        found.append(Break(card, start, start + 3600.0 * chance.randrange(4, 40)))
    return [replace_end(one, begin + span - 3600.0) for one in found]


def replace_end(one: Break, latest_s: float) -> Break:
    """The same, over before the history ends."""
    return Break(one.card, one.from_s, max(one.from_s + 1.0, min(one.until_s, latest_s)))
