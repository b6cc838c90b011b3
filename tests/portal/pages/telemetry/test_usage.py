"""The charts of a workload: the span that is chosen, what is unknown, the file, other tenants."""

import csv
import io
import json
import re
from datetime import timedelta

import pytest

from pool.clock import now
from pool.models import Attempt
from pool.services.telemetry.rollups import rollups_due, rollups_touched
from portal.pages.telemetry import curves
from tests.pool.services.telemetry.test_rollups import reads


@pytest.fixture
def ran(world):
    """An attempt of the project that ran for the last three hours."""
    attempt = world.own.placement.attempt
    since = now() - timedelta(hours=3)
    Attempt.objects.filter(pk=attempt.pk).update(started_at=since, ended_at=now())
    attempt.refresh_from_db()
    return attempt


def series(answer):
    found = re.search(r'id="series"[^>]*>(.*?)</script>', answer.content.decode(), re.S)
    return json.loads(found[1])


def panel(answer, title):
    return next(one for one in series(answer)["panels"] if one["title"] == title)


def test_only_what_was_measured_is_drawn_and_a_gap_stays_a_gap(visit, world, ran):
    at = now() - timedelta(minutes=20)
    for minutes in (0, 10):
        moment = at + timedelta(minutes=minutes)
        reads(moment, piece=1, attempt=ran.pk, sm_mean=50, memory_mib_mean=900, samples_s=12)
    answer = visit("member").part(f"/workloads/{ran.workload.uid}/usage/?span=hour")
    titles = [one["title"] for one in series(answer)["panels"]]
    assert titles == ["Compute busy", "Memory", "Throughput"]
    (line,) = panel(answer, "Compute busy")["lines"]
    assert [value for _at, value in line["data"]] == [50, None, 50]


def test_where_sm_is_unknown_the_card_s_own_figure_is_drawn_under_its_own_name(visit, ran):
    reads(now() - timedelta(minutes=5), piece=1, attempt=ran.pk, util_mean=70)
    answer = visit("member").part(f"/workloads/{ran.workload.uid}/usage/?span=hour")
    assert [one["name"] for one in panel(answer, "Compute busy")["lines"]] == ["GPU busy"]


def test_the_span_is_kept_when_the_charts_are_asked_for_again(visit, ran):
    reads(now() - timedelta(minutes=5), piece=1, attempt=ran.pk, sm_mean=70)
    answer = visit("member").part(f"/workloads/{ran.workload.uid}/usage/?span=week")
    assert series(answer)["span"] == "week"
    assert series(visit("member").part(f"/workloads/{ran.workload.uid}/usage/?span=no"))[
        "span"
    ] == ("day")


def test_everything_measured_can_be_taken_away_as_a_file_with_unknown_left_empty(visit, ran):
    reads(now() - timedelta(minutes=5), piece=1, attempt=ran.pk, sm_mean=70, power_w_mean=None)
    answer = visit("member").open(f"/workloads/{ran.workload.uid}/usage.csv")
    (row,) = csv.DictReader(io.StringIO(answer.content.decode()))
    assert (float(row["sm_mean"]), row["power_w_mean"]) == (70, "")
    assert answer["Content-Type"].startswith("text/csv")


def test_another_tenant_s_charts_and_file_do_not_exist(visit, world):
    for end in ("usage/", "usage.csv"):
        answer = visit("member").open(f"/workloads/{world.other.workload.uid}/{end}")
        assert answer.status_code == 404


def test_a_whole_card_is_drawn_when_somebody_opens_it(visit, world):
    card = world.node.cards.first()
    reads(now() - timedelta(minutes=5), card=card.pk, sm_mean=30, temperature_c_max=61)
    reads(now() - timedelta(minutes=5), card=card.pk, piece=1, attempt=1, sm_mean=99)
    page = visit("member").open(f"/nodes/{world.node.uid}/").content.decode()
    assert f"/cards/{card.uid}/usage/" in page
    answer = visit("member").part(f"/cards/{card.uid}/usage/?span=hour")
    found = re.search(r'id="series-[^>]*>(.*?)</script>', answer.content.decode(), re.S)
    panels = {one["title"]: one["lines"][0]["data"] for one in json.loads(found[1])["panels"]}
    assert [value for _at, value in panels["Compute busy"]] == [30]
    assert [value for _at, value in panels["Temperature"]] == [61]
    assert visit("member").open("/cards/cd-none/usage/").status_code == 404


def test_the_link_of_a_card_is_shown_as_it_is_and_fewer_lanes_than_could_be_are_named(visit, world):
    card = world.node.cards.first()
    address = f"/cards/{card.uid}/usage/?span=hour"
    assert "PCIe link now" not in visit("member").part(address).content.decode()
    card.facts |= {"pcie_width_max": 16, "pcie_generation_max": 5}
    card.save()
    assert "not told" in visit("member").part(address).content.decode()
    reads(now() - timedelta(seconds=20), card=card.pk, pcie_width=16, pcie_generation=1)
    text = visit("member").part(address).content.decode()
    assert "generation 1, 16 lanes" in text and "at most generation 5, 16 lanes" in text
    assert "Fewer lanes" not in text
    reads(now(), card=card.pk, pcie_width=8, pcie_generation=4)
    assert "Fewer lanes" in visit("member").part(address).content.decode()


def test_all_cards_together_are_means_of_shares_and_sums_of_memory_made_once_for_all(
    visit, world, monkeypatch
):
    at = (now() - timedelta(hours=3)).replace(minute=0, second=0, microsecond=0)
    for card, busy in zip(world.node.cards.all()[:2], (20, 60), strict=True):
        reads(at, seconds=3600, card=card.pk, util_mean=busy, memory_mib_mean=1000)
    rollups_touched(moments=[at])
    rollups_due(most=100)
    shown = visit("member").part("/map/usage/?span=day").content.decode()
    found = json.loads(re.search(r'id="series-pool"[^>]*>(.*?)</script>', shown).group(1))
    lines = {one["title"]: one["lines"][0]["data"] for one in found["panels"]}
    assert [value for _at, value in lines["Compute busy"]] == [40]
    assert [value for _at, value in lines["Memory"]] == [2000]
    monkeypatch.setattr(curves, "series_of", None)
    again = visit("viewer").part("/map/usage/?span=day")
    assert again.status_code == 200
    assert "series-pool" in again.content.decode()
