"""The live parts: who may watch, who is shown the same bytes."""

import pytest

from portal.pages.panels import panel_key, panel_render
from tests.portal.world import ROLES


def test_people_of_the_same_standing_share_one_picture(world):
    member, lead = world.by("member").user, world.by("lead").user
    assert panel_key(member, "pool") == panel_key(lead, "pool")
    assert panel_key(member, "pool") != panel_key(world.by("stranger").user, "pool")
    assert panel_key(member, "home") != panel_key(lead, "home")


@pytest.mark.parametrize("role", ROLES)
def test_a_workload_is_watched_by_those_who_may_read_it(role, world):
    user = world.by(role).user
    for noun in ("workload", "log"):
        key = panel_key(user, f"{noun}:{world.own.workload.uid}")
        assert (key is None) is (role in {"billing_reader", "stranger"})
    assert panel_key(user, f"workload:{world.own.workload.uid}x") is None


def test_who_may_stop_and_who_may_not_are_shown_different_bytes(world):
    topic = f"workload:{world.own.workload.uid}"
    owner, viewer = world.by("member").user, world.by("viewer").user
    assert panel_key(owner, topic) != panel_key(viewer, topic)
    assert "/stop/" in panel_render(owner, topic)
    assert "/stop/" not in panel_render(viewer, topic)


def test_an_unknown_topic_and_a_disabled_person_see_nothing(world):
    user = world.by("member").user
    assert panel_key(user, "elsewhere") is None
    user.is_active = False
    assert panel_key(user, "home") is None


@pytest.mark.parametrize("topic", ["home", "pool"])
def test_a_picture_holds_no_other_tenants_names(topic, world):
    assert "speech" not in panel_render(world.by("member").user, topic)
