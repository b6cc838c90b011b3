"""Lines of a file as recorded work: what they want, and where they may run."""

from collections import Counter
from collections.abc import Mapping, Sequence

from pool.replay.whatif.trace import Kind, Trace, Work, World
from pool.rules.whatif.lines import Line
from pool.scheduling.model import Need, PriorityClass, Topology

ORGANIZATION = "file"
"""All teams of a file are one organization that has no limits of its own."""


def trace_of(lines: Sequence[Line], world: World) -> Trace:
    """The lines as work of this pool.

    A partition or model that the pool has by the same name (whatever its case) is kept to; any
    other name means anywhere. More cards than a machine has are spread over machines of one
    network. The period ends where the last would end if nobody waited.
    """
    places = {name.casefold(): key for key, name in world.names.items()}
    labels = {card.label.casefold(): card.label for card in world.snapshot.cards}
    largest = max(Counter(card.node for card in world.snapshot.cards).values(), default=1)
    kinds: dict[Kind, int] = {}
    works = []
    for line in lines:
        kind = _kind(line, places, labels, largest)
        works.append(
            Work(
                number=line.line,
                kind=kinds.setdefault(kind, len(kinds)),
                submit_s=line.submit_s,
                arrives_s=line.submit_s,
                duration_s=line.duration_s,
                declared_s=line.declared_s,
                priority=PriorityClass(line.priority),
            )
        )
    first = min((work.submit_s for work in works), default=0.0)
    last = max((work.submit_s + work.duration_s for work in works), default=0.0)
    return Trace(since_s=first, until_s=last, kinds=tuple(kinds), works=tuple(works))


def _kind(line: Line, places: Mapping[str, int], labels: Mapping[str, str], largest: int) -> Kind:
    own = places.get(line.partition.casefold())
    label = labels.get(line.model.casefold())
    share = line.share_milli is not None or line.memory_gb is not None
    topology = Topology.NODE if line.gpus <= largest or share else Topology.NETWORK
    return Kind(
        team=line.team,
        tenants=(ORGANIZATION, f"{ORGANIZATION}:{line.team}"),
        trust=line.team,
        need=Need(
            parts=line.gpus,
            whole=not share,
            share_milli=None if line.memory_gb is not None else line.share_milli,
            memory_gb=line.memory_gb,
            labels=frozenset({label}) if label else frozenset(),
            topology=topology,
        ),
        partitions=(own,) if own is not None else tuple(sorted(places.values())),
        purpose="recorded",
        preemptible=True,
        checkpoint_s=line.checkpoint_s,
    )
