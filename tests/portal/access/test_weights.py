"""The weights a door passes: what all copies cost over the whole time."""

import pytest

from billing.services.prices import price_set
from pool.events import SYSTEM
from pool.services.requests import request_draft, request_submit
from portal.access.weights import weights_for, weights_of_change
from tests import factories as make


@pytest.fixture
def world(db):
    """Eight cards at two euros an hour."""
    made = make.World()
    price_set(partition=made.partition, rate_micro=2_000_000, actor=SYSTEM)
    return made


def weighed(world, **words):
    given = {
        "project": world.project,
        "version": world.whole,
        "overrides": {},
        "partitions": [],
        "seconds": 36_000,
    }
    return weights_for(**(given | words))


def test_the_cost_counts_cards_copies_and_hours(world):
    assert weighed(world) == {"cost": 20}
    assert weighed(world, copies=3, overrides={"parts": 2}) == {"cost": 120}


def test_a_started_unit_counts_whole_and_without_a_time_the_templates_counts(world):
    assert weighed(world, seconds=60) == {"cost": 1}
    assert weighed(world, seconds=None) == {"cost": 2}


def test_of_several_places_the_dearest_counts(world):
    dear = make.partition("h100", labels=("H100-80GB",), rank=200)
    make.node("n2", (("H100-80GB", 1),))
    price_set(partition=dear, rate_micro=5_000_000, actor=SYSTEM)
    assert weighed(world) == {"cost": 50}
    assert weighed(world, partitions=[world.partition]) == {"cost": 20}


def test_wrong_words_weigh_nothing_and_are_left_to_the_service(world):
    assert weighed(world, overrides={"memory_gb": -1}) == {}
    assert weighed(world, overrides={"memory_gb": 900}) == {}
    assert weighed(world, copies=-1) == {}


def test_what_has_no_price_costs_nothing(db):
    assert weighed(make.World()) == {"cost": 0}


def test_work_without_a_card_is_weighed_by_its_cores(world):
    price_set(partition=world.partition, rate_micro=50_000, unit="core", actor=SYSTEM)
    assert weighed(world, version=world.cpu, overrides={"cpu_milli": 8000}) == {"cost": 4}


def test_a_change_is_weighed_with_what_stays(world):
    request = request_draft(
        user=world.member,
        project=world.project,
        template_version=world.whole,
        actor=make.by(world.member),
        copies=3,
        duration_seconds=36_000,
    )
    assert weights_of_change(request=request, changes={}) == {"cost": 60}
    assert weights_of_change(request=request, changes={"copies": 1}) == {"cost": 20}
    changes = {"duration_seconds": 3600, "need": {"parts": 2}}
    assert weights_of_change(request=request, changes=changes) == {"cost": 12}
    assert weights_of_change(request=request, changes={"need": {"gold": 1}}) == {}


def test_a_change_to_a_dear_card_is_weighed_where_that_card_is(world):
    request = request_submit(
        user=world.member,
        project=world.project,
        template_version=world.whole,
        actor=make.by(world.member),
        duration_seconds=36_000,
        weights={"cost": 20},
    )
    dear = make.partition("h100", labels=("H100-80GB",), rank=200)
    make.node("n2", (("H100-80GB", 1),))
    price_set(partition=dear, rate_micro=5_000_000, actor=SYSTEM)
    changes = {"need": {"models": ["H100-80GB"]}}
    assert weights_of_change(request=request, changes=changes) == {"cost": 50}
