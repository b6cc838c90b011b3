"""The queue: order, reasons, filters, and nothing of other tenants but a number."""

import pytest

from pool.models import Workload
from portal.pages.panels import panel_key, panel_render


def waits(reason="memory", position=1, **more):
    return {"reason": reason, "level": "busy", "position": position, "starts_s": None} | more


@pytest.fixture
def queue(world):
    """Puts work of a tenant at a place; what else waits in the world is taken out first."""
    Workload.objects.filter(state="queued").update(state="cancelled")

    def put(tenant, name, told, **more):
        row = tenant.work(name=name, name_folded=name, **more)
        Workload.objects.filter(pk=row.pk).update(state="queued", waits=told)
        return row

    return put


def turns(visitor, query=""):
    """Names in order, numbers for what is not shown."""
    shown = visitor.part(f"/queue/{query}").context["turns"]
    return [one["work"].name if one["work"] else one["others"] for one in shown]


def test_work_stands_in_the_plans_order_and_new_work_behind_it(visit, world, queue):
    queue(world.own, "new", None)
    queue(world.own, "second", waits(position=2))
    queue(world.own, "first", waits(position=1, starts_s=1_900_000_000.0))
    queue(world.own, "cut", {"reason": "carving"})
    assert turns(visit("member")) == ["cut", "first", "second", "new"]
    shown = visit("member").open("/queue/").content.decode()
    assert "no card has enough free memory" in shown
    assert 'datetime="2030-03-17T17:46:40.000+00:00"' in shown
    assert "its card is being cut for it" in shown


def test_others_work_is_a_number_and_nothing_else(visit, world, queue):
    queue(world.own, "ours-1", waits(position=1))
    hidden = [
        queue(world.other, f"secret-{n}", waits("licence", n, detail="dongle")) for n in (2, 3)
    ]
    queue(world.own, "ours-4", waits(position=4))
    member = visit("member")
    assert turns(member) == ["ours-1", 2, "ours-4"]
    shown = member.open("/queue/").content.decode()
    assert "2 jobs of other teams" in shown
    names = [hidden[0].project.name, hidden[0].owner.username, *(one.uid for one in hidden)]
    for told in ("secret", "dongle", "licence", *names):
        assert told not in shown.split("<main")[1].split("</main")[0], told


def test_a_stranger_and_a_platform_admin_each_see_their_own_queue(visit, world, queue):
    queue(world.own, "ours", waits(position=1))
    queue(world.other, "theirs", waits(position=2))
    assert turns(visit("stranger")) == [1, "theirs"]
    assert turns(visit("billing_reader")) == [2]
    assert turns(visit("platform_admin")) == ["ours", "theirs"]


def test_a_filter_shows_mine_or_a_project_and_never_anothers(visit, world, queue):
    queue(world.own, "mine", waits(position=1))
    leads = queue(world.own, "leads", waits(position=2))
    Workload.objects.filter(pk=leads.pk).update(owner=world.by("lead").user)
    queue(world.other, "theirs", waits(position=3))
    member = visit("member")
    assert turns(member, "?whose=mine") == ["mine"]
    assert turns(member, "?project=vision") == ["mine", "leads"]
    assert turns(member, f"?project={world.other.project.slug}") == []


def test_groups_count_what_the_reader_may_see_most_first(visit, world, queue):
    for number in range(3):
        queue(world.own, f"q{number}", waits("quota", number + 1))
    queue(world.own, "m", waits("memory", 4))
    queue(world.own, "n", None)
    queue(world.other, "x", waits("memory", 5))
    context = visit("member").part("/queue/").context
    told = [(one["reason"], one["n"]) for one in context["reasons"]]
    assert told == [("quota", 3), ("new", 1), ("memory", 1)]
    assert (context["seen"], context["length"]) == (5, 6)


def test_a_long_queue_comes_stretch_by_stretch_and_loses_nothing(visit, world, queue):
    for number in range(64):
        queue(world.own, f"j{number:02}", waits(position=number // 2))
    member, seen, query = visit("member"), [], ""
    while query is not None:
        shown = member.part(f"/queue/{query}").context
        seen += [one["work"].name for one in shown["turns"]]
        query = shown["further"] or None
    assert seen == [f"j{number:02}" for number in range(64)]
    for odd in ("x", "1", "1.", "-1.2", "9999999999.1", "²².1"):
        assert len(turns(member, f"?after={odd}")) == 60, odd


def test_new_work_behind_a_long_queue_comes_stretch_by_stretch_too(visit, world, queue):
    for number in range(64):
        queue(world.own, f"n{number:02}", None)
    member = visit("member")
    first = member.part("/queue/").context
    assert [one["work"].name for one in first["turns"]] == [f"n{n:02}" for n in range(60)]
    assert turns(member, first["further"]) == ["n60", "n61", "n62", "n63"]


def test_an_empty_queue_says_so(visit, queue):
    assert "Nothing waits" in visit("member").open("/queue/").content.decode()
    assert "Nothing of this waits" in visit("member").open("/queue/?whose=mine").content.decode()


def test_the_topic_pokes_everybody_and_tells_nobody_anything(world):
    for role in ("member", "stranger"):
        user = world.by(role).user
        assert panel_key(user, "queue") == "anybody"
        assert panel_render(user, "queue") == ""
