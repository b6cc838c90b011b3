"""Alerts over REST: an Alertmanager hands in and takes back, rules are tried, teams silence."""

from datetime import timedelta

from pool.clock import now
from pool.events import SYSTEM
from pool.models import Alert
from pool.services.alerting.rules import rules_there
from pool.services.alerts import alert_raise

PAYLOAD = {
    "version": "4",
    "groupKey": "{}",
    "truncatedAlerts": 0,
    "status": "firing",
    "receiver": "gpupool",
    "groupLabels": {},
    "commonLabels": {},
    "commonAnnotations": {},
    "externalURL": "http://am:9093",
}


def told(status, **labels):
    return PAYLOAD | {
        "alerts": [
            {
                "status": status,
                "labels": {"alertname": "FanBroken", "severity": "page", **labels},
                "annotations": {"summary": "no air"},
                "startsAt": "2026-01-01T00:00:00Z",
                "fingerprint": "abc",
            }
        ]
    }


def test_an_alertmanager_hands_an_alert_in_once_and_takes_it_back_once(world):
    admin = world.admin
    labels = {"UUID": world.own.hold.card.uuid}
    for expected in ({"began": 1, "ended": 0}, {"began": 0, "ended": 0}):
        assert admin.post("alerts/receive", told("firing", **labels)).json() == expected
    row = Alert.objects.get(key="alertmanager:abc")
    assert (row.severity, row.title) == ("critical", "FanBroken: no air")
    assert row.subject == f"card:{world.own.hold.card.uid}"
    for expected in ({"began": 0, "ended": 1}, {"began": 0, "ended": 0}):
        assert admin.post("alerts/receive", told("resolved", **labels)).json() == expected


def test_an_alert_of_a_node_is_put_with_the_node_and_one_of_nobody_with_the_pool(world):
    world.admin.post("alerts/receive", told("firing", instance=f"{world.node.name}:9400"))
    assert Alert.objects.get(key="alertmanager:abc").subject == f"node:{world.node.uid}"
    body = told("firing", instance="elsewhere")
    body["alerts"][0]["fingerprint"] = "other"
    world.admin.post("alerts/receive", body)
    assert Alert.objects.get(key="alertmanager:other").subject == "pool:outside"


def test_a_rule_is_tried_over_rest_and_says_how_often_it_would_have_fired(world):
    rules_there()
    rows = world.admin.get("alert-rules?page_size=100").json()["results"]
    heat = next(one for one in rows if one["slug"] == "heat")
    answer = world.admin.post(f"alert-rules/{heat['uid']}/backtest", {"days": 7}).json()
    assert (answer["fired"], answer["refused"]) == (0, "")
    ecc = next(one for one in rows if one["slug"] == "ecc")
    ecc = next(one for one in rows if one["slug"] == "ecc")
    assert world.admin.post(f"alert-rules/{ecc['uid']}/backtest").json()["refused"] == ""
    sick = next(one for one in rows if one["slug"] == "node-health")
    assert world.admin.post(f"alert-rules/{sick['uid']}/backtest").json()["refused"] == "not_kept"
    wrong = world.admin("PATCH", f"alert-rules/{heat['uid']}", {"threshold": 1e9})
    assert (wrong.status_code, list(wrong.json()["detail"])) == (400, ["threshold"])


def test_a_lead_silences_an_alert_of_the_team_for_a_while(world):
    subject = f"workload:{world.own.workload.uid}"
    alert_raise(key="w", subject=subject, title="slow", actor=SYSTEM, family="workload")
    row = Alert.objects.get(key="w")
    lead = world.by("lead")
    made = lead.post(f"alerts/{row.uid}/silence", {"seconds": 3600, "reason": "we know"})
    assert made.status_code == 201
    assert made.json()["project"] == world.own.project.slug
    listed = [one["uid"] for one in lead.get("alert-silences").json()["results"]]
    assert made.json()["uid"] in listed
    ended = lead.post(f"alert-silences/{made.json()['uid']}/end").json()
    assert ended["ended_at"] is not None
    later = (now() + timedelta(days=1)).isoformat()
    whole = lead.post("alert-silences", {"family": "hardware", "ends_at": later, "reason": "x"})
    assert whole.status_code == 403, "only those who run the pool silence all of it"
