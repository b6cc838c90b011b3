"""What is measured of many notebooks now: the node's word, and the readings of their slices."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import Count, Sum

from nodeagent.protocol.vocabulary import Fidelity
from pool.models.notebooks.notebooks import Notebook
from pool.models.placements import Hold
from pool.rules.idle import Signals

SM_S, MEMORY_S = 90, 300
"""How far back means of SM and the range of memory reach, in seconds."""

_READ = """
SELECT attempt_id,
       avg(sm_mean) FILTER (WHERE at > %(sm)s),
       max(fidelity) FILTER (WHERE at > %(sm)s AND fidelity <> 'measured'),
       sum(memory_mib_mean) FILTER (WHERE at > %(sm)s)
           / nullif(count(DISTINCT at)
                    FILTER (WHERE at > %(sm)s AND memory_mib_mean IS NOT NULL), 0),
       max(memory_mib_max) - min(memory_mib_mean),
       count(*) FILTER (WHERE at > %(sm)s),
       count(sm_mean) FILTER (WHERE at > %(sm)s)
FROM pool_sample
WHERE attempt_id = ANY(%(attempts)s) AND at > %(memory)s AND slice_id IS NOT NULL
GROUP BY attempt_id
"""


@dataclass(frozen=True, slots=True)
class Read:
    """The readings of one attempt's slices; None is unknown."""

    sm: float | None = None
    fidelity: str = Fidelity.MEASURED
    memory_mib: float | None = None
    memory_range_mib: float | None = None


def readings_of(*, attempts: Sequence[int], now: datetime) -> dict[int, Read]:
    """The last minutes of many attempts, in one query. Where no row names SM it has no counter."""
    words: dict[str, Any] = {
        "attempts": list(attempts),
        "sm": now - timedelta(seconds=SM_S),
        "memory": now - timedelta(seconds=MEMORY_S),
    }
    with connection.cursor() as cursor:
        cursor.execute(_READ, words)
        rows = cursor.fetchall()
    return {
        int(attempt): Read(
            sm, Fidelity.UNAVAILABLE if count and not known else fidelity or "measured", mem, spread
        )
        for attempt, sm, fidelity, mem, spread, count, known in rows
    }


def sizes_of(*, attempts: Sequence[int]) -> dict[int, tuple[int, int]]:
    """How many slices each attempt holds, and their memory in MiB."""
    rows = (
        Hold.objects.filter(placement__attempt__in=attempts, held__upper_inf=True)
        .exclude(slice=None)
        .values_list("placement__attempt")
        .annotate(Count("pk"), Sum("memory_mib"))
    )
    return {int(attempt): (int(count), int(size or 0)) for attempt, count, size in rows}


def signals_of(row: Notebook, read: Read, size: tuple[int, int], now: datetime) -> Signals:
    """One notebook's signals, as old as they are."""
    facts = row.facts or {}
    ago = None if row.facts_at is None else max((now - row.facts_at).total_seconds(), 0.0)
    looked = facts.get("looked_ago_s")
    age = None if ago is None or looked is None else ago + float(looked)
    since = ago or 0.0

    def aged(name: str) -> float | None:
        value = facts.get(name)
        return None if value is None else float(value) + since

    touched = row.last_input_at
    return Signals(
        age_s=age,
        busy=facts.get("busy"),
        kernel_quiet_s=aged("kernel_quiet_s"),
        terminals=facts.get("terminals"),
        terminal_quiet_s=aged("terminal_quiet_s"),
        jobs=facts.get("jobs"),
        input_ago_s=None if touched is None else (now - touched).total_seconds(),
        cpu_cores=facts.get("cpu_cores"),
        disk_mib_s=facts.get("disk_mib_s"),
        net_mib_s=facts.get("net_mib_s"),
        sm_percent=read.sm,
        sm_fidelity=read.fidelity,
        memory_mib=read.memory_mib,
        memory_range_mib=read.memory_range_mib,
        slice_mib=float(size[1]),
        has_slice=size[0] > 0,
        viewed_ago_s=None if row.viewed_at is None else (now - row.viewed_at).total_seconds(),
    )
