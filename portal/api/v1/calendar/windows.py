"""Maintenance windows: what is out of service when, why, and who is hit."""

from typing import Any

from django.db.models import Prefetch, QuerySet
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.clock import now
from pool.lifecycle.windows import WindowState, WithRunning
from pool.models import Card, Node, Partition, Window
from pool.rules.windows import MOST_NOTICE_S, MOST_REASON
from pool.selectors.calendar.windows import Impact, impact_of, reach_of, window_reach
from pool.selectors.partitions import partition_list
from pool.services.calendar.windows import (
    window_cancel,
    window_change,
    window_create,
)
from portal.access.roles import Verb
from portal.api.door import UID, Listed
from portal.api.fields import Filters, Given, Reason


class WindowOut(serializers.ModelSerializer[Window]):
    """Out of service from `starts_at` to `ends_at`: cards and nodes by uid, partitions by slug."""

    starts_at = serializers.DateTimeField(source="span.lower")
    ends_at = serializers.DateTimeField(source="span.upper")
    cards = serializers.SlugRelatedField[Any](slug_field="uid", many=True, read_only=True)
    nodes = serializers.SlugRelatedField[Any](slug_field="name", many=True, read_only=True)
    partitions = serializers.SerializerMethodField()
    created_by = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)

    class Meta:
        model = Window
        fields = [
            "uid",
            "reason",
            "starts_at",
            "ends_at",
            "cards",
            "nodes",
            "partitions",
            "with_running",
            "notice_seconds",
            "state",
            "state_since",
            "state_reason",
            "created_by",
            "created_at",
        ]

    def get_partitions(self, row: Window) -> list[str]:
        """Those that the caller may use: a closed one does not exist for others."""
        return [one.slug for one in row.partitions.all()]


class HitOut(serializers.Serializer[Any]):
    """One workload that runs there."""

    workload = serializers.CharField(source="workload.uid")
    name = serializers.CharField(source="workload.name")
    project = serializers.CharField(source="workload.project.slug")
    owner = serializers.CharField(source="workload.owner.username")
    ends_at = serializers.DateTimeField()
    overlaps = serializers.BooleanField()


class ImpactOut(serializers.Serializer[Impact]):
    """Who is hit. `overlapping` counts running work that is not expected to have ended by then;
    `leases` become longer by so many seconds.
    """

    cards = serializers.IntegerField()
    nodes = serializers.IntegerField()
    overlapping = serializers.IntegerField()
    running = HitOut(many=True)
    reservations = serializers.SerializerMethodField()
    leases = serializers.SerializerMethodField()

    def get_reservations(self, row: Impact) -> list[str]:
        """Reservations whose kept cards are in it."""
        return sorted({one.reservation.uid for one in row.reserved})

    def get_leases(self, row: Impact) -> dict[str, int]:
        """By uid, the seconds that each lease becomes longer."""
        return {lease.uid: seconds for lease, seconds in row.leases}


def names() -> serializers.ListField:
    """A list of names that need not be said."""
    one = serializers.CharField(max_length=253)
    return serializers.ListField(child=one, max_length=1000, required=False)


class WindowChange(Given):
    """What changes; what is left out stays. Nodes by name or uid, cards by uid, partitions by slug.

    `with_running`: `wait` lets work end by itself, `preempt` sends it back to the queue
    `notice_seconds` before, `stop` stops it at the start.
    """

    reason = serializers.CharField(max_length=MOST_REASON, required=False)
    starts_at = serializers.DateTimeField(required=False)
    ends_at = serializers.DateTimeField(required=False)
    cards = names()
    nodes = names()
    partitions = names()
    with_running = serializers.ChoiceField(
        choices=[one.value for one in WithRunning], required=False
    )
    notice_seconds = serializers.IntegerField(min_value=0, max_value=MOST_NOTICE_S, required=False)


class WindowIn(WindowChange):
    """A new window; a start in the past means now."""

    reason = serializers.CharField(max_length=MOST_REASON)
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()


class WindowFilters(Filters):
    """Filters of the list."""

    state = serializers.ChoiceField(choices=[s.value for s in WindowState], required=False)
    node = serializers.RegexField(f"^{UID}$", required=False, help_text="uid of a node")
    partition = serializers.SlugField(max_length=63, required=False)


