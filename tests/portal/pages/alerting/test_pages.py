"""The pages of alerts: board, acts, rules with their try-out, ways out; who may do what."""

from datetime import timedelta

import pytest

from pool.clock import now
from pool.events import SYSTEM
from pool.models import Alert, AlertChannel, AlertDelivery, AlertRoute, AlertRule, AlertSilence
from pool.selectors.telemetry.week import card_week
from pool.services.alerting.rules import rules_there
from pool.services.alerts import alert_raise
from pool.services.telemetry.rollups import rollups_due, rollups_touched
from tests.pool.services.telemetry.test_rollups import reads


def firing(world, **given):
    words = {"key": "k", "subject": f"card:{world.own.hold.card.uid}", "title": "A100: lost"}
    words |= given
    alert_raise(actor=SYSTEM, severity="critical", **words)
    return Alert.objects.get(key=words["key"], state="firing")


def test_the_board_says_what_is_there_and_an_empty_one_what_would_come(visit, world):
    Alert.objects.all().delete()
    admin = visit("platform_admin")
    assert b"Nothing to look at" in admin.open("/alerts/").content
    firing(world)
    page = admin.open("/alerts/").content
    assert b"A100: lost" in page
    assert world.node.name.encode() in page
    assert b"no route" in page
    part = admin.part("/alerts/?severity=info").content
    assert b"<html" not in part
    assert b"A100: lost" not in part
    assert b"A100: lost" not in visit("member").open("/alerts/").content, "the pool's own"


def test_somebody_takes_an_alert_lets_it_go_and_silences_it_with_a_reason(visit, world):
    row, admin = firing(world), visit("platform_admin")
    path = f"/alerts/{row.uid}/"
    assert admin.send(f"{path}take/", {"note": "on my way"}).status_code == 303
    row.refresh_from_db()
    assert (row.state, row.note) == ("acknowledged", "on my way")
    assert b"on my way" in admin.open(path).content
    assert admin.send(f"{path}let-go/", htmx=True).status_code == 200
    answer = admin.send(f"{path}silence/", {"hours": "8", "reason": ""}, htmx=True)
    assert answer.status_code == 400
    assert admin.send(f"{path}silence/", {"hours": "8", "reason": "a fan"}, htmx=True)
    quiet = AlertSilence.objects.get(reason="a fan")
    assert quiet.subject == row.subject
    assert b"Silenced until" in admin.open(path).content
    assert admin.send(f"/alert-silences/{quiet.uid}/end/").status_code == 303
    quiet.refresh_from_db()
    assert quiet.ended_at is not None
    assert admin.send(f"{path}dance/").status_code in {303, 400}


def test_a_lead_acts_on_what_is_the_teams_and_a_member_only_looks(visit, world):
    row = firing(world, key="w", subject=f"workload:{world.own.workload.uid}", family="workload")
    path = f"/alerts/{row.uid}/"
    assert visit("member").open(path).status_code == 200
    assert visit("member").send(f"{path}take/").status_code == 403
    assert visit("lead").send(f"{path}take/").status_code == 303


def test_a_rule_is_changed_tried_on_the_past_and_set_back(visit, world):
    rules_there()
    rule, admin = AlertRule.objects.get(slug="heat"), visit("platform_admin")
    page = admin.open("/alert-rules/").content
    assert b"Card is hot" in page
    values = {
        **{"name": "Card is hot", "family": "hardware", "severity": "critical"},
        **{"metric": "temperature", "scope": "card", "aggregate": "max"},
        **{"window_seconds": 60, "side": "above", "threshold": 70, "for_seconds": 0},
        **{"clear_seconds": 0, "enabled": "on", "days": "7"},
    }
    answer = admin.send("/alert-rules/tried/", values, htmx=True)
    assert b"It would have fired 0 times." in answer.content
    assert admin.send("/alert-rules/tried/", values | {"threshold": "x"}).status_code == 422
    kept = admin.send("/alert-rules/tried/", values | {"metric": "held", "scope": "pool"})
    assert kept.status_code == 422
    path = f"/alert-rules/{rule.uid}/"
    assert admin.send(path, values | {"threshold": 999}).status_code == 422
    assert admin.send(path, values).status_code == 303
    rule.refresh_from_db()
    assert rule.threshold == 70
    assert admin.send(f"{path}reset/").status_code == 303
    rule.refresh_from_db()
    assert rule.threshold == 79.9
    assert admin.send("/alert-rules/new/", values | {"name": "Mine"}).status_code == 303
    mine = AlertRule.objects.get(name="Mine")
    assert admin.send(f"/alert-rules/{mine.uid}/remove/").status_code == 303
    assert not AlertRule.objects.filter(name="Mine").exists()
    assert visit("member").open(path).status_code == 403
    assert visit("member").open("/alert-rules/").status_code == 200


