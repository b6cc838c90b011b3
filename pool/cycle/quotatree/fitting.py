"""Where a need would fit: on empty cards by their real geometry, and right now by the planner."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pool.cycle.needs import claim_of
from pool.cycle.waiting import Look
from pool.models.partitions import Partition
from pool.models.templates import TemplateVersion
from pool.rules.needs import Need
from pool.scheduling.model import PriorityClass, Waiting
from pool.scheduling.plan import plan
from pool.selectors.offers import PlacedOption, host_of, options_for

ANYBODY = "trial"
"""The trust group of who only looks where a template would fit: that of nobody in the pool."""


@dataclass(frozen=True, slots=True)
class Fits:
    """One partition's answer: what a part becomes there, and whether one starts at this moment.

    `why` is the planner's reason where none starts now; empty where one does.
    """

    partition: Partition
    option: PlacedOption | None
    now: bool
    why: str = ""


def fits(
    *,
    look: Look,
    need: Need,
    partitions: Iterable[Partition],
    unlimited_modes: bool = False,
    work_class: str = "",
) -> list[Fits]:
    """Each partition on its own, as if nobody else waited; nothing is written."""
    found = []
    for one in partitions:
        options = options_for(
            need=need, partitions=[one], trust=None, version=None, unlimited_modes=unlimited_modes
        )
        holding = [option for option in options if option.holds(need)]
        if need.parts and not holding:
            found.append(Fits(one, options[0] if options else None, now=False, why="impossible"))
            continue
        why = _waits(look, need, [one], holding, ANYBODY, unlimited_modes, work_class)
        found.append(Fits(one, holding[0] if holding else None, now=why is None, why=why or ""))
    return found


def waits_now(
    *,
    look: Look,
    need: Need,
    partitions: Sequence[Partition],
    trust: int | None,
    version: TemplateVersion,
) -> str | None:
    """Why one such piece of work would wait now, wherever of these it may run; None: it would not.

    As if nobody else waited: what waits already and fits has its place by the next round.
    """
    modes = version.unlimited_modes
    options = options_for(
        need=need, partitions=partitions, trust=trust, version=version, unlimited_modes=modes
    )
    holding = [option for option in options if option.holds(need)]
    if need.parts and not holding:
        return "impossible"
    group = ANYBODY if trust is None else str(trust)
    return _waits(look, need, partitions, holding, group, modes, version.work_class)


def _waits(
    look: Look,
    need: Need,
    partitions: Sequence[Partition],
    options: Sequence[PlacedOption],
    trust: str,
    unlimited_modes: bool,
    work_class: str,
) -> str | None:
    """Why one such piece of work would wait now; None when it would start."""
    cpu, ram, disk = host_of(need=need, options=options)
    trial = Waiting(
        id=-1,
        uid="trial",
        tenants=("trial",),
        trust=trust,
        need=claim_of(
            need,
            unlimited_modes=unlimited_modes,
            default_cpu_milli=cpu,
            default_ram_mib=ram,
            default_disk_mib=disk,
        ),
        priority_class=PriorityClass.NORMAL,
        submitted_s=look.snapshot.now_s,
        partitions=tuple(one.pk for one in partitions),
        purpose=work_class,
    )
    open_to_it = tuple(replace(one, open_to=None) for one in look.snapshot.partitions)
    made = plan(replace(look.snapshot, waiting=(trial,), partitions=open_to_it))
    if any(one.workload == -1 for one in made.placed):
        return None
    told = made.waits.get(-1)
    return str(told.reason) if told else "room"