class WindowDoor(Listed):
    """Everybody sees what is out of service; platform admins plan it."""

    serializer_class = WindowOut
    filters = WindowFilters
    queryset = Window.objects.none()
    takes = {
        "create": WindowIn,
        "preview": WindowIn,
        "partial_update": WindowChange,
        "cancel": Reason,
    }
    gives = {
        "create": (201, WindowOut),
        "preview": (200, ImpactOut),
        "impact": (200, ImpactOut),
    }

    def rows(self) -> QuerySet[Window]:
        """All of them, each with the partitions that the caller may know of."""
        mine = Prefetch("partitions", queryset=partition_list(standing=self.standing))
        rows = Window.objects.select_related("created_by")
        return rows.prefetch_related("cards", "nodes", mine)

    def narrowed(self, rows: QuerySet[Window], **asked: Any) -> QuerySet[Window]:
        """By state, node and partition."""
        if "partition" in asked:
            mine = partition_list(standing=self.standing).filter(slug=asked.pop("partition"))
            rows = rows.filter(partitions__in=mine)
        paths = {"node": "nodes__uid"}
        return rows.filter(**{paths.get(name, name): value for name, value in asked.items()})

    def create(self, request: Request) -> Response:
        """Plan maintenance: from now on nothing starts there that would overlap it."""
        self.allow(Verb.WINDOW_MANAGE)
        made = window_create(actor=self.actor, user=self.user, **self._words())
        return self.said(self.rows().get(pk=made.pk))

    def partial_update(self, request: Request, uid: str) -> Response:
        """Change it; once it has begun only its end, its reason and what becomes of work there."""
        window = self.one()
        self.allow(Verb.WINDOW_MANAGE)
        window_change(window=window, actor=self.actor, **self._words())
        return self.said(self.one())

    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, uid: str) -> Response:
        """Call it off; under way it ends now, and what it took comes back."""
        window = self.one()
        self.allow(Verb.WINDOW_MANAGE)
        given = self.taken()
        window_cancel(window=window, actor=self.actor, reason=given["reason"][:200])
        return self.said(self.one())

    @action(detail=True, methods=["get"])
    def impact(self, request: Request, uid: str) -> Response:
        """Who is hit by it, as things are now."""
        window = self.one()
        self.allow(Verb.WINDOW_MANAGE)
        found = impact_of(
            reach=window_reach(window),
            starts_at=window.span.lower,
            ends_at=window.span.upper,
            now=now(),
        )
        return self.said(found)

    @action(detail=False, methods=["post"])
    def preview(self, request: Request) -> Response:
        """Who would be hit by such a window; nothing is planned."""
        self.allow(Verb.WINDOW_MANAGE)
        words = self._words()
        reach = reach_of(**{name: words.get(name, []) for name in ("cards", "nodes", "partitions")})
        found = impact_of(
            reach=reach, starts_at=words["starts_at"], ends_at=words["ends_at"], now=now()
        )
        return self.said(found)

    def _words(self) -> dict[str, Any]:
        """The body, with rows for names."""
        given = self.taken()
        if "cards" in given:
            given["cards"] = _named(Card.objects.all(), ("uid",), given["cards"], "cards")
        if "nodes" in given:
            given["nodes"] = _named(Node.objects.all(), ("uid", "name"), given["nodes"], "nodes")
        if "partitions" in given:
            rows = Partition.objects.all()
            given["partitions"] = _named(rows, ("slug", "uid"), given["partitions"], "partitions")
        return given


def _named(rows: QuerySet[Any], columns: tuple[str, ...], said: list[str], field: str) -> list[Any]:
    """A row for each name, whichever of the columns it is in."""
    found: dict[str, Any] = {}
    for column in columns:
        for row in rows.filter(**{f"{column}__in": said}):
            found[getattr(row, column)] = row
    unknown = [name for name in said if name not in found]
    if unknown:
        told = _("Not known: %(names)s.") % {"names": ", ".join(unknown)[:200]}
        raise serializers.ValidationError({field: [told]})
    return list(dict.fromkeys(found[name] for name in said))
