"""Refusals: what the caller can do something about. Each has a code, a status and a detail."""

from typing import Any, ClassVar

from django.utils.translation import gettext_lazy as _


class PoolError(Exception):
    """Base of every refusal; anything else that is raised is a bug.

    `text` is the sentence for people, with %-placeholders filled from `detail`.
    """

    code: ClassVar[str] = "refused"
    status: ClassVar[int] = 409
    text: ClassVar[Any] = _("This cannot be done now.")

    def __init__(self, /, **detail: Any) -> None:
        self.detail = detail
        super().__init__(self.code)

    def __str__(self) -> str:
        return str(self.text) % self.detail if self.detail else str(self.text)


class Invalid(PoolError):
    """Input that can never be right; `fields` maps a field to its messages."""

    code = "invalid"
    status = 400
    text = _("Some values are not valid.")

    def __init__(self, /, **fields: Any) -> None:
        super().__init__(
            **{name: [str(v)] if not isinstance(v, list) else v for name, v in fields.items()}
        )

    def __str__(self) -> str:
        return "; ".join(
            f"{name}: {' '.join(map(str, said))}" for name, said in self.detail.items()
        )


class NotYours(PoolError):
    """It is not there, or not yours to know."""

    code = "not_found"
    status = 404
    text = _("Not found.")


class Forbidden(PoolError):
    """Seen, but your role may not do this."""

    code = "forbidden"
    status = 403
    text = _("Your role does not allow this.")


class IllegalMove(PoolError):
    """The state table has no such arrow."""

    code = "illegal_move"
    text = _("A %(noun)s that is %(state)s cannot become %(then)s.")


_PLAIN_UNITS: dict[str, tuple[int, Any]] = {
    "cards_micro": (1_000_000, _("cards")),
    "memory_mib": (1024, _("GiB of card memory")),
    "compute_milli": (1000, _("cards' worth of compute")),
    "card_seconds": (3600, _("card-hours")),
    "cpu_milli": (1000, _("cores")),
    "ram_mib": (1024, _("GiB of memory")),
    "disk_mib": (1024, _("GiB of disk")),
    "workloads": (1, _("workloads")),
    "cards_each": (1_000_000, _("cards for one workload")),
}
"""What people call a quota's unit, and how many of it make one."""


class QuotaExceeded(PoolError):
    """A limit would be passed; detail: tenant, unit, limit, held, asked."""

    code = "quota_exceeded"
    text = _("%(tenant)s may hold %(limit)s %(unit)s, holds %(held)s, and this asks %(asked)s.")

    def __str__(self) -> str:
        unit = str(self.detail.get("unit", ""))
        factor, word = _PLAIN_UNITS.get(unit, (1, unit))
        shown = {
            name: f"{self.detail.get(name, 0) / factor:.2f}".rstrip("0").rstrip(".")
            for name in ("limit", "held", "asked")
        }
        return str(self.text) % {**self.detail, **shown, "unit": word}


class Stale(PoolError):
    """What was decided on is no longer so; look again."""

    code = "stale"
    text = _("Something changed meanwhile. Look again and repeat if you still want it.")


class HelpsNoMore(PoolError):
    """A change that would have started work does not any more; detail: why, waits or others.

    `why` is "waits" (it would still wait, for what `waits` says), "others" (it would take the
    start of so many others) or "barred" (this work may not be changed so).
    """

    code = "helps_no_more"
    text = _("This change would not start it now: the pool has changed since it was offered.")


class AlreadyDecided(PoolError):
    """Somebody else decided first; detail: by, at, state."""

    code = "already_decided"
    text = _("%(by)s has already decided this at %(at)s: %(state)s.")


class OwnRequest(PoolError):
    """Nobody decides on a request of their own."""

    code = "own_request"
    status = 403
    text = _("You cannot decide on your own request.")


class Impossible(PoolError):
    """No card of the pool could ever hold this; detail: why."""

    code = "impossible"
    status = 422
    text = _("No card in the pool can hold this: %(why)s.")


class NoRoom(PoolError):
    """Not enough cards can be kept for a reservation; detail: why."""

    code = "no_room"
    text = _("Not enough cards can be kept for that time: %(why)s.")


class Suspended(PoolError):
    """The project may start nothing new; detail: project, why."""

    code = "suspended"
    text = _("%(project)s may start nothing new: %(why)s.")


class StillLiving(PoolError):
    """A project cannot close while something of it lives; detail: project, and a count each.

    With `wind_down` what lives is ended first.
    """

    code = "still_living"
    text = _(
        "%(project)s still has %(workloads)s workloads, %(leases)s leases and %(requests)s open"
        " requests. Wind it down first."
    )


class InUse(PoolError):
    """Live work uses it, so that it cannot go; detail: what, count."""

    code = "in_use"
    text = _("%(what)s is used by %(count)s workloads that have not ended.")


class TooMany(PoolError):
    """A count is at its limit; detail: what, limit."""

    code = "too_many"
    text = _("No more than %(limit)s of %(what)s are allowed.")


class NodeRefused(PoolError):
    """A node that may not speak; detail: why."""

    code = "node_refused"
    status = 401
    text = _("The node is not known here: %(why)s.")


class OldProtocol(PoolError):
    """Portal and agent speak no common protocol; detail: offered, spoken."""

    code = "protocol_not_spoken"
    status = 426
    text = _("The agent speaks protocol %(offered)s; this portal speaks %(spoken)s.")