def test_channels_and_routes_are_made_switched_and_removed(visit, world):
    admin = visit("platform_admin")
    wrong = admin.send("/alert-ways/channels/", {"name": "x", "kind": "slack", "url": "no"})
    assert wrong.status_code == 422
    made = {"name": "chat", "kind": "slack", "url": "https://hooks.example.org/T/key"}
    assert admin.send("/alert-ways/channels/", made).status_code == 303
    channel = AlertChannel.objects.get(name="chat")
    page = admin.open("/alert-ways/").content
    assert b"hooks.example.org" in page
    assert b"T/key" not in page
    route = {
        **{"channel": channel.uid, "family": "performance", "days": ["0", "1"]},
        **{"start": "09:00", "end": "18:00", "zone": "Asia/Shanghai", "closed": "2027-01-01"},
    }
    assert admin.send("/alert-ways/routes/", route | {"closed": "soon"}).status_code == 422
    assert admin.send("/alert-ways/routes/", route).status_code == 303
    row = AlertRoute.objects.get(channel=channel)
    assert (row.start_minute, row.end_minute, row.days) == (540, 1080, [0, 1])
    base = f"/alert-ways/routes/{row.uid}"
    assert admin.send(f"{base}/off/").status_code == 303
    row.refresh_from_db()
    assert not row.enabled
    assert admin.send(f"{base}/remove/").status_code == 303
    base = f"/alert-ways/channels/{channel.uid}"
    assert admin.send(f"{base}/off/").status_code == 303
    assert admin.send(f"{base}/remove/").status_code == 303
    assert not AlertChannel.objects.filter(name="chat").exists()
    for role in ("member", "lead", "org_admin"):
        assert visit(role).open("/alert-ways/").status_code == 403


def test_a_dead_letter_is_seen_and_sent_again(visit, world):
    AlertDelivery.objects.update(given_up_at="2026-01-01T00:00:00Z", error="answered 500")
    admin = visit("platform_admin")
    assert b"answered 500" in admin.open("/alert-ways/?which=dead").content
    row = AlertDelivery.objects.get()
    assert admin.send(f"/alert-ways/words/{row.uid}/again/").status_code == 303
    row.refresh_from_db()
    assert row.given_up_at is None


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_all_pages_are_drawn_in_both_languages(visit, world, language):
    row, admin = firing(world), visit("platform_admin")
    admin.user.language = language
    admin.user.save(update_fields=["language"])
    rules_there()
    for path in ("/alerts/", f"/alerts/{row.uid}/", "/alert-rules/", "/alert-ways/"):
        assert admin.open(path).status_code == 200
    for rule in AlertRule.objects.all():
        assert admin.open(f"/alert-rules/{rule.uid}/").status_code == 200


def test_one_board_costs_the_same_for_two_alerts_and_for_forty(
    visit, world, django_assert_max_num_queries
):
    admin = visit("platform_admin")
    for number in range(40):
        firing(world, key=f"k{number}")
    with django_assert_max_num_queries(30):
        admin.open("/alerts/")


def test_the_card_of_an_alert_is_taken_out_of_service_with_a_reason_and_brought_back(visit, world):
    row, admin = firing(world), visit("platform_admin")
    path, card = f"/alerts/{row.uid}/", world.own.hold.card
    assert b"Take it out of service" in admin.open(path).content
    assert admin.send(f"{path}cordon/", {"reason": " "}, htmx=True).status_code == 400
    assert admin.send(f"{path}cordon/", {"reason": "a burnt fan"}, htmx=True).status_code == 200
    card.refresh_from_db()
    assert (card.state, card.state_reason) == ("cordoned", "a burnt fan")
    assert b"Offer it again" in admin.open(path).content
    assert admin.send(f"{path}uncordon/", {"reason": "replaced"}).status_code == 303
    card.refresh_from_db()
    assert card.state == "ready"


def test_a_node_of_an_alert_too_but_never_by_who_only_leads_a_project(visit, world):
    node = world.node
    row = firing(world, key="n", subject=f"node:{node.uid}")
    path = f"/alerts/{row.uid}/"
    assert visit("platform_admin").send(f"{path}cordon/", {"reason": "x"}).status_code == 303
    node.refresh_from_db()
    assert node.state == "cordoned"
    work = firing(world, key="w2", subject=f"workload:{world.own.workload.uid}", family="workload")
    answer = visit("lead").send(f"/alerts/{work.uid}/cordon/", {"reason": "x"})
    assert answer.status_code == 403
    answer = visit("platform_admin").send(f"/alerts/{work.uid}/cordon/", {"reason": "x"}, htmx=True)
    assert answer.status_code == 400


def test_the_hours_of_a_card_s_week_show_use_alerts_and_what_is_not_known(visit, world):
    card = world.own.hold.card
    path = f"/cards/{card.uid}/weeks/"
    assert b"Nothing was measured" in visit("member").part(path).content
    row = firing(world)
    Alert.objects.filter(pk=row.pk).update(fired_at=now() - timedelta(hours=2))
    at = now().replace(minute=0, second=0, microsecond=0) - timedelta(hours=5)
    reads(at, seconds=3600, card=card.pk, util_mean=70, util_max=90)
    rollups_touched(moments=[at])
    rollups_due(most=100)
    found = card_week(card=card, at=now())
    assert len(found) == 168
    (busy,) = [one for one in found if one.util is not None]
    assert (busy.weekday, busy.hour, busy.util, busy.peak) == (at.weekday(), at.hour, 70, 90)
    assert sum(one.alerts for one in found) == 1
    page = visit("member").part(path).content.decode()
    assert page.count("gp-heat-alert") == 1
    assert page.count("gp-unknown") == 167
