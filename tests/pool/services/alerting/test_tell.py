"""What fired is handed to its routes once, whatever raised it; silences keep it in the house."""

from datetime import timedelta

import pytest

from pool.clock import now
from pool.cycle.alerting.stale import stale_ended
from pool.errors import Invalid
from pool.events import SYSTEM
from pool.models import Alert, AlertChannel, AlertDelivery, AlertRoute, Event, Notice, Slice
from pool.services.alerting.people import owners_tell, people_tell
from pool.services.alerting.silences import silence_end, silence_make
from pool.services.alerting.tell import alerts_told
from pool.services.alerting.ways import (
    channel_make,
    channel_remove,
    delivery_again,
    route_change,
    route_make,
    ways_there,
)
from pool.services.alerts import alert_raise, alert_resolve
from tests import rows

pytestmark = pytest.mark.django_db
EVERY_DAY = list(range(7))


@pytest.fixture
def channel():
    return channel_make(name="ops", kind="mail", to="ops@example.org", actor=SYSTEM)


def route(channel, **given):
    return route_make(channel=channel, actor=SYSTEM, days=EVERY_DAY, **given)


def raised(key="a", **given):
    words = {"subject": "card:x", "title": "hot"} | given
    alert_raise(key=key, actor=SYSTEM, **words)
    return Alert.objects.get(key=key, state="firing")


def test_what_fires_is_handed_out_once_and_its_end_to_those_who_heard_of_it(channel):
    route(channel)
    raised()
    assert [alerts_told(at=now()), alerts_told(at=now())] == [1, 0]
    AlertDelivery.objects.update(sent_at=now())
    alert_resolve(key="a", actor=SYSTEM)
    assert [alerts_told(at=now()), alerts_told(at=now())] == [1, 0]
    words = AlertDelivery.objects.order_by("pk").values_list("word", flat=True)
    assert list(words) == ["fired", "resolved"]


def test_a_beginning_that_never_left_is_dropped_with_its_end(channel):
    route(channel, start_minute=0, end_minute=1, zone="UTC")
    raised(family="performance")
    alerts_told(at=now().replace(hour=12))
    alert_resolve(key="a", actor=SYSTEM)
    assert alerts_told(at=now()) == 0
    assert AlertDelivery.objects.get().dropped_at is not None


def test_hardware_pages_at_night_and_performance_waits_for_the_hours(channel):
    route(channel, start_minute=540, end_minute=1080, zone="UTC")
    night = now().replace(hour=3, minute=0, second=0, microsecond=0)
    raised("a", family="hardware")
    raised("b", family="performance")
    alerts_told(at=night)
    due = {one.alert.family: one for one in AlertDelivery.objects.select_related("alert")}
    assert due["hardware"].due_at == night
    assert due["performance"].due_at == night.replace(hour=9)
    assert due["performance"].waits_for == "hours"


def test_one_word_a_channel_however_many_routes_lead_there(channel):
    route(channel)
    route(channel, severity="warning", family="hardware")
    raised()
    assert alerts_told(at=now()) == 1


def test_what_is_silenced_is_told_when_the_silence_ends_and_not_before(channel):
    route(channel)
    quiet = silence_make(
        subject="card:x", ends_at=now() + timedelta(hours=1), reason="a new fan", actor=SYSTEM
    )
    raised()
    raised("b", subject="card:y")
    assert alerts_told(at=now()) == 1
    silence_end(silence=quiet, actor=SYSTEM)
    assert alerts_told(at=now()) == 1


def test_a_silence_needs_a_reason_an_end_and_something_to_silence():
    later = now() + timedelta(hours=1)
    for wrong in (
        {"subject": "card:x", "ends_at": later, "reason": " "},
        {"subject": "card:x", "ends_at": now(), "reason": "why"},
        {"subject": "card:x", "ends_at": now() + timedelta(days=91), "reason": "why"},
        {"ends_at": later, "reason": "why"},
    ):
        with pytest.raises(Invalid):
            silence_make(actor=SYSTEM, **wrong)


