"""Memory limits kept by looking: a job that stays over its share is stopped, and it alone."""

from dataclasses import dataclass, field

from nodeagent.protocol.vocabulary import ExitReason

STOP_AT = 1.05
"""Over this share of its limit, three looks in a row, a job is stopped."""

LOOKS = 3


@dataclass(frozen=True)
class Use:
    """What one attempt uses and may use, in MiB; a limit of 0 is none, an unknown use is None."""

    attempt: str
    host_mib: float | None
    host_limit_mib: int
    card_mib: float | None
    card_limit_mib: int


@dataclass
class Limits:
    """Counts looks over the limit; one that is under it starts the count anew."""

    _over: dict[tuple[str, ExitReason], int] = field(default_factory=dict)

    def look(self, uses: list[Use]) -> tuple[dict[str, str], dict[str, ExitReason]]:
        """(warnings by attempt, attempts to stop and why)."""
        warnings: dict[str, str] = {}
        stops: dict[str, ExitReason] = {}
        counts: dict[tuple[str, ExitReason], int] = {}
        for use in uses:
            for what, used, limit, reason in _sides(use):
                if used is None or limit <= 0 or used <= limit:
                    continue
                warnings[use.attempt] = f"uses {used:.0f} of {limit} MiB {what} memory"
                if used > limit * STOP_AT:
                    key = (use.attempt, reason)
                    counts[key] = self._over.get(key, 0) + 1
                    if counts[key] >= LOOKS:
                        stops[use.attempt] = reason
        self._over = counts
        return warnings, stops


def _sides(use: Use) -> tuple[tuple[str, float | None, int, ExitReason], ...]:
    return (
        ("host", use.host_mib, use.host_limit_mib, ExitReason.OOM_HOST),
        ("card", use.card_mib, use.card_limit_mib, ExitReason.OOM_CARD),
    )
