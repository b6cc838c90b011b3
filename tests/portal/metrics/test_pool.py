"""The pool for Prometheus: what is unknown or old is left out, and the size costs no queries."""

from datetime import timedelta

import pytest

from pool.clock import now
from pool.models import Card
from portal.metrics.pool import Pool
from tests import rows
from tests.pool.services.telemetry.test_rollups import reads
from tests.portal.metrics.test_metrics import scraped

pytestmark = pytest.mark.django_db


def test_nodes_cards_and_work_are_counted_by_state(client):
    rows.partition()
    rows.node(cards=2)
    rows.workload()
    told = scraped(client)
    assert told["gpupool_nodes", "ready"] == 1
    assert told["gpupool_cards", "A100-80GB", "ready"] == 2
    assert told["gpupool_workloads", "job", "queued"] == 1


def test_only_what_was_measured_lately_is_told_of_a_card(client):
    rows.partition()
    node = rows.node(cards=2, name="n1")
    measured, stale = node.cards.order_by("index")
    reads(now() - timedelta(seconds=20), card=measured.pk, util_mean=10)
    reads(
        now(), card=measured.pk, util_mean=50, temperature_c_max=60, ecc_corrected=3, pcie_width=8
    )
    reads(now() - timedelta(minutes=5), card=stale.pk, util_mean=90)
    labels = sorted(["n1", "0", measured.uuid, "A100-80GB"])
    told = scraped(client)
    assert told["gpupool_card_utilization_ratio", *labels] == 0.5
    assert told["gpupool_card_temperature_celsius", *labels] == 60
    assert told["gpupool_card_ecc_corrected_total", *labels] == 3
    assert told["gpupool_card_pcie_lanes", *labels] == 8
    names = [key for key in told if key[0] == "gpupool_card_power_watts"]
    assert names == [], "unknown is not 0"
    assert sum(key[0] == "gpupool_card_utilization_ratio" for key in told) == 1


def test_a_larger_pool_costs_no_more_queries(django_assert_num_queries):
    rows.partition()
    rows.node(cards=1)
    with django_assert_num_queries(6):
        list(Pool().collect())
    rows.node(cards=8, name="more")
    for card in Card.objects.all():
        reads(now(), card=card.pk, util_mean=50)
    with django_assert_num_queries(6):
        list(Pool().collect())