def test_routes_that_never_open_and_channels_that_lead_nowhere_are_refused(channel):
    with pytest.raises(Invalid):
        route_make(channel=channel, actor=SYSTEM, days=[])
    with pytest.raises(Invalid):
        route(channel, start_minute=600, end_minute=600)
    with pytest.raises(Invalid):
        route(channel, zone="Mars/Olympus")
    for wrong in (
        {"kind": "mail", "to": "nobody"},
        {"kind": "webhook", "url": "https://example.org/x", "secret": "short"},
        {"kind": "slack", "url": "ftp://example.org"},
        {"kind": "pigeon"},
        {"kind": "alertmanager", "url": "https://example.org", "secret": "schlüssel"},
    ):
        with pytest.raises(Invalid):
            channel_make(name="new", actor=SYSTEM, **wrong)
    with pytest.raises(Invalid):
        channel_make(name="ops", kind="mail", to="a@example.org", actor=SYSTEM)


def test_secrets_are_sealed_and_stand_in_no_event():
    row = channel_make(
        name="hook",
        kind="webhook",
        url="https://h.example.org/key-123",
        secret="s" * 20,
        actor=SYSTEM,
    )
    assert row.target == "h.example.org"
    assert "key-123" not in row.sealed
    assert not [one for one in Event.objects.all() if "key-123" in str(one.data)]


def test_every_pool_begins_with_the_inbox_which_cannot_be_removed():
    assert ways_there() is True
    assert ways_there() is False
    assert AlertRoute.objects.count() == 2
    with pytest.raises(Invalid):
        channel_remove(channel=AlertChannel.objects.get(), actor=SYSTEM)


def test_a_change_of_a_route_is_audited_with_before_and_after(channel):
    row = route(channel)
    route_change(route=row, actor=SYSTEM, severity="critical")
    event = Event.objects.filter(kind="alert_route.changed").order_by("-id").first()
    assert (event.data["before"]["severity"], event.data["after"]["severity"]) == ("", "critical")


def test_a_dead_letter_tries_again_when_asked(channel):
    route(channel)
    raised()
    alerts_told(at=now())
    AlertDelivery.objects.update(given_up_at=now(), tries=6)
    row = delivery_again(delivery=AlertDelivery.objects.get(), actor=SYSTEM)
    assert (row.given_up_at, row.tries) == (None, 0)


def test_people_of_the_pool_hear_of_hardware_and_people_of_the_team_of_their_work():
    admin = rows.user(username="pat")
    admin.memberships.create(role="platform_admin")
    work = rows.workload()
    lead = rows.member(work.project, role="lead")
    rows.member(work.project, role="viewer")
    people_tell(alert=raised(), word="fired")
    assert [one.user for one in Notice.objects.all()] == [admin]
    people_tell(alert=raised("b", subject=f"workload:{work.uid}", family="workload"), word="fired")
    told = set(Notice.objects.exclude(user=admin).values_list("user", flat=True))
    assert told == {lead.pk, work.owner_id}
    assert owners_tell(alert=raised("c", subject="card:nothing")) == 0


def test_alerts_whose_cause_has_quietly_gone_are_ended():
    work = rows.workload()
    raised(f"overdue:{work.uid}", subject=f"workload:{work.uid}")
    raised("card-errors:cd-1", subject="card:cd-1")
    raised("unclean:sl-1", subject="slice:sl-1")
    assert not Slice.objects.exists()
    assert stale_ended() == 1, "a slice that is not there needs no cleaning"
    type(work).objects.update(state_since=now() + timedelta(seconds=1))
    Alert.objects.update(first_seen_at=now() - timedelta(hours=1))
    assert stale_ended() == 2
    assert not Alert.objects.exclude(state="resolved").exists()


def test_what_the_pool_raises_about_work_takes_the_routes_and_silences_of_its_team(channel):
    work, other = rows.workload(), rows.workload()
    route(channel, project=work.project)
    quiet = silence_make(
        subject=f"workload:{work.uid}",
        project=work.project,
        ends_at=now() + timedelta(hours=1),
        reason="we know",
        actor=SYSTEM,
    )
    row = raised("overdue:a", subject=f"workload:{work.uid}", family="workload")
    raised("overdue:b", subject=f"workload:{other.uid}", family="workload")
    raised("overdue:c", subject="workload:wl-gone", family="workload")
    assert row.project == work.project
    assert alerts_told(at=now()) == 0, "one is silenced, the others are another team's and nobody's"
    silence_end(silence=quiet, actor=SYSTEM)
    assert alerts_told(at=now()) == 1
    assert AlertDelivery.objects.get().alert == row
