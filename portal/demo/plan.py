"""What was asked for: the size of the demo, and the one clock that it is made on."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db import connection

from pool.models.installation import ClockShift


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoPlan:
    """Cards, days of history up to the last full hour, and the seed of everything made up."""

    data: Path
    cards: int
    days: int
    seed: int
    until: datetime

    @property
    def since(self) -> datetime:
        """When the history begins."""
        return self.until - timedelta(days=self.days)


_SHIFT = """
INSERT INTO pool_clockshift (id, base_real, base_pool, speed) VALUES (1, clock_timestamp(), %s, 1)
ON CONFLICT (id) DO UPDATE SET base_real = clock_timestamp(), base_pool = excluded.base_pool
"""


@contextmanager
def other_clock() -> Iterator[None]:
    """Services inside see the pool's time as `at` sets it; afterwards it is the machine's again."""
    before = getattr(settings, "CLOCK_MOVABLE", False)
    settings.CLOCK_MOVABLE = True
    try:
        yield
    finally:
        ClockShift.objects.all().delete()
        settings.CLOCK_MOVABLE = before


def at(moment: datetime) -> None:
    """Let it be that moment for everything that asks the pool's clock."""
    with connection.cursor() as cursor:
        cursor.execute(_SHIFT, [moment])
