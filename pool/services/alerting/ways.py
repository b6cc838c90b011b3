"""Channels and routes: made, changed, removed; every pool begins with the inbox of its people."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction

from pool.clock import now
from pool.errors import Invalid
from pool.events import SYSTEM, Actor, record
from pool.lifecycle.events import EventKind
from pool.models.alerting.ways import AlertChannel, AlertDelivery, AlertRoute
from pool.models.tenants import Project
from pool.rules.alerting.terms import DIALLED, ChannelKind, Family, Severity
from pool.rules.problems import Problem
from pool.rules.problems import marked as _
from pool.rules.tenants import title_problem
from pool.sealing import seal, unseal
from pool.services.moves import locked
from pool.services.refusals import refuse

MOST_ADDRESSES = 20
NEWS = timedelta(days=1)
"""So long a word waits for a channel that is switched off."""

WORKDAYS = [0, 1, 2, 3, 4]


def ways_there() -> bool:
    """Make the inbox channel and its two routes where no channel was ever made. Safe to repeat."""
    if AlertChannel.objects.exists():
        return False
    with transaction.atomic():
        channel, made = AlertChannel.objects.get_or_create(
            name="Portal", defaults={"kind": ChannelKind.PORTAL}
        )
        if made:
            AlertRoute.objects.create(channel=channel, days=list(range(7)), family=Family.HARDWARE)
            AlertRoute.objects.create(
                channel=channel,
                days=WORKDAYS,
                start_minute=480,
                end_minute=1080,
                severity=Severity.WARNING,
            )
            record(EventKind.ALERT_CHANNEL_CHANGED, channel, actor=SYSTEM, made=True)
    return made


@transaction.atomic
def channel_make(
    *, name: str, kind: str, actor: Actor, url: str = "", secret: str = "", to: str = ""
) -> AlertChannel:
    """A new way out; what is secret of it is sealed and never shown again.

    Raises:
        Invalid: the name is taken, an address is missing or none.
        NoKey: the site has no key to seal with.
    """
    known = Problem(_("Choose from: %(known)s."), {"known": ", ".join(ChannelKind)})
    refuse({"name": title_problem(name), "kind": None if kind in set(ChannelKind) else known})
    row = AlertChannel(name=name.strip(), kind=kind)
    _address(row, url=url, secret=secret, to=to)
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError as taken:
        raise Invalid(name=_("This name is taken.")) from taken
    record(EventKind.ALERT_CHANNEL_CHANGED, row, actor=actor, made=True, channel_kind=kind)
    return row


@transaction.atomic
def channel_change(
    *,
    channel: AlertChannel,
    actor: Actor,
    enabled: bool | None = None,
    url: str | None = None,
    secret: str | None = None,
    to: str | None = None,
) -> AlertChannel:
    """Another address or key, or switched on and off; None leaves a part as it is.

    Raises:
        Invalid: an address is missing or none.
    """
    (row,) = locked(AlertChannel.objects.filter(pk=channel.pk))
    if enabled is not None:
        _stale_dropped(row, enabled)
        row.enabled = enabled
    if not (url is None and secret is None and to is None):
        before = channel_address(row)
        given = {"url": url, "secret": secret, "to": to}
        _address(row, **{n: before[n] if v is None else v for n, v in given.items()})
    row.save()
    changed = [n for n, v in (("url", url), ("secret", secret), ("to", to)) if v is not None]
    record(EventKind.ALERT_CHANNEL_CHANGED, row, actor=actor, changed=changed, enabled=row.enabled)
    return row


@transaction.atomic
def channel_remove(*, channel: AlertChannel, actor: Actor) -> None:
    """The way is gone with its routes and what was on it.

    Raises:
        Invalid: it is the inbox of the portal; switch it off instead.
    """
    if channel.kind == ChannelKind.PORTAL:
        raise Invalid(
            channel=_("The inbox of the portal cannot be removed. Switch it off instead.")
        )
    record(EventKind.ALERT_CHANNEL_CHANGED, channel, actor=actor, removed=channel.name)
    AlertChannel.objects.filter(pk=channel.pk).delete()


def channel_tested(*, channel: AlertChannel, error: str, actor: Actor) -> None:
    """Keep what became of a test."""
    said = {"tested_at": now(), "test_error": error[:200]}
    AlertChannel.objects.filter(pk=channel.pk).update(**said)
    record(EventKind.ALERT_CHANNEL_CHANGED, channel, actor=actor, tested=not error)


def channel_address(row: AlertChannel) -> dict[str, str]:
    """Where it leads, opened: url and secret, and `to` for mail.

    Raises:
        CannotOpen: no key of the site opens it.
    """
    if row.kind == ChannelKind.MAIL:
        return {"url": "", "secret": "", "to": row.target}
    url, _line, secret = unseal(row.sealed).partition("\n") if row.sealed else ("", "", "")
    return {"url": url, "secret": secret, "to": ""}


@transaction.atomic
def route_make(*, channel: AlertChannel, actor: Actor, **given: Any) -> AlertRoute:
    """A new route; see `AlertRoute` for what it holds.

    Raises:
        Invalid: no such family, severity or zone, or hours that never open.
    """
    row = AlertRoute(channel=channel, **given)
    refuse(_route_problems(row))
    row.save()
    record(EventKind.ALERT_ROUTE_CHANGED, row, actor=actor, made=True, **_route_words(row))
    return row


@transaction.atomic
def route_change(*, route: AlertRoute, actor: Actor, **given: Any) -> AlertRoute:
    """Other values for a route; what waits on it already keeps its time.

    Raises:
        Invalid: no such family, severity or zone, or hours that never open.
    """
    (row,) = locked(AlertRoute.objects.filter(pk=route.pk).select_related("channel", "project"))
    before = _route_words(row)
    for name, value in given.items():
        setattr(row, name, value)
    refuse(_route_problems(row))
    row.save()
    record(EventKind.ALERT_ROUTE_CHANGED, row, actor=actor, before=before, after=_route_words(row))
    return row


@transaction.atomic
def route_remove(*, route: AlertRoute, actor: Actor) -> None:
    """Nothing takes it any more."""
    record(EventKind.ALERT_ROUTE_CHANGED, route, actor=actor, removed=True, **_route_words(route))
    AlertRoute.objects.filter(pk=route.pk).delete()


@transaction.atomic
def delivery_again(*, delivery: AlertDelivery, actor: Actor) -> AlertDelivery:
    """A dead letter tries its luck again at once. Safe to repeat."""
    (row,) = locked(AlertDelivery.objects.filter(pk=delivery.pk).select_related("channel"))
    if row.given_up_at is not None:
        row.given_up_at, row.tries, row.due_at, row.claimed_at = None, 0, now(), None
        row.save(update_fields=["given_up_at", "tries", "due_at", "claimed_at"])
        record(EventKind.ALERT_CHANNEL_CHANGED, row.channel, actor=actor, again=row.uid)
    return row


def _stale_dropped(row: AlertChannel, enabled: bool) -> None:
    """A way that opens again tells of today: older words would be a flood."""
    if enabled and not row.enabled:
        waits = AlertDelivery.objects.filter(
            channel=row, sent_at=None, given_up_at=None, dropped_at=None
        )
        waits.filter(due_at__lt=now() - NEWS).update(dropped_at=now())


def _address(row: AlertChannel, *, url: str, secret: str, to: str) -> None:
    if row.kind == ChannelKind.MAIL:
        addresses = [one.strip() for one in to.replace("\n", ",").split(",") if one.strip()]
        refuse({"to": _mail_problem(addresses)})
        row.target, row.sealed = ", ".join(addresses), ""
    elif row.kind in DIALLED:
        refuse({"url": _url_problem(url), "secret": _secret_problem(row.kind, secret)})
        row.target, row.sealed = urlsplit(url).hostname or "", seal(f"{url.strip()}\n{secret}")


def _mail_problem(addresses: list[str]) -> Problem | None:
    if not 0 < len(addresses) <= MOST_ADDRESSES:
        return Problem(_("1 to %(most)s addresses are needed."), {"most": MOST_ADDRESSES})
    for one in addresses:
        try:
            validate_email(one)
        except ValidationError:
            return Problem(_("%(address)s is no mail address."), {"address": one})
    return None


def _url_problem(url: str) -> Problem | None:
    try:
        parts = urlsplit(url.strip())
        good = parts.scheme in {"http", "https"} and bool(parts.hostname) and len(url) <= 800
    except ValueError:
        good = False
    if good and url.strip().isprintable() and " " not in url.strip():
        return None
    return Problem(_("An address that begins with http:// or https:// is needed."))


def _secret_problem(kind: str, secret: str) -> Problem | None:
    if "\n" in secret or len(secret) > 200:
        return Problem(_("One line of at most 200 characters."))
    if kind == ChannelKind.ALERTMANAGER and not (secret.isascii() and secret.isprintable()):
        return Problem(_("It goes into a header: letters, digits and signs of ASCII alone."))
    if kind == ChannelKind.WEBHOOK and len(secret) < 16:
        return Problem(_("A secret of at least 16 characters signs what is sent."))
    return None


def _route_problems(row: AlertRoute) -> Mapping[str, Problem | None]:
    found: dict[str, Problem | None] = {}
    for field, known in (("family", Family), ("severity", Severity)):
        if getattr(row, field) not in {"", *known}:
            words = {"known": ", ".join(known)}
            found[field] = Problem(_("Choose from: %(known)s."), words)
    if row.zone not in available_timezones():
        found["zone"] = Problem(_("No such time zone."))
    if not row.days or not set(row.days) <= set(range(7)):
        found["days"] = Problem(_("At least one day of the week is needed."))
    if not 0 <= row.start_minute < row.end_minute <= 1440:
        found["end_minute"] = Problem(_("The end of the hours lies after their start, on one day."))
    if len(row.closed_dates) > 400:
        found["closed_dates"] = Problem(_("At most 400 closed days."))
    return found


def _route_words(row: AlertRoute) -> dict[str, Any]:
    closed: list[date] = row.closed_dates
    project: Project | None = row.project
    return {
        "channel": row.channel.name,
        "family": row.family,
        "severity": row.severity,
        "team": project.slug if project is not None else "",
        "days": row.days,
        "hours": [row.start_minute, row.end_minute, row.zone],
        "closed": [str(one) for one in closed],
        "enabled": row.enabled,
    }
