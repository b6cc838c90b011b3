"""The audit log is searched and taken away as far as one may read it, and taking it is told."""

import csv
import json

from pool.models import Event
from portal.access import audit
from tests.portal.callers import text_of


def test_the_log_is_taken_away_as_csv_and_json_in_pieces(visit, world, monkeypatch):
    monkeypatch.setattr(audit, "CHUNK", 7)
    lead = world.by("lead")
    seen = []
    path = "events?page_size=100"
    while path:
        answer = lead.get(path).json()
        seen += [row["id"] for row in answer["results"]]
        path = (answer["next"] or "").partition("/api/v1/")[2]
    told = text_of(lead.post("events/export", {"format": "json"}))
    lines = [json.loads(line) for line in told.splitlines()]
    assert [one["id"] for one in lines][-len(seen) :] == seen
    assert "speech" not in told
    answer = visit("lead").send("/events/export/csv/?kind=workload.")
    rows = list(csv.DictReader(text_of(answer).lstrip("\ufeff").splitlines()))
    assert {row["kind"].split(".")[0] for row in rows} == {"workload"}
    exported = Event.objects.filter(kind="events.exported").order_by("id")
    assert [one.data["format"] for one in exported] == ["json", "csv"]
    assert exported[1].data["filters"] == {"kind": "workload."}


def test_a_cell_is_never_a_formula():
    assert audit._cell("=1+1") == "'=1+1"
    assert audit._cell({"a": "ä"}) == '{"a": "ä"}'


def test_filters_find_by_who_words_and_days(visit, world):
    lead = visit("lead")
    lead.send("/profile/", {"display_name": "Needle", "language": "", "zone": "Asia/Shanghai"})
    page = lead.open("/events/?actor=vision-lead&kind=user.")
    assert "user.changed" in page.content.decode()
    assert "Nothing matches" in lead.open("/events/?since=2999-01-01").content.decode()
    assert "Nothing matches" in lead.open("/events/?until=1999-01-01").content.decode()
    assert "Nothing matches" in lead.open("/events/?text=no-such-word").content.decode()
    assert lead.open("/events/?since=nonsense").status_code == 200
    assert world.by("lead").get("events?since=nonsense").status_code == 400
    assert visit("member").send("/events/export/csv/").status_code == 403
