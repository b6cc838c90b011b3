"""D11: unlike cards of one box are told apart by their own names, however the bus counts them."""

import pytest
from msgspec.structs import replace

from nodeagent.drivers.simulated import cards
from pool.cycle.round import run_rounds
from pool.models import Card, Event, Partition
from tests import rows
from tests.pool.place import seen

pytestmark = pytest.mark.django_db

MODELS = ("T4", "A100-80GB", "A100-80GB", "L4", "L4")


@pytest.fixture
def node(bench, monkeypatch):
    build = cards.card

    def with_display(name, index, model, domain):
        return replace(build(name, index, model, domain), display=model == "T4")

    monkeypatch.setattr(cards, "card", with_display)
    rows.partition()
    return bench(*MODELS)


def test_fifty_shuffled_hellos_change_nothing_that_anybody_would_see(node):
    before = Event.objects.count()
    known = list(Card.objects.order_by("pk").values_list("uuid", "label", "state", "partition"))
    for turn in range(50):
        node.script(f"shuffle: {turn % 5}\n")
        node.hello()
        node.tell()
    now = list(Card.objects.order_by("pk").values_list("uuid", "label", "state", "partition"))
    assert now == known and len(known) == 5
    count = Event.objects.count() - before
    new = Event.objects.order_by("-pk").values_list("kind", flat=True)[:count]
    assert not [kind for kind in new if kind.startswith("card.")]


def test_work_gets_the_model_it_asks_for_and_never_the_display_card(node):
    into = rows.project()
    for label in ("A100-80GB", "L4", "T4"):
        part = Partition.objects.get()
        rows.quota(limit=8_000_000, label=label, project=into, partition=part)
    node.script("shuffle: 3\n")
    node.hello()
    big = {"parts": 1, "whole": True, "models": ["A100-80GB"]}
    jobs = [rows.workload(into=into, need=big) for _ in range(2)]
    other = [rows.workload(into=into, need={"parts": 1, "whole": True}) for _ in range(3)]
    for _ in range(3):
        run_rounds()
        node.turn()
    where = {seen(job).pk: _label(job) for job in jobs}
    assert set(where.values()) == {"A100-80GB"}
    assert sorted(filter(None, map(_label, other))) == ["L4", "L4"]
    assert not Card.objects.get(label="T4").offered


def _label(job):
    hold = job.attempts.values_list("placements__holds__card__label", flat=True)
    return next((label for label in hold if label), None)
